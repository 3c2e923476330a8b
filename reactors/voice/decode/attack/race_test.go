//go:build race

package attack_test

// raceDetector: memory is several times as large with it, and says nothing.
const raceDetector = true
