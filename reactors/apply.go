package reactors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/internal/metric"
	"github.com/helixd/helixd/internal/trace"
	"github.com/helixd/helixd/replication"
)

// apply is one SQL transaction in the making.
type apply struct {
	tx           *Tx
	conn         *pgxpool.Conn
	marker       *marker // of the source transaction that goes on in the next batch
	transactions int
	changes      int
	committed    *time.Time // when the last of them was, at the server
	xid          string     // of tx
	sawInbox     bool
	saved        bool        // a savepoint stands
	span         *trace.Span // from the commit of the first row that a reactor has seen
	replays      []Row       // of the chunk: rows of the inbox that name what to give again
}

// within is ctx in the span of the apply, which begins with its first row.
func (a *apply) within(ctx context.Context, committed time.Time) context.Context {
	if a.span == nil {
		a.span = trace.Apply(ctx, committed)
	}
	return a.span.In(ctx)
}

// begin opens the SQL transaction. Its first operation is the marker.
func (d *Dispatcher) begin(ctx context.Context) error {
	m := marker{Secret: d.secret, Epoch: d.epoch.Load(), Writes: map[string][]string{}}
	for _, r := range d.reactors {
		m.Writes[r.Name()] = r.Writes()
	}
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin apply: %w", err)
	}
	// An app's deferred constraint must fail where the row at fault can be found.
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: fmt.Sprintf("begin isolation level read committed; set constraints all immediate; select pg_logical_emit_message(true, %s, %s)",
		quoteLiteral(markerPrefix), quoteLiteral(m.content()))}) // one round trip
	if err != nil {
		conn.Release()
		return fmt.Errorf("begin apply: %w", err)
	}
	d.open = &apply{tx: &Tx{Tx: tx}, conn: conn}
	d.done.begin()
	return nil
}

// react lets one reactor see rows under a savepoint, once enough is visible.
// When their data is at fault it halves them until the one row stands alone,
// which goes to the dead letters.
func (d *Dispatcher) react(ctx context.Context, r Reactor, rows []Row, enough func(*snapshot) bool) error {
	tx := d.open.tx
	seen, err := d.savepoint(ctx)
	if err == nil {
		err = d.await(ctx, seen, enough)
	}
	if err != nil {
		return fmt.Errorf("reactor %s: %w", r.Name(), err)
	}
	before, began := tx.mark(), time.Now()
	err = r.React(ctx, tx, rows)
	metric.Reacted(r.Name(), outcomeOf(err), began)
	if err == nil {
		for i := before[2]; i < len(tx.rejected); i++ {
			tx.rejected[i].reactor = r.Name()
		}
		return nil
	}
	if !Poison(err) {
		return fmt.Errorf("reactor %s: %w", r.Name(), err)
	}
	tx.rewind(before)
	d.open.saved = false
	if _, err := tx.Exec(ctx, "rollback to savepoint react; release savepoint react"); err != nil {
		return fmt.Errorf("reactor %s: %w", r.Name(), err)
	}
	if len(rows) == 1 {
		tx.rejected = append(tx.rejected, rejection{r.Name(), rows[0], err})
		return nil
	}
	half := len(rows) / 2
	if err := d.react(ctx, r, rows[:half], enough); err != nil {
		return err
	}
	return d.react(ctx, r, rows[half:], enough)
}

// savepoint releases the last one and makes another, in one round trip, and
// gives what is visible now. The commit releases the very last.
func (d *Dispatcher) savepoint(ctx context.Context) (*snapshot, error) {
	sql := "savepoint react; select pg_current_snapshot()"
	if d.open.saved {
		sql = "release savepoint react; " + sql
	}
	results, err := d.open.conn.Conn().PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("savepoint: %w", err)
	}
	d.open.saved = true
	return parseSnapshot(string(results[len(results)-1].Rows[0][0]))
}

// maxPending bounds what a large transaction may tell before it is written.
const maxPending = 4096

