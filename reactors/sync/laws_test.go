package sync_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sync"
)

// The laws of the merge, over histories of 3 to 8 devices with skewed clocks,
// repetition, reordering, restored backups and careless clients. The number of
// cases is rapid's flag:
//
//	go test ./reactors/sync -run TestLaw -rapid.checks=5000

func union(a, b sync.Antichain) sync.Antichain {
	for _, v := range b {
		a, _, _ = a.Add(v)
	}
	return a
}

func apply(all []applied) *sync.State {
	s := &sync.State{}
	for _, a := range all {
		s.Apply(a.version, a.committed)
	}
	return s
}

func TestLawUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b, c sync.Antichain
		for _, w := range history(t) {
			part := rapid.IntRange(0, 6).Draw(t, "part") + 1 // a write may be in more than one
			for i, set := range []*sync.Antichain{&a, &b, &c} {
				if part&(1<<i) != 0 {
					*set, _, _ = set.Add(w.version)
				}
			}
		}
		ab := showSet(union(a, b))
		if ba := showSet(union(b, a)); ab != ba {
			t.Fatalf("not commutative: a with b is\n%s\nb with a is\n%s", ab, ba)
		}
		left, right := showSet(union(union(a, b), c)), showSet(union(a, union(b, c)))
		if left != right {
			t.Fatalf("not associative: (a with b) with c is\n%s\na with (b with c) is\n%s", left, right)
		}
		if aa := showSet(union(a, a)); aa != showSet(a) {
			t.Fatalf("not idempotent: a with a is\n%s\na is\n%s", aa, showSet(a))
		}
		if again := showSet(union(union(a, b), a)); again != ab {
			t.Fatalf("not idempotent: (a with b) with a is\n%s\na with b is\n%s", again, ab)
		}
	})
}

// TestLawConvergence: any order of arrival, with repetitions, comes to what the
// definition says.
func TestLawConvergence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := history(t)
		want := visible(outcome(all))
		if got := visible(apply(all)); got != want {
			t.Fatalf("in commit order\n%s\nwant\n%s", got, want)
		}
		other := rapid.Permutation(all).Draw(t, "order")
		if len(other) > 0 {
			for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(other)-1), 0, 5).Draw(t, "repeated") {
				other = append(other, other[i])
			}
		}
		if got := visible(apply(other)); got != want {
			t.Fatalf("in another order\n%s\nwant\n%s", got, want)
		}
	})
}

// TestLawCausality: a version that another one includes never stands beside it
// or wins over it, at any time.
func TestLawCausality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.Permutation(history(t)).Draw(t, "order")
		var s sync.State
		for i, a := range all {
			s.Apply(a.version, a.committed)
			for j := range s.Versions {
				m := &s.Versions[j]
				for _, b := range all[:i+1] {
					if includes(b.version.Clock, m.Clock) && !includes(m.Clock, b.version.Clock) {
						t.Fatalf("%s stands, though %s includes it", showVersion(m), showVersion(&b.version))
					}
				}
				if j > 0 && beats(m, &s.Versions[0]) {
					t.Fatalf("%s is the winner, not %s", showVersion(&s.Versions[0]), showVersion(m))
				}
			}
		}
	})
}

// TestLawNothingIsLost: after each write, in any order of arrival,
//
//   - every version that stands and does not win is in a conflict;
//   - every version that left the set, or never came into it, is included by one
//     that stands, and where that has an equal clock and other content it is in
//     a conflict;
//   - a write whose device had written otherwise under the same counter (fork), or
//     under a greater one (stale), and that is not seen in the result, is in a
//     conflict when it first comes; so is one that such a fork replaces.
func TestLawNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.Permutation(history(t)).Draw(t, "order")
		if rapid.Bool().Draw(t, "commit order") {
			all = nil
			all = append(all, history(t)...)
		}
		var s sync.State
		o := observer{recorded: map[string]bool{}, dots: map[string]map[sync.Dot]bool{}}
		for _, a := range all {
			before := append(sync.Antichain{}, s.Versions...)
			conflicts, _ := s.Apply(a.version, a.committed)
			for i := range conflicts {
				o.recorded[conflicts[i].Loser.ID()] = true
				if conflicts[i].Winner.ID() != s.Versions[0].ID() || conflicts[i].Winner.ID() == conflicts[i].Loser.ID() {
					t.Fatalf("a conflict says that %s won", showVersion(&conflicts[i].Winner))
				}
			}
			o.observe(t, before, &s, a.clamped())
		}
	})
}

