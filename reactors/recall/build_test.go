package recall_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/recall"
)

// TestInterruptedBuild: one process makes the index at a time, while users write; what an interrupted
// one leaves is dropped, and the index made.
func TestInterruptedBuild(t *testing.T) {
	const dimensions = 16
	var user string
	b := adopted(t, dimensions, func(b *bench) {
		user = b.user(t)
		b.fill(t, user, 500, dimensions, 0)
	})
	app := b.DB.AsUser(t, user)
	// A transaction that has written keeps the build from going on.
	writer := b.DB.Connect(t, "postgres")
	if _, err := writer.Exec(t.Context(), "begin; update memories set content = 'x' where content = 'memory 1'"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	building := b.service(t, large)
	ended := make(chan error, 1)
	go func() { ended <- building.Tend(ctx) }()
	b.until(t, "the build to wait", "select exists (select from pg_stat_progress_create_index where relid = 'memories'::regclass and phase like 'waiting%')")
	if ran, err := b.service(t, large).Maintain(t.Context()); ran || err != nil {
		t.Errorf("a second process made it, too: %v", err)
	}
	if _, details := building.Details(); details != nil && details["healthy"] != true {
		t.Errorf("while it is made: %v", details)
	}
	if _, err := app.Exec(t.Context(), "insert into memories (content, embedding) values ('meanwhile', array_fill(1, array[16])::vector)"); err != nil {
		t.Error(err)
	}
	if got := b.recalled(t, app, user, b.randomVector(t, dimensions, 0), 10); got != 1 {
		t.Errorf("recall %.2f while the index is made", got)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	b.until(t, "the session to end", "select not exists (select from pg_locks where locktype = 'advisory' and objid = ($1::bigint & 4294967295)::oid)", int64(recall.Lock))
	if !get[bool](t, b.Admin, "select not indisvalid from pg_index where indexrelid = to_regclass('memories_recall_idx')") {
		t.Fatal("the interrupted build left nothing to be dropped")
	}
	if _, err := writer.Exec(t.Context(), "commit"); err != nil {
		t.Fatal(err)
	}
	b.tend(t, building)
	if !get[bool](t, b.Admin, ready) {
		t.Error("there is no index")
	}
	if _, details := building.Details(); details["healthy"] != true || details["reason"] != nil {
		t.Errorf("once it is made: %v", details)
	}
}

// TestAdoption: the index of whole precision that earlier versions made is
// replaced; an app's own stays, and keeps nobody from their memories.
func TestAdoption(t *testing.T) {
	const dimensions = 16
	var user string
	b := adopted(t, dimensions, func(b *bench) {
		user = b.user(t)
		b.fill(t, user, 300, dimensions, 0)
		b.fill(t, b.user(t), 3000, dimensions, 20)
		b.Exec(t, "create index memories_embedding_idx on memories using hnsw (embedding vector_cosine_ops)")
		b.Exec(t, "create index mine on memories using hnsw (embedding vector_cosine_ops) with (m = 4)")
	})
	app := b.DB.AsUser(t, user)
	check := func(want string) {
		t.Helper()
		if got := get[string](t, b.Admin, "select string_agg(relname, ' ' order by relname) from pg_class c join pg_am a on a.oid = c.relam where a.amname = 'hnsw'"); got != want {
			t.Errorf("vector indexes %s, want %s", got, want)
		}
		for range 3 {
			if got := b.recalled(t, app, user, b.randomVector(t, dimensions, 20), 10); got != 1 {
				t.Errorf("recall %.2f with %s", got, want)
			}
		}
	}
	check("memories_embedding_idx mine")
	b.Exec(t, "analyze memories") // as autovacuum does at any time, and other plans come of it
	check("memories_embedding_idx mine")
	b.tend(t, b.service(t, large))
	check("memories_recall_idx mine")
	b.tend(t, b.service(t, large))
	b.Migrate(t)
	check("memories_recall_idx mine")
}

// TestJobs: the index is made at the start, and maintenance is a job by its schedule.
func TestJobs(t *testing.T) {
	var user string
	b := adopted(t, 8, func(b *bench) {
		user = b.user(t)
		b.fill(t, user, 200, 8, 0)
	})
	everySecond, err := recall.ParseSchedule("* * * * * *")
	if err != nil {
		t.Fatal(err)
	}
	s := recall.NewService(recall.Config{Budget: large, Schedule: everySecond}, b.Pool, zerolog.New(zerolog.NewTestWriter(t)))
	stop := reactortest.Work(t, b.Pool, reactors.With(s))
	b.until(t, "the index", ready)
	b.until(t, "maintenance", "select exists (select from helix.river_job where kind = 'recall_maintain' and state = 'completed')")
	b.until(t, "word of it", "select exists (select from helix.workers where details -> 'recall' ->> 'healthy' = 'true' and (details -> 'recall' ->> 'index_bytes')::bigint > 0)")
	stop()
	if n := get[int](t, b.Admin, "select count(*) from helix.river_job where kind = 'recall_maintain' and state = 'running'"); n != 0 {
		t.Errorf("%d jobs are left behind", n)
	}
}

// TestDeadlock: an index that was given up in a deadlock, as with a slot that was being
// made, is begun again soon.
func TestDeadlock(t *testing.T) {
	b := adopted(t, 8, func(b *bench) { b.fill(t, b.user(t), 50, 8, 0) })
	b.DB.Exec(t, "supabase_admin", "alter role postgres in database "+b.DB.Name()+" set deadlock_timeout = '4s'")
	slot := b.DB.Connect(t, "supabase_admin")
	for _, sql := range []string{"set deadlock_timeout = '1h'", "begin isolation level repeatable read", "select from memories limit 1"} {
		if _, err := slot.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	s := b.service(t, large)
	reactortest.Work(t, b.Pool, reactors.With(s))
	b.until(t, "the index to wait", `select exists (select from pg_locks l join pg_stat_activity a using (pid) where a.datname = current_database()
		and l.locktype = 'virtualxid' and not l.granted and a.query like 'create index concurrently%')`)
	for _, sql := range []string{"lock table memories in share update exclusive mode", "rollback"} {
		if _, err := slot.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	b.until(t, "the index", ready)
}

func TestParseSchedule(t *testing.T) {
	at := time.Date(2026, 11, 21, 3, 30, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"0 30 3 * * *":                    at.AddDate(0, 0, 1),
		"15 * * * * *":                    at.Add(15 * time.Second),
		"CRON_TZ=Asia/Tokyo 0 0 13 * * *": at.Add(30 * time.Minute),
		"0 0 0 29 2 *":                    time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC),
	} {
		s, err := recall.ParseSchedule(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := s.Next(at); !got.Equal(want) {
			t.Errorf("%q is due at %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "30 3 * * *", "@daily", "0 0 0 31 2 *", "x", "0 0 25 * * *", "CRON_TZ=Nowhere 0 0 3 * * *", "CRON_TZ=UTC"} {
		if _, err := recall.ParseSchedule(text); err == nil {
			t.Errorf("%q is a schedule", text)
		}
	}
}
