package reactors

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/helixd/helixd/internal/metric"
)

// measured is River's middleware that counts jobs.
func measured(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) (err error) {
	began, outcome := time.Now(), metric.Panicked // which River recovers
	defer func() { metric.Worked(job.Kind, outcome, began) }()
	err = work(ctx)
	var snoozed *river.JobSnoozeError
	var cancelled *river.JobCancelError
	switch {
	case err == nil:
		outcome = metric.Done
	case errors.As(err, &snoozed):
		outcome = metric.Snoozed
	case errors.As(err, &cancelled), ctx.Err() != nil:
		outcome = metric.Cancelled
	default:
		outcome = metric.Failed
	}
	return err
}