// settle writes what the reactors have told where it grew large, so that a
// transaction of any size passes in flat memory. The rest waits for the commit
// and is coalesced there.
func (d *Dispatcher) settle(ctx context.Context) error {
	tx := d.open.tx
	if len(tx.broadcasts) <= maxPending && len(tx.jobs) <= maxPending && len(tx.rejected) == 0 {
		return nil
	}
	return d.write(ctx, &pgx.Batch{})
}

// write sends broadcasts, jobs and dead letters into the transaction, and with
// them what the batch holds already.
func (d *Dispatcher) write(ctx context.Context, batch *pgx.Batch) error {
	tx := d.open.tx
	if d.canSend && len(tx.broadcasts) > 0 {
		messages, err := coalesce(tx.broadcasts)
		if err != nil {
			return err
		}
		queueBroadcasts(batch, messages)
		d.done.broadcasts += len(messages)
	}
	if len(tx.rejected) > 0 {
		queueDeadLetters(batch, d.slot, tx.rejected)
		d.done.reject(tx.rejected)
		first := &tx.rejected[0]
		d.log.Warn().Str("reactor", first.reactor).Str("table", first.row.table).Stringer("lsn", first.row.CommitLSN).
			Int("rows", len(tx.rejected)).
			Str("next", "helixd dlq list; and once their cause is mended: helixd dlq retry").
			Msg("rows put into dead letters; this is the first one")
	}
	if batch.Len() > 0 {
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return fmt.Errorf("write checkpoint, broadcasts and dead letters: %w", err)
		}
	}
	if len(tx.jobs) > 0 {
		if err := d.jobs.Insert(ctx, tx.Tx, tx.jobs); err != nil {
			return err
		}
	}
	tx.rewind([3]int{})
	return nil
}

// commit makes all of it durable, the checkpoint included.
func (d *Dispatcher) commit(ctx context.Context, end replication.LSN) error {
	open := d.open
	ctx = open.span.In(ctx)
	if open.sawInbox {
		if err := d.jobs.enqueuePrune(ctx, open.tx, d.slot); err != nil {
			return err
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(`update helix.checkpoints
		set lsn = $3, transactions = transactions + $4, changes = changes + $5, updated_at = now(),
			lag_seconds = coalesce(extract(epoch from clock_timestamp() - $6::timestamptz), 0)
		where slot = $1 and epoch = $2 and lsn <= $3 returning pg_current_xact_id()::text`,
		d.slot, d.epoch.Load(), end, open.transactions, open.changes, open.committed).QueryRow(func(row pgx.Row) error {
		err := row.Scan(&open.xid)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("slot %q, epoch %d: %w", d.slot, d.epoch.Load(), ErrFenced)
		}
		return err
	})
	if err := d.write(ctx, batch); err != nil {
		return err
	}
	failpoint.Here("before-commit")
	if err := open.tx.Commit(ctx); err != nil {
		if !errors.Is(err, pgx.ErrTxCommitRollback) {
			err = d.doubt(err)
		}
		return fmt.Errorf("commit apply: %w", err)
	}
	failpoint.Here("after-commit")
	open.conn.Release()
	d.open = nil
	open.end(end)
	d.done.countApply(d.reactors, open.transactions, open.changes, time.Now())
	return nil
}

// end ends the span of an apply that is durable.
func (a *apply) end(at replication.LSN) {
	if a.span == nil {
		return
	}
	a.span.Text("helixd.lsn", at.String())
	a.span.Count("helixd.transactions", a.transactions)
	a.span.Count("helixd.changes", a.changes)
	a.span.End(nil)
}

const rollbackTimeout = 5 * time.Second

// abandon drops the open SQL transaction.
func (d *Dispatcher) abandon() {
	open := d.open
	d.open = nil
	// A cancelled context must not keep the rollback from the server; a
	// connection that cannot roll back is closed by the pool.
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	_ = open.tx.Rollback(ctx)
	open.conn.Release()
}
