package reactors_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// noter notes each row that it sees. n = 0 violates a constraint of noted.
type noter struct{}

func (noter) Name() string     { return "noter" }
func (noter) Writes() []string { return []string{"public.noted"} }

func (noter) Watches() []reactors.Watch {
	return []reactors.Watch{
		{Table: "public.doc", Ops: []replication.Op{replication.Insert, replication.Update, replication.Delete}, Columns: []string{"id", "n"}},
		{Table: "public.choice", Ops: []replication.Op{replication.Update}},
	}
}

func (noter) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	for i := range rows {
		row := &rows[i]
		var key, n string
		if row.Watch == 1 || row.Op == replication.Delete {
			raw, user := row.InboxKey()
			key, n = string(raw), user
		} else {
			key, _ = row.Text(0)
			n, _ = row.Text(1)
		}
		if _, err := tx.Exec(ctx, "insert into noted (op, key, n) values ($1, $2, $3)", row.Op.String(), key, n); err != nil {
			return err
		}
	}
	return nil
}

const (
	docA = "00000000-0000-0000-0000-00000000000a"
	docB = "00000000-0000-0000-0000-00000000000b"
	docC = "00000000-0000-0000-0000-00000000000c"
)

// looker looks at the table that it watches, while somebody waits to alter it.
type looker struct {
	noter
	alter func(ctx context.Context) error
}

func (looker) Watches() []reactors.Watch { return noter{}.Watches()[:1] }

func (l looker) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	if err := l.alter(ctx); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "select from doc where n = 1 for update")
	return err
}

// TestAlteredMeanwhile: an ALTER TABLE that comes while the table is read waits for
// the apply, and not the apply for it, since the apply's own source keeps it waiting.
func TestAlteredMeanwhile(t *testing.T) {
	for name, read := range map[string]func(*testing.T, context.Context, *bench, reactors.Reactor) error{
		"InAReplay": func(t *testing.T, ctx context.Context, b *bench, _ reactors.Reactor) error {
			b.send(t, reactors.Replay{Table: "public.doc", Rows: []reactors.Version{b.version(t, docA)}})
			return b.d.Apply(ctx, batch(b.streamed(t)))
		},
		"InARetry": func(t *testing.T, ctx context.Context, b *bench, _ reactors.Reactor) error {
			id := query[int64](t, b, `insert into helix.dead_letters (slot, reactor, table_name, op, key, lsn, ordinal, error, committed_at)
				values ($1, 'noter', 'public.doc', 'INSERT', jsonb_build_object('id', $2::text), '0/1', 1, 'once', now()) returning id`, b.slot, docA)
			b.send(t, reactors.Replay{Letters: []reactors.Letter{{ID: id, Version: b.version(t, docA)[1]}}})
			return b.d.Apply(ctx, batch(b.streamed(t)))
		},
		"InACatchUp": func(_ *testing.T, ctx context.Context, b *bench, r reactors.Reactor) error {
			return b.d.CatchUp(ctx, []reactors.Reactor{r}, b.lsn+1, func(string, int) {})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b *bench
			altered := make(chan error, 1)
			r := looker{alter: func(ctx context.Context) error {
				go func() {
					_, err := b.pool.Exec(context.WithoutCancel(ctx), "alter table doc add column app text")
					altered <- err
				}()
				for {
					var waits bool
					err := b.admin.QueryRow(ctx, "select exists (select from pg_locks where relation = 'doc'::regclass and not granted)").Scan(&waits)
					if err != nil || waits {
						return err
					}
				}
			}}
			b = newBench(t, r)
			b.exec(t, "create table doc (id uuid primary key, n int); insert into doc values ('"+docA+"', 1)")
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if err := read(t, ctx, b, r); err != nil {
				t.Error(err)
			}
			if err := <-altered; err != nil {
				t.Error(err)
			}
		})
	}
}

func newReplayBench(t *testing.T) *bench {
	b := newBench(t, noter{})
	b.exec(t, `create table doc (id uuid primary key, n int);
		create table noted (op text, key text, n text check (n <> '0'), at int generated always as identity);
		create table choice (id uuid primary key default gen_random_uuid(), user_id uuid, name text);
		create trigger helix_inbox_update after update on choice referencing old table as gone new table as made for each statement
			execute function helix.write_inbox('name', '/', 'name');
		insert into doc values ('`+docA+`', 1), ('`+docB+`', 2), ('`+docC+`', 3)`)
	return b
}

