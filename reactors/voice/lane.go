package voice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
)

// queue is River's.
const queue = "voice"

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

// work does a lane. It fails when the database does, or when a row cannot be
// written whatever is to stand in it.
func (s *Service) work(ctx context.Context, job *river.Job[Lane]) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a := &active{cancel: cancel}
	if !s.begin(a) {
		return river.JobSnooze(0)
	}
	defer s.end(a)
	var c *claim
	var err error
	if job.Attempt > 1 {
		c, err = s.resume(ctx, job)
	}
	if c == nil && err == nil {
		c, err = s.claim(ctx, job)
	}
	switch {
	case errors.Is(err, errCrowded):
		return river.JobSnooze(crowdedWait)
	case reactors.Locked(err):
		return river.JobSnooze(time.Second)
	case err != nil || c == nil:
		return err
	}
	s.note(a, c)
	failpoint.Here("voice-claimed")
	o, err := s.hear(ctx, c)
	if o != nil {
		defer o.close()
	}
	if err != nil {
		if o = s.without(ctx, c, err); o == nil {
			return err // the database's: this lane takes the recording up again
		}
	}
	return s.finish(ctx, job, c, o)
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
