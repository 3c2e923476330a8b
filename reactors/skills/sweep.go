package skills

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

const (
	sweepEvery = 15 * time.Second
	sweepMost  = 1000
	sweepLock  = 0x7377656570 // one process at a time; "sweep" in ASCII
)

// sweep is the safety net under what lanes and commits promise: it finds runs
// and skills that no job will ever look at, as a restored database may have them.
func (s *Service) sweep() {
	first := true
	s.every(sweepEvery, "could not look for runs that were left behind; trying again", func(ctx context.Context) error {
		var errs error
		for _, f := range []func(context.Context, pgx.Tx) error{s.refuseExcess, s.requeueUnclaimed, s.dropClaims,
			func(ctx context.Context, tx pgx.Tx) error { return s.adoptClaims(ctx, tx, first) }, s.retryRefused, s.wakeQueues, s.checkPending} {
			// In a transaction of its own: a row that an app's trigger refuses keeps
			// nothing else from being done.
			errs = errors.Join(errs, reactors.Alone(ctx, s.results, sweepLock, func(tx pgx.Tx) error { return f(ctx, tx) }))
		}
		first = false
		return errs
	})
}

// refuseExcess ends the newest runs of users who have more waiting than is allowed.
func (s *Service) refuseExcess(ctx context.Context, tx pgx.Tx) error {
	fault := &Error{Code: CodeQueueFull, Retryable: true,
		Message: fmt.Sprintf("More than %d runs are waiting; insert this one again when some have ended.", s.cfg.QueueBound)}
	_, err := tx.Exec(ctx, `with full_queue as (
			select user_id from public.skill_runs where status = 'queued' group by user_id having count(*) > $1),
		excess as (
			select r.id from full_queue q cross join lateral (
				select id from public.skill_runs where user_id = q.user_id and status = 'queued' order by created_at, id offset $1) r)
		update public.skill_runs r set status = 'failed', error = $2, finished_at = now() from excess where r.id = excess.id and r.status = 'queued'`,
		s.cfg.QueueBound, fault.json())
	if err != nil {
		return fmt.Errorf("refuse runs of full queues: %w", err)
	}
	return nil
}

// requeueUnclaimed lets runs wait again that run nowhere.
func (s *Service) requeueUnclaimed(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `update public.skill_runs r set status = 'queued', started_at = null
		where status = 'running' and not exists (select from helix.skill_claims c where c.run_id = r.id)`)
	if err != nil {
		return fmt.Errorf("requeue runs without a claim: %w", err)
	}
	return nil
}

// dropClaims forgets claims of rows that are gone, and that no lane will end.
func (s *Service) dropClaims(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "delete from helix.skill_claims c where not exists (select from public.skill_runs r where r.id = c.run_id)")
	if err != nil {
		return fmt.Errorf("drop claims of deleted runs: %w", err)
	}
	return nil
}

// lost are claims of lanes that will not be worked again, whose process is gone, too:
// a lane whose job another process took, and ended, may still run what it has.
const lost = `not exists (select from helix.river_job j where j.id = c.job_id
		and j.state in ('available', 'pending', 'retryable', 'running', 'scheduled'))
	and not exists (select from helix.workers w where w.holder = c.holder) and (c.holder <> '` + givenUp + `' or $1) and c.holder <> '` + refused + `'`

// adoptClaims gives lost claims to new lanes.
func (s *Service) adoptClaims(ctx context.Context, tx pgx.Tx, evenGivenUp bool) error {
	rows, err := tx.Query(ctx, "select distinct c.job_id, c.user_id from helix.skill_claims c where "+lost+" limit $2", evenGivenUp, sweepMost)
	if err != nil {
		return fmt.Errorf("find claims of ended lanes: %w", err)
	}
	type orphan struct {
		job  int64
		user uuid.UUID
	}
	orphans, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o orphan, err error) {
		return o, row.Scan(&o.job, &o.user)
	})
	if err != nil {
		return fmt.Errorf("find claims of ended lanes: %w", err)
	}
	for _, o := range orphans {
		job, err := s.jobs.InsertOne(ctx, tx, Lane{UserID: o.user.String(), Adopts: true}, nil)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "update helix.skill_claims c set job_id = $3, attempt = 0 where job_id = $2 and "+lost, evenGivenUp, o.job, job); err != nil {
			return fmt.Errorf("adopt claims: %w", err)
		}
	}
	return nil
}

// wakeQueues makes lanes for users whose runs wait for none.
func (s *Service) wakeQueues(ctx context.Context, tx pgx.Tx) error {
	err := reactors.InsertEach[Lane](ctx, s.jobs, tx, `with recursive waiting as (
			(select user_id from public.skill_runs where status = 'queued' order by user_id limit 1)
			union all
			select (select user_id from public.skill_runs where status = 'queued' and user_id > w.user_id order by user_id limit 1)
			from waiting w where w.user_id is not null),
		made as (
			insert into helix.skill_queues (user_id)
			select id from (select id from auth.users where id in (select user_id from waiting) order by id for key share skip locked) u on conflict do nothing)
		select user_id::text, false from waiting where exists (select from public.skill_runs r where r.user_id = waiting.user_id and `+unclaimed+`)
			and (select count(*) from helix.skill_claims c where c.user_id = waiting.user_id and c.permit) < $1
			and not exists (select from helix.river_job j where j.queue = 'skills' and j.args ->> 'user_id' = waiting.user_id::text
				and (j.state = 'available' or j.state = 'scheduled' and $2 > 0))
		limit $3`, s.cfg.Concurrency, s.cfg.Rate, sweepMost)
	if err != nil {
		return fmt.Errorf("find queues without a lane: %w", err)
	}
	return nil
}

// checkPending makes checks of skills that none waits for.
func (s *Service) checkPending(ctx context.Context, tx pgx.Tx) error {
	err := reactors.InsertEach[Check](ctx, s.jobs, tx, `select id::text from public.skills s where status = 'pending' and not exists (
			select from helix.river_job j where j.kind = 'skill_check' and j.args @> jsonb_build_object('skill_id', s.id)
				and j.state in ('available', 'running', 'retryable', 'scheduled'))
		limit $1`, sweepMost)
	if err != nil {
		return fmt.Errorf("find skills that nobody checks: %w", err)
	}
	return nil
}
