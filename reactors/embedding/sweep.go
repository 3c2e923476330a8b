package embedding

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/outbound"
)

const (
	sweepMost = 1000
	tidyMost  = 10_000
	sweepLock = 0x656d626564 // one process at a time; "embed" in ASCII
)

// depth is what waits, as the last sweep has seen it.
type depth struct {
	setAside int64
	reasons  map[string]int64 // users, by the code of why
}

// sweep is the safety net under what jobs promise, and sees how much waits.
func (s *Service) sweep(ctx context.Context) error {
	return errors.Join(s.wake(ctx), s.measure(ctx))
}

// wake enqueues users whose wait is over and who have no job.
func (s *Service) wake(ctx context.Context) error {
	if s.embedder == nil {
		return s.parkAll(ctx)
	}
	err := reactors.Alone(ctx, s.pool, sweepLock, func(tx pgx.Tx) error {
		return reactors.InsertEach[EmbedMemories](ctx, s.jobs, tx, `select q.user_id::text from helix.embedding_queues q
			where (q.retry_at is null or q.retry_at <= now()) and exists (
					select from helix.embedding_work w where w.user_id = q.user_id and (w.retry_at is null or w.retry_at <= now()))
				and not exists (select from helix.river_job j where j.queue = $1 and j.args ->> 'user_id' = q.user_id::text
					and j.state in ('available', 'pending', 'scheduled', 'running', 'retryable'))
			order by q.user_id limit $2`, queue, sweepMost)
	})
	if err != nil {
		return fmt.Errorf("look for users whose memories wait: %w", err)
	}
	return nil
}

// parkAll says of all users that no provider is configured.
func (s *Service) parkAll(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `with parked as (
			select user_id from helix.embedding_queues q where reason ->> 'code' is distinct from $1::jsonb ->> 'code'
				and exists (select from helix.embedding_work w where w.user_id = q.user_id) limit $2 for update skip locked)
		update helix.embedding_queues q set retry_at = null, reason = $1::jsonb from parked where q.user_id = parked.user_id`, errNotConfigured.json(), sweepMost)
	if err != nil {
		return fmt.Errorf("say why memories wait: %w", err)
	}
	return nil
}

// forgive lets users go on at once who waited for what an operator may have mended
// before this start.
func (s *Service) forgive(ctx context.Context) error {
	if s.embedder == nil {
		return nil
	}
	_, err := s.pool.Exec(ctx, "update helix.embedding_queues set tries = 0, retry_at = null, reason = null where reason ->> 'code' = any ($1)",
		[]string{CodeNotConfigured, CodeBudget, CodeDimensions, CodeColumn, string(outbound.Unauthorized), string(outbound.NotFound),
			string(outbound.PaymentRequired), string(outbound.Unavailable), string(outbound.Rejected)})
	if err != nil {
		return fmt.Errorf("let users go on: %w", err)
	}
	return nil
}

// tidy forgets work for memories that are gone, or have an embedding, of which no
// change has told.
func (s *Service) tidy(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `delete from helix.embedding_work w where memory_id in (
		select v.memory_id from helix.embedding_work v left join public.memories m on m.id = v.memory_id
		where m.id is null or not v.by_hand and not m.embedding_stale limit $1)`, tidyMost)
	if err != nil {
		return fmt.Errorf("forget memories that want no embedding: %w", err)
	}
	return nil
}

// measure counts for Details.
func (s *Service) measure(ctx context.Context) error {
	var d depth
	err := s.pool.QueryRow(ctx, "select count(*) from (select from helix.embedding_work where retry_at = 'infinity' limit 10000) w").Scan(&d.setAside)
	if err != nil {
		return fmt.Errorf("count what waits: %w", err)
	}
	d.reasons = map[string]int64{}
	rows, err := s.pool.Query(ctx, `select coalesce(reason ->> 'code', ''), count(*) from (select reason from helix.embedding_queues q where reason is not null
		and exists (select from helix.embedding_work w where w.user_id = q.user_id) limit 10000) q group by 1`)
	if err != nil {
		return fmt.Errorf("count what waits: %w", err)
	}
	var code string
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&code, &n}, func() error { d.reasons[code] = n; return nil }); err != nil {
		return fmt.Errorf("count what waits: %w", err)
	}
	s.mu.Lock()
	s.depth = d
	s.mu.Unlock()
	return nil
}
