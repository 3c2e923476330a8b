package synthesis_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis"
)

// memoryIDs are of some memories, and present says that all of them are there.
func memoryIDs(n int) (ids []uuid.UUID, present map[uuid.UUID]bool) {
	present = map[uuid.UUID]bool{}
	for i := range n {
		ids = append(ids, uuid.UUID{0: byte(i + 1)})
		present[ids[i]] = true
	}
	return ids, present
}

func TestIdentify(t *testing.T) {
	m, present := memoryIDs(20)
	row := func(n byte, typ string, members []uuid.UUID) synthesis.Row {
		return synthesis.Row{ID: uuid.UUID{15: n}, Fingerprint: string('a' + rune(n)), Type: typ, Members: members, Confidence: 0.9}
	}
	pattern := func(typ string, members []uuid.UUID) synthesis.Pattern {
		return synthesis.Pattern{Type: typ, Members: members, Confidence: 0.9}
	}
	for name, test := range map[string]struct {
		rows     []synthesis.Row
		patterns []synthesis.Pattern
		want     []byte // the row of each pattern, 0: a new one
		written  []bool
		gone     int
	}{
		"OK":            {[]synthesis.Row{row(1, "x", m[:6])}, []synthesis.Pattern{pattern("x", m[:6])}, []byte{1}, []bool{false}, 0},
		"Half":          {[]synthesis.Row{row(1, "x", m[:4])}, []synthesis.Pattern{pattern("x", m[:8])}, []byte{1}, []bool{true}, 0},
		"LessThanHalf":  {[]synthesis.Row{row(1, "x", m[:4])}, []synthesis.Pattern{pattern("x", m[:9])}, []byte{0}, []bool{true}, 1},
		"AnotherType":   {[]synthesis.Row{row(1, "y", m[:6])}, []synthesis.Pattern{pattern("x", m[:6])}, []byte{0}, []bool{true}, 1},
		"TheMostAlike":  {[]synthesis.Row{row(1, "x", m[:8])}, []synthesis.Pattern{pattern("x", m[:5]), pattern("x", m[:7])}, []byte{0, 1}, []bool{true, true}, 0},
		"TheOldestRow":  {[]synthesis.Row{row(1, "x", m[:6]), row(2, "x", m[:6])}, []synthesis.Pattern{pattern("x", m[:6])}, []byte{1}, []bool{false}, 1},
		"NothingIsLeft": {[]synthesis.Row{row(1, "x", m[:6])}, nil, nil, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			in, written, prints, gone := synthesis.Identify(test.patterns, test.rows, present)
			for i, want := range test.want {
				got := byte(0)
				if in[i] != nil {
					got = in[i][15]
				}
				if got != want || written[i] != test.written[i] || prints[i] == "" {
					t.Errorf("pattern %d persists in row %d, written: %v; wanted row %d, %v", i, got, written[i], want, test.written[i])
				}
			}
			if len(gone) != test.gone {
				t.Errorf("%d rows go, wanted %d", len(gone), test.gone)
			}
		})
	}
	t.Run("OfMoreMemories", func(t *testing.T) {
		for typ, want := range map[string]bool{synthesis.EmotionalNegative: true, synthesis.TemporalPeriodic: true, synthesis.SemanticCluster: false} {
			old, found := row(1, typ, m[:6]), pattern(typ, m[:6])
			old.Content, found.Content = "6 of 7", "6 of 8"
			in, written, _, _ := synthesis.Identify([]synthesis.Pattern{found}, []synthesis.Row{old}, present)
			if in[0] == nil || written[0] != want {
				t.Errorf("%s is written: %v, in its row: %v", typ, written[0], in[0] != nil)
			}
		}
	})
	t.Run("MembersThatAreGone", func(t *testing.T) {
		_, few := memoryIDs(3)
		in, _, _, _ := synthesis.Identify([]synthesis.Pattern{pattern("x", m[:3])}, []synthesis.Row{row(1, "x", m)}, few)
		if in[0] == nil {
			t.Error("what is left of a pattern is another one")
		}
	})
	t.Run("AFingerprintThatIsTaken", func(t *testing.T) {
		_, _, prints, _ := synthesis.Identify([]synthesis.Pattern{pattern("x", m[:6])}, nil, present)
		old := row(1, "x", m[10:])
		old.Fingerprint = prints[0] // it drifted away from these members
		_, _, again, _ := synthesis.Identify([]synthesis.Pattern{pattern("x", m[:6]), pattern("x", m[10:])}, []synthesis.Row{old}, present)
		if again[0] == prints[0] || again[1] != prints[0] {
			t.Errorf("fingerprints %v, the row's is %s", again, prints[0])
		}
	})
}

// TestIdentifyHolds: whatever is found, each row is of one pattern or goes, and all
// fingerprints differ; the same again changes nothing.
func TestIdentifyHolds(t *testing.T) {
	m, present := memoryIDs(12)
	rapid.Check(t, func(t *rapid.T) {
		groups := func(label string) (all [][]uuid.UUID) {
			for _, g := range rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.IntRange(0, 11), 1, 12, rapid.ID[int]), 0, 6).Draw(t, label) {
				slices.Sort(g)
				var ids []uuid.UUID
				for _, i := range g {
					ids = append(ids, m[i])
				}
				all = append(all, ids)
			}
			return all
		}
		var rows []synthesis.Row
		for i, g := range groups("rows") {
			rows = append(rows, synthesis.Row{ID: uuid.UUID{15: byte(i + 1)}, Fingerprint: string('a' + rune(i)), Type: "x", Members: g, Confidence: 0.8})
		}
		var patterns []synthesis.Pattern
		for _, g := range groups("patterns") {
			patterns = append(patterns, synthesis.Pattern{Type: "x", Members: g, Confidence: 0.8})
		}
		in, _, prints, gone := synthesis.Identify(patterns, rows, present)
		used := map[uuid.UUID]int{}
		for _, id := range gone {
			used[id]++
		}
		var next []synthesis.Row
		for i := range patterns {
			id := uuid.UUID{14: byte(i + 1)}
			if in[i] != nil {
				id = *in[i]
				used[id]++
			}
			next = append(next, synthesis.Row{ID: id, Fingerprint: prints[i], Type: "x", Members: patterns[i].Members, Confidence: 0.8})
		}
		for _, r := range rows {
			if used[r.ID] != 1 {
				t.Fatalf("row %v is used %d times", r.ID, used[r.ID])
			}
		}
		slices.Sort(prints)
		if len(slices.Compact(prints)) != len(patterns) {
			t.Fatalf("fingerprints %v", prints)
		}
		_, written, _, gone := synthesis.Identify(patterns, next, present)
		if slices.Contains(written, true) || len(gone) > 0 {
			t.Fatalf("the same again: written %v, gone %v", written, gone)
		}
	})
}
