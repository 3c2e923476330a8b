package voice

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// queue is River's.
const queue = "voice"

// Of voice_recordings.status.
const (
	statusPending    = "pending"
	statusProcessing = "processing"
	statusDone       = "done"
	statusFailed     = "failed"
)

// Lane transcribes the user's next recording, whichever that is when it is worked.
type Lane struct {
	UserID string `json:"user_id"`
}

// Kind implements river.JobArgs.
func (Lane) Kind() string { return "voice_lane" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (Lane) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queue, MaxAttempts: 1000} // a recording ends by its own tries
}

// ready are the recordings r, with their work w, that a lane may take. $1 is the
// user, $2 whether objects of Storage can be read here.
const ready = `r.user_id = $1::uuid and r.status = 'pending' and w.job_id is null and ($2 or r.storage_path is null)
	and (w.retry_at is null or w.retry_at <= clock_timestamp() or w.content_rev <> r.content_rev)`

// queueLock makes whoever claims or ends recordings of a user come one after the
// other. An account that is being deleted is locked from its row on down, so that
// row is first here, too.
func queueLock(batch *pgx.Batch, user string) {
	batch.Queue("select set_config('lock_timeout', '2s', true), set_config('idle_in_transaction_session_timeout', '60s', true)")
	batch.Queue("select from auth.users where id = $1 for key share", user)
	batch.Queue("insert into helix.voice_queues (user_id) select id from auth.users where id = $1 on conflict do nothing", user)
	// Its own statement: the next one must see what was committed until it had the lock.
	batch.Queue("select from helix.voice_queues where user_id = $1 for update", user)
}

// queueRowLock locks a claim's recording for what is written about it, from the
// account on down, as a deletion of either does: in another order one of the two
// would be a deadlock's victim.
func queueRowLock(batch *pgx.Batch, c *claim) {
	batch.Queue("select from auth.users where id = $1 for key share", c.user)
	batch.Queue("select from public.voice_recordings where id = $1 for no key update", c.id)
}

// next sees to it that a lane will look for the user's next recording, at once or
// when one may be tried again. There is one such lane at a time: the lane that
// takes a recording makes another one where more may be done at once. The caller
// has queueLock's locks. notBefore is when the user may have the next one; the zero
// time is now.
func (s *Service) next(ctx context.Context, tx pgx.Tx, user string, notBefore time.Time) error {
	var now bool
	var retry, scheduled *time.Time
	err := tx.QueryRow(ctx, `select (select count(*) from helix.voice_work where user_id = $1::uuid and job_id is not null) < $3
			and not exists (select from helix.river_job j where j.state = 'available' and j.queue = 'voice' and j.args ->> 'user_id' = $1::uuid::text)
			and exists (select from public.voice_recordings r left join helix.voice_work w on w.recording_id = r.id where `+ready+`),
		(select min(w.retry_at) from helix.voice_work w join public.voice_recordings r on r.id = w.recording_id and r.status = 'pending'
			where w.user_id = $1::uuid and w.job_id is null and w.retry_at > clock_timestamp()),
		(select min(j.scheduled_at) from helix.river_job j where j.state = 'scheduled' and j.queue = 'voice' and j.args ->> 'user_id' = $1::uuid::text)`,
		user, s.objects != nil, s.cfg.UserConcurrency).Scan(&now, &retry, &scheduled)
	if err != nil {
		return fmt.Errorf("look for the next recording: %w", err)
	}
	if s.provider == nil {
		return nil
	}
	at, _ := s.provider.Ready()
	if at.Before(notBefore) {
		at = notBefore
	}
	if now && time.Until(at) > 0 {
		now = false
		if retry == nil || at.Before(*retry) {
			retry = &at
		}
	}
	var lanes []river.InsertManyParams
	if now {
		lanes = append(lanes, river.InsertManyParams{Args: Lane{UserID: user}})
	}
	if retry != nil && (scheduled == nil || retry.Before(*scheduled)) {
		lanes = append(lanes, river.InsertManyParams{Args: Lane{UserID: user}, InsertOpts: &river.InsertOpts{ScheduledAt: *retry}})
	}
	if len(lanes) == 0 {
		return nil
	}
	return s.jobs.Insert(ctx, tx, lanes)
}
