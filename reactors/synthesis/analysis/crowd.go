package analysis

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// A user may insert ten thousand rows at once. Of them so many are worked on as
// UserConcurrency says; the others are parked, all by the first that finds it so:
// nobody else's rows wait until each has been looked at. Whoever ends a row wakes
// the next ones, and the park's end is the net under that.

// park lets a user's rows wait, of which as many as may be are worked on, and gives
// the time that they do: the longer, the more there are.
func (s *Service) park(ctx context.Context, user uuid.UUID) (time.Duration, error) {
	var open int
	if err := s.pool.QueryRow(ctx, "select count(*)::int from helix.analysis_work where user_id = $1", user).Scan(&open); err != nil {
		return 0, fmt.Errorf("count a user's analyses: %w", err)
	}
	pause := min(max(crowdedWait*time.Duration(open)/time.Duration(s.cfg.UserConcurrency), crowdedWait), mostWait)
	_, err := s.pool.Exec(ctx, `update helix.river_job set state = 'scheduled', scheduled_at = now() + $3::interval where id in (
		select id from helix.river_job where queue = $1 and state = 'available' and args ->> 'user_id' = $2 for update skip locked)`, queue, user.String(), pause)
	if err != nil {
		return 0, fmt.Errorf("let a user's analyses wait: %w", err)
	}
	return pause, nil
}

// wakeNext wakes the oldest of a user's rows that are parked, and not those that
// wait for a provider.
func (s *Service) wakeNext(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	_, err := tx.Exec(ctx, `update helix.river_job set state = 'available', scheduled_at = now() where id in (
		select j.id from helix.river_job j join helix.analysis_work w on w.job_id = (j.args ->> 'job_id')::uuid
		where j.queue = $1 and j.state = 'scheduled' and j.args ->> 'user_id' = $2 and w.user_id = $3 and w.tries = 0
		order by j.id limit $4 for update of j skip locked)`, queue, user.String(), user, s.cfg.UserConcurrency)
	if err != nil {
		return fmt.Errorf("wake a user's next analyses: %w", err)
	}
	return nil
}
