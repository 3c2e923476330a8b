package reactors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

const rollbackTimeout = 5 * time.Second

// Checkpoint reads how far the slot's changes are applied, nil when nothing ever was.
func (d *Dispatcher) Checkpoint(ctx context.Context) (*replication.Checkpoint, error) {
	c := &replication.Checkpoint{Slot: d.slot}
	err := d.pool.QueryRow(ctx, `select system_identifier, lsn, epoch, coalesce(published, ''), coalesce(repair, '')
		from helix.checkpoints where slot = $1`, d.slot).Scan(&c.SystemIdentifier, &c.LSN, &c.Epoch, &c.Published, &c.Repair)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	return c, nil
}

// Lead begins a new epoch, after which no apply of an older one can commit. It
// waits for one that is committing now, and gives the position to stream from.
// The caller holds the slot's lock; where helix.leaders names another holder,
// Lead returns ErrFenced.
func (d *Dispatcher) Lead(ctx context.Context, holder string) (replication.LSN, error) {
	var lsn replication.LSN
	var epoch int64
	// One statement: a process that stops here leaves no lock behind.
	err := d.pool.QueryRow(ctx, `update helix.checkpoints set epoch = epoch + 1
		where slot = $1 and not exists (select from helix.leaders where slot = $1 and holder <> $2)
		returning lsn, epoch`, d.slot, holder).Scan(&lsn, &epoch)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrFenced
	}
	if err != nil {
		return 0, fmt.Errorf("begin an epoch: %w", err)
	}
	d.epoch.Store(epoch)
	return lsn, nil
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