// streamed gives the inbox as the stream brings it.
func (b *bench) streamed(t *testing.T) replication.Transaction {
	t.Helper()
	rel := &replication.Relation{Namespace: "helix", Name: "inbox"}
	for _, c := range []string{"id", "table_name", "op", "key", "user_id"} {
		rel.Columns = append(rel.Columns, replication.Column{Name: c})
	}
	rows, err := b.admin.Query(t.Context(), "select id::text, table_name, op, key::text from helix.inbox order by id")
	if err != nil {
		t.Fatal(err)
	}
	var changes []replication.Change
	for rows.Next() {
		tuple := make(replication.Tuple, 5)
		for i, raw := range rows.RawValues() {
			tuple[i] = replication.Value{Kind: replication.Text, Data: append([]byte(nil), raw...)}
		}
		tuple[4].Kind = replication.Null
		changes = append(changes, replication.Change{Op: replication.Insert, Relation: rel, New: tuple})
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return b.transaction(changes...)
}

func (b *bench) send(t *testing.T, r reactors.Replay) {
	t.Helper()
	r.ID = query[int64](t, b, "insert into helix.replays (slot) values ('x') returning id")
	if err := r.Send(t.Context(), b.pool); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) version(t *testing.T, id string) reactors.Version {
	t.Helper()
	return reactors.Version{id, query[string](t, b, "select xmin::text from doc where id = $1", id)}
}

func (b *bench) outcome(t *testing.T) string {
	t.Helper()
	return query[string](t, b, "select format('given %s, gone %s, changed %s, rejected %s', given, gone, changed, rejected) from helix.replays order by id desc limit 1")
}

const noted = "select coalesce(string_agg(op || ' ' || right(key, 1) || ' ' || n, ', ' order by at), '') from noted"

func TestReplay(t *testing.T) {
	t.Run("RowsAsTheyWere", func(t *testing.T) {
		b := newReplayBench(t)
		b.send(t, reactors.Replay{Table: "public.doc", Rows: []reactors.Version{b.version(t, docA), b.version(t, docB), b.version(t, docC)}})
		// One is written, and one deleted, before its turn comes: the stream tells of both.
		b.exec(t, "update doc set n = 20 where n = 2; delete from doc where n = 3")
		if err := b.d.Apply(t.Context(), batch(b.streamed(t))); err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, b, noted); got != "INSERT a 1" {
			t.Errorf("it noted %q", got)
		}
		if got := b.outcome(t); got != "given 1, gone 1, changed 1, rejected 0" {
			t.Error(got)
		}
	})
	t.Run("ToOneReactorOnly", func(t *testing.T) {
		b := newReplayBench(t)
		b.send(t, reactors.Replay{Table: "public.doc", Reactor: "another", Rows: []reactors.Version{b.version(t, docA)}})
		if err := b.d.Apply(t.Context(), batch(b.streamed(t))); err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, b, noted); got != "" {
			t.Errorf("it noted %q", got)
		}
	})
	t.Run("OfAnotherSlot", func(t *testing.T) {
		b := newReplayBench(t)
		rows := []reactors.Version{b.version(t, docA)}
		b.send(t, reactors.Replay{Slot: b.slot, Table: "public.doc", Rows: rows})
		b.send(t, reactors.Replay{Slot: "another", Table: "public.doc", Rows: rows})
		if err := b.d.Apply(t.Context(), batch(b.streamed(t))); err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, b, noted); got != "INSERT a 1" {
			t.Errorf("it noted %q", got)
		}
		if got := b.outcome(t); got != "given 0, gone 0, changed 0, rejected 0" {
			t.Error(got)
		}
		if got := query[string](t, b, "select string_agg(key ->> 'slot', ', ') from helix.inbox"); got != "another" {
			t.Errorf("the inbox has orders of %s", got)
		}
	})
	t.Run("WhatIsNotStreamedByItsKey", func(t *testing.T) {
		b := newReplayBench(t)
		b.exec(t, "insert into choice (user_id, name) values ('"+docB+"', 'x')")
		id := query[string](t, b, "select id::text from choice")
		b.send(t, reactors.Replay{Table: "public.choice", Rows: []reactors.Version{{id, query[string](t, b, "select xmin::text from choice")}}})
		if err := b.d.Apply(t.Context(), batch(b.streamed(t))); err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, b, "select op || key || n from noted"); got != `UPDATE{"name": "x"}`+docB {
			t.Errorf("it noted %q", got)
		}
	})
	t.Run("PoisonStandsAlone", func(t *testing.T) {
		b := newReplayBench(t)
		b.exec(t, "update doc set n = 0 where n = 2")
		b.send(t, reactors.Replay{Table: "public.doc", Rows: []reactors.Version{b.version(t, docA), b.version(t, docB), b.version(t, docC)}})
		if err := b.d.Apply(t.Context(), batch(b.streamed(t))); err != nil {
			t.Fatal(err)
		}
		if got := b.outcome(t); got != "given 3, gone 0, changed 0, rejected 1" {
			t.Error(got)
		}
		if got := query[string](t, b, "select key->>'id' || sqlstate from helix.dead_letters"); got != docB+"23514" {
			t.Errorf("the dead letter is %q", got)
		}
		if n := query[int](t, b, "select count(*) from noted"); n != 2 {
			t.Errorf("%d rows were noted", n)
		}
	})
	t.Run("FencedWithItsBatch", func(t *testing.T) {
		b := newReplayBench(t)
		b.send(t, reactors.Replay{Table: "public.doc", Rows: []reactors.Version{b.version(t, docA)}})
		tx := b.streamed(t)
		b.exec(t, "update helix.checkpoints set epoch = epoch + 1")
		if err := b.d.Apply(t.Context(), batch(tx)); err == nil {
			t.Fatal("a leader of an older epoch committed")
		}
		if got := query[string](t, b, noted) + b.outcome(t); got != "given 0, gone 0, changed 0, rejected 0" {
			t.Error(got)
		}
	})
	t.Run("AfterWhatWasCommittedBefore", func(t *testing.T) {
		b := newReplayBench(t)
		b.send(t, reactors.Replay{Table: "public.doc", Rows: []reactors.Version{b.version(t, docA)}})
		told := b.streamed(t)
		rel := &replication.Relation{Namespace: "public", Name: "doc", Columns: []replication.Column{{Name: "id", Key: true}, {Name: "n"}}}
		before := b.transaction(replication.Change{Op: replication.Insert, Relation: rel, New: replication.Tuple{
			{Kind: replication.Text, Data: []byte(docC)}, {Kind: replication.Text, Data: []byte("3")}}})
		if err := b.d.Apply(t.Context(), batch(before, told)); err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, b, noted); got != "INSERT c 3, INSERT a 1" {
			t.Errorf("it noted %q", got)
		}
	})
	t.Run("OnceHoweverOftenARepairBringsIt", func(t *testing.T) {
		b := newReplayBench(t)
		b.send(t, reactors.Replay{Table: "public.doc", Rows: []reactors.Version{b.version(t, docA)}})
		told := b.streamed(t)
		for range 2 {
			if err := b.d.Apply(t.Context(), batch(told)); err != nil {
				t.Fatal(err)
			}
			told.CommitLSN, told.EndLSN = told.CommitLSN+1000, told.EndLSN+1000
		}
		if got := query[string](t, b, noted) + "; " + b.outcome(t); got != "INSERT a 1; given 1, gone 0, changed 0, rejected 0" {
			t.Error(got)
		}
	})
	t.Run("WhatAnotherHelixdWatchesHoldsNothingUp", func(t *testing.T) {
		b := newReplayBench(t)
		b.exec(t, "create table other (id uuid)")
		for _, table := range []string{"public.other", "public.never"} {
			b.send(t, reactors.Replay{Table: table, Rows: []reactors.Version{{docA, "1"}}})
			if err := b.d.Apply(t.Context(), batch(b.streamed(t))); err != nil {
				t.Fatal(err)
			}
			if got := b.outcome(t); got != "given 0, gone 1, changed 0, rejected 0" {
				t.Error(got)
			}
		}
	})
	t.Run("InARepairEachPoisonHasItsLetter", func(t *testing.T) {
		b := newReplayBench(t)
		b.exec(t, "update doc set n = 0 where n = 3; update doc set n = 0 where n = 1; update doc set n = 0 where n = 2")
		b.send(t, reactors.Replay{Table: "public.doc", Rows: []reactors.Version{b.version(t, docA), b.version(t, docB)}})
		snap, err := b.db.Connect(t, "postgres").Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // it only exports
		var name string
		if err := snap.QueryRow(t.Context(), "select pg_export_snapshot()").Scan(&name); err != nil {
			t.Fatal(err)
		}
		at := replication.Checkpoint{Slot: b.slot, SystemIdentifier: "1", LSN: b.lsn + 1000}
		if err := b.d.Backfill(t.Context(), name, at, "test", func(string, int) {}); err != nil {
			t.Fatal(err)
		}
		if n := query[int](t, b, "select count(distinct key->>'id') from helix.dead_letters"); n != 3 {
			t.Errorf("%d of 3 rows have a dead letter", n)
		}
	})
	t.Run("NoClientCanAskForIt", func(t *testing.T) {
		b := newReplayBench(t)
		user := b.db.NewUser(t)
		for name, conn := range map[string]*pgx.Conn{"user": b.db.AsUser(t, user.ID), "service": b.db.AsService(t)} {
			r := reactors.Replay{ID: 1, Table: "public.doc", Rows: []reactors.Version{{docA, "1"}}}
			if err := r.Send(t.Context(), conn); err == nil {
				t.Errorf("the %s could", name)
			}
		}
		content := fmt.Sprintf(`{"secret": "guessed", "replay": 1, "table": "public.doc", "rows": [["%s", "%s"]]}`, docA, b.version(t, docA)[1])
		message := replication.Change{Op: replication.Message, Transactional: true, Prefix: "helix", Content: []byte(content)}
		if err := b.d.Apply(t.Context(), batch(b.transaction(message))); err != nil {
			t.Fatal(err)
		}
		if got := query[string](t, b, noted); got != "" {
			t.Errorf("a message made it note %q", got)
		}
	})
}

