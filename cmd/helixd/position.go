package main

import (
	"context"
	"fmt"
)

const (
	positionEvery = "1 minute"
	positionWAL   = 1 << 20 // bytes of the write-ahead log between two positions
	positionKept  = "7 days"
)

// notePosition writes now and then what has ended by now, so that a replay can find
// the rows that were written since. The snapshot is taken before the position and
// the time are read: a transaction that ends later than these is not before xid.
func (w *watch) notePosition(ctx context.Context) error {
	_, err := w.pool.Exec(ctx, `with noted as (
			insert into helix.positions as p (system_identifier, lsn, xid, at)
			select c.system_identifier, pg_current_wal_insert_lsn(), pg_snapshot_xmin(pg_current_snapshot()), clock_timestamp()
			from helix.checkpoints c where c.slot = $1 and not exists (select from helix.positions p where p.system_identifier = c.system_identifier
				and (p.at > clock_timestamp() - $2::text::interval or p.lsn > pg_current_wal_insert_lsn() - $3::bigint::numeric))
				and set_config('synchronous_commit', 'off', true) = 'off'
			on conflict do nothing returning at)
		delete from helix.positions p using noted where p.at < now() - $4::text::interval`, w.cfg.slot, positionEvery, positionWAL, positionKept)
	if err != nil {
		return fmt.Errorf("note the position: %w", err)
	}
	return nil
}
