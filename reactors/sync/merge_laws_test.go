package sync_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sync"
)

// The laws of merge. What a history must come to is computed by definition, in
// no order, by code that has nothing in common with what it tests.

// cell is one device's write at one path.
type cell struct {
	wall, logical int64
	device        string
	removed       bool
	value         string
}

func (c cell) compare(o cell) int {
	order := cmp.Or(cmp.Compare(c.wall, o.wall), cmp.Compare(c.logical, o.logical), cmp.Compare(c.device, o.device))
	if order == 0 && c.removed != o.removed {
		if c.removed {
			return 1
		}
		return -1
	}
	return cmp.Or(order, cmp.Compare(c.value, o.value))
}

// fact is a version, and what it did.
type fact struct {
	sync.Version
	past   []*fact
	done   bool
	hlc    [2]int64
	writes map[string]cell
}

func (f *fact) saw(g *fact) bool {
	if !includes(f.Clock, g.Clock) || includes(g.Clock, f.Clock) {
		return false
	}
	n := f.Clock.Counter(f.Device)
	return f.Device != g.Device || n == 0 || n != g.Clock.Counter(g.Device) || f.Content == g.Content
}

func cellsOf(facts []*fact) map[string]cell {
	cells := map[string]cell{}
	for _, f := range facts {
		for p, c := range f.writes {
			if old, ok := cells[p]; !ok || c.compare(old) > 0 {
				cells[p] = c
			}
		}
	}
	return cells
}

// clash tells whether two paths cannot both have values.
func clash(p, q string) bool { return strings.HasPrefix(p, q+".") || strings.HasPrefix(q, p+".") }

// shown are the values that stand, the greatest first.
func shown(cells map[string]cell) document {
	paths := slices.SortedFunc(maps.Keys(cells), func(p, q string) int {
		return cmp.Or(cells[q].compare(cells[p]), cmp.Compare(p, q))
	})
	d := document{}
	for _, p := range paths {
		if !cells[p].removed && !slices.ContainsFunc(slices.Collect(maps.Keys(d)), func(q string) bool { return clash(p, q) }) {
			d[p] = cells[p].value
		}
	}
	return d
}

// evaluate computes what a version wrote: where it differs from what it had seen.
func (f *fact) evaluate() {
	if f.done {
		return
	}
	f.done, f.writes = true, map[string]cell{}
	f.hlc = [2]int64{f.LastModified.UnixMicro(), 0}
	for _, g := range f.past {
		g.evaluate()
		if g.hlc[0] > f.hlc[0] || g.hlc[0] == f.hlc[0] && g.hlc[1] >= f.hlc[1] {
			f.hlc = [2]int64{g.hlc[0], g.hlc[1] + 1}
		}
	}
	if f.Deleted {
		return
	}
	base := cellsOf(f.past)
	visible, doc := shown(base), readDocument(f.Data)
	write := func(p, value string, removed bool) {
		f.writes[p] = cell{f.hlc[0], f.hlc[1], f.Device, removed, value}
	}
	for p, c := range base {
		if _, ok := doc[p]; !ok && !c.removed {
			write(p, "", true)
		}
	}
	for p, value := range doc {
		if visible[p] != value {
			write(p, value, false)
		}
	}
}

// facts are the distinct versions of a history.
func facts(all []edited) (facts []*fact) {
	known := map[string]*fact{}
	for _, e := range all {
		v := e.clamped()
		if f := known[v.ID()]; f != nil {
			if cmp.Or(v.LastModified.Compare(f.LastModified), cmp.Compare(v.Device, f.Device)) > 0 {
				f.Version = v
			}
			continue
		}
		f := &fact{Version: v}
		known[v.ID()] = f
		facts = append(facts, f)
	}
	for _, f := range facts {
		for _, g := range facts {
			if f.saw(g) {
				f.past = append(f.past, g)
			}
		}
	}
	for _, f := range facts {
		f.evaluate()
	}
	return facts
}

// maximal are the facts that no other had seen, the newest last.
func maximal(facts []*fact) (tips []*fact) {
	for _, f := range facts {
		if !slices.ContainsFunc(facts, func(g *fact) bool { return g.saw(f) }) {
			tips = append(tips, f)
		}
	}
	slices.SortFunc(tips, func(f, g *fact) int {
		return cmp.Or(cmp.Compare(f.hlc[0], g.hlc[0]), cmp.Compare(f.hlc[1], g.hlc[1]), cmp.Compare(f.Device, g.Device), cmp.Compare(f.Content, g.Content))
	})
	return tips
}

