package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/replication/stream"
)

// awaitEvery is how often a command looks whether those who were told have acted.
const awaitEvery = 200 * time.Millisecond

// idleStream names leaders that do not do as the pause says. One that is silent
// counts while it has a session: it may wake up in the middle of an apply.
const idleStream = `select string_agg(l.holder, ', ') from helix.leaders l where l.paused_since is distinct from $1::timestamptz
	and (` + stream.Lives + ` or exists (select from pg_stat_activity a where a.application_name = l.holder))`

// idleQueues names processes that do not do as the pause of queues says, and counts
// jobs that run. A process says that it takes no more after its last job was
// marked as running, so both are seen together.
const idleQueues = `select
	(select string_agg(w.holder, ', ') from helix.workers w where w.heartbeat_at > now() - interval '10 seconds' and exists (
		select from unnest(w.queues) q where q = any ($1) and (q = any (w.paused)) is distinct from $2)),
	(select count(*) from helix.river_job where $2 and state = 'running' and queue = any ($1))`

// awaitPause waits until every process that runs has acted on a pause, or on its end.
func awaitPause(ctx context.Context, pool *pgxpool.Pool, p *paused, timeout time.Duration) error {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for {
		waiting, err := awaited(ctx, pool, p)
		if err != nil {
			return fmt.Errorf("see who has acted: %w", err)
		}
		if waiting == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("after %s not all have acted: %s", timeout, waiting)
		case <-tick.C:
		}
	}
}

// awaited says who has not acted yet, "" when all have.
func awaited(ctx context.Context, pool *pgxpool.Pool, p *paused) (string, error) {
	var who *string
	if p.What == pausedStream {
		var since *time.Time
		if p.Paused {
			since = &p.Since
		}
		if err := pool.QueryRow(ctx, idleStream, since).Scan(&who); err != nil || who == nil {
			return "", err
		}
		return *who, nil
	}
	var running int
	if err := pool.QueryRow(ctx, idleQueues, p.queues, p.Paused).Scan(&who, &running); err != nil {
		return "", err
	}
	switch {
	case who != nil:
		return *who, nil
	case running > 0:
		return fmt.Sprintf("%d jobs are still running", running), nil
	}
	return "", nil
}
