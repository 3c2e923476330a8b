package reactors

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// Joined gives the reactors that did not run before, where others did: a setting
// has switched them on, or they are new in this helixd.
func (d *Dispatcher) Joined(ctx context.Context) ([]Reactor, error) {
	var before []string
	err := d.pool.QueryRow(ctx, "select coalesce(array_agg(reactor), '{}') from helix.reactors where slot = $1", d.slot).Scan(&before)
	if err != nil {
		return nil, fmt.Errorf("read which reactors ran: %w", err)
	}
	if len(before) == 0 {
		return nil, nil
	}
	return slices.DeleteFunc(slices.Clone(d.reactors), func(r Reactor) bool { return slices.Contains(before, r.Name()) }), nil
}

// CatchUp lets reactors that were switched off see all rows of the tables that they
// watch, as they stand now and as if they had been inserted just now. It is for
// before the stream goes on: what it brings since the checkpoint they see as well,
// and know by their own state what is new. Whoever leads by the time it ends, the
// epoch tells.
func (d *Dispatcher) CatchUp(ctx context.Context, joined []Reactor, at replication.LSN, progress func(table string, rows int)) (err error) {
	only := &Dispatcher{pool: d.pool, slot: d.slot, reactors: joined, jobs: d.jobs, log: d.log, secret: d.secret, canSend: d.canSend,
		relations: map[*replication.Relation]*routes{}, inbox: map[string][]route{}}
	only.epoch.Store(d.epoch.Load())
	defer func() {
		if err != nil && only.open != nil {
			only.abandon()
		}
	}()
	source, err := d.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	defer source.Release()
	snap, err := source.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	defer func() { _ = snap.Rollback(context.WithoutCancel(ctx)) }()
	if _, err := snap.Exec(ctx, asStreamed); err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	then, err := currentSnapshot(ctx, snap)
	if err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	if err := only.begin(ctx); err != nil {
		return err
	}
	now, err := currentSnapshot(ctx, only.open.tx)
	if err == nil {
		err = only.await(ctx, now, then.coveredBy)
	}
	if err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	// A reactor may catch up at one checkpoint twice, and find others at fault: letters
	// are told apart by their numbers, which go on from those that are there.
	err = only.open.tx.QueryRow(ctx, "select greatest(max(ordinal) + 1, 0) from helix.dead_letters where slot = $1 and lsn = $2", d.slot, at).Scan(&only.open.changes)
	if err != nil {
		return fmt.Errorf("catch up: count dead letters: %w", err)
	}
	tables := only.Tables()
	delete(tables, inboxTable)
	part := replication.Transaction{CommitLSN: at, CommitTime: time.Now().Truncate(time.Microsecond)}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if err := only.backfillTable(ctx, snap, table, tables[table], part, progress); err != nil {
			return fmt.Errorf("catch up with %s: %w", table, err)
		}
	}
	only.open.changes = 0 // none of them came from the stream
	return only.commit(ctx, at)
}
