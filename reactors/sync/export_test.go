package sync

import "testing"

// LowerMaxKept makes versions collapse sooner, for the time of a test.
func LowerMaxKept(t *testing.T, n int) {
	before := maxKept
	maxKept = n
	t.Cleanup(func() { maxKept = before })
}
