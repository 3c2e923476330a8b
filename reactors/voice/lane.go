package voice

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
)

type laneWorker struct {
	river.WorkerDefaults[Lane]
	s *Service
}

// Timeout implements river.Worker: decoder and provider have their own.
func (*laneWorker) Timeout(*river.Job[Lane]) time.Duration { return -1 }

// NextRetry implements river.Worker: a lane fails when the database does, or when
// a row cannot be written whatever is to stand in it.
func (*laneWorker) NextRetry(job *river.Job[Lane]) time.Time {
	return reactors.NextTry(job.Attempt, 64*time.Second)
}

// Work implements river.Worker.
func (w *laneWorker) Work(ctx context.Context, job *river.Job[Lane]) error {
	s := w.s
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &active{cancel: cancel}
	if !s.begin(a) {
		return river.JobSnooze(0)
	}
	defer s.end(a)
	var c *claim
	var err error
	if job.Attempt > 1 {
		c, err = s.resume(ctx, job)
	}
	if c == nil && err == nil {
		c, err = s.claim(ctx, job)
	}
	switch {
	case errors.Is(err, errCrowded):
		return river.JobSnooze(crowdedWait)
	case reactors.Locked(err):
		return river.JobSnooze(time.Second)
	case err != nil || c == nil:
		return err
	}
	s.note(a, c)
	failpoint.Here("voice-claimed")
	o, err := s.hear(ctx, c)
	if o != nil {
		defer o.close()
	}
	if err != nil {
		if o = s.without(ctx, c, err); o == nil {
			return err // the database's: this lane takes the recording up again
		}
	}
	return s.finish(ctx, job, c, o)
}

// without is what comes of a claim whose work ended in an error; nil: nothing,
// since the database cannot be asked.
func (s *Service) without(ctx context.Context, c *claim, err error) *outcome {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, errGone), errors.Is(err, errChanged), errors.Is(err, errLost):
		return &outcome{cause: err}
	case ctx.Err() != nil: // River's, or this process's end
		return &outcome{cause: errStopping}
	}
	fault := rowError(err)
	if fault == nil {
		return nil
	}
	o := &outcome{fault: fault}
	switch {
	case fault.pause:
		o.wait = max(fault.after, s.pauseLeft(), leastPause)
	case fault.machine: // none of the tries
		o.wait = machineWait/2 + rand.N(machineWait)
	case fault.again && c.tries+1 < s.cfg.MostTries:
		o.wait, o.counts = max(min(fault.after, mostBackoff), backoff(c.tries), s.pauseLeft()), true
	case fault.again:
		last := *fault
		last.Message = fmt.Sprintf("%s; it was tried %d times: set status to pending to try again", strings.TrimSuffix(fault.Message, "."), c.tries+1)
		o.fault = &last
	}
	return o
}
