package reactors

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A process that works jobs says so in helix.workers. The jobs of one that says
// so no longer are given to the others: River itself would wait until they have
// run for longer than any job may.
const (
	workerBeat  = 2 * time.Second
	workerDead  = 10 * time.Second // since its last sign
	workerGrace = time.Second      // for the last statement of one that stops
)

// live begins to say that this process works jobs.
func (j *Jobs) live(ctx context.Context) error {
	if err := j.beat(ctx); err != nil {
		return err
	}
	ctx, j.resting = context.WithCancel(context.WithoutCancel(ctx))
	j.rested = make(chan struct{})
	go func() {
		defer close(j.rested)
		tick := time.NewTicker(workerBeat)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := j.beat(ctx); err != nil && ctx.Err() == nil {
				j.log.Warn("could not say that jobs are worked here", "error", err)
			}
		}
	}()
	return nil
}

// details are what its Services say of themselves.
func (j *Jobs) details() map[string]any {
	all := map[string]any{}
	for _, s := range j.services {
		if reactor, details := s.Details(); details != nil {
			all[reactor] = details
		}
	}
	return all
}

// rest ends what live began. A process that has no job any more leaves nothing to
// be rescued, and takes its name with it.
func (j *Jobs) rest(ended bool) {
	j.resting()
	<-j.rested
	if !ended {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), workerGrace)
	defer cancel()
	if _, err := j.pool.Exec(ctx, "delete from helix.workers where holder = $1", j.holder); err != nil {
		j.log.Warn("could not say that no jobs are worked here any more", "error", err)
	}
}

// beat says that this process lives, and makes the jobs of those that do not
// available again. What a stopped process had not committed when it wakes is
// refused by attempt: see Complete.
func (j *Jobs) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, workerDead)
	defer cancel()
	batch := &pgx.Batch{}
	batch.Queue(`insert into helix.workers (holder, details) values ($1, $2)
		on conflict (holder) do update set heartbeat_at = now(), details = excluded.details`, j.holder, j.details())
	// Who never said anything is an older helixd: River rescues its jobs.
	batch.Queue(`with dead as (
			select holder from helix.workers where heartbeat_at < now() - $1::interval
				and pg_try_advisory_xact_lock($2)),
		rescued as (
			update helix.river_job j set state = 'available', scheduled_at = now()
			from dead where j.state = 'running' and j.attempted_by[array_upper(j.attempted_by, 1)] = dead.holder)
		delete from helix.workers w using dead where w.holder = dead.holder`, workerDead, rescueLock)
	if err := j.pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write helix.workers: %w", err)
	}
	return nil
}

// rescueLock lets one process at a time rescue; the number is "rescue" in ASCII.
const rescueLock = 0x726573637565
