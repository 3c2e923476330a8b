package reactors

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

const (
	heartbeatEvery   = 2 * time.Second
	heartbeatTimeout = 4 * time.Second
	rollbackTimeout  = 5 * time.Second
)

// Checkpoint reads how far the slot's changes are applied, nil when nothing ever was.
func (d *Dispatcher) Checkpoint(ctx context.Context) (*replication.Checkpoint, error) {
	c := &replication.Checkpoint{Slot: d.slot}
	err := d.pool.QueryRow(ctx, "select system_identifier, lsn, epoch from helix.checkpoints where slot = $1", d.slot).
		Scan(&c.SystemIdentifier, &c.LSN, &c.Epoch)
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
// The caller holds the slot.
func (d *Dispatcher) Lead(ctx context.Context, holder string) (replication.LSN, error) {
	var lsn replication.LSN
	var epoch int64
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, `update helix.checkpoints set epoch = epoch + 1 where slot = $1
			returning lsn, epoch`, d.slot).Scan(&lsn, &epoch)
		if err != nil {
			return err
		}
		return recordLeader(ctx, tx, d.slot, epoch, holder)
	})
	if err != nil {
		return 0, fmt.Errorf("begin an epoch: %w", err)
	}
	d.epoch.Store(epoch)
	return lsn, nil
}

func recordLeader(ctx context.Context, tx pgx.Tx, slot string, epoch int64, holder string) error {
	_, err := tx.Exec(ctx, `insert into helix.leaders (slot, epoch, holder) values ($1, $2, $3)
		on conflict (slot) do update set epoch = excluded.epoch, holder = excluded.holder,
			started_at = now(), heartbeat_at = now()`, slot, epoch, holder)
	return err
}

// Heartbeat shows that this leader lives, until ctx ends or it cannot. It
// returns ErrFenced when another one leads. An error also tells of a server that
// shuts down: then the walsender must be let go, since the server waits for it.
func (d *Dispatcher) Heartbeat(ctx context.Context) error {
	tick := time.NewTicker(heartbeatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		beat, cancel := context.WithTimeout(ctx, heartbeatTimeout)
		tag, err := d.pool.Exec(beat, "update helix.leaders set heartbeat_at = now() where slot = $1 and epoch = $2",
			d.slot, d.epoch.Load())
		cancel()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			// A slow server, not one that is gone: the stream would have noticed.
			d.log.Warn().Dur("after_ms", heartbeatTimeout).Msg("the heartbeat was not written in time")
		case err != nil:
			return fmt.Errorf("heartbeat: %w", err)
		case tag.RowsAffected() == 0:
			return fmt.Errorf("heartbeat of epoch %d: %w", d.epoch.Load(), ErrFenced)
		}
	}
}
