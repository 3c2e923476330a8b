package reactors

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"
)

// Unended are the states of a job that will be worked: where they are unique, the
// next one of a kind comes in as soon as one has ended.
var Unended = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateScheduled,
	rivertype.JobStateRunning, rivertype.JobStateRetryable,
}

// NextTry is when a job that failed is tried again: after a second, and after twice
// as long each time, but never later than most from now.
func NextTry(attempt int, most time.Duration) time.Time {
	return time.Now().Add(min(time.Second<<min(max(attempt-1, 0), 20), most))
}

// ErrRescued says that a job was given to another worker since: this one was
// stopped for so long that it was taken for dead, and has written nothing.
var ErrRescued = errors.New("the job was rescued and is another worker's now")

// Complete ends a job in the transaction that has its results. River's own
// JobCompleteTx asks neither whether the job still runs nor whose attempt it is.
func Complete[T river.JobArgs](ctx context.Context, tx pgx.Tx, job *river.Job[T]) error {
	tag, err := tx.Exec(ctx, "select from "+jobSchema+".river_job where id = $1 and attempt = $2 and state = 'running' for update",
		job.ID, job.Attempt)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrRescued
	}
	_, err = river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
	return err
}
