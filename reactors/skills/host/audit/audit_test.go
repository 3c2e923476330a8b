package audit_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/skills/host/audit"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

type bench struct{ reactortest.Project }

func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{Project: reactortest.NewProject(t)}
}

func (b *bench) append(t testing.TB, entries ...audit.Entry) {
	t.Helper()
	if err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error { return audit.Append(t.Context(), tx, entries) }); err != nil {
		t.Fatal(err)
	}
}

// verify gives the breaks and the heads.
func (b *bench) verify(t testing.TB, v audit.Verification) (audit.Summary, []string, []audit.Head) {
	t.Helper()
	var breaks []string
	var heads []audit.Head
	v.Break = func(b audit.Break) { breaks = append(breaks, fmt.Sprintf("%s %d %s", b.User, b.Seq, b.What)) }
	v.Head = func(h audit.Head) { heads = append(heads, h) }
	sum, err := audit.Verify(t.Context(), b.Admin, v)
	if err != nil {
		t.Fatal(err)
	}
	return sum, breaks, heads
}

func entry(user uuid.UUID, n int) audit.Entry {
	return audit.Entry{User: user, At: time.Date(2026, 3, 4, 12, 0, n, 123456789, time.UTC), Run: uuid.NewSHA1(uuid.Nil, []byte{byte(n)}), Skill: uuid.NewSHA1(uuid.Nil, []byte("skill")),
		Event: audit.Event{Kind: audit.HostCall, Call: "http.fetch", Target: "x.example", Sent: n, Outcome: "<ok> & \"é\" \u2028"}}
}

