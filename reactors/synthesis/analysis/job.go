package analysis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
)

// queue is River's.
const queue = "analysis"

// Analyse answers one row of memory_synthesis_jobs.
type Analyse struct {
	JobID  string `json:"job_id" river:"unique"`
	UserID string `json:"user_id" river:"unique"`
}

// Kind implements river.JobArgs.
func (Analyse) Kind() string { return "analyse" }

// InsertOpts lets a row have one that is not done.
func (Analyse) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queue, MaxAttempts: 1000, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: reactors.Unended}}
}

// Waits.
const (
	crowdedWait = time.Second // for each of a user's open rows, while as many as may be are worked on
	lockedWait  = time.Second
	firstWait   = 5 * time.Second // for a provider, twice as long each time
	mostWait    = 10 * time.Minute
)

// Why work ends without a result, also as causes of its context.
var (
	errGone     = errors.New("the row is gone, or done")
	errLost     = errors.New("another worker has the row")
	errStopping = errors.New("helixd stops")
	errPrivacy  = errors.New("the user has changed what may be sent")
)

// work does a job. It fails when the database does, or when the row cannot be
// written whatever is to stand in it.
func (s *Service) work(ctx context.Context, job *river.Job[Analyse]) error {
	id, err1 := uuid.Parse(job.Args.JobID)
	user, err2 := uuid.Parse(job.Args.UserID)
	if err := errors.Join(err1, err2); err != nil {
		return river.JobCancel(fmt.Errorf("which row: %w", err))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &active{id: id, claim: uuid.New(), cancel: cancel}
	if !s.enter(a) {
		return river.JobSnooze(0)
	}
	defer s.leave(a)
	c, err := s.take(ctx, job, user, a)
	var crowded errCrowded
	switch {
	case errors.Is(err, errGone), errors.Is(err, errLost):
		return nil
	case errors.As(err, &crowded):
		return river.JobSnooze(crowded.pause)
	case reactors.Locked(err):
		return river.JobSnooze(lockedWait)
	case err != nil:
		return err
	}
	s.mu.Lock()
	a.taken = true
	s.mu.Unlock()
	failpoint.Here("analysis-claimed")
	r, err := s.analyse(ctx, c)
	return s.end(ctx, job, c, r, err)
}

// end writes what came of a claim.
func (s *Service) end(ctx context.Context, job *river.Job[Analyse], c *claim, r *result, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	writing, cancel := reactors.Beyond(ctx, s.ctx)
	defer cancel()
	var fault *Error
	var wait *waiting
	switch {
	case errors.Is(err, errLost):
		return nil // another worker sees to it
	case errors.Is(err, errGone):
		return s.finish(writing, job, c, func(context.Context, pgx.Tx) error { return nil })
	case errors.Is(err, errStopping), errors.Is(err, errPrivacy), ctx.Err() != nil:
		if err := s.giveBack(writing, c, nil); err != nil {
			return err
		}
		return river.JobSnooze(0) // another process goes on, or this one
	case errors.As(err, &wait):
		fault, pause := s.patience(c, wait)
		s.log.Warn().Stringer("analysis", c.id).Str("code", fault.Code).Dur("wait_ms", pause).Msg("an analysis waits for its provider")
		if err := s.giveBack(writing, c, fault); err != nil {
			return err
		}
		return river.JobSnooze(pause)
	case errors.As(err, &fault):
		return s.finish(writing, job, c, func(ctx context.Context, tx pgx.Tx) error { return s.fail(ctx, tx, c, fault) })
	case err != nil:
		s.log.Warn().Err(err).Stringer("analysis", c.id).Msg("an analysis was interrupted; trying again")
		if err := s.giveBack(writing, c, nil); err != nil {
			return err
		}
		return err
	}
	failpoint.Here("analysis-found")
	err = s.finish(writing, job, c, func(ctx context.Context, tx pgx.Tx) error { return s.store(ctx, tx, c, r) })
	if !reactors.Refused(err) {
		return err
	}
	s.log.Warn().Str("sqlstate", reactors.SQLState(err)).Stringer("analysis", c.id).Msg("an analysis is refused by the database")
	return s.finish(writing, job, c, func(ctx context.Context, tx pgx.Tx) error {
		return s.fail(ctx, tx, c, notStored(reactors.SQLState(err)))
	})
}
