package sync_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sync"
)

// unasked tells where the open questions are not one for each version beside the
// winner, against it; "" where they are.
func unasked(set sync.Antichain, open [][2]string) string {
	var want [][2]string
	for i := 1; i < len(set); i++ {
		want = append(want, [2]string{set[0].ID(), set[i].ID()})
	}
	order := func(x, y [2]string) int { return strings.Compare(x[0]+x[1], y[0]+y[1]) }
	slices.SortFunc(want, order)
	slices.SortFunc(open, order)
	if slices.Equal(open, want) {
		return ""
	}
	return fmt.Sprintf("the open questions are %v, want %v, of\n%s", open, want, showSet(set))
}

// TestLawQuestions: under manual, after each write and each decision,
//
//   - each version that stands beside the winner is in one open question, against
//     the winner, and no other question is open;
//   - what lost is in a conflict;
//   - an answer to a closed question changes nothing;
//   - a replay changes nothing that is seen, and asks nothing;
//   - a decision is shown as manual.
//
// Answers to all of them, in any order, end in one version and no question.
func TestLawQuestions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := sync.NewDisputed()
		o := observer{dots: map[string]map[sync.Dot]bool{}}
		check := func() {
			t.Helper()
			if wrong := unasked(d.Versions, slices.Collect(maps.Values(d.Questions()))); wrong != "" {
				t.Fatal(wrong)
			}
			if len(d.Versions) > 1 && d.Resolution != sync.Manual {
				t.Fatalf("%d versions stand, and the resolution is %s", len(d.Versions), d.Resolution)
			}
		}
		answer := func(n int, at time.Time) {
			t.Helper()
			pair, open := d.Questions()[n]
			before, asked := result(&d.State), d.Asked()
			d.Decide(n, []byte(fmt.Sprintf(`{"n": %d}`, rapid.IntRange(0, 3).Draw(t, "decision"))), rapid.IntRange(0, 4).Draw(t, "deletes") == 0, at)
			check()
			switch {
			case !open && (result(&d.State) != before || d.Asked() != asked):
				t.Fatalf("a late answer made\n%s\nof\n%s", result(&d.State), before)
			case open && d.Resolution != sync.Manual:
				t.Fatalf("a decision is shown as %s", d.Resolution)
			}
			for i := range d.Versions {
				if id := d.Versions[i].ID(); open && (id == pair[0] || id == pair[1]) {
					t.Fatalf("%s stands, though it was decided", showVersion(&d.Versions[i]))
				}
			}
		}
		now, all := noon, history(t)
		for _, a := range all {
			before := append(sync.Antichain{}, d.Versions...)
			d.Write(a.version, a.committed)
			check()
			o.recorded = d.Recorded()
			o.observe(t, before, &d.State, a.clamped())
			for now = a.committed; d.Asked() > 0 && rapid.IntRange(0, 3).Draw(t, "answers") == 0; {
				answer(rapid.IntRange(0, d.Asked()-1).Draw(t, "question"), now)
			}
		}
		versions, asked := showSet(d.Versions), d.Asked()
		for _, a := range all {
			if a.clamped().LastModified.Equal(a.version.LastModified) { // else it is another claim
				d.Write(a.version, now)
			}
		}
		if got := showSet(d.Versions); got != versions || d.Asked() != asked {
			t.Fatalf("a replay made\n%s\nof\n%s", got, versions)
		}
		for n := len(d.Versions); len(d.Questions()) > 0; n-- {
			if n <= 1 {
				t.Fatal("there is no end of questions")
			}
			answer(rapid.SampledFrom(slices.Sorted(maps.Keys(d.Questions()))).Draw(t, "question"), now)
		}
		if len(all) > 0 && len(d.Versions) != 1 {
			t.Fatalf("all is decided, and what stands is\n%s", showSet(d.Versions))
		}
	})
}

// round is what is committed between two deliveries.
type round struct {
	messages [][]byte
	answers  map[string]string // resolutions by the ids of conflicts
}

