package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// The durable drain does the same work with every library: arrays of some
// thousand rows, an upsert and a delete, one fsync for many source transactions,
// while the next changes are received. What differs is how much of exactly-once a
// library allows:
//
//	helixd          an apply transaction a batch, with the checkpoint in it
//	bare pglogrepl  the same, since the loop sees commits and their positions
//	go-pq-cdc       a listener sees neither: each batch commits by itself, its
//	                last row is acknowledged after, and the slot is the checkpoint.
//	                That is at least once, not in whole transactions, and less work.
const (
	targetTables = `create table %[1]s (like %[2]s including all) with (autovacuum_enabled = false);
		create table applied_up_to (slot text primary key, lsn pg_lsn not null);`
	targetSuffix = "_applied"

	// batchRows go into one statement, as helixd's.
	batchRows = stream.DefaultBatchRows

	checkpoint = `insert into applied_up_to values ($1, $2::text::pg_lsn) on conflict (slot) do update set lsn = excluded.lsn`
)

// rowBatch is what changes come to, by the first column, which is the key. It
// goes to the target in one round trip.
type rowBatch struct {
	changes int
	columns []pgtype.FlatArray[pgtype.Text] // of the rows as they are now
	at      map[string]int                  // where a key's row is
	gone    map[string]bool                 // keys without a row

	end replication.LSN // of the last commit; 0 when its transaction goes on
	ack func() error    // instead of end, where the library tells none
}

func newRowBatch() *rowBatch {
	return &rowBatch{at: map[string]int{}, gone: map[string]bool{}}
}

func (b *rowBatch) add(r *rowChange) {
	b.changes++
	if r.op == replication.Delete {
		b.remove(string(r.old[0]))
		return
	}
	if b.columns == nil {
		b.columns = make([]pgtype.FlatArray[pgtype.Text], len(r.new))
	}
	at, known := b.at[string(r.new[0])]
	for i, v := range r.new {
		value := pgtype.Text{String: string(v), Valid: v != nil}
		if known {
			b.columns[i][at] = value
		} else {
			b.columns[i] = append(b.columns[i], value)
		}
	}
	if !known {
		key := b.columns[0][len(b.columns[0])-1].String
		b.at[key] = len(b.columns[0]) - 1
		delete(b.gone, key)
	}
}

// remove puts the last row in the place of a deleted one.
func (b *rowBatch) remove(key string) {
	b.gone[key] = true
	at, known := b.at[key]
	if !known {
		return
	}
	last := len(b.columns[0]) - 1
	b.at[b.columns[0][last].String] = at
	delete(b.at, key)
	for i := range b.columns {
		b.columns[i][at] = b.columns[i][last]
		b.columns[i] = b.columns[i][:last]
	}
}

func (b *rowBatch) reset() {
	for i := range b.columns {
		b.columns[i] = b.columns[i][:0]
	}
	clear(b.at)
	clear(b.gone)
	b.changes, b.end, b.ack = 0, 0, nil
}

// target is the connection that changes are applied on.
type target struct {
	conn           *pgx.Conn
	slot           string
	upsert, delete string
	tx             pgx.Tx // of a source transaction that goes on
}

func openTarget(ctx context.Context, job drainJob) (*target, error) {
	conn, err := pgx.Connect(ctx, job.URL)
	if err != nil {
		return nil, err
	}
	t := &target{conn: conn, slot: job.Slot}
	return t, t.statements(ctx, job.Table+targetSuffix)
}

func (t *target) statements(ctx context.Context, table string) error {
	rows, err := t.conn.Query(ctx, `select attname, format_type(atttypid, null) from pg_attribute
		where attrelid = $1::text::regclass and attnum > 0 order by attnum`, table)
	if err != nil {
		return err
	}
	var names, casts, arrays, sets []string
	var name, kind string
	_, err = pgx.ForEachRow(rows, []any{&name, &kind}, func() error {
		names, casts = append(names, name), append(casts, "r."+name+"::"+kind)
		arrays, sets = append(arrays, fmt.Sprintf("$%d::text[]", len(names))), append(sets, name+" = excluded."+name)
		return nil
	})
	list := func(s []string) string { return strings.Join(s, ", ") }
	t.upsert = fmt.Sprintf("insert into %s select %s from unnest(%s) r(%s) on conflict (id) do update set %s",
		table, list(casts), list(arrays), list(names), list(sets[1:]))
	t.delete = "delete from " + table + " where id = any($1::bigint[])"
	return err
}

func (t *target) close() { _ = t.conn.Close(context.Background()) } // all is committed, or has failed

// apply makes the batch durable, if its end is known; else the batch that has one
// does.
func (t *target) apply(ctx context.Context, b *rowBatch) (err error) {
	batch := &pgx.Batch{} // one round trip; without a begin it is one transaction too
	if len(b.at) > 0 {
		arrays := make([]any, len(b.columns))
		for i := range b.columns {
			arrays[i] = b.columns[i]
		}
		batch.Queue(t.upsert, arrays...)
	}
	if len(b.gone) > 0 {
		keys := make([]string, 0, len(b.gone))
		for key := range b.gone {
			keys = append(keys, key)
		}
		batch.Queue(t.delete, "{"+strings.Join(keys, ",")+"}")
	}
	if b.ack != nil {
		if err := t.conn.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		return b.ack()
	}
	if b.end != 0 {
		batch.Queue(checkpoint, t.slot, b.end.String())
	} else if t.tx == nil {
		if t.tx, err = t.conn.Begin(ctx); err != nil {
			return err
		}
	}
	if err := t.conn.SendBatch(ctx, batch).Close(); err != nil || b.end == 0 || t.tx == nil {
		return err
	}
	err, t.tx = t.tx.Commit(ctx), nil
	return err
}
