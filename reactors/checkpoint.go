package reactors

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

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
