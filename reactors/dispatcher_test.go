package reactors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

func TestApply(t *testing.T) {
	t.Run("PoisonGoesToDeadLettersAlone", func(t *testing.T) {
		b := newBench(t, copier{})
		tx := b.transaction()
		for id := range 40 {
			n := 1
			switch id {
			case 7, 23: // the database refuses it
				n = 0
			case 30: // the reactor does
				n = -1
			}
			tx.Changes = append(tx.Changes, row(b.source, id, n))
		}
		if err := b.d.Apply(t.Context(), batch(tx)); err != nil {
			t.Fatal(err)
		}
		if n := query[int](t, b, "select count(*) from target"); n != 37 {
			t.Errorf("%d of 37 good rows were applied", n)
		}
		got := query[string](t, b, `select string_agg(concat_ws(' ', reactor, table_name, op, key->>'id', ordinal,
			coalesce(sqlstate, '-'), lsn = $1::text::pg_lsn), e'\n' order by ordinal) from helix.dead_letters`, tx.CommitLSN.String())
		want := "copier public.source INSERT 7 7 23514 t\ncopier public.source INSERT 23 23 23514 t\ncopier public.source INSERT 30 30 - t"
		if got != want {
			t.Errorf("dead letters:\n%s\nwant:\n%s", got, want)
		}
		if n := query[int64](t, b, "select changes from helix.checkpoints"); n != 40 {
			t.Errorf("the checkpoint counts %d changes", n)
		}
	})
	t.Run("NotTheRowsFault", func(t *testing.T) {
		for _, state := range []string{"08006", "40001", "42703", "53100", "53200", "55P03", "57014", "58030", "XX000", "0A000", "25006", "F0000", "HV000"} {
			b := newBench(t, copier{fail: state})
			err := b.d.Apply(t.Context(), batch(b.transaction(row(b.source, 1, 1))))
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != state {
				t.Errorf("SQLSTATE %s: Apply returned %v", state, err)
			}
			if n := query[int](t, b, "select count(*) from helix.dead_letters"); n != 0 {
				t.Errorf("SQLSTATE %s made a dead letter", state)
			}
			if lsn := query[string](t, b, "select lsn::text from helix.checkpoints"); lsn != "0/0" {
				t.Errorf("SQLSTATE %s moved the checkpoint to %s", state, lsn)
			}
		}
	})
	t.Run("AnAppsTriggerRaises", func(t *testing.T) {
		// As PostgREST has them answer with a status of HTTP, as assert and CASE do, and what an app made up.
		states := []string{"PT403", "PGRST", "P0001", "P0002", "P0004", "20000", "21000", "27000", "44000", "MY001", "ZZ999", "42501"}
		b := newBench(t, copier{})
		b.exec(t, `create table says (id int, state text);
			create function say() returns trigger language plpgsql as $$ declare s text := (select state from says where id = new.id); begin
				if s is not null then raise exception using errcode = s; end if; return new; end $$;
			create trigger say before insert on target for each row execute function say()`)
		tx := b.transaction(row(b.source, 1000, 1))
		for id, state := range states {
			b.exec(t, fmt.Sprintf("insert into says values (%d, '%s')", id, state))
			tx.Changes = append(tx.Changes, row(b.source, id, 1))
		}
		if err := b.d.Apply(t.Context(), batch(tx)); err != nil {
			t.Fatal(err)
		}
		if got := query[[]string](t, b, "select array_agg(sqlstate order by ordinal) from helix.dead_letters"); !slices.Equal(got, states) {
			t.Errorf("dead letters of %v, want %v", got, states)
		}
		if n := query[int](t, b, "select count(*) from target"); n != 1 {
			t.Errorf("%d of 1 good rows were applied", n)
		}
	})
	t.Run("MissingRight", func(t *testing.T) { // said by the server itself, and of every row
		b := newBench(t, copier{})
		b.db.Exec(t, "supabase_admin", "alter table target owner to supabase_admin; revoke all on target from postgres, anon, authenticated, service_role")
		if err := b.d.Apply(t.Context(), batch(b.transaction(row(b.source, 1, 1)))); reactors.SQLState(err) != "42501" {
			t.Errorf("Apply returned %v", err)
		}
		if n := query[int](t, b, "select count(*) from helix.dead_letters"); n != 0 {
			t.Error("it made a dead letter")
		}
	})
	t.Run("LostConnection", func(t *testing.T) {
		b := newBench(t, copier{})
		part := b.transaction(row(b.source, 1, 1))
		end := part.EndLSN
		part.EndLSN = 0
		if err := b.d.Apply(t.Context(), &replication.Batch{Transactions: []replication.Transaction{part}, More: true}); err != nil {
			t.Fatal(err)
		}
		b.db.Exec(t, "supabase_admin", `select pg_terminate_backend(pid) from pg_stat_activity
			where state = 'idle in transaction' and datname = current_database()`)
		rest := part
		rest.Ordinal, rest.EndLSN, rest.Changes = 1, end, []replication.Change{row(b.source, 2, 2)}
		if err := b.d.Apply(t.Context(), batch(rest)); err == nil {
			t.Fatal("the second half was applied without the first")
		}
		if n := query[int](t, b, "select count(*) from target") + query[int](t, b, "select count(*) from helix.dead_letters"); n != 0 {
			t.Errorf("%d rows or dead letters are left", n)
		}
		whole := rest
		whole.Ordinal, whole.Changes = 0, []replication.Change{row(b.source, 1, 1), row(b.source, 2, 2)}
		if err := b.d.Apply(t.Context(), batch(whole)); err != nil {
			t.Fatal(err)
		}
		if n := query[int](t, b, "select count(*) from target"); n != 2 {
			t.Errorf("%d of 2 rows after the retry", n)
		}
	})
	t.Run("OwnWritesAreWithheld", func(t *testing.T) {
		b := newBench(t, copier{})
		secret := query[string](t, b, "select secret from helix.instance")
		mark := func(secret string) replication.Change {
			return replication.Change{Op: replication.Message, Transactional: true, Prefix: "helix",
				Content: []byte(`{"secret": "` + secret + `", "epoch": 1, "writes": {"copier": ["public.target"]}}`)}
		}
		err := b.d.Apply(t.Context(), batch(
			b.transaction(mark(secret), row(b.target, 1, 1), row(b.source, 10, 1)), // its own, and an app's trigger's
			b.transaction(mark("guessed"), row(b.target, 2, 1)),                    // somebody else's message
			b.transaction(row(b.target, 3, 1)),
		))
		if err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, b, "select string_agg(id::text, ' ' order by id) from target"); got != "10 2000 3000" {
			t.Errorf("target has %s", got)
		}
	})
	t.Run("Fenced", func(t *testing.T) {
		b := newBench(t, copier{})
		successor := b.dispatcher(t, copier{})
		err := b.d.Apply(t.Context(), batch(b.transaction(row(b.source, 1, 1))))
		if !errors.Is(err, reactors.ErrFenced) {
			t.Errorf("an old leader's apply: %v", err)
		}
		if err := successor.Apply(t.Context(), batch(b.transaction(row(b.source, 2, 2)))); err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, b, "select string_agg(id::text, ' ') from target"); got != "2" {
			t.Errorf("target has %s", got)
		}
		idle := &replication.Batch{EndLSN: b.lsn + 1000}
		if err := b.d.Apply(t.Context(), idle); !errors.Is(err, reactors.ErrFenced) {
			t.Errorf("an old leader's checkpoint: %v", err)
		}
	})
	t.Run("FencedByName", func(t *testing.T) {
		b := newBench(t, copier{})
		// Another one has the lead, and has not begun its epoch yet.
		b.exec(t, "insert into source values (1, 1)")
		b.exec(t, fmt.Sprintf("insert into helix.leaders (slot, epoch, holder) values ('%s', 2, 'another')", b.slot))
		if _, err := b.d.Lead(t.Context(), "test"); !errors.Is(err, reactors.ErrFenced) {
			t.Errorf("an old leader's epoch: %v", err)
		}
		snapshot, err := b.admin.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
		if err != nil {
			t.Fatal(err)
		}
		var name string
		if err := snapshot.QueryRow(t.Context(), "select pg_export_snapshot()").Scan(&name); err != nil {
			t.Fatal(err)
		}
		for _, known := range []bool{true, false} {
			at := replication.Checkpoint{Slot: b.slot, SystemIdentifier: "1", LSN: b.lsn}
			if err := b.d.Backfill(t.Context(), name, at, "test", func(string, int) {}); !errors.Is(err, reactors.ErrFenced) {
				t.Errorf("an old leader's backfill, with a checkpoint %v: %v", known, err)
			}
			if _, err := b.pool.Exec(t.Context(), "delete from helix.checkpoints"); err != nil {
				t.Fatal(err)
			}
		}
		if err := snapshot.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := query[int](t, b, "select count(*) from target") + query[int](t, b, "select count(*) from helix.checkpoints"); n != 0 {
			t.Errorf("it left %d rows", n)
		}
	})
	t.Run("JobsCommitWithTheCheckpoint", func(t *testing.T) {
		b := newBench(t, copier{enqueue: true})
		tx := b.transaction(row(b.source, 1, 1), row(b.source, 2, 0), row(b.source, 3, 3))
		end := tx.EndLSN
		tx.EndLSN = 0
		if err := b.d.Apply(t.Context(), &replication.Batch{Transactions: []replication.Transaction{tx}, More: true}); err != nil {
			t.Fatal(err)
		}
		const kinds = "select coalesce(string_agg(args->>'slot', ' ' order by id), '') from helix.river_job"
		if got := query[string](t, b, kinds); got != "" {
			t.Errorf("jobs before the commit: %s", got)
		}
		tx.Ordinal, tx.EndLSN, tx.Changes = 3, end, nil
		if err := b.d.Apply(t.Context(), batch(tx)); err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, b, kinds); got != "job-1 job-3" {
			t.Errorf("jobs: %s", got)
		}
	})
	t.Run("MissingColumn", func(t *testing.T) {
		b := newBench(t, copier{})
		renamed := relation("source")
		renamed.Columns[1].Name = "m"
		err := b.d.Apply(t.Context(), batch(b.transaction(row(renamed, 1, 1))))
		if err == nil || !strings.Contains(err.Error(), "public.source is streamed without column n") {
			t.Errorf("Apply returned %v", err)
		}
	})
	t.Run("CheckpointNeverGoesBack", func(t *testing.T) {
		b := newBench(t, copier{})
		first, second := b.transaction(row(b.source, 1, 1)), b.transaction(row(b.source, 2, 2))
		if err := b.d.Apply(t.Context(), batch(second)); err != nil {
			t.Fatal(err)
		}
		if err := b.d.Apply(t.Context(), batch(first)); err == nil {
			t.Error("a batch from before the checkpoint was applied")
		}
	})
}

// feeder makes reactor graphs.
type feeder struct{ name, from, to string }

func (f feeder) Name() string              { return f.name }
func (f feeder) Writes() []string          { return []string{f.to} }
func (f feeder) Watches() []reactors.Watch { return []reactors.Watch{{Table: f.from}} }
func (feeder) React(context.Context, *reactors.Tx, []reactors.Row) error {
	return nil
}

func TestNewDispatcherRefusesLoops(t *testing.T) {
	b := newBench(t, copier{})
	jobs, err := reactors.NewJobs(b.pool, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	chain := []reactors.Reactor{feeder{"a", "t1", "t2"}, feeder{"b", "t2", "t3"}, feeder{"own", "t4", "t4"}}
	if _, err := reactors.NewDispatcher(t.Context(), b.pool, b.slot, jobs, b.log(), chain...); err != nil {
		t.Errorf("a chain is no loop: %v", err)
	}
	_, err = reactors.NewDispatcher(t.Context(), b.pool, b.slot, jobs, b.log(), append(chain, feeder{"c", "t3", "t1"})...)
	if err == nil || !strings.Contains(err.Error(), "feed each other") {
		t.Errorf("a loop of three: %v", err)
	}
}
