package voice

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

const (
	sweepMost = 1000
	sweepLock = 0x766f69636573 // one process at a time; "voices" in ASCII
)

// sweep is the safety net under what lanes promise: it finds recordings that no
// job will ever look at, as a restored database may have them, and those that
// waited for a setting.
func (s *Service) sweep(ctx context.Context) error {
	steps := []func(context.Context, pgx.Tx) error{s.releaseLost, s.dropWork}
	if s.provider == nil {
		steps = append(steps, s.parkAll)
	} else {
		steps = append(steps, s.wakeQueues)
	}
	var errs error
	for _, f := range steps {
		// In a transaction of its own: a row that an app's trigger refuses keeps
		// nothing else from being done.
		errs = errors.Join(errs, reactors.Alone(ctx, s.results, sweepLock, func(tx pgx.Tx) error { return f(ctx, tx) }))
	}
	return errs
}

// releaseLost lets recordings wait again whose lane will not be worked any more,
// and which nobody works on. A lane that another process ended may still work here.
func (s *Service) releaseLost(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `update helix.voice_work w set job_id = null, attempt = null, holder = null
		where job_id is not null and not exists (select from helix.river_job j where j.id = w.job_id
				and j.state in ('available', 'pending', 'retryable', 'running', 'scheduled'))
			and (w.holder = $1 and not w.recording_id = any ($2) or not exists (select from helix.workers k where k.holder = w.holder))`,
		s.jobs.Holder(), s.working())
	if err != nil {
		return fmt.Errorf("release claims of ended lanes: %w", err)
	}
	rows, err := tx.Query(ctx, `select id from public.voice_recordings r where status = 'processing'
			and not exists (select from helix.voice_work w where w.recording_id = r.id and w.job_id is not null) limit $1 for update skip locked`, sweepMost)
	if err != nil {
		return fmt.Errorf("find recordings without a claim: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return fmt.Errorf("find recordings without a claim: %w", err)
	}
	for _, id := range ids { // one that an app's trigger refuses keeps no other from it
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "update public.voice_recordings set status = 'pending' where id = $1", id)
			return err
		})
		if refused(err) {
			s.log.Warn().Str("sqlstate", reactors.SQLState(err)).Stringer("recording", id).Msg("a recording without a claim cannot be written")
		} else if err != nil {
			return fmt.Errorf("let recordings without a claim wait: %w", err)
		}
	}
	return nil
}

// dropWork forgets what was noted about recordings that have ended otherwise.
func (s *Service) dropWork(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `delete from helix.voice_work w using public.voice_recordings r
		where r.id = w.recording_id and w.job_id is null and r.status in ('done', 'failed')`)
	if err != nil {
		return fmt.Errorf("drop work of ended recordings: %w", err)
	}
	return nil
}

// waiting are the users with recordings that wait.
const waiting = `with recursive waiting as (
		(select user_id from public.voice_recordings where status = 'pending' order by user_id limit 1)
		union all
		select (select user_id from public.voice_recordings where status = 'pending' and user_id > w.user_id order by user_id limit 1)
		from waiting w where w.user_id is not null)`

// wakeQueues makes lanes for users whose recordings wait for none.
func (s *Service) wakeQueues(ctx context.Context, tx pgx.Tx) error {
	if s.pauseLeft() > 0 {
		return nil
	}
	err := reactors.InsertEach[Lane](ctx, s.jobs, tx, waiting+`, made as (
			insert into helix.voice_queues (user_id)
			select id from (select id from auth.users where id in (select user_id from waiting) order by id for key share skip locked) u on conflict do nothing)
		select u.user_id::text from waiting u where user_id is not null
			and (select count(*) from helix.voice_work c where c.user_id = u.user_id and c.job_id is not null) < $1
			and not exists (select from helix.river_job j where j.queue = 'voice' and j.args ->> 'user_id' = u.user_id::text and j.state = 'available')
			and exists (select from public.voice_recordings r left join helix.voice_work w on w.recording_id = r.id
				where r.user_id = u.user_id and r.status = 'pending' and w.job_id is null and ($2 or r.storage_path is null)
					and (w.retry_at is null or w.retry_at <= clock_timestamp() or w.content_rev <> r.content_rev))
		limit $3`, s.cfg.UserConcurrency, s.objects != nil, sweepMost)
	if err != nil {
		return fmt.Errorf("find recordings without a lane: %w", err)
	}
	return nil
}
