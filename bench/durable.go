package main

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// The durable drain does the same work with every library: arrays of some
// thousand rows, one upsert statement, one fsync for many source transactions,
// while the next rows are received. What differs is how much of exactly-once a
// library allows:
//
//	helixd          an apply transaction a batch, with the checkpoint in it
//	bare pglogrepl  the same, since the loop sees commits and their positions
//	go-pq-cdc       a listener sees neither: each statement commits by itself, its
//	                last row is acknowledged after, and the slot is the checkpoint.
//	                That is at least once, not in whole transactions, and less work.
const targetTables = `
create table users_applied (id bigint primary key, name text not null, created_on timestamptz not null)
	with (autovacuum_enabled = false);
create table applied_up_to (slot text primary key, lsn pg_lsn not null);`

const (
	// batchRows go into one statement, as helixd's.
	batchRows = stream.DefaultBatchRows

	upsertTail = ` on conflict (id) do update set name = excluded.name, created_on = excluded.created_on`
	upsertText = `insert into users_applied select a, b, c::timestamptz
		from unnest($1::bigint[], $2::text[], $3::text[]) r(a, b, c)` + upsertTail
	upsertDecoded = `insert into users_applied select * from unnest($1::bigint[], $2::text[], $3::timestamptz[])` + upsertTail
	checkpoint    = `insert into applied_up_to values ($1, $2::text::pg_lsn) on conflict (slot) do update set lsn = excluded.lsn`
)

// rowBatch goes to the target as one statement. Values are as the library gives
// them: times in text, or decoded.
type rowBatch struct {
	ids     []int64
	names   []string
	created []string
	decoded []time.Time

	end replication.LSN // of the last commit; 0 when its transaction goes on
	ack func() error    // instead of end, where the library tells none
}

// addText takes a row in Postgres's text form.
func (b *rowBatch) addText(id, name, created []byte) error {
	n, err := strconv.ParseInt(string(id), 10, 64)
	b.ids, b.names, b.created = append(b.ids, n), append(b.names, string(name)), append(b.created, string(created))
	return err
}

func (b *rowBatch) reset() {
	*b = rowBatch{ids: b.ids[:0], names: b.names[:0], created: b.created[:0], decoded: b.decoded[:0]}
}

// target is the connection that rows are applied on.
type target struct {
	conn *pgx.Conn
	slot string
	tx   pgx.Tx // of a source transaction that goes on
}

func openTarget(ctx context.Context, job drainJob) (*target, error) {
	conn, err := pgx.Connect(ctx, job.URL)
	return &target{conn: conn, slot: job.Slot}, err
}

func (t *target) close() { _ = t.conn.Close(context.Background()) } // all is committed, or has failed

// apply makes the batch durable, if its end is known; else the batch that has one
// does.
func (t *target) apply(ctx context.Context, b *rowBatch) (err error) {
	batch := &pgx.Batch{} // one round trip; without a begin it is one transaction too
	switch {
	case len(b.decoded) > 0:
		batch.Queue(upsertDecoded, b.ids, b.names, b.decoded)
	case len(b.ids) > 0:
		batch.Queue(upsertText, b.ids, b.names, b.created)
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

// pipeline applies in a goroutine of its own what a receiving loop collects, one
// batch at a time, as replication/stream does for helixd.
type pipeline struct {
	target  *target
	current *rowBatch // being filled
	open    bool      // the last one handed over ended within a transaction

	full, empty chan *rowBatch
	done        chan error
	failed      error
	durable     replication.LSN
}

func startPipeline(ctx context.Context, t *target) *pipeline {
	p := &pipeline{target: t, current: &rowBatch{}, full: make(chan *rowBatch), empty: make(chan *rowBatch, 1), done: make(chan error, 1)}
	p.empty <- &rowBatch{}
	go func() {
		for b := range p.full {
			if err := p.target.apply(ctx, b); err != nil {
				p.done <- err
				return
			}
			p.empty <- b
		}
		p.done <- nil
	}()
	return p
}

// handOver gives the current batch to the goroutine, when that is free.
func (p *pipeline) handOver(end replication.LSN, ack func() error) error {
	p.current.end, p.current.ack = end, ack
	select {
	case b := <-p.empty: // the one before is applied
		p.durable = max(p.durable, b.end)
		b.reset()
		p.open = end == 0
		p.full <- p.current
		p.current = b
		return nil
	case p.failed = <-p.done:
		return p.failed
	}
}

// finish waits until all that was handed over is applied.
func (p *pipeline) finish() error {
	if p.failed != nil {
		return p.failed
	}
	close(p.full)
	return <-p.done
}
