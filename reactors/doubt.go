package reactors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/internal/metric"
)

// errInDoubt says that an apply may have been committed: the answer was lost. The next
// leader goes on from the checkpoint, whichever it is. Only the metrics do not know
// whether to count the apply, until Postgres is asked.
var errInDoubt = errors.New("the answer to a commit was lost")

// inDoubt is such an apply.
type inDoubt struct {
	xid                   string
	reactors              []Reactor
	transactions, changes int
	ended                 time.Time // at the latest
	tally                 tally
}

// doubts are those of this process, as its metrics are.
var doubts = struct {
	mu   sync.Mutex
	list []inDoubt
	more chan struct{}
}{more: make(chan struct{}, 1)}

// doubt keeps the open apply for Settle.
func (d *Dispatcher) doubt(cause error) error {
	kept := d.done
	kept.commits, kept.withheld, kept.rejected = slices.Clone(kept.commits), slices.Clone(kept.withheld), maps.Clone(kept.rejected)
	doubts.mu.Lock()
	doubts.list = append(doubts.list, inDoubt{d.open.xid, d.reactors, d.open.transactions, d.open.changes, time.Now(), kept})
	doubts.mu.Unlock()
	select {
	case doubts.more <- struct{}{}:
	default:
	}
	return fmt.Errorf("%w: %w", errInDoubt, cause)
}

const (
	// askAgain is when Postgres is asked once more, where it could not be or the
	// transaction goes on.
	askAgain   = time.Second
	askTimeout = 5 * time.Second // the network may be the one that lost the answer
)

// Settle counts applies whose commit's answer was lost, once Postgres says what became
// of them, until ctx ends. The pool is one that does not end with the lead.
func Settle(ctx context.Context, pool *pgxpool.Pool) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-doubts.more:
		}
		for settle(ctx, pool) > 0 {
			select {
			case <-ctx.Done():
				return
			case <-time.After(askAgain):
			}
		}
	}
}

// settle asks for each, and gives how many are left.
func settle(ctx context.Context, pool *pgxpool.Pool) int {
	doubts.mu.Lock()
	list := doubts.list
	doubts.list = nil
	doubts.mu.Unlock()
	var left []inDoubt
	for _, a := range list {
		var status *string // null: of a time that Postgres has forgotten
		ask, cancel := context.WithTimeout(ctx, askTimeout)
		err := pool.QueryRow(ask, "select pg_xact_status($1::text::xid8)", a.xid).Scan(&status)
		cancel()
		var pgErr *pgconn.PgError
		switch {
		case err == nil && status != nil && *status == "committed":
			a.tally.countApply(a.reactors, a.transactions, a.changes, a.ended)
		case err == nil && (status == nil || *status == "aborted"),
			errors.As(err, &pgErr) && pgErr.Code == "22023": // one that has not begun yet: this is another cluster
			metric.ApplyErrors.Inc()
		default:
			left = append(left, a)
		}
	}
	doubts.mu.Lock()
	defer doubts.mu.Unlock()
	doubts.list = append(left, doubts.list...)
	return len(doubts.list)
}