func TestRetry(t *testing.T) {
	letter := func(t *testing.T, b *bench, op, key string) int64 {
		return query[int64](t, b, `insert into helix.dead_letters (slot, reactor, table_name, op, key, lsn, ordinal, error, committed_at)
			values ($1, 'noter', 'public.doc', $2, jsonb_build_object('id', $3::text), '0/1', hashtext($3), 'once', now()) returning id`, b.slot, op, key)
	}
	apply := func(t *testing.T, b *bench, letters ...reactors.Letter) {
		t.Helper()
		b.send(t, reactors.Replay{Letters: letters})
		if err := b.d.Apply(t.Context(), batch(b.streamed(t))); err != nil {
			t.Fatal(err)
		}
	}
	letters := "select coalesce(string_agg(right(key->>'id', 1) || ' ' || attempts || ' ' || coalesce(sqlstate, '-'), ', ' order by id), '') from helix.dead_letters"
	t.Run("SuccessTakesItAway", func(t *testing.T) {
		b := newReplayBench(t)
		one, two := letter(t, b, "INSERT", docA), letter(t, b, "UPDATE", docB)
		gone := letter(t, b, "DELETE", "00000000-0000-0000-0000-00000000000d")
		apply(t, b, reactors.Letter{ID: one, Version: b.version(t, docA)[1]}, reactors.Letter{ID: two, Version: b.version(t, docB)[1]}, reactors.Letter{ID: gone})
		if got := query[string](t, b, "select string_agg(op || n, ' ' order by at) from noted"); got != "INSERT1 UPDATE2 DELETE" {
			t.Errorf("it noted %q", got)
		}
		if got := query[string](t, b, letters) + b.outcome(t); got != "given 3, gone 0, changed 0, rejected 0" {
			t.Error(got)
		}
	})
	t.Run("FailureStaysUntilItIsMended", func(t *testing.T) {
		b := newReplayBench(t)
		b.exec(t, "update doc set n = 0 where n = 1")
		id := letter(t, b, "INSERT", docA)
		for attempts := range 2 {
			apply(t, b, reactors.Letter{ID: id, Version: b.version(t, docA)[1]})
			if got := query[string](t, b, letters); got != fmt.Sprintf("a %d 23514", attempts+2) {
				t.Errorf("the letters are %q", got)
			}
		}
		if got := b.outcome(t); got != "given 1, gone 0, changed 0, rejected 1" {
			t.Error(got)
		}
		b.exec(t, "alter table noted drop constraint noted_n_check")
		apply(t, b, reactors.Letter{ID: id, Version: b.version(t, docA)[1]})
		if got := query[string](t, b, letters); got != "" {
			t.Errorf("the letters are %q", got)
		}
	})
	t.Run("ARowThatIsGoneTakesItAway", func(t *testing.T) {
		b := newReplayBench(t)
		id := letter(t, b, "INSERT", docA)
		b.exec(t, "delete from doc where n = 1")
		apply(t, b, reactors.Letter{ID: id})
		if got := query[string](t, b, letters) + b.outcome(t); got != "given 0, gone 1, changed 0, rejected 0" {
			t.Error(got)
		}
	})
	t.Run("ARowThatWasWrittenSinceLeavesIt", func(t *testing.T) {
		b := newReplayBench(t)
		id, version := letter(t, b, "INSERT", docA), b.version(t, docA)[1]
		b.exec(t, "update doc set n = 10 where n = 1")
		apply(t, b, reactors.Letter{ID: id, Version: version})
		if got := query[string](t, b, letters) + b.outcome(t); got != "a 1 -given 0, gone 0, changed 1, rejected 0" {
			t.Error(got)
		}
	})
}
