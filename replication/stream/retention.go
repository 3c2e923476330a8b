package stream

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Retention is how much WAL the server keeps for a slot, and how long it will.
type Retention struct {
	Status   string // pg_replication_slots.wal_status
	Retained int64  // bytes from restart_lsn to the end of the WAL
	Limit    int64  // max_slot_wal_keep_size in bytes, -1 for none
	Safe     int64  // bytes that may be written until the slot is lost; of no meaning without a Limit
	Oldest   string // the transaction that has been open for longest: no slot gets past it
}

// ReadRetention looks at a slot, nil when it is not there.
func ReadRetention(ctx context.Context, db Querier, slot string) (*Retention, error) {
	rows, err := db.Query(ctx, `select coalesce(wal_status, ''), coalesce(pg_current_wal_lsn() - restart_lsn, 0)::bigint,
			case current_setting('max_slot_wal_keep_size') when '-1' then -1
				else pg_size_bytes(current_setting('max_slot_wal_keep_size')) end,
			coalesce(safe_wal_size, 0),
			coalesce((select said from (`+openTransactions+` limit 1) as oldest (said, since)), 'none')
		from pg_replication_slots where slot_name = $1`, slot)
	if err != nil {
		return nil, fmt.Errorf("read slot %q: %w", slot, err)
	}
	var r Retention
	found := false
	_, err = pgx.ForEachRow(rows, []any{&r.Status, &r.Retained, &r.Limit, &r.Safe, &r.Oldest}, func() error {
		found = true
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read slot %q: %w", slot, err)
	}
	if !found {
		return nil, nil
	}
	return &r, nil
}

// Danger reports whether half of what the server keeps for a slot is used up,
// or it has begun to keep more than it likes to.
func (r *Retention) Danger() bool {
	return r.Status != "reserved" || r.Limit >= 0 && r.Safe < r.Limit/2
}

// Spent reports whether half of what the server keeps for a slot is used up, or
// bound where it keeps any amount.
func (r *Retention) Spent(bound int64) bool {
	switch {
	case r.Status == "unreserved" || r.Status == "lost":
		return true
	case r.Limit >= 0:
		return r.Safe < r.Limit/2
	}
	return r.Retained >= bound
}
