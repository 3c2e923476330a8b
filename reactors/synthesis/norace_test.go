//go:build !race

package synthesis_test

const raceEnabled = false
