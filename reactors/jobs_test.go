package reactors_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// TestPruneInbox: rows of the inbox go once the checkpoint has passed them, and
// not before.
func TestPruneInbox(t *testing.T) {
	b := newBench(t)
	b.exec(t, "insert into helix.inbox (table_name, op, key) select 'x', 'DELETE', '{}' from generate_series(1, 5)")
	inbox := &replication.Relation{Namespace: "helix", Name: "inbox", Columns: []replication.Column{
		{Name: "id", Key: true}, {Name: "table_name"}, {Name: "op"}, {Name: "key"}, {Name: "user_id"}}}
	text := func(s string) replication.Value { return replication.Value{Kind: replication.Text, Data: []byte(s)} }
	tx := b.transaction(replication.Change{Op: replication.Insert, Relation: inbox, New: replication.Tuple{
		text("1"), text("x"), text("DELETE"), text("{}"), {Kind: replication.Null}}})
	if err := b.d.Apply(t.Context(), batch(tx)); err != nil {
		t.Fatal(err)
	}
	jobs, err := reactors.NewJobs(b.pool, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := jobs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := jobs.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	// Let the scheduled job come at once, again and again.
	hurry := func(what string, done string) {
		t.Helper()
		deadline := time.Now().Add(30 * time.Second)
		for tick := time.NewTicker(50 * time.Millisecond); !query[bool](t, b, done); <-tick.C {
			if time.Now().After(deadline) {
				t.Fatalf("waited for %s", what)
			}
			b.exec(t, "update helix.river_job set state = 'available', scheduled_at = now() where state = 'scheduled'")
		}
	}
	// The checkpoint of this test is far behind the server's WAL, so the rows
	// are not passed yet, whatever the job's first mark was.
	hurry("two jobs", "select count(*) >= 2 from helix.river_job where state = 'completed'")
	if n := query[int](t, b, "select count(*) from helix.inbox"); n != 5 {
		t.Fatalf("%d of 5 rows are left though the checkpoint has not passed them", n)
	}
	b.exec(t, "update helix.checkpoints set lsn = pg_current_wal_lsn() + 1000000000")
	// Nor are those that nobody knows to have been published.
	hurry("two more jobs", "select count(*) >= 4 from helix.river_job where state = 'completed'")
	if n := query[int](t, b, "select count(*) from helix.inbox"); n != 5 {
		t.Fatalf("%d of 5 rows are left though the publication is not verified", n)
	}
	// Nor are those that another slot of this database has yet to bring to its helixd. It is
	// there before the publication is verified: a job may be under way.
	other := b.db.SlotName("other")
	b.exec(t, `select pg_create_logical_replication_slot('`+other+`', 'pgoutput');
		insert into helix.checkpoints (slot, system_identifier, lsn, epoch) values ('`+other+`', '1', '0/0', 1)`)
	b.exec(t, `insert into helix.leaders (slot, epoch, holder, verified_lsn)
		select slot, epoch, 'test', pg_current_wal_lsn() + 1000000000 from helix.checkpoints where slot <> '`+other+`'`)
	hurry("two more jobs again", "select count(*) >= 6 or not exists (select from helix.inbox) from helix.river_job where state = 'completed'")
	if n := query[int](t, b, "select count(*) from helix.inbox"); n != 5 {
		t.Fatalf("%d of 5 rows are left though another slot has not passed them", n)
	}
	// One that is no more needs nothing.
	b.exec(t, "select pg_drop_replication_slot('"+other+"')")
	hurry("the inbox to be empty", "select not exists (select from helix.inbox)")
	hurry("the last job", "select not exists (select from helix.river_job where state not in ('completed'))")
}

// TestEndedJobs: what names a user who may be gone does not stay for a day.
func TestEndedJobs(t *testing.T) {
	b := newBench(t)
	b.exec(t, `insert into helix.river_job (kind, max_attempts, state, args, finalized_at)
		select 'k', 1, s::helix.river_job_state, '{}', now() - ago * interval '1 minute'
		from unnest(array['completed', 'cancelled']) s, unnest(array[1, 6]) ago`)
	jobs, err := reactors.NewJobs(b.pool, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := jobs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := jobs.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	deadline := time.Now().Add(90 * time.Second) // River looks every 30
	for tick := time.NewTicker(50 * time.Millisecond); query[int](t, b, "select count(*) from helix.river_job where kind = 'k'") > 2; <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("they stay")
		}
	}
	if n := query[int](t, b, "select count(*) from helix.river_job where finalized_at > now() - interval '3 minutes'"); n != 2 {
		t.Errorf("%d of 2 that have just ended are left", n)
	}
}

// starter is a Service that cannot start while there is an error.
type starter struct {
	err              error
	started, stopped int
}

func (*starter) Configure(*river.Config)           {}
func (*starter) Details() (string, map[string]any) { return "", nil }
func (s *starter) Stop(context.Context)            { s.stopped++ }
func (s *starter) Start(context.Context, *reactors.Jobs) error {
	if s.err == nil {
		s.started++
	}
	return s.err
}

// TestStartAgain: what was begun before an error is begun once, and ends.
func TestStartAgain(t *testing.T) {
	b := newBench(t)
	noRoom := errors.New("no room")
	for name, again := range map[string]bool{"GivenUp": false, "Again": true} {
		t.Run(name, func(t *testing.T) {
			first, second := &starter{}, &starter{err: noRoom}
			jobs, err := reactors.NewJobs(b.pool, true, nil, reactors.With(first), reactors.With(second))
			if err != nil {
				t.Fatal(err)
			}
			if err := jobs.Start(t.Context()); !errors.Is(err, noRoom) {
				t.Errorf("Start: %v", err)
			}
			if again {
				second.err = nil
				if err := jobs.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := jobs.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
			want := starter{noRoom, 0, 0}
			if again {
				want = starter{nil, 1, 1}
			}
			if *first != (starter{nil, 1, 1}) || *second != want {
				t.Errorf("the services: %+v and %+v", *first, *second)
			}
			if n := query[int](t, b, "select count(*) from helix.workers where holder = $1", jobs.Holder()); n != 0 {
				t.Error("it says still that it works jobs")
			}
		})
	}
}

// TestResumeAForgottenQueue: of a queue that nobody works, as one of a reactor that
// is off, River drops the row after a day. Its pause must end all the same, and with
// it those of the others.
func TestResumeAForgottenQueue(t *testing.T) {
	b := newBench(t)
	jobs, err := reactors.NewJobs(b.pool, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	queues := []string{"forgotten", "worked"}
	if err := pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error { return jobs.PauseQueues(t.Context(), tx, queues) }); err != nil {
		t.Fatal(err)
	}
	b.exec(t, "delete from helix.river_queue where name = 'forgotten'")
	if err := pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error { return jobs.ResumeQueues(t.Context(), tx, queues) }); err != nil {
		t.Error(err)
	}
	if got := query[string](t, b, "select string_agg(name || (paused_at is null), ', ') from helix.river_queue"); got != "workedtrue" {
		t.Errorf("the queues: %s", got)
	}
}
