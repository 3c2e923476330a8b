package sync_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sync"
)

// policy sets the user's.
func (b *bench) policy(t *testing.T, strategy, options string) {
	t.Helper()
	b.as(t, `insert into sync_policies (entity_type, strategy, options) values ($1, $2, $3)
		on conflict (user_id, entity_type) do update set strategy = excluded.strategy, options = excluded.options`,
		entityType, strategy, options)
}

// mergeScript is edits of a few entities as transactions.
func mergeScript(t *rapid.T) []row {
	var rows []row
	for i := range rapid.IntRange(1, 2).Draw(t, "entities") {
		for _, e := range edits(t, true) {
			rows = append(rows, row{applied: e.applied, base: e.base, entity: uuid.NewSHA1(uuid.Nil, []byte{byte(i)}),
				begins: rapid.IntRange(0, 2).Draw(t, "begins") == 0})
		}
	}
	return rows
}

// cuts are ways to split messages into batches.
func cuts(seed int) map[string]func(int) bool {
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	return map[string]func(int) bool{
		"one batch":          never,
		"each message alone": always,
		"few batches":        func(int) bool { return rng.IntN(20) == 0 },
		"many batches":       func(int) bool { return rng.IntN(3) == 0 },
	}
}

func seeds(t *testing.T, short, long int, f func(t *testing.T, seed int)) {
	cases, seed := short, rand.Int()
	if os.Getenv("HELIX_TEST_LONG") != "" {
		cases = long
	}
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() != "0" {
		seed, _ = strconv.Atoi(f.Value.String())
	}
	for i := range cases {
		seed := (seed + i) % (1 << 52)
		if !t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) { f(t, seed) }) {
			t.Logf("to reproduce: -run %s -rapid.seed=%d", t.Name(), seed)
			break
		}
	}
}

// TestDatabaseEqualsMerge: any split into batches comes to the same rows, which
// are those of the pure merge; and a replay changes nothing.
func TestDatabaseEqualsMerge(t *testing.T) {
	b := newBench(t)
	b.policy(t, "merge", `{"arrays": {"t": "set"}}`)
	scripts := rapid.Custom(mergeScript)
	seeds(t, 15, 300, func(t *testing.T, seed int) {
		bounded := seed%3 == 0
		if bounded {
			sync.LowerMaxKept(t, 1+seed%5)
		}
		b.exec(t, "delete from sync_state")
		rows := scripts.Example(seed)
		messages := b.commit(t, rows)
		states, merges := map[uuid.UUID]*sync.State{}, map[uuid.UUID]*sync.Merge{}
		conflicts := map[string]bool{}
		for _, r := range rows {
			if merges[r.entity] == nil {
				states[r.entity], merges[r.entity] = &sync.State{}, &sync.Merge{}
			}
			clashes, _ := merges[r.entity].Apply(states[r.entity], r.version, r.base, r.committed, mergePolicy)
			for i := range clashes {
				versions, err := clashes[i].MarshalJSON()
				if err != nil {
					t.Fatal(err)
				}
				conflicts[fmt.Sprintf("%s %s %s", r.entity, clashes[i].Kind, query[string](t, b.admin, "select $1::text::jsonb::text", string(versions)))] = true
			}
		}
		var want string
		for name, cut := range cuts(seed) {
			b.reset(t)
			b.deliver(t, messages, cut)
			for id, s := range states {
				merges[id].Finish(s)
				if got, want := show(b.state(t, id)), show(s); got != want {
					t.Errorf("%s: entity %s:%s", name, id, differ(got, want))
				}
			}
			if n := b.count(t, "helix.dead_letters"); n != 0 {
				t.Errorf("%d dead letters", n)
			}
			rows, err := b.admin.Query(t.Context(), "select format('%s %s %s', entity_id, kind, versions) from sync_conflicts")
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				var c string
				if err := rows.Scan(&c); err != nil {
					t.Fatal(err)
				}
				if !conflicts[c] {
					t.Errorf("%s: a conflict that the pure merge has not: %s", name, c)
				}
			}
			if got := b.dumpAll(t); want == "" {
				want = got
			} else if got != want {
				t.Errorf("%s, against another split:%s", name, differ(got, want))
			}
			if t.Failed() {
				return
			}
		}
		b.rewind(t)
		b.deliver(t, messages, never)
		if got := b.dumpAll(t); got != want && !bounded && !slices.ContainsFunc(rows, func(r row) bool { return r.base > 0 }) {
			t.Errorf("a replay changed:%s", differ(got, want))
		}
	})
}