// defined is what a history must come to.
func defined(all []edited) string {
	facts := facts(all)
	tips := maximal(facts)
	live := slices.DeleteFunc(slices.Clone(tips), func(f *fact) bool { return f.Deleted })
	newest := tips[len(tips)-1]
	data := string(newest.Data) // of a delete
	if len(live) > 0 {
		newest = live[len(live)-1]
		data = string(shown(cellsOf(facts)).data())
	}
	resolution := sync.FastForward
	switch {
	case len(tips) > 1:
		resolution = sync.Merged
	case len(facts) == 1:
		resolution = sync.None
	}
	return fmt.Sprintf("%s %s deleted=%t of %s %s", resolution, data, len(live) == 0, newest.Device, newest.LastModified)
}

func showMerged(s *sync.State) string {
	v := &s.Versions[0]
	return fmt.Sprintf("%s %s deleted=%t of %s %s", s.Resolution, v.Data, v.Deleted, v.Device, v.LastModified)
}

func showEdits(all []edited) string {
	var b strings.Builder
	for _, e := range all {
		v := e.clamped()
		fmt.Fprintf(&b, "\n%s base %d", showVersion(&v), e.base)
	}
	return b.String()
}

// shuffled draws another order of arrival, with repetitions.
func shuffled(t *rapid.T, all []edited) []edited {
	other := rapid.Permutation(all).Draw(t, "order")
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(other)-1), 0, 5).Draw(t, "repeated") {
		other = append(other, other[i])
	}
	return other
}

// TestMergeLawConvergence: any order of arrival, with repetitions, comes to what
// the definition says; so the merge is commutative, associative and idempotent.
func TestMergeLawConvergence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := edits(t, false)
		if len(all) == 0 {
			return
		}
		want := defined(all)
		s, _ := merged(all)
		if got := showMerged(s); got != want {
			t.Fatalf("in commit order\n%s\nwant\n%s\nof%s", got, want, showEdits(all))
		}
		other := shuffled(t, all)
		o, _ := merged(other)
		if got := showMerged(o); got != want {
			t.Fatalf("in another order\n%s\nwant\n%s\nof%s", got, want, showEdits(other))
		}
		if s.Clock.Compare(o.Clock) != sync.Equal || showSeen(s) != showSeen(o) {
			t.Fatalf("another order has another clock: %v, not %v", o.Clock, s.Clock)
		}
	})
}

// TestMergeLawAnyClocks: so it is with clocks that no device of ours would send: of
// the same content, without the device's own counter, going back.
func TestMergeLawAnyClocks(t *testing.T) {
	version := rapid.Custom(func(t *rapid.T) edited {
		var clk []string
		for _, device := range []string{"a", "b", "c"} {
			if n := rapid.IntRange(0, 2).Draw(t, device); n > 0 {
				clk = append(clk, fmt.Sprintf("%s:%d", device, n))
			}
		}
		data := rapid.SampledFrom([]string{`{"a": 1}`, `{"a": {"b": 1}}`, `{"a": {}}`, `{}`, `7`, "", `{"a": [1, 2]}`}).Draw(t, "data")
		return written(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "device"), strings.Join(clk, " "), data,
			rapid.IntRange(0, 3).Draw(t, "seconds"))
	})
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(version, 2, 6).Draw(t, "versions")
		want, _ := merged(all)
		other := rapid.Permutation(all).Draw(t, "order")
		got, _ := merged(other)
		if showMerged(got) != showMerged(want) || got.Clock.Compare(want.Clock) != sync.Equal {
			t.Fatalf("%s in one order, %s in another, of%s", showMerged(want), showMerged(got), showEdits(all))
		}
	})
}

// TestMergeLawRepetition: a version that is known changes nothing, the revision
// included, nor does it make a new conflict.
func TestMergeLawRepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := edits(t, false)
		if len(all) == 0 {
			return
		}
		s, clashes := merged(all)
		twice, again := merged(append(slices.Clone(all), all...))
		if showMerged(s) != showMerged(twice) || s.Revision != twice.Revision {
			t.Fatalf("once\n%s revision %d\ntwice\n%s revision %d\nof%s", showMerged(s), s.Revision, showMerged(twice), twice.Revision, showEdits(all))
		}
		ids := map[string]bool{}
		for i := range clashes {
			ids[clashes[i].ID()] = true
		}
		for i := range again {
			if !ids[again[i].ID()] {
				t.Fatalf("a new conflict the second time, %s, of%s", again[i].Kind, showEdits(all))
			}
		}
	})
}

