package decay_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/decay"
)

// TestFSRS: py-fsrs, whose results testdata/memories.py has written, goes through
// the same states.
func TestFSRS(t *testing.T) {
	text, err := os.ReadFile("testdata/memories.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string][]struct {
		Gaps   []float64
		States [][2]float64 // stability in days, difficulty
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	near := func(got, want float64) bool { return math.Abs(got-want) <= 1e-12*math.Max(1, math.Abs(want)) }
	states := 0
	for kind, cases := range golden {
		for i, c := range cases {
			m := decay.NewMemory()
			for j, want := range c.States {
				if j > 0 {
					m = m.Recalled(c.Gaps[j-1])
				}
				if want[0] > 36500 {
					break // py-fsrs has no bound, helixd has fsrs-rs's
				}
				if !near(m.Stability/24, want[0]) || !near(m.Difficulty, want[1]) {
					t.Fatalf("%s %d: after %d accesses %.15g d, %.15g, want %.15g, %.15g", kind, i, j, m.Stability/24, m.Difficulty, want[0], want[1])
				}
				states++
			}
		}
	}
	if states < 500 {
		t.Errorf("only %d states were compared", states)
	}
}

// TestMemoryLaws: whatever the accesses, a memory's numbers are ones that the table
// takes; one never fades faster for an access, and one after longer strengthens it
// more.
func TestMemoryLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := decay.NewMemory()
		for _, hours := range rapid.SliceOfN(rapid.Float64Range(1e-6, 2e6), 1, 30).Draw(t, "gaps") {
			next := m.Recalled(hours)
			if !(next.Stability >= m.Stability && next.Stability <= 36500*24) || !(next.Difficulty >= 1 && next.Difficulty <= 10) {
				t.Fatalf("%v became %v after %g h", m, next, hours)
			}
			if later := m.Recalled(hours + 24); later.Stability < next.Stability {
				t.Fatalf("%v after %g h becomes %v, a day later %v", m, hours, next, later)
			}
			m = next
		}
	})
}