func TestAppend(t *testing.T) {
	b := newBench(t)
	one, two := b.User(t), b.User(t)
	t.Run("makes a chain of each user's entries", func(t *testing.T) {
		b.append(t, entry(two, 1), entry(one, 1), audit.Entry{User: two, At: time.Unix(0, 0), Event: audit.Event{Kind: audit.Granted}}, entry(two, 2))
		b.append(t, entry(two, 3))
		b.append(t)
		sum, breaks, heads := b.verify(t, audit.Verification{})
		if sum != (audit.Summary{Chains: 2, Entries: 5}) || len(breaks) > 0 {
			t.Errorf("%+v, %v", sum, breaks)
		}
		for _, h := range heads {
			if want := map[uuid.UUID]int64{one: 1, two: 4}[h.User]; h.Seq != want {
				t.Errorf("%s, want %d entries", h, want)
			}
			if again, err := audit.ParseHead(h.String()); err != nil || again.String() != h.String() {
				t.Errorf("%s is read as %s, %v", h, again, err)
			}
		}
		var order string
		if err := b.Admin.QueryRow(t.Context(), "select string_agg(coalesce(event->>'bytes_sent', '-'), ' ' order by seq) from helix.audit where user_id = $1", two).Scan(&order); err != nil || order != "1 - 2 3" {
			t.Errorf("the order is %q, %v", order, err)
		}
	})
	t.Run("with the transaction or not at all", func(t *testing.T) {
		tx, err := b.Pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := audit.Append(t.Context(), tx, []audit.Entry{entry(one, 9)}); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if sum, breaks, _ := b.verify(t, audit.Verification{User: &one}); sum.Entries != 1 || sum.Chains != 1 || len(breaks) > 0 {
			t.Errorf("%+v %v", sum, breaks)
		}
	})
	t.Run("leaves nothing of an account that is gone, and the others' chains", func(t *testing.T) {
		gone := b.User(t)
		b.append(t, entry(gone, 1))
		b.DB.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", gone)
		b.append(t, entry(gone, 2), entry(one, 2))
		sum, breaks, _ := b.verify(t, audit.Verification{})
		if sum != (audit.Summary{Chains: 2, Entries: 6}) || len(breaks) > 0 {
			t.Errorf("%+v %v", sum, breaks)
		}
	})
	t.Run("waits for an account that is being deleted, and drops its entries", func(t *testing.T) {
		gone := b.User(t)
		b.append(t, entry(gone, 1))
		admin := b.DB.Connect(t, "supabase_auth_admin")
		tx, err := admin.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "delete from auth.users where id = $1", gone); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			done <- pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error {
				return audit.Append(t.Context(), tx, []audit.Entry{entry(gone, 2), entry(one, 3)})
			})
		}()
		for waits := false; !waits; {
			if err := b.Admin.QueryRow(t.Context(), "select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')").Scan(&waits); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-done:
				t.Fatalf("it did not wait: %v", err)
			default:
			}
		}
		if err := tx.Commit(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if sum, breaks, _ := b.verify(t, audit.Verification{}); sum != (audit.Summary{Chains: 2, Entries: 7}) || len(breaks) > 0 {
			t.Errorf("%+v %v", sum, breaks)
		}
	})
	t.Run("at once from many sides breaks no chain", func(t *testing.T) {
		users := []uuid.UUID{b.User(t), b.User(t), b.User(t)}
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Go(func() {
				for i := range 20 {
					// Each in another order: the locks are taken in one.
					batch := []audit.Entry{entry(users[(g+i)%3], i), entry(users[(g+i+1)%3], i), entry(users[(g+i+2)%3], i)}
					if err := pgx.BeginFunc(t.Context(), b.Pool, func(tx pgx.Tx) error { return audit.Append(t.Context(), tx, batch) }); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		sum, breaks, _ := b.verify(t, audit.Verification{})
		if sum.Chains != 5 || sum.Entries != 7+360 || len(breaks) > 0 {
			t.Errorf("%+v %v", sum, breaks)
		}
	})
}

func TestTampering(t *testing.T) {
	b := newBench(t)
	user, other := b.User(t), b.User(t)
	for i := range 5 {
		b.append(t, entry(user, i), entry(other, i))
	}
	_, _, seen := b.verify(t, audit.Verification{})
	const row = " where user_id = $1 and seq = 3"
	for name, test := range map[string]struct {
		sql  string
		want string // after the user
		args int
	}{
		"another time":                {sql: "update helix.audit set at = at + interval '1 microsecond'" + row, want: "3 its hash"},
		"no time":                     {sql: "update helix.audit set at = 'infinity'" + row, want: "3 its time"},
		"another run":                 {sql: "update helix.audit set run_id = gen_random_uuid()" + row, want: "3 its hash"},
		"no run":                      {sql: "update helix.audit set run_id = null" + row, want: "3 its hash"},
		"another skill":               {sql: "update helix.audit set skill_id = run_id" + row, want: "3 its hash"},
		"skill and run exchanged":     {sql: "update helix.audit set skill_id = run_id, run_id = skill_id" + row, want: "3 its hash"},
		"another event":               {sql: "update helix.audit set event = event || '{\"target\": \"y.example\"}'" + row, want: "3 its hash"},
		"an event with more":          {sql: "update helix.audit set event = event || '{\"x\": null}'" + row, want: "3 its hash"},
		"an event with less":          {sql: "update helix.audit set event = event - 'call'" + row, want: "3 its hash"},
		"a number spelled otherwise":  {sql: "update helix.audit set event = event || '{\"bytes_sent\": 2.0}'" + row, want: "3 its hash"},
		"a number as text":            {sql: "update helix.audit set event = event || '{\"bytes_sent\": \"2\"}'" + row, want: "3 its hash"},
		"another prev_hash":           {sql: "update helix.audit set prev_hash = hash" + row, want: "3 prev_hash"},
		"another hash":                {sql: "update helix.audit set hash = prev_hash" + row, want: "3 its hash"},
		"no hash":                     {sql: "update helix.audit set hash = ''" + row, want: "3 its hash"},
		"another number":              {sql: "update helix.audit set seq = 6" + row, want: "4 entry 3 is missing"},
		"the last with another one":   {sql: "update helix.audit set seq = 7 where user_id = $1 and seq = 5", want: "7 entry 5 is missing"},
		"an entry of another's chain": {sql: "update helix.audit a set user_id = $1, seq = 6 from (select $2::uuid as u) o where a.user_id = o.u and seq = 5", want: "6 prev_hash", args: 2},
		"the first gone":              {sql: "delete from helix.audit where user_id = $1 and seq = 1", want: "2 entry 1 is missing"},
		"one gone":                    {sql: "delete from helix.audit" + row, want: "4 entry 3 is missing"},
		"the last gone":               {sql: "delete from helix.audit where user_id = $1 and seq = 5", want: "0 the chain ends at 4, and its head is at 5"},
		"all gone":                    {sql: "delete from helix.audit where user_id = $1", want: "0 the chain has no entries, and its head is at 5"},
		"two exchanged":               {sql: "update helix.audit a set at = b.at, run_id = b.run_id, event = b.event from helix.audit b where a.user_id = $1 and b.user_id = $1 and a.seq + b.seq = 7 and a.seq in (3, 4)", want: "3 its hash"},
		"two exchanged with hashes":   {sql: "update helix.audit a set at = b.at, run_id = b.run_id, event = b.event, hash = b.hash, prev_hash = b.prev_hash from helix.audit b where a.user_id = $1 and b.user_id = $1 and a.seq + b.seq = 7 and a.seq in (3, 4)", want: "3 prev_hash"},
		"one more":                    {sql: "insert into helix.audit select user_id, 6, at, run_id, skill_id, event, hash, hash from helix.audit where user_id = $1 and seq = 5", want: "6 its hash"},
		"no head":                     {sql: "delete from helix.audit_heads where user_id = $1", want: "0 the chain has no head"},
		"a head before":               {sql: "update helix.audit_heads set seq = 4 where user_id = $1", want: "0 the chain ends at 5"},
		"a head with another hash":    {sql: "update helix.audit_heads set hash = '' where user_id = $1", want: "0 the chain ends at 5"},
		"cut off with its head": {sql: `with gone as (delete from helix.audit where user_id = $1 and seq = 5 returning prev_hash)
			update helix.audit_heads set seq = 4, hash = prev_hash from gone where user_id = $1`, want: "0 the chain ends at 4, and was expected to reach 5"},
		"gone with its head": {sql: "with gone as (delete from helix.audit where user_id = $1) delete from helix.audit_heads where user_id = $1", want: "0 the chain was expected to reach 5 and is gone"},
	} {
		t.Run(name+" is found", func(t *testing.T) {
			b.Exec(t, "create temp table a as table helix.audit")
			b.Exec(t, "create temp table h as table helix.audit_heads")
			args := []any{user, other}[:max(test.args, 1)]
			b.Exec(t, test.sql, args...)
			_, breaks, _ := b.verify(t, audit.Verification{Expect: seen})
			b.Exec(t, "delete from helix.audit; delete from helix.audit_heads; insert into helix.audit table a; insert into helix.audit_heads table h; drop table a, h")
			breaks = slices.DeleteFunc(breaks, func(b string) bool { return !strings.HasPrefix(b, user.String()) })
			if len(breaks) != 1 || !strings.HasPrefix(breaks[0], user.String()+" "+test.want) {
				t.Errorf("found %v, want %s", breaks, test.want)
			}
		})
	}
	t.Run("and a chain written anew only by its expected head", func(t *testing.T) {
		b.Exec(t, "delete from helix.audit where user_id = $1", user)
		b.Exec(t, "delete from helix.audit_heads where user_id = $1", user)
		for i := range 6 {
			b.append(t, entry(user, i+100))
		}
		if _, breaks, _ := b.verify(t, audit.Verification{}); len(breaks) != 0 {
			t.Errorf("found %v, which no chain can show", breaks)
		}
		if _, breaks, _ := b.verify(t, audit.Verification{Expect: seen}); len(breaks) != 1 || !strings.Contains(breaks[0], "5 its hash is not the expected one") {
			t.Errorf("found %v", breaks)
		}
		if _, breaks, _ := b.verify(t, audit.Verification{Expect: seen, User: &other}); len(breaks) != 0 {
			t.Errorf("of another user, found %v", breaks)
		}
	})
	t.Run("of no more than was expected is not", func(t *testing.T) {
		b.append(t, entry(other, 9))
		if _, breaks, _ := b.verify(t, audit.Verification{Expect: seen, User: &other}); len(breaks) != 0 {
			t.Errorf("found %v", breaks)
		}
	})
}

func TestLog(t *testing.T) {
	e := entry(uuid.New(), 1)
	inline := audit.Entry{At: e.At, Event: audit.Event{Kind: audit.Denied, Capability: "kv", Outcome: "capability_refused"}}
	b, err := audit.Log([]audit.Entry{e, inline})
	var lines []map[string]any
	if err != nil || json.Unmarshal(b, &lines) != nil || len(lines) != 2 {
		t.Fatalf("%s, %v", b, err)
	}
	if got := slices.Sorted(maps.Keys(lines[1])); !slices.Equal(got, []string{"at", "capability", "event", "outcome"}) {
		t.Errorf("an entry has %v", got)
	}
	if lines[0]["skill_id"] != e.Skill.String() || lines[0]["at"] != "2026-03-04T12:00:01.123456Z" {
		t.Errorf("the entry is %v", lines[0])
	}
	if b, err := audit.Log(nil); err != nil || string(b) != "[]" {
		t.Errorf("no entries are %s, %v", b, err)
	}
}

func TestGrant(t *testing.T) {
	b := newBench(t)
	user := b.User(t)
	b.Exec(t, "insert into skills (user_id, name) values ($1, 'x')", user)
	b.Exec(t, "insert into skill_grants (user_id, skill_id, sha256, capability) select $1, id, repeat('a', 64), 'kv' from skills", user)
	b.Exec(t, "delete from skills")
	rows, err := b.Admin.Query(t.Context(), "select op, key::text from helix.inbox where table_name = 'skill_grants' order by id")
	if err != nil {
		t.Fatal(err)
	}
	var op, key string
	var got []string
	if _, err := pgx.ForEachRow(rows, []any{&op, &key}, func() error {
		e, err := audit.Grant(user, []byte(key), op == "INSERT", time.Now())
		if e.User != user || e.Skill == uuid.Nil || e.Run != uuid.Nil {
			t.Errorf("entry %+v", e)
		}
		got = append(got, e.Event.Kind+" "+e.Event.Capability+" "+e.Event.SHA256[:1])
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []string{"granted kv a", "revoked kv a"}) {
		t.Errorf("entries %v", got)
	}
	if _, err := audit.Grant(user, []byte(`{"skill_id": "x"}`), true, time.Now()); err == nil {
		t.Error("a key of no skill is one")
	}
}

// BenchmarkAppend commits what 20 runs of 20 users tell, five entries each.
func BenchmarkAppend(b *testing.B) {
	bench := newBench(b)
	var entries []audit.Entry
	for range 20 {
		user := bench.User(b)
		for i := range 5 {
			entries = append(entries, entry(user, i))
		}
	}
	for b.Loop() {
		bench.append(b, entries...)
	}
	b.ReportMetric(float64(len(entries)*b.N)/b.Elapsed().Seconds(), "entries/s")
}
