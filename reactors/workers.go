package reactors

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/pulse"
)

// A process that works jobs says so in helix.workers. The jobs of one that says
// so no longer are given to the others: River itself would wait until they have
// run for longer than any job may.
const (
	lookEvery   = time.Second      // for what is due, and what is paused
	pollEvery   = 10 * time.Second // of each queue by itself, should no notification come
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
	events := j.holding.events
	go func() {
		defer close(j.rested)
		defer pulse.Jobs.Rest()
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		beaten := time.Now()
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-events:
				if !ok { // River has stopped
					events = nil
					continue
				}
				j.holding.set(e.Queue.Name, e.Kind == river.EventKindQueuePaused)
			case <-tick.C:
				if err := j.followQueues(ctx); err != nil && ctx.Err() == nil {
					j.log.Warn("could not look for what is due or paused", "error", err)
				}
				if time.Since(beaten) < workerBeat-lookEvery/2 {
					continue
				}
			}
			beaten = time.Now()
			if err := j.beat(ctx); err != nil && ctx.Err() == nil {
				j.log.Warn("could not say that jobs are worked here", "error", err)
			}
			if !j.ended.Load() {
				pulse.Jobs.Step()
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
	queues, paused := j.holding.lists()
	batch.Queue(`insert into helix.workers (holder, details, queues, paused) values ($1, $2, $3, $4)
		on conflict (holder) do update set heartbeat_at = now(), details = excluded.details, queues = excluded.queues, paused = excluded.paused`,
		j.holder, j.details(), queues, paused)
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

// EndDead ends sessions that have an advisory lock, of processes that were taken for
// dead: one that is frozen would keep it for as long. The session that takes such a
// lock is to have the process's name as its application_name, see Jobs.Holder.
func EndDead(ctx context.Context, db execer, lock int64) error {
	_, err := db.Exec(ctx, `select pg_terminate_backend(a.pid) from pg_locks l join pg_stat_activity a on a.pid = l.pid
		where l.locktype = 'advisory' and l.database = a.datid and a.datname = current_database() and l.objsubid = 1 and l.granted
			and l.classid::bigint << 32 | l.objid::bigint = $1
			and a.usename = current_user and a.application_name like 'helixd %'
			and not exists (select from helix.workers w where w.holder = a.application_name and w.heartbeat_at > now() - $2::interval)`, lock, workerDead)
	if err != nil {
		return fmt.Errorf("end a dead process's session: %w", err)
	}
	return nil
}
