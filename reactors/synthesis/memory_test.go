package synthesis_test

import (
	"testing"

	"github.com/helixd/helixd/reactors/synthesis"
)

// TestContentIsBounded: what the texts of all memories together may need does not
// grow with their number, and few are read as far as they say anything.
func TestContentIsBounded(t *testing.T) {
	if n := synthesis.ContentOf(synthesis.DefaultSettings.MemoryLimit); n != 4000 {
		t.Errorf("%d characters of each of %d memories", n, synthesis.DefaultSettings.MemoryLimit)
	}
	most := synthesis.DefaultConfig.MostMemories
	if n := synthesis.ContentOf(most); n < 100 || n*most > 4_000_000 {
		t.Errorf("%d characters of each of %d memories", n, most)
	}
	if n := synthesis.ContentOf(0); n != 4000 {
		t.Errorf("%d characters where there are no memories", n)
	}
}
