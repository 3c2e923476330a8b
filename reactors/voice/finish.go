package voice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
)

const (
	finishRetry     = 250 * time.Millisecond // doubled
	mostFinishRetry = 10 * time.Second
)

// finish writes an outcome and ends the lane's job. It tries for as long as the
// database is away: what it holds was paid for.
func (s *Service) finish(ctx context.Context, job *river.Job[Lane], c *claim, o *outcome) error {
	if errors.Is(o.cause, errLost) {
		return nil // another lane sees to it
	}
	ctx, cancel := reactors.Beyond(ctx, s.ctx)
	defer cancel()
	for wait := finishRetry; ; wait = min(2*wait, mostFinishRetry) {
		err := s.transact(ctx, job, c, o)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return err
		case refused(err) && o.answer != nil:
			s.log.Warn().Str("sqlstate", reactors.SQLState(err)).Stringer("recording", c.id).Msg("a transcript is refused by the database")
			o = &outcome{fault: refusal(err), provider: o.provider}
			continue
		case refused(err):
			return fmt.Errorf("recording %s cannot be written, whatever came of it: SQLSTATE %s", c.id, reactors.SQLState(err))
		case !reactors.Locked(err):
			s.log.Warn().Err(err).Stringer("recording", c.id).Msg("what came of a recording is not written yet; trying again")
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// transact is one transaction: the row, what follows from it, the work's end, the
// next lane, and the job's end.
func (s *Service) transact(ctx context.Context, job *river.Job[Lane], c *claim, o *outcome) error {
	tx, err := s.results.Begin(ctx)
	if err != nil {
		return fmt.Errorf("end a recording: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	batch := &pgx.Batch{}
	queueLock(batch, c.user.String())
	var mine bool
	var rev *int64
	batch.Queue(`with r as (select content_rev from public.voice_recordings where id = $1 for no key update),
		w as (select recording_id from helix.voice_work where recording_id = $1 and job_id = $2 and attempt = $3 for update)
		select exists (select from w), (select content_rev from r)`, c.id, c.job, c.attempt).
		QueryRow(func(row pgx.Row) error { return row.Scan(&mine, &rev) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("end a recording: %w", err)
	}
	if mine && rev != nil {
		if *rev != c.rev {
			o = &outcome{cause: errChanged}
		}
		if err := s.write(ctx, tx, c, o); err != nil {
			return err
		}
	}
	if err := s.next(ctx, tx, c.user.String(), time.Time{}); err != nil { // of a deleted one, too
		return err
	}
	// The claim is the fence. A job that was taken for lost, and waits to be worked
	// again, finds no claim, and is as good as any other lane.
	if err := reactors.Complete(ctx, tx, job); err != nil && !errors.Is(err, reactors.ErrRescued) {
		return fmt.Errorf("complete the job: %w", err)
	}
	failpoint.Here("voice-finished")
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("end a recording: %w", err)
	}
	return nil
}

// refused reports whether the same will not be taken another time: Postgres says so,
// or who acts upon a transcript does.
func refused(err error) bool {
	return reactors.Refused(err) || reactors.SQLState(err) == "" && rowError(err) != nil
}

func refusal(err error) *Error {
	if fault := rowError(err); fault != nil {
		return fault
	}
	return notStored(reactors.SQLState(err))
}
