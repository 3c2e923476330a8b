package reactors

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/rs/zerolog"
)

// Every calls f now and at intervals until ctx ends. Where it fails, what is logged.
func Every(ctx context.Context, interval time.Duration, log zerolog.Logger, what string, f func(ctx context.Context) error) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		if err := f(ctx); err != nil && ctx.Err() == nil {
			log.Warn().Err(err).Msg(what)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Alone runs f in a transaction, unless another process is at it: who has the
// advisory lock does it for all.
func Alone(ctx context.Context, db interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}, lock int64, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, "select pg_try_advisory_xact_lock($1), set_config('lock_timeout', '5s', true)", lock).Scan(&mine, nil); err != nil || !mine {
			return err
		}
		return f(tx)
	})
}

// InsertEach enqueues a job for each row of a query, whose columns are the fields of
// the job's arguments.
func InsertEach[T river.JobArgs](ctx context.Context, j *Jobs, tx pgx.Tx, sql string, args ...any) error {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	jobs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (river.InsertManyParams, error) {
		args, err := pgx.RowToStructByPos[T](row)
		return river.InsertManyParams{Args: args}, err
	})
	if err != nil || len(jobs) == 0 {
		return err
	}
	return j.Insert(ctx, tx, jobs)
}
