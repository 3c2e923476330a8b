package reactors

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

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

// RecordReactors tells apps, through helix_status, which reactors run.
func (d *Dispatcher) RecordReactors(ctx context.Context) error {
	names, queues := make([]string, len(d.reactors)), make([]*string, len(d.reactors))
	for i, r := range d.reactors {
		names[i] = r.Name()
		if q, ok := r.(interface{ Queue() string }); ok { // River's, of its jobs
			queue := q.Queue()
			queues[i] = &queue
		}
	}
	_, err := d.pool.Exec(ctx, `with gone as (delete from helix.reactors where slot = $1 and reactor <> all ($2::text[]))
		insert into helix.reactors (reactor, slot, queue) select r.name, $1, r.queue from unnest($2::text[], $3::text[]) as r (name, queue)
		on conflict (reactor) do update set slot = excluded.slot, queue = excluded.queue, updated_at = now()`, d.slot, names, queues)
	if err != nil {
		return fmt.Errorf("record the reactors: %w", err)
	}
	return nil
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
	snap, end, err := d.source(ctx, "")
	if err != nil {
		return fmt.Errorf("catch up: %w", err)
	}
	defer end()
	if err := only.beginAfter(ctx, snap); err != nil {
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
