package reactors

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// snapshot is which transactions a statement sees: pg_current_snapshot().
type snapshot struct {
	xmax uint64   // the first that had not begun
	xip  []uint64 // those before it that had not ended
}

func parseSnapshot(text string) (*snapshot, error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, fmt.Errorf("parse pg_current_snapshot(): %q", text)
	}
	var xids []uint64
	for x := range strings.FieldsFuncSeq(parts[1]+","+parts[2], func(r rune) bool { return r == ',' }) {
		xid, err := strconv.ParseUint(x, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("parse pg_current_snapshot(): %w", err)
		}
		xids = append(xids, xid)
	}
	if xids == nil {
		return nil, fmt.Errorf("parse pg_current_snapshot(): %q", text)
	}
	return &snapshot{xids[0], xids[1:]}, nil
}

// sees reports whether the rows of a committed transaction are visible. The
// stream gives the lower half of its number.
func (s *snapshot) sees(xid uint32) bool {
	return int32(xid-uint32(s.xmax)) < 0 &&
		!slices.ContainsFunc(s.xip, func(x uint64) bool { return uint32(x) == xid })
}

// coveredBy reports whether later sees all that s does.
func (s *snapshot) coveredBy(later *snapshot) bool {
	return later.xmax >= s.xmax && !slices.ContainsFunc(later.xip, func(x uint64) bool {
		return x < s.xmax && !slices.Contains(s.xip, x)
	})
}

// seesAll reports whether all of a batch's transactions are visible.
func (s *snapshot) seesAll(b *replication.Batch) bool {
	return !slices.ContainsFunc(b.Transactions, func(tx replication.Transaction) bool {
		return tx.XID != 0 && !s.sees(tx.XID)
	})
}

const (
	firstLook = time.Millisecond
	lastLook  = 100 * time.Millisecond
	longWait  = 5 * time.Second
)

// await waits until enough is visible to the open SQL transaction, which now
// sees what it is given. The server streams a commit as soon as it is on disk,
// but shows it to others a little later, and with synchronous replication only
// when the standby has it too: a reactor that reads the tables before would take
// the past for the present.
func (d *Dispatcher) await(ctx context.Context, now *snapshot, enough func(*snapshot) bool) error {
	began, told := time.Now(), false
	for pause := firstLook; !enough(now); pause = min(2*pause, lastLook) {
		if !told && time.Since(began) > longWait {
			told = true
			d.log.Warn().Msg("a streamed transaction is not visible yet: it waits for a synchronous standby")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until a streamed transaction is visible: %w", ctx.Err())
		case <-time.After(pause):
		}
		var err error
		if now, err = currentSnapshot(ctx, d.open.tx); err != nil {
			return err
		}
	}
	return nil
}

func currentSnapshot(ctx context.Context, tx pgx.Tx) (*snapshot, error) {
	var text string
	if err := tx.QueryRow(ctx, "select pg_current_snapshot()::text").Scan(&text); err != nil {
		return nil, fmt.Errorf("read the snapshot: %w", err)
	}
	return parseSnapshot(text)
}
