package synthesis

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
const queue = "synthesis"

// Synthesise finds the patterns of one user, as their memories are when it is worked.
type Synthesise struct {
	UserID string `json:"user_id" river:"unique"`
}

// Kind implements river.JobArgs.
func (Synthesise) Kind() string { return "synthesise" }

// InsertOpts lets a user have one that is not done: whoever ends it looks whether
// the user is due again.
func (Synthesise) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queue, MaxAttempts: 1000, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: reactors.Unended}}
}

const (
	mostBackoff = 10 * time.Minute
	busyWait    = time.Second // for who synthesises the user now, by hand or in a process that was taken for dead

	// A user whose memories change all the time is synthesised again after this
	// many times what it took, so that nobody takes more than a share of a worker.
	restFactor = 4
	mostRest   = time.Minute
)

// rest is from the end of a synthesis that took so long to the user's next.
func rest(took time.Duration) time.Duration { return min(restFactor*took, mostRest) }

// work does a job, until the Service ends. What it costs is bounded by MostMemories.
func (s *Service) work(ctx context.Context, job *river.Job[Synthesise]) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(s.ctx, stop)()
	user, err := uuid.Parse(job.Args.UserID)
	if err != nil {
		return river.JobCancel(fmt.Errorf("whose memories: %w", err))
	}
	err = s.synthesise(ctx, job, user)
	switch {
	case s.ctx.Err() != nil:
		return river.JobSnooze(0) // this process ends; another goes on
	case errors.Is(err, errBusy):
		return river.JobSnooze(busyWait)
	case err == nil:
		s.failing.Store(0)
	default:
		s.failing.Add(1)
		s.log.Warn().Err(err).Stringer("user", user).Msg("memories were not synthesised; trying again")
	}
	return err
}

func (s *Service) synthesise(ctx context.Context, job *river.Job[Synthesise], user uuid.UUID) error {
	run, err := s.begin(ctx, user, false)
	if err != nil {
		return err
	}
	defer run.end()
	failpoint.Here("synthesis-begun")
	if err := run.detect(ctx, nil); err != nil {
		return err
	}
	failpoint.Here("synthesis-detected")
	return s.finish(ctx, run, func(tx pgx.Tx, due bool) error {
		if err := reactors.Complete(ctx, tx, job); err != nil || !due {
			return err
		}
		next := time.Now().Add(max(s.cfg.Delay, rest(time.Since(run.began))))
		_, err := s.jobs.InsertOne(ctx, tx, Synthesise{UserID: user.String()}, &river.InsertOpts{ScheduledAt: next})
		return err
	})
}
