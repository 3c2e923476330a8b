package reactors

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// Worker works the jobs of a kind, each for as long as it takes: what it waits for
// has an end of its own. One that fails is tried again as NextTry says.
type Worker[T river.JobArgs] struct {
	river.WorkerDefaults[T]
	Longest time.Duration // between two tries
	Do      func(ctx context.Context, job *river.Job[T]) error
}

// Timeout implements river.Worker.
func (*Worker[T]) Timeout(*river.Job[T]) time.Duration { return -1 }

// NextRetry implements river.Worker.
func (w *Worker[T]) NextRetry(job *river.Job[T]) time.Time { return NextTry(job.Attempt, w.Longest) }

// Work implements river.Worker.
func (w *Worker[T]) Work(ctx context.Context, job *river.Job[T]) error { return w.Do(ctx, job) }

// Beyond is a context for what must be written though the work, and ctx, has ended;
// it ends with end.
func Beyond(ctx, end context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(end, cancel)
	return ctx, func() { stop(); cancel() }
}
