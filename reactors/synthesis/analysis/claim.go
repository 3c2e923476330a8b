package analysis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// Of memory_synthesis_jobs.status.
const (
	statusPending    = "pending"
	statusProcessing = "processing"
	statusDone       = "done"
	statusFailed     = "failed"
)

// mostBegun is how often in a row a process may be lost with a row before the row is
// taken for the reason.
const mostBegun = 10

// claim is a row that this process has taken. Who takes it next has another token,
// and from then on this one writes nothing.
type claim struct {
	id, user, token uuid.UUID
	order           Order
	began           time.Time
	begun, tries    int
	took            time.Duration // before this claim
}

// take claims the row of a job, or parks it and the user's others: errCrowded.
func (s *Service) take(ctx context.Context, job *river.Job[Analyse], user uuid.UUID, a *active) (*claim, error) {
	c := &claim{id: a.id, user: user, token: a.claim, began: time.Now()}
	tx, err := s.results.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("claim an analysis: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	var mine, there, open bool
	var others int
	batch := &pgx.Batch{}
	queueRowLock(batch, c)
	queueUserLock(batch, user)
	// A process that was frozen may come here when another one has been given its job.
	batch.Queue("select exists (select from helix.river_job where id = $1 and attempt = $2 and state = 'running')", job.ID, job.Attempt).
		QueryRow(func(row pgx.Row) error { return row.Scan(&mine) })
	batch.Queue(`select count(*) from helix.analysis_work w join helix.workers k using (holder) where user_id = $1 and claim is not null and job_id <> $2`, user, c.id).
		QueryRow(func(row pgx.Row) error { return row.Scan(&others) })
	// There is no time after the last that Postgres has: a range may end with it.
	batch.Queue(`select true, status in ('pending', 'processing'), synthesis_type,
			case when isfinite(lower(time_range)) then least(lower(time_range), '294276-12-31 23:59:59.999998+00') + case when lower_inc(time_range) then interval '0' else interval '1 microsecond' end end,
			case when isfinite(upper(time_range)) then least(upper(time_range), '294276-12-31 23:59:59.999998+00') + case when upper_inc(time_range) then interval '1 microsecond' else interval '0' end end
		from public.memory_synthesis_jobs where id = $1 and user_id = $2`, c.id, user).
		QueryRow(func(row pgx.Row) error {
			err := row.Scan(&there, &open, &c.order.Type, &c.order.Since, &c.order.Until)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("claim an analysis: %w", err)
	}
	switch {
	case !there || !open:
		return nil, errGone
	case !mine:
		return nil, errLost
	case others >= s.cfg.UserConcurrency:
		pause, err := s.park(ctx, tx, user)
		if err == nil {
			err = tx.Commit(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("park an analysis: %w", err)
		}
		return nil, errCrowded{pause}
	}
	var took int64
	err = tx.QueryRow(ctx, `insert into helix.analysis_work as w (job_id, user_id, claim, holder, begun) values ($1, $2, $3, $4, 1)
		on conflict (job_id) do update set claim = excluded.claim, holder = excluded.holder, begun = w.begun + 1
		returning begun, tries, took_ms`, c.id, user, c.token, s.jobs.Holder()).Scan(&c.begun, &c.tries, &took)
	if err != nil {
		return nil, fmt.Errorf("claim an analysis: %w", err)
	}
	c.took = time.Duration(took) * time.Millisecond
	if _, err := tx.Exec(ctx, "update public.memory_synthesis_jobs set status = 'processing', error = null where id = $1", c.id); err != nil {
		return nil, fmt.Errorf("claim an analysis: %w", err)
	}
	if err := s.tell(ctx, tx, c, replication.Update, statusProcessing, nil); err != nil {
		return nil, err
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, fmt.Errorf("claim an analysis: %w", err)
	}
	return c, nil
}

// queueRowLock locks a claim's row for what is written about it, from the account on
// down, as a deletion of either does: in another order one of the two would be a
// deadlock's victim.
func queueRowLock(batch *pgx.Batch, c *claim) {
	batch.Queue("select set_config('lock_timeout', '5s', true), set_config('idle_in_transaction_session_timeout', '10s', true)")
	batch.Queue("select from auth.users where id = $1 for key share", c.user)
	batch.Queue("select from public.memory_synthesis_jobs where id = $1 for no key update", c.id)
}

// hold locks the row and the claim on it; errGone and errLost say that there is none.
func (c *claim) hold(ctx context.Context, tx pgx.Tx) error {
	batch := &pgx.Batch{}
	queueRowLock(batch, c)
	var there, mine bool
	batch.Queue("with w as (select from helix.analysis_work where job_id = $1 and claim = $2 for update) select exists (select from public.memory_synthesis_jobs where id = $1), exists (select from w)", c.id, c.token).
		QueryRow(func(row pgx.Row) error { return row.Scan(&there, &mine) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("hold an analysis: %w", err)
	}
	switch {
	case !there:
		return errGone
	case !mine:
		return errLost
	}
	return nil
}

// check looks whether the row is there still, and this claim on it.
func (s *Service) check(ctx context.Context, c *claim) error {
	var there, mine bool
	err := s.pool.QueryRow(ctx, `select exists (select from public.memory_synthesis_jobs where id = $1),
		exists (select from helix.analysis_work where job_id = $1 and claim = $2)`, c.id, c.token).Scan(&there, &mine)
	switch {
	case err != nil:
		return fmt.Errorf("look at the claim: %w", err)
	case !there:
		return errGone
	case !mine:
		return errLost
	}
	return nil
}

// write does something about a claimed row, in a transaction of its own.
func (s *Service) write(ctx context.Context, c *claim, f func(ctx context.Context, tx pgx.Tx) error) error {
	tx, err := s.results.Begin(ctx)
	if err != nil {
		return fmt.Errorf("write an analysis: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	if err := c.hold(ctx, tx); err != nil {
		return err
	}
	if err := f(ctx, tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("write an analysis: %w", err)
	}
	return nil
}

// tell sends the user's devices what became of the row, when the transaction commits.
func (s *Service) tell(ctx context.Context, tx pgx.Tx, c *claim, op replication.Op, status string, record map[string]any) error {
	if record == nil {
		record = map[string]any{}
	}
	record["synthesis_type"] = c.order.Type
	return s.results.Tell(ctx, tx, reactors.Broadcast{UserID: c.user.String(), Op: op, Table: "memory_synthesis_jobs",
		Key: map[string]any{"id": c.id}, ID: c.id.String(), Status: &status, Record: func() any { return record }})
}

// conversations reads what the client sent with the row; nil: nothing.
func (s *Service) conversations(ctx context.Context, c *claim) (json.RawMessage, error) {
	var text *string
	err := s.pool.QueryRow(ctx, "select conversations::text from public.memory_synthesis_jobs where id = $1", c.id).Scan(&text)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, errGone
	case err != nil:
		return nil, fmt.Errorf("read conversations: %w", err)
	case text == nil:
		return nil, nil
	}
	return json.RawMessage(*text), nil
}
