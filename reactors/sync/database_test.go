package sync_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/sync"
	"github.com/helixd/helixd/replication"
)

// The database path gives what the pure merge gives, for any split into batches.

// row is a change of sync_state, and when it was committed.
type row struct {
	applied
	entity uuid.UUID
	retire bool // the row is deleted
	begins bool // a transaction
	base   int64
}

// script draws the histories of a few entities, as one sequence of transactions.
func script(t *rapid.T) []row {
	var histories [][]row
	for i := range rapid.IntRange(1, 3).Draw(t, "entities") {
		var rows []row
		id := uuid.NewSHA1(uuid.Nil, []byte{byte(i)})
		written := map[string]bool{}
		for _, a := range history(t) {
			written[a.version.Device] = true
			rows = append(rows, row{applied: a, entity: id})
			if rapid.IntRange(0, 11).Draw(t, "retires") == 0 && written[a.version.Device] {
				rows = append(rows, row{applied: a, entity: id, retire: true})
			}
		}
		histories = append(histories, rows)
	}
	var all []row
	for {
		histories = slices.DeleteFunc(histories, func(h []row) bool { return len(h) == 0 })
		if len(histories) == 0 {
			break
		}
		i := rapid.IntRange(0, len(histories)-1).Draw(t, "next")
		r := histories[i][0]
		histories[i] = histories[i][1:]
		r.begins = rapid.IntRange(0, 2).Draw(t, "begins") == 0
		all = append(all, r)
	}
	return all
}

// grow makes some contents long, so that they are TOASTed and too large for
// what conflicts hold of a winner.
func grow(v *sync.Version) {
	var content struct{ N int }
	if v.Data == nil || json.Unmarshal(v.Data, &content) != nil || content.N%4 != 3 {
		return
	}
	v.Data = big(strconv.Itoa(content.N))
	v.Content = sync.ContentHash(v.Data, v.Deleted)
}

// big is JSON of some 12 KB that hardly compresses, in jsonb's own form.
func big(seed string) []byte {
	var b strings.Builder
	for i := range 200 {
		h := sync.ContentHash(fmt.Appendf(nil, "%s %d", seed, i), false)
		b.WriteString(h + h[:8] + sync.ContentHash([]byte(h), true) + sync.ContentHash([]byte(h+h), true))
	}
	return []byte(`{"text": "` + b.String() + `"}`)
}

// commit writes a script, and dates its rows as the server did.
func (b *bench) commit(t *testing.T, rows []row) (messages [][]byte) {
	t.Helper()
	b.messages(t) // those of before
	if len(rows) == 0 {
		return nil
	}
	shift := time.Now().Truncate(time.Minute).Sub(rows[len(rows)-1].committed.Truncate(time.Minute))
	b.as(t, "begin")
	for i := range rows {
		r := &rows[i]
		if r.begins {
			b.as(t, "commit; begin")
		}
		if r.retire {
			b.as(t, "delete from sync_state where entity_id = $1 and device_id = $2", r.entity, r.version.Device)
			continue
		}
		r.version.LastModified = r.version.LastModified.Add(shift)
		b.sendUpon(t, r.entity, &r.version, r.base)
	}
	b.as(t, "commit")
	messages = b.messages(t)
	all, committed := changes(t, messages)
	if len(committed) != len(rows) {
		t.Fatalf("%d changes were streamed of %d", len(committed), len(rows))
	}
	for i := range rows {
		rows[i].committed = committed[i]
		if !rows[i].retire {
			rows[i].version.LastModified = lastModified(t, &all[i])
		}
	}
	return messages
}

// lastModified is a row's, which the server bounds by its own time.
func lastModified(t *testing.T, c *replication.Change) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04:05.999999-07", string(c.New[c.Relation.Index("last_modified")].Data))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// pure is what State.Apply makes of the rows: the states, and of each losing
// version the first conflict.
func pure(rows []row, states map[uuid.UUID]*sync.State, conflicts map[string]string) {
	for _, r := range rows {
		s := states[r.entity]
		if s == nil {
			s = &sync.State{}
			states[r.entity] = s
		}
		if r.retire {
			continue // what is known of the device stays
		}
		lost, _ := s.Apply(r.version, r.committed)
		for _, c := range lost {
			id := r.entity.String() + c.Loser.ID()
			if _, ok := conflicts[id]; !ok {
				if len(c.Winner.Data) > 4096 {
					c.Winner.Data = []byte("(not kept)")
				}
				conflicts[id] = fmt.Sprintf("%s %s at %s | lost %s | won %s\n", r.entity, c.Kind,
					c.At.UTC().Format(time.RFC3339Nano), showVersion(&c.Loser), showVersion(&c.Winner))
			}
		}
	}
}

