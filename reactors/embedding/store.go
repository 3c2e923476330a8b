package embedding

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
)

// store writes the vectors of texts that are still what was sent, and want them
// still. What has changed meanwhile stays in work; what an app has embedded itself
// is the app's. Of an account that was deleted nothing is written.
func (r *run) store(ctx context.Context, texts []text, vectors [][]float32, paid *payment) error {
	rows := make([]vectorRow, len(texts))
	for i, t := range texts {
		rows[i] = vectorRow{t, pgvector.NewVector(vectors[i]).String()}
	}
	_, err := r.write(ctx, rows, paid, waits, r.update)
	if reactors.Locked(err) { // the others are not to be bought again
		var held []text
		if held, err = r.write(ctx, rows, paid, skips, r.update); err == nil && len(held) > 0 {
			err = r.aside(ctx, held, errHeld, time.Minute, mostAside, math.MaxInt)
		}
	}
	if reactors.Refused(err) { // by an app's trigger or constraint, one row perhaps
		var not []text
		var why *fault
		_, err = r.write(ctx, rows, paid, waits, func(ctx context.Context, tx pgx.Tx, rows []vectorRow) error {
			for i := range rows {
				err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { return r.update(ctx, tx, rows[i:i+1]) })
				if reactors.Refused(err) {
					not, why = append(not, rows[i].text), notStored(reactors.SQLState(err))
				} else if err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && len(not) > 0 {
			err = r.aside(ctx, not, why, mostAside, mostAside, mostTries)
		}
	}
	return err
}

type vectorRow struct {
	text
	vector string
}

// What is done about memories whose rows somebody holds.
const (
	waits = "" // for lock_timeout
	skips = " skip locked"
)

// write is the transaction of an answer. It gives those that somebody held, and
// that it has skipped.
func (r *run) write(ctx context.Context, rows []vectorRow, paid *payment, how string, update func(context.Context, pgx.Tx, []vectorRow) error) (held []text, err error) {
	tx, err := r.s.results.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("write embeddings: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	if _, err := tx.Exec(ctx, "select set_config('lock_timeout', '5s', true), set_config('idle_in_transaction_session_timeout', '30s', true)"); err != nil {
		return nil, fmt.Errorf("write embeddings: %w", err)
	}
	// An account that is being deleted is locked from its row on down, so that row is
	// first here, too.
	living, err := tx.Exec(ctx, "select from auth.users where id = $1 for key share", r.user)
	if err != nil {
		return nil, fmt.Errorf("write embeddings: %w", err)
	}
	if living.RowsAffected() == 1 {
		if rows, held, err = lock(ctx, tx, rows, how); err == nil && len(rows) > 0 {
			err = update(ctx, tx, rows)
		}
		if err != nil {
			return nil, fmt.Errorf("write embeddings: %w", err)
		}
		_, err = tx.Exec(ctx, `update helix.embedding_queues set tries = 0, retry_at = null, reason = null
			where user_id = $1 and (tries > 0 or retry_at is not null or reason is not null)`, r.user)
		if err != nil {
			return nil, fmt.Errorf("note that memories wait no longer: %w", err)
		}
	}
	if err := paid.hold.SettleIn(ctx, tx, paid.spent.Input, paid.spent.Output); err != nil {
		return nil, fmt.Errorf("note what embeddings have cost: %w", err)
	}
	failpoint.Here("embedding-written")
	if err := tx.Commit(ctx); err != nil {
		return nil, fmt.Errorf("write embeddings: %w", err)
	}
	return held, nil
}

// lock holds the memories that are still what was sent, and gives their rows, and
// those that it has skipped.
func lock(ctx context.Context, tx pgx.Tx, rows []vectorRow, how string) (kept []vectorRow, held []text, err error) {
	ids, revs := make([]uuid.UUID, len(rows)), make([]int64, len(rows))
	for i := range rows {
		ids[i], revs[i] = rows[i].id, rows[i].rev
	}
	const same = `from public.memories m join unnest($1::uuid[], $2::bigint[]) as s (id, rev) on s.id = m.id
		where m.content_rev = s.rev and (m.embedding is null or m.embedding_stale)`
	mine, err := collectIDs(ctx, tx, "select m.id "+same+" order by m.id for no key update of m"+how, ids, revs)
	if err != nil {
		return nil, nil, err
	}
	var all map[uuid.UUID]bool
	if how == skips {
		if all, err = collectIDs(ctx, tx, "select m.id "+same, ids, revs); err != nil {
			return nil, nil, err
		}
	}
	for _, row := range rows {
		switch {
		case mine[row.id]:
			kept = append(kept, row)
		case all[row.id]:
			held = append(held, row.text)
		}
	}
	return kept, held, nil
}

func collectIDs(ctx context.Context, tx pgx.Tx, sql string, args ...any) (map[uuid.UUID]bool, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	is, id := map[uuid.UUID]bool{}, uuid.UUID{}
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error { is[id] = true; return nil })
	return is, err
}

// update writes rows that are locked, and removes their work.
func (r *run) update(ctx context.Context, tx pgx.Tx, rows []vectorRow) error {
	ids, vectors := make([]uuid.UUID, len(rows)), make([]string, len(rows))
	for i := range rows {
		ids[i], vectors[i] = rows[i].id, rows[i].vector
	}
	_, err := tx.Exec(ctx, fmt.Sprintf(`update public.memories m set embedding = v.embedding::%s, embedding_stale = false
		from unnest($1::uuid[], $2::text[]) as v (id, embedding) where m.id = v.id`, r.column.typ), ids, vectors)
	if err == nil {
		_, err = tx.Exec(ctx, `delete from helix.embedding_work where memory_id in (
			select memory_id from helix.embedding_work where memory_id = any ($1) order by memory_id for update)`, ids) // in the Reactor's order
	}
	return err
}