// TestLawRevision: another winner, or another clock, has a greater revision, by
// which devices learn of it; and the server's time of the change.
func TestLawRevision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sync.State
		winner := ""
		for _, a := range history(t) {
			before := s
			_, changed := s.Apply(a.version, a.committed)
			news := s.Versions[0].ID() != winner || s.Clock.Compare(before.Clock) != sync.Equal
			winner = s.Versions[0].ID()
			if news && (s.Revision <= before.Revision || !changed || !s.Updated.Equal(a.committed)) {
				t.Fatalf("%s made\n%s\nof\n%s", showVersion(&a.version), show(&s), show(&before))
			}
			if s.Revision < before.Revision || s.Revision > before.Revision+1 {
				t.Fatalf("revision %d after %d", s.Revision, before.Revision)
			}
		}
	})
}

// observer knows what was written and recorded so far.
type observer struct {
	recorded map[string]bool              // ids of losers
	dots     map[string]map[sync.Dot]bool // by device
}

func (o *observer) observe(t *rapid.T, before sync.Antichain, s *sync.State, v sync.Version) {
	stands := map[string]bool{}
	for i := range s.Versions {
		m := &s.Versions[i]
		stands[m.ID()] = true
		if i > 0 && !o.recorded[m.ID()] {
			t.Fatalf("%s lost to %s and is in no conflict", showVersion(m), showVersion(&s.Versions[0]))
		}
	}
	counter := v.Clock.Counter(v.Device)
	for _, r := range append(before, v) {
		if stands[r.ID()] || o.recorded[r.ID()] {
			continue
		}
		included := false
		for i := range s.Versions {
			m := &s.Versions[i]
			included = included || includes(m.Clock, r.Clock) && !includes(r.Clock, m.Clock)
		}
		if !included {
			t.Fatalf("%s is gone, is in no conflict, and nothing includes it", showVersion(&r))
		}
		if stands[v.ID()] && r.Device == v.Device && counter > 0 && r.Clock.Counter(r.Device) == counter && r.Content != v.Content {
			t.Fatalf("%s was replaced by its fork %s and is in no conflict", showVersion(&r), showVersion(&v))
		}
	}
	dot := sync.Dot{Counter: counter, Content: v.Content}
	if counter > 0 && !o.dots[v.Device][dot] && !stands[v.ID()] && v.Content != s.Versions[0].Content && !o.recorded[v.ID()] {
		for d := range o.dots[v.Device] {
			if d.Counter >= counter {
				t.Fatalf("%s was dropped, though its device wrote %v before, and is in no conflict", showVersion(&v), d)
			}
		}
	}
	if o.dots[v.Device] == nil {
		o.dots[v.Device] = map[sync.Dot]bool{}
	}
	if counter > 0 {
		o.dots[v.Device][dot] = true
	}
}

// TestLawRepetition: the rows of sync_state, read again later as a repair reads
// them or sent again by their devices, change nothing.
func TestLawRepetition(t *testing.T) {
	const later = time.Minute
	clamped := func(a applied, _ time.Time) bool { return !a.clamped().LastModified.Equal(a.version.LastModified) }
	sound := func(a applied, now time.Time) bool { return !clamped(a, now) }
	ahead := func(a applied, now time.Time) bool { return clamped(applied{a.version, now}, now) } // still
	forked := func(s *sync.State, v *sync.Version) bool {
		return slices.ContainsFunc(s.Versions, func(m sync.Version) bool {
			return m.Clock.Compare(v.Clock) == sync.Equal && m.Content != v.Content
		})
	}
	for _, law := range []struct {
		name string
		of   func(a applied, now time.Time) bool
		same func(*sync.State) string
	}{
		{"KeepsTheResult", sound, result},
		{"KeepsTheResolution", sound, show},
		{"KeepsTheResultOfClocksAhead", ahead, show},
	} {
		t.Run(law.name, rapid.MakeCheck(func(t *rapid.T) {
			all := history(t)
			s := apply(all)
			latest := map[string]applied{}
			for _, a := range all {
				latest[a.version.Device] = a
			}
			if len(all) == 0 {
				return
			}
			now := all[len(all)-1].committed.Add(later)
			before := law.same(s)
			for _, name := range slices.Sorted(maps.Keys(latest)) {
				a := latest[name]
				if !law.of(a, now) || ahead(a, now) && forked(s, &a.version) {
					continue
				}
				s.Apply(a.version, now)
				if after := law.same(s); after != before {
					t.Fatalf("%s came again and made of\n%s\nthis:\n%s", showVersion(&a.version), before, after)
				}
			}
		}))
	}
}

// result is what a client sees of a state, and what tells it to read again.
func result(s *sync.State) string { return fmt.Sprintf("%s\nrevision %d", visible(s), s.Revision) }