// open are the questions in the database: IDs of their versions.
func (b *bench) open(t *testing.T) (open [][2]string, ids []string) {
	t.Helper()
	all := query[[]string](t, b.admin, `select coalesce(array_agg(concat_ws(' ', id, versions->0->>'version', versions->1->>'version')
		order by id), '{}') from sync_conflicts where not resolved`)
	for _, s := range all {
		f := strings.Fields(s)
		ids, open = append(ids, f[0]), append(open, [2]string{f[1], f[2]})
	}
	return open, ids
}

// TestDatabaseManualQuestions: users decide between writes, in time and late. Any
// split into batches gives the same rows, and a replay asks nothing.
func TestDatabaseManualQuestions(t *testing.T) {
	b := newBench(t)
	b.policy(t, "manual", "{}")
	histories := rapid.Custom(history)
	answered := 0
	seeds(t, 12, 200, func(t *testing.T, seed int) {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		b.exec(t, "delete from sync_state")
		b.reset(t)
		b.messages(t) // those of before
		var rounds []round
		check := func() {
			t.Helper()
			open, _ := b.open(t)
			if wrong := unasked(b.state(t, note).Versions, open); wrong != "" {
				t.Error(wrong)
			}
		}
		for part := range slices.Chunk(histories.Example(seed), 1+rng.IntN(6)) {
			rows := make([]row, len(part))
			for i, a := range part {
				rows[i] = row{applied: a, entity: note, begins: rng.IntN(3) == 0}
				grow(&rows[i].version)
			}
			r := round{answers: map[string]string{}}
			_, ids := b.open(t)
			late := rng.IntN(2) == 0
			if late {
				r.messages = b.commit(t, rows)
			}
			for _, id := range ids {
				if rng.IntN(2) == 0 {
					r.answers[id] = []string{`{"winner": 0}`, `{"winner": 1}`, `{"data": {"n": 7}}`, `{"deleted": true}`}[rng.IntN(4)]
					b.as(t, "update sync_conflicts set resolution = $2 where id = $1", id, r.answers[id])
					answered++
				}
			}
			r.messages = append(r.messages, b.messages(t)...)
			if !late {
				r.messages = append(r.messages, b.commit(t, rows)...)
			}
			b.deliver(t, r.messages, never)
			check()
			rounds = append(rounds, r)
		}
		if len(rounds) == 0 {
			return
		}
		want := b.dumpAll(t)
		for name, cut := range cuts(seed) {
			b.reset(t)
			for _, r := range rounds {
				for id, resolution := range r.answers {
					b.exec(t, "update sync_conflicts set resolution = $2 where id = $1", id, resolution)
				}
				b.deliver(t, r.messages, cut)
				check()
			}
			if got := b.dumpAll(t); got != want {
				t.Errorf("%s:%s", name, differ(got, want))
			}
		}
		entities, siblings, open := b.visible(t), b.dump(t, "helix.sync_siblings"), b.dump(t, "(select * from sync_conflicts where strategy = 'manual' and kind = 'concurrent')")
		b.rewind(t)
		for _, r := range rounds {
			b.deliver(t, r.messages, func(int) bool { return rng.IntN(5) == 0 })
		}
		if got := b.visible(t); got != entities {
			t.Errorf("a replay changed the entities:%s", differ(got, entities))
		}
		if got := b.dump(t, "helix.sync_siblings"); got != siblings {
			t.Errorf("a replay changed the siblings:%s", differ(got, siblings))
		}
		if got := b.dump(t, "(select * from sync_conflicts where strategy = 'manual' and kind = 'concurrent')"); got != open {
			t.Errorf("a replay changed the questions:%s", differ(got, open))
		}
		if n := b.count(t, "helix.dead_letters"); n != 0 {
			t.Errorf("%d dead letters", n)
		}
	})
	if answered == 0 {
		t.Error("nothing was ever answered")
	}
}
