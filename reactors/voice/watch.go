package voice

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// active is a lane that is worked here.
type active struct {
	cancel context.CancelCauseFunc
	claim  *claim // nil until it has one
}

// begin notes a lane; false: none may begin any more.
func (s *Service) begin(a *active) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.lanes.Add(1)
	s.active[a] = true
	return true
}

func (s *Service) end(a *active) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.active, a)
	s.lanes.Done()
}

func (s *Service) note(a *active, c *claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.claim = c
}

// working are the recordings that lanes have here.
func (s *Service) working() []uuid.UUID {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]uuid.UUID, 0, len(s.active))
	for a := range s.active {
		if a.claim != nil {
			ids = append(ids, a.claim.id)
		}
	}
	return ids
}

func (s *Service) cancelAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.active {
		a.cancel(cause)
	}
}

// watch ends work on recordings that are gone, or have other audio now: a request
// for them need not be waited for.
func (s *Service) watch(ctx context.Context) error {
	ids := s.working()
	if len(ids) == 0 {
		return nil
	}
	revs := make(map[uuid.UUID]int64, len(ids))
	rows, err := s.pool.Query(ctx, "select id, content_rev from public.voice_recordings where id = any ($1)", ids)
	if err != nil {
		return fmt.Errorf("look for recordings: %w", err)
	}
	var id uuid.UUID
	var rev int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &rev}, func() error {
		revs[id] = rev
		return nil
	}); err != nil {
		return fmt.Errorf("look for recordings: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		asked[id] = true
	}
	for a := range s.active {
		if a.claim == nil || !asked[a.claim.id] {
			continue
		}
		if rev, there := revs[a.claim.id]; !there {
			a.cancel(errGone)
		} else if rev != a.claim.rev {
			a.cancel(errChanged)
		}
	}
	return nil
}
