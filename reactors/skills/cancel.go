package skills

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// cancelEvery is how often one looks whether running runs shall go on; shorter
// ones are never looked for.
const cancelEvery = 300 * time.Millisecond

// pollCancels ends runs whose users wish it, or whose rows are gone.
func (s *Service) pollCancels() {
	s.every(cancelEvery, "could not look for cancelled runs; trying again", func(ctx context.Context) error {
		s.mu.Lock()
		var ids []uuid.UUID
		for id, a := range s.active {
			if time.Since(a.began) > cancelEvery {
				ids = append(ids, id)
			}
		}
		s.mu.Unlock()
		if len(ids) == 0 {
			return nil
		}
		wishes := make(map[uuid.UUID]bool, len(ids))
		rows, err := s.pool.Query(ctx, "select id, cancel_requested from public.skill_runs where id = any ($1)", ids)
		if err != nil {
			return err
		}
		var id uuid.UUID
		var wish bool
		if _, err := pgx.ForEachRow(rows, []any{&id, &wish}, func() error {
			wishes[id] = wish
			return nil
		}); err != nil {
			return fmt.Errorf("read cancel_requested: %w", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, id := range ids {
			a := s.active[id]
			wish, there := wishes[id]
			switch {
			case a == nil:
			case !there:
				a.cancel(errGone)
			case wish:
				a.cancel(errCancelled)
			}
		}
		return nil
	})
}