// TestDatabasePolicies: whatever the policy was before, and is now, any split
// comes to the same rows; so do the user's decisions.
func TestDatabasePolicies(t *testing.T) {
	b := newBench(t)
	scripts := rapid.Custom(mergeScript)
	strategies := []string{"last_write_wins", "merge", "manual"}
	seeds(t, 18, 300, func(t *testing.T, seed int) {
		if seed%2 == 0 {
			sync.LowerMaxKept(t, 1+seed%5)
		}
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		before, after := strategies[seed%3], strategies[seed/3%3]
		t.Logf("%s, then %s", before, after)
		b.exec(t, "delete from sync_state")
		b.reset(t)
		rows := scripts.Example(seed)
		half := len(rows) / 2
		if half == 0 {
			return
		}
		b.policy(t, before, "{}")
		first := b.commit(t, rows[:half])
		b.deliver(t, first, never)
		var decided []string
		open := query[[]string](t, b.admin, "select coalesce(array_agg(id::text order by id), '{}') from sync_conflicts where not resolved")
		for _, id := range open {
			if rng.IntN(2) == 0 {
				decided = append(decided, fmt.Sprintf(`update sync_conflicts set resolution = '%s' where id = '%s'`,
					[]string{`{"winner": 0}`, `{"winner": 1}`, `{"data": {"a": 77}}`, `{"deleted": true}`}[rng.IntN(4)], id))
			}
		}
		b.messages(t)
		for _, sql := range decided {
			b.as(t, sql)
		}
		decisions := b.messages(t)
		second := append(decisions, b.commit(t, rows[half:])...)
		var want string
		for name, cut := range cuts(seed) {
			b.reset(t)
			b.policy(t, before, "{}")
			b.deliver(t, first, never)
			for _, sql := range decided {
				b.as(t, sql)
			}
			b.policy(t, after, "{}")
			b.deliver(t, second, cut)
			if n := b.count(t, "helix.dead_letters"); n != 0 {
				t.Fatalf("%d dead letters: %s", n, b.dump(t, "helix.dead_letters"))
			}
			if got := b.dumpAll(t); want == "" {
				want = got
			} else if got != want {
				t.Fatalf("%s, against another split:%s", name, differ(got, want))
			}
		}
		for _, sql := range decided {
			id := sql[strings.LastIndex(sql, "= '")+3 : len(sql)-1]
			if !query[bool](t, b.admin, "select resolved and resolved_at is not null from sync_conflicts where id = $1", id) {
				t.Errorf("the decision %s was not taken", sql)
			}
		}
	})
}

// TestDatabaseSeedsAndSetsAside: the first version under merge, set aside as
// stale, was not all that there is.
func TestDatabaseSeedsAndSetsAside(t *testing.T) {
	b := newBench(t)
	b.send(t, note, recently("phone", "phone:1", []byte(`{"a": 1}`), 30))
	b.send(t, note, recently("phone", "phone:2", []byte(`{"a": 2}`), 20))
	b.deliverNow(t)
	b.policy(t, "merge", "{}")
	b.send(t, note, recently("tablet", "phone:1 tablet:1", []byte(`{"a": 3}`), 10))
	b.deliverNow(t)
	got := query[string](t, b.admin, "select concat(e.resolution, ' ', e.data, ' ', c.kind) from sync_entities e, sync_conflicts c")
	if want := `merge {"a": 2} stale`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
