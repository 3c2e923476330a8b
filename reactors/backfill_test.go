package reactors_test

import (
	"context"
	"testing"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// mirror keeps target equal to source, deletes included.
type mirror struct{}

func (mirror) Name() string     { return "mirror" }
func (mirror) Writes() []string { return []string{"public.target"} }

func (mirror) Watches() []reactors.Watch {
	return []reactors.Watch{{Table: "public.source", Ops: []replication.Op{replication.Insert, replication.Update, replication.Delete},
		Columns: []string{"id", "n"}}}
}

func (mirror) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	for i := range rows {
		sql, args := "delete from target where id = ($1::jsonb->>'id')::int", []any{}
		if rows[i].Op == replication.Delete {
			key, _ := rows[i].InboxKey()
			args = append(args, string(key))
		} else {
			id, _ := rows[i].Text(0)
			n, _ := rows[i].Text(1)
			sql = "insert into target values ($1::text::int, $2::text::int) on conflict (id) do update set n = excluded.n"
			args = append(args, id, n)
		}
		if _, err := tx.Exec(ctx, sql, args...); err != nil {
			return err
		}
	}
	return nil
}

// TestBackfillKnowsDeletes: a slot that is lost takes the deletes since the
// checkpoint with it, but not the inbox's rows.
func TestBackfillKnowsDeletes(t *testing.T) {
	b := newBench(t, mirror{})
	b.exec(t, `create function tell() returns trigger language plpgsql as $$ begin
			insert into helix.inbox (table_name, op, key) select 'source', 'DELETE', jsonb_build_object('id', id) from gone;
			return null;
		end $$;
		create trigger tell after delete on source referencing old table as gone for each statement execute function tell();
		create table heir () inherits (source);
		insert into heir values (99, 1);
		insert into source select n, n from generate_series(1, 5000) n`)
	backfill := func(meanwhile string) {
		t.Helper()
		tx, err := b.admin.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it only exports
		var snapshot string
		if err := tx.QueryRow(t.Context(), "select pg_export_snapshot()").Scan(&snapshot); err != nil {
			t.Fatal(err)
		}
		b.db.Exec(t, "postgres", meanwhile)
		b.lsn += 1000
		at := replication.Checkpoint{Slot: b.slot, SystemIdentifier: "1", LSN: b.lsn, Published: "as it was"}
		if err := b.d.Backfill(t.Context(), snapshot, at, "test", func(string, int) {}); err != nil {
			t.Fatal(err)
		}
	}
	differ := "select count(*) from only source full join target using (id, n) where source.id is null or target.id is null"
	backfill("select 1")
	if n := query[int](t, b, differ); n != 0 {
		t.Fatalf("%d rows differ after the first backfill", n)
	}
	// No slot is there now. Another cluster's prune job must not survive either.
	b.exec(t, `delete from source where id % 2 = 0; insert into source values (2, 22), (6000, 1); delete from source where id = 6000;
		insert into helix.inbox (table_name, op, key) values ('helix.replays', 'INSERT', '{"slot": "another"}');
		insert into helix.river_job (kind, max_attempts, state, args) values ('prune_inbox', 5, 'scheduled', '{"slot": "`+b.slot+`"}')`)
	backfill("delete from source where id = 1")
	if n := query[int](t, b, differ); n != 1 { // 1 itself, which the stream brings
		t.Errorf("%d rows differ after the second backfill", n)
	}
	if n := query[int](t, b, "select count(*) from helix.inbox where key->>'id' = '1'"); n != 1 {
		t.Error("what came after the snapshot was removed from the inbox")
	}
	if got := query[string](t, b, "select string_agg(table_name, ', ' order by id) from helix.inbox"); got != "helix.replays, source" {
		t.Errorf("the inbox has rows of %s; what was applied goes with the backfill, and what is for another slot stays", got)
	}
	if n := query[int](t, b, "select count(*) from helix.river_job"); n != 0 {
		t.Errorf("%d jobs to prune the inbox are left", n)
	}
	if got := query[string](t, b, "select published || repairs || (repaired_at is not null) from helix.checkpoints"); got != "as it was2true" {
		t.Errorf("the checkpoint says %s", got)
	}
}
