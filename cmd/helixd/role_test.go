package main_test

import (
	"fmt"
	"net/url"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// enqueue inserts jobs that can be worked at once. None of them finds anything
// to do, and each inserts its successor for a minute later.
func enqueue(t testing.TB, admin *pgx.Conn, name string, n int) {
	t.Helper()
	exec1(t, admin, `insert into helix.river_job (kind, max_attempts, args)
		select 'prune_inbox', 25, jsonb_build_object('slot', $1::text || n, 'lsn', 1, 'xid', 1) from generate_series(1, $2::int) n`, name, n)
}

// in counts them in a state, without their successors, which River inserted.
func in(t testing.TB, admin *pgx.Conn, name, state string) int {
	t.Helper()
	return get[int](t, admin, "select count(*) from helix.river_job where args->>'slot' like $1 || '%' and state::text = $2 and unique_key is null", name, state)
}

// completed counts them once they are done.
func completed(t testing.TB, admin *pgx.Conn, name string) int {
	t.Helper()
	return in(t, admin, name, "completed")
}

func TestRoles(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	app := db.AsUser(t, db.NewUser(t).ID)
	slot := db.SlotName("role")
	entity := uuid.New()

	worker := start(t, db.URL("postgres"), []string{"HELIX_ROLE=worker"}, "run", "--slot", slot)
	enqueue(t, admin, "first", 20)
	until(t, "the worker to work", func() bool { return completed(t, admin, "first") == 20 })
	if get[bool](t, admin, `select exists (select from pg_replication_slots where slot_name = $1)
			or exists (select from helix.leaders) or exists (select from pg_publication where pubname = 'helix')`, slot) {
		t.Error("the worker has opened the slot")
	}
	worker.stop(t)

	streamer := start(t, db.URL("postgres"), nil, "run", "--role", "stream", "--slot", slot)
	write(t, app, entity, "phone", `{"phone": 1}`, "one")
	resolvedTo(t, admin, entity, "one")
	enqueue(t, admin, "second", 20)
	write(t, app, entity, "phone", `{"phone": 2}`, "two")
	resolvedTo(t, admin, entity, "two")
	if n := get[int](t, admin, "select count(*) from helix.river_job where args->>'slot' like 'second%' and state <> 'available'"); n != 0 {
		t.Errorf("with --role stream, %d jobs were worked", n)
	}
	if get[bool](t, admin, "select exists (select from pg_stat_activity where datname = current_database() and query ilike 'listen%')") {
		t.Error("with --role stream, it listens for jobs")
	}

	standby := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	standby.standsBy(t)
	until(t, "a standby of role all to work jobs", func() bool { return completed(t, admin, "second") == 20 })
	if !streamer.leads(t, admin, slot) {
		t.Error("the standby leads")
	}
	streamer.stop(t)
	write(t, app, entity, "phone", `{"phone": 3}`, "three")
	resolvedTo(t, admin, entity, "three")
	standby.stop(t)
	for p, role := range map[*process]string{worker: "worker", streamer: "stream", standby: "all"} {
		if !p.says(`"role":"` + role + `"`) {
			t.Errorf("it does not say that it is %s", role)
		}
	}
}

func TestWorkerRefused(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	wrong, err := url.Parse(db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	wrong.User = url.UserPassword("postgres", "secretword")
	for name, c := range map[string]struct {
		url    string
		status int
		says   string
	}{
		"NotMigrated":   {db.URL("postgres"), 1, "Run: helixd migrate"},
		"WrongPassword": {wrong.String(), 1, "refuses the password"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, c.url, nil, "run", "--role", "worker")
			if status := p.wait(t); status != c.status || !p.says(c.says) {
				t.Errorf("exit status %d, want %d and %q", status, c.status, c.says)
			}
		})
	}
}

// TestWorkersShareJobs: and when one of them is killed, another one works what
// it was at.
func TestWorkersShareJobs(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	var workers []*process
	for range 2 {
		workers = append(workers, start(t, db.URL("postgres"), nil, "run", "--role", "worker"))
	}
	for _, w := range workers {
		until(t, "a worker", func() bool { return w.says("working jobs") })
	}
	jobs := 0
	until(t, "both to work", func() bool {
		if completed(t, admin, "shared") == jobs {
			enqueue(t, admin, fmt.Sprintf("shared%d-", jobs), 100)
			jobs += 100
		}
		return get[int](t, admin, "select count(distinct attempted_by[1]) from helix.river_job") == 2
	})
	until(t, "all jobs", func() bool { return completed(t, admin, "shared") == jobs })

	doomed := start(t, db.URL("postgres"), []string{"HELIX_FAILPOINT=job:5:stop"}, "run", "--role", "worker")
	enqueued := 0
	until(t, "a worker to stop in a job", func() bool {
		if completed(t, admin, "doomed") == enqueued {
			enqueue(t, admin, fmt.Sprintf("doomed%d-", enqueued), 50)
			enqueued += 50
		}
		return doomed.says("stopped job")
	})
	until(t, "the other workers to be done", func() bool {
		return in(t, admin, "doomed", "available") == 0
	})
	until(t, "only its own jobs to run", func() bool {
		return completed(t, admin, "doomed")+in(t, admin, "doomed", "running") == enqueued
	})
	if n := in(t, admin, "doomed", "running"); n == 0 {
		t.Fatal("it stopped in no job")
	}
	doomed.signal(t, syscall.SIGKILL)
	<-doomed.Done
	// Let the time of the rescue come.
	exec1(t, admin, "update helix.river_job set attempted_at = attempted_at - interval '1 hour' where args->>'slot' like 'doomed%' and state = 'running' and unique_key is null")
	until(t, "the killed one's jobs", func() bool {
		exec1(t, admin, "update helix.river_job set scheduled_at = now(), state = 'available' where state = 'retryable'")
		return completed(t, admin, "doomed") == enqueued
	})
	if n := get[int](t, admin, "select count(*) from helix.river_job where state in ('discarded', 'cancelled')"); n != 0 {
		t.Errorf("%d jobs were given up", n)
	}
	for _, w := range workers {
		w.stop(t)
	}
}
