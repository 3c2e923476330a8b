package reactors

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river"
)

// execer and querier are a pool, a connection or a transaction.
type (
	execer interface {
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	}
	querier interface {
		QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	}
)

// Tx is the apply transaction as a Reactor sees it. What it is told takes
// effect when the transaction commits, and only then.
type Tx struct {
	pgx.Tx
	pending
}

// pending is what a transaction has been told and not yet written.
type pending struct {
	jobs       []river.InsertManyParams
	broadcasts []Broadcast
	rejected   []rejection
}

type rejection struct {
	reactor string
	row     Row
	err     error
}

// Enqueue inserts a River job. Its arguments hold keys only, never content:
// a deleted account must leave nothing behind.
func (t *Tx) Enqueue(args river.JobArgs, opts *river.InsertOpts) {
	t.jobs = append(t.jobs, river.InsertManyParams{Args: args, InsertOpts: opts})
}

// Broadcast tells the row's owner about a result row.
func (t *Tx) Broadcast(b Broadcast) { t.broadcasts = append(t.broadcasts, b) }

// Reject puts a row that cannot be applied into the dead letters. The error
// says what is wrong with it in words for an operator, without its content.
func (t *Tx) Reject(row Row, err error) {
	t.rejected = append(t.rejected, rejection{row: row, err: err})
}

// mark and rewind undo what a failed attempt has told.
func (t *Tx) mark() [3]int {
	return [3]int{len(t.jobs), len(t.broadcasts), len(t.rejected)}
}

func (t *Tx) rewind(m [3]int) {
	t.jobs, t.broadcasts, t.rejected = t.jobs[:m[0]], t.broadcasts[:m[1]], t.rejected[:m[2]]
}

// Take removes rows from the inbox through which they came, and gives those that
// were there still, in their order: a row is given once, however often a repair
// brings it. It is for results that do not show what was seen before. A dead letter
// that is retried is given too, since it goes with its success; a row that is
// replayed is not.
func (t *Tx) Take(ctx context.Context, rows []Row) ([]Row, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	var ids []string
	for i := range rows {
		if rows[i].inboxID != "" {
			ids = append(ids, rows[i].inboxID)
		}
	}
	found, err := t.Query(ctx, "delete from helix.inbox where id = any ($1::text[]::bigint[]) returning id::text", ids)
	if err != nil {
		return nil, fmt.Errorf("take from the inbox: %w", err)
	}
	there := map[string]bool{}
	var id string
	if _, err := pgx.ForEachRow(found, []any{&id}, func() error {
		there[id] = true
		return nil
	}); err != nil {
		return nil, fmt.Errorf("take from the inbox: %w", err)
	}
	var taken []Row
	for _, row := range rows {
		if there[row.inboxID] || row.letter != 0 {
			taken = append(taken, row)
		}
	}
	return taken, nil
}