// TestMergeLawCausality: a version that has seen all others is the result, and
// the devices that adopt a result converge on it.
func TestMergeLawCausality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := edits(t, false)
		if len(all) == 0 {
			return
		}
		s, _ := merged(all)
		last := sync.Version{Device: "z", Clock: s.Clock.Join(clock("z:1")), LastModified: noon.AddDate(0, 0, -rapid.IntRange(0, 2).Draw(t, "days"))}
		d := document{}
		d.draw(t)
		last.Data = d.data()
		last.Content = sync.ContentHash(last.Data, false)
		s, _ = merged(shuffled(t, append(all, edited{applied{last, noon}, 0})))
		if string(s.Versions[0].Data) != string(last.Data) || s.Versions[0].Deleted || s.Resolution != sync.FastForward && s.Resolution != sync.None {
			t.Fatalf("%s\nafter %s had seen all of%s", showMerged(s), showVersion(&last), showEdits(all))
		}
	})
}

// TestMergeLawNothingIsLost: whatever lost to a concurrent write, and every delete
// that lost to an update, is in a conflict, in any order of arrival.
func TestMergeLawNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := edits(t, false)
		if len(all) == 0 {
			return
		}
		if rapid.Bool().Draw(t, "shuffle") {
			all = shuffled(t, all)
		}
		_, clashes := merged(all)
		logged := map[string]bool{} // loser's id and path
		for i := range clashes {
			b, err := clashes[i].MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			var sides [2]struct {
				Won    bool
				Writes []struct {
					Path    []any
					Value   json.RawMessage
					Removed bool
				}
			}
			if err := json.Unmarshal(b, &sides); err != nil {
				t.Fatalf("%s: %v", b, err)
			}
			if !sides[0].Won || sides[1].Won {
				t.Fatalf("the winner is not the first of %s", b)
			}
			id := clashes[i].Loser.ID()
			logged[id] = logged[id] || sides[1].Writes == nil
			for _, w := range sides[1].Writes {
				var names []string
				for _, s := range w.Path {
					if m, ok := s.(map[string]any); ok {
						s = m["element"]
					}
					names = append(names, s.(string))
				}
				logged[fmt.Sprintf("%s %s %s %t", id, strings.Join(names, "."), w.Value, w.Removed)] = true
			}
		}
		facts := facts(all)
		for _, f := range facts {
			for _, g := range facts {
				if f == g || f.saw(g) || g.saw(f) {
					continue
				}
				for p, lost := range f.writes {
					for q, won := range g.writes {
						differ := p == q && (lost.value != won.value || lost.removed != won.removed) ||
							clash(p, q) && !lost.removed && !won.removed
						if differ && won.compare(lost) > 0 && !logged[fmt.Sprintf("%s %s %s %t", f.ID(), p, lost.value, lost.removed)] {
							t.Fatalf("%s at %s lost to %s of %s and is in no conflict, of%s", showVersion(&f.Version), p, q, showVersion(&g.Version), showEdits(all))
						}
					}
				}
			}
		}
		tips := maximal(facts)
		for _, f := range tips {
			if f.Deleted && slices.ContainsFunc(tips, func(g *fact) bool { return !g.Deleted }) && !logged[f.ID()] {
				t.Fatalf("the delete %s lost and is in no conflict, of%s", showVersion(&f.Version), showEdits(all))
			}
		}
	})
}

// TestMergeLawBounds: where little is kept, a version that has seen all is still the
// result, one that came before all the others or again changes nothing but to be
// recorded, and what does not merge is recorded whole.
func TestMergeLawBounds(t *testing.T) {
	sync.LowerMaxKept(t, 2)
	rapid.Check(t, func(t *rapid.T) {
		all := edits(t, false)
		if len(all) == 0 {
			return
		}
		var s sync.State
		var m sync.Merge
		for _, e := range all {
			before := s
			clashes, changed := m.Apply(&s, e.version, 0, e.committed, mergePolicy)
			if changed && s.Revision == before.Revision && s.Clock.Compare(before.Clock) != sync.Equal || s.Revision > before.Revision+1 {
				t.Fatalf("revision %d after %d", s.Revision, before.Revision)
			}
			m.Finish(&s)
			shown := s.Versions[0]
			for i := range clashes {
				if clashes[i].Kind == sync.Stale && clashes[i].Loser.ID() == e.version.ID() && string(clashes[i].Loser.Data) != string(e.version.Data) {
					t.Fatalf("%s is recorded without its data", showVersion(&e.version))
				}
			}
			seen := includes(e.version.Clock, before.Clock) && !includes(before.Clock, e.version.Clock)
			forked := before.Seen[e.version.Device].Counter == e.version.Clock.Counter(e.version.Device)
			if seen && !forked && (string(shown.Data) != string(e.version.Data) || shown.Deleted != e.version.Deleted) {
				t.Fatalf("%s shown, though %s had seen all of%s", shown.Data, showVersion(&e.version), showEdits(all))
			}
		}
	})
}
