package analysis

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
	sweepLock = 0x616e616c79736573 // one process at a time; "analyses" in ASCII
)

// watch ends the work on rows that are gone, or another worker's now, and where the
// user has opted out of what is sent: a request for them need not be waited for, and
// is not made again.
func (s *Service) watch(ctx context.Context) error {
	s.mu.Lock()
	claims := make(map[uuid.UUID]*active, len(s.active))
	var ids, tokens []uuid.UUID
	var sources []string
	for a := range s.active {
		if a.taken {
			claims[a.claim] = a
			ids, tokens, sources = append(ids, a.id), append(tokens, a.claim), append(sources, a.source)
		}
	}
	s.mu.Unlock()
	if len(claims) == 0 {
		return nil
	}
	rows, err := s.pool.Query(ctx, `select a.claim, j.id is null, w.claim is distinct from a.claim
		from unnest($1::uuid[], $2::uuid[], $3::text[]) as a (id, claim, source)
		left join public.memory_synthesis_jobs j using (id) left join helix.analysis_work w on w.job_id = j.id
		left join public.privacy_settings p on p.user_id = j.user_id
		where j.id is null or j.status = 'processing' and (w.claim is distinct from a.claim or a.source = any (p.opt_out))`, ids, tokens, sources)
	if err != nil {
		return fmt.Errorf("look for rows: %w", err)
	}
	var token uuid.UUID
	var gone, lost bool
	_, err = pgx.ForEachRow(rows, []any{&token, &gone, &lost}, func() error {
		switch {
		case gone:
			claims[token].cancel(errGone)
		case lost:
			claims[token].cancel(errLost)
		default:
			claims[token].cancel(errPrivacy)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for rows: %w", err)
	}
	return nil
}

// sweep is the safety net under what jobs promise: it finds open rows that no job
// will ever look at, as a restored database may have them, and forgets old answers
// and what was spent long ago.
func (s *Service) sweep(ctx context.Context) error {
	return errors.Join(s.enqueue(ctx), s.prune(ctx), s.ledger.Forget(ctx))
}

// enqueue makes jobs for open rows that have none, and on which nobody works: a
// process whose job was ended by another may still do so.
func (s *Service) enqueue(ctx context.Context) error {
	err := reactors.Alone(ctx, s.pool, sweepLock, func(tx pgx.Tx) error {
		return reactors.InsertEach[Analyse](ctx, s.jobs, tx, `select r.id::text, r.user_id::text from public.memory_synthesis_jobs r left join helix.analysis_work w on w.job_id = r.id
			where r.status in ('pending', 'processing') and not exists (
					select from helix.river_job j where j.queue = $1 and j.args ->> 'job_id' = r.id::text
						and j.state in ('available', 'pending', 'scheduled', 'running', 'retryable'))
				and (w.holder is null or w.holder = $2 and not r.id = any ($3) or not exists (select from helix.workers k where k.holder = w.holder))
			order by r.created_at, r.id limit $4`, queue, s.jobs.Holder(), s.working(), sweepMost)
	})
	if err != nil {
		return fmt.Errorf("look for rows without a job: %w", err)
	}
	return nil
}

// wake lets all that wait for a provider go on now.
func (s *Service) wake(ctx context.Context) error {
	return reactors.Alone(ctx, s.pool, sweepLock, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "update helix.river_job set state = 'available', scheduled_at = now() where queue = $1 and state in ('scheduled', 'retryable')", queue)
		return err
	})
}

// prune forgets answers that are old, or more than a user's share.
func (s *Service) prune(ctx context.Context) error {
	err := reactors.Alone(ctx, s.pool, sweepLock, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "delete from helix.analysis_cache where created_at < now() - $1::interval", s.cfg.CacheAge); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `delete from helix.analysis_cache where (user_id, key) in (
			select user_id, key from (select user_id, key, row_number() over (partition by user_id order by created_at desc, key) as n
				from helix.analysis_cache) c where n > $1)`, s.cfg.CacheAnswers)
		return err
	})
	if err != nil {
		return fmt.Errorf("forget old answers: %w", err)
	}
	return nil
}

// working are the rows that are worked on here.
func (s *Service) working() []uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]uuid.UUID, 0, len(s.active))
	for a := range s.active {
		ids = append(ids, a.id)
	}
	return ids
}
