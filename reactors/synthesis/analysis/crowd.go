package analysis

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

// A user may insert ten thousand rows at once. Of them so many are worked on as
// UserConcurrency says; the others are parked, all by the first that finds it so:
// nobody else's rows wait until each has been looked at. Whoever ends a row wakes
// the next ones, and the park's end is the net under that. All of it is done under
// one lock of the user's: who is parked by a look from before an end would miss it.

// errCrowded says that as many of the user's rows as may be are worked on, and how
// long the others are parked.
type errCrowded struct{ pause time.Duration }

func (errCrowded) Error() string { return "as many of the user's rows as may be are worked on" }

// lockClass is the first half of the advisory locks under which users' rows are
// claimed, parked and woken: "ana" in ASCII.
const lockClass = 0x616e61

func queueUserLock(batch *pgx.Batch, user uuid.UUID) {
	batch.Queue("select pg_advisory_xact_lock($1::int, hashtext($2))", lockClass, user.String())
}

// park lets a user's rows wait, and gives the time that they do: the longer, the
// more there are. tx has the user's lock.
func (s *Service) park(ctx context.Context, tx pgx.Tx, user uuid.UUID) (time.Duration, error) {
	var open int
	if err := tx.QueryRow(ctx, "select count(*)::int from helix.analysis_work where user_id = $1", user).Scan(&open); err != nil {
		return 0, fmt.Errorf("count a user's analyses: %w", err)
	}
	pause := min(max(crowdedWait*time.Duration(open)/time.Duration(s.cfg.UserConcurrency), crowdedWait), mostWait)
	_, err := tx.Exec(ctx, `update helix.river_job set state = 'scheduled', scheduled_at = now() + $3::interval where id in (
		select id from helix.river_job where queue = $1 and state = 'available' and args ->> 'user_id' = $2 for update skip locked)`, queue, user.String(), pause)
	if err != nil {
		return 0, fmt.Errorf("let a user's analyses wait: %w", err)
	}
	return pause, nil
}

// wakeNext wakes the oldest of a user's rows that are parked, and not those that
// wait for a provider.
func (s *Service) wakeNext(ctx context.Context, tx pgx.Tx, user uuid.UUID) error {
	batch := &pgx.Batch{}
	queueUserLock(batch, user)
	batch.Queue(`update helix.river_job set state = 'available', scheduled_at = now() where id in (
		select j.id from helix.river_job j join helix.analysis_work w on w.job_id = (j.args ->> 'job_id')::uuid
		where j.queue = $1 and j.state = 'scheduled' and j.args ->> 'user_id' = $2 and w.user_id = $3 and w.tries = 0
		order by j.id limit $4 for update of j skip locked)`, queue, user.String(), user, s.cfg.UserConcurrency)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("wake a user's next analyses: %w", err)
	}
	return reactors.Wake(ctx, tx, queue)
}
