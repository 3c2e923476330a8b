//go:build !race

package attack_test

const raceDetector = false