// conflicts are those of the database, in the same words.
func (b *bench) conflicts(t *testing.T) string {
	t.Helper()
	rows, err := b.admin.Query(t.Context(), `select entity_id::text, kind, created_at, versions->1, versions->0,
		(versions->1->'data')::text, coalesce((versions->0->'data')::text, '(not kept)'),
		strategy = 'last_write_wins' and resolved and resolved_at = created_at and resolution = (versions->0) - 'data'
			and (versions->0->>'won')::bool and not (versions->1->>'won')::bool and jsonb_array_length(versions) = 2
		from sync_conflicts`)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for rows.Next() {
		var entity, kind string
		var at time.Time
		var sides [2]struct {
			Device   string          `json:"device_id"`
			Clock    json.RawMessage `json:"vector_clock"`
			Modified time.Time       `json:"last_modified"`
			Deleted  bool
		}
		var lost, won string
		var sound bool
		if err := rows.Scan(&entity, &kind, &at, &sides[0], &sides[1], &lost, &won, &sound); err != nil {
			t.Fatal(err)
		}
		if !sound {
			t.Errorf("a conflict of %s is not recorded as a resolved one of last_write_wins", entity)
		}
		line := fmt.Sprintf("%s %s at %s | ", entity, kind, at.UTC().Format(time.RFC3339Nano))
		for i, data := range []string{lost, won} {
			if data == "null" {
				data = ""
			}
			v := sync.Version{Device: sides[i].Device, Clock: parse(t, sides[i].Clock), LastModified: sides[i].Modified,
				Deleted: sides[i].Deleted, Data: []byte(data)}
			line += []string{"lost ", " | won "}[i] + showVersion(&v)
		}
		all = append(all, line+"\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// same compares the database with the pure results.
func (b *bench) same(t *testing.T, states map[uuid.UUID]*sync.State, conflicts map[string]string) {
	t.Helper()
	if n := b.count(t, "sync_entities"); n != len(states) {
		t.Errorf("%d entities, want %d", n, len(states))
	}
	for id, s := range states {
		if got, want := show(b.state(t, id)), show(s); got != want {
			t.Errorf("entity %s:%s", id, differ(got, want))
		}
	}
	if got, want := b.conflicts(t), strings.Join(slices.Sorted(maps.Values(conflicts)), ""); got != want {
		t.Errorf("conflicts:%s", differ(got, want))
	}
	if n := b.count(t, "helix.dead_letters"); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}

// differ tells the lines that only one of two texts has, long ones shortened.
func differ(got, want string) string {
	var b strings.Builder
	for _, side := range []struct{ name, in, notIn string }{{"got", got, want}, {"want", want, got}} {
		others := strings.Split(side.notIn, "\n")
		for _, line := range strings.Split(side.in, "\n") {
			switch {
			case slices.Contains(others, line):
			case len(line) > 400:
				fmt.Fprintf(&b, "\n%s: %s... (%d bytes)", side.name, line[:400], len(line))
			default:
				fmt.Fprintf(&b, "\n%s: %s", side.name, line)
			}
		}
	}
	return b.String()
}

func TestDatabaseEqualsPureMerge(t *testing.T) {
	cases, seed := 20, rand.Int()
	if os.Getenv("HELIX_TEST_LONG") != "" {
		cases = 400
	}
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() != "0" {
		seed, _ = strconv.Atoi(f.Value.String())
	}
	b := newBench(t)
	scripts := rapid.Custom(script)
	for i := range cases {
		seed := (seed + i) % (1 << 52)
		ok := t.Run(fmt.Sprintf("Seed%d", seed), func(t *testing.T) {
			b.exec(t, "delete from sync_state")
			rows := scripts.Example(seed)
			for i := range rows {
				grow(&rows[i].version)
			}
			messages := b.commit(t, rows)
			states, conflicts := map[uuid.UUID]*sync.State{}, map[string]string{}
			pure(rows, states, conflicts)

			b.reset(t)
			b.deliver(t, messages, never)
			b.same(t, states, conflicts)
			want := b.dumpAll(t)
			rng := rand.New(rand.NewPCG(uint64(seed), 0))
			for name, cut := range map[string]func(int) bool{
				"each message alone": always,
				"few batches":        func(int) bool { return rng.IntN(20) == 0 },
				"many batches":       func(int) bool { return rng.IntN(3) == 0 },
			} {
				b.reset(t)
				b.deliver(t, messages, cut)
				if got := b.dumpAll(t); got != want {
					t.Errorf("%s, against one batch:%s", name, differ(got, want))
				}
			}

			// Again, on top of what they came to.
			if forkAhead(rows) {
				return
			}
			entities, siblings := b.visible(t), b.dump(t, "helix.sync_siblings")
			b.rewind(t)
			b.deliver(t, messages, func(int) bool { return rng.IntN(5) == 0 })
			if got := b.visible(t); got != entities {
				t.Errorf("a replay changed the entities:%s", differ(got, entities))
			}
			if got := b.dump(t, "helix.sync_siblings"); got != siblings {
				t.Errorf("a replay changed the siblings:%s", differ(got, siblings))
			}
			pure(rows, states, conflicts)
			b.same(t, states, conflicts)
		})
		if !ok {
			t.Logf("to reproduce: -run %s -rapid.seed=%d", t.Name(), seed)
			break
		}
	}
}

// forkAhead reports whether a device whose clock is ahead wrote two contents as
// one write: each time that one of them is told again while the other stands, it
// claims the server's later time, and wins (see TestLawRepetition).
func forkAhead(rows []row) bool {
	for i := range rows {
		for j := range rows[:i] {
			r, o := &rows[i], &rows[j]
			if r.retire || o.retire || r.entity != o.entity || r.version.Content == o.version.Content ||
				r.version.Clock.Compare(o.version.Clock) != sync.Equal {
				continue
			}
			if !r.clamped().LastModified.Equal(r.version.LastModified) || !o.clamped().LastModified.Equal(o.version.LastModified) {
				return true
			}
		}
	}
	return false
}

// visible is what a replay may not change; how the state came about it may.
func (b *bench) visible(t *testing.T) string {
	t.Helper()
	return query[string](t, b.admin, `select coalesce(string_agg((to_jsonb(e) - 'resolution' - 'updated_at')::text, E'\n' order by id), '')
		from sync_entities e`)
}
