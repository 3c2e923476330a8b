package voice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/reactors"
)

const (
	mostSent    = 3                      // requests whose end nobody saw; then a recording may be what ends its processes
	crowdedWait = 250 * time.Millisecond // of a lane, where as many as are allowed work in all processes
	claimsLock  = 0x766f696365           // makes claims wait for each other, so that they count right; "voice" in ASCII
)

// claim is a recording that this process has taken.
type claim struct {
	id          uuid.UUID
	user        uuid.UUID
	rev         int64
	audioBytes  *int64 // nil: none is in the row
	storagePath *string
	mimeType    *string
	language    *string
	keepAudio   bool
	tries       int
	sent        int

	job     int64
	attempt int
}

// claimColumns are of recording r; a column that the project had before may be null.
const claimColumns = `r.id, r.user_id, r.content_rev, octet_length(r.audio_data)::bigint as audio_bytes, r.storage_path, r.mime_type, r.language,
	coalesce(r.keep_audio, false) as keep_audio`

// ready are the recordings r, with their work w, that a lane may take. $1 is the
// user, $2 whether objects of Storage can be read here.
const ready = `r.user_id = $1::uuid and r.status = 'pending' and w.job_id is null and ($2 or r.storage_path is null)
	and (w.retry_at is null or w.retry_at <= clock_timestamp() or w.content_rev <> r.content_rev)`

// errCrowded says that as many recordings are worked on as are allowed.
var errCrowded = errors.New("as many recordings as are allowed are transcribed")

// claim takes the user's oldest recording that is ready; nil: there is none, or as
// many as the user may have are taken. It commits without waiting for the disk: a
// claim that a crash forgets was none, and nothing was sent for it.
func (s *Service) claim(ctx context.Context, job *river.Job[Lane]) (*claim, error) {
	c, err := s.claimNext(ctx, job, s.take)
	if refused(err) {
		return s.claimNext(ctx, job, s.takeOrSetAside)
	}
	return c, err
}

func (s *Service) claimNext(ctx context.Context, job *river.Job[Lane], take func(context.Context, pgx.Tx, *river.Job[Lane], standing) (*claim, error)) (*claim, error) {
	user := job.Args.UserID
	tx, err := s.results.Begin(ctx)
	if err != nil {
		return nil, fmt.Errorf("claim a recording: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	batch := &pgx.Batch{}
	batch.Queue("set local synchronous_commit = off")
	queueLock(batch, user)
	batch.Queue("select pg_advisory_xact_lock($1)", claimsLock)
	var mine, all, begun int
	var t standing
	batch.Queue(`select count(*) filter (where user_id = $1::uuid), count(*) from helix.voice_work where job_id is not null`, user).
		QueryRow(func(row pgx.Row) error { return row.Scan(&mine, &all) })
	batch.Queue("select case when hour = "+thisHour+" then begun else 0 end, "+thisHour+" + interval '1 hour' from helix.voice_queues where user_id = $1", user).
		QueryRow(func(row pgx.Row) error { return ignoreNone(row.Scan(&begun, &t.at)) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("claim a recording: %w", err)
	}
	switch {
	case s.provider == nil:
		t.at, t.reason = time.Time{}, errNotConfigured
	case s.cfg.Rate > 0 && begun >= s.cfg.Rate:
		t.reason = s.tooMany()
	default:
		t.at, t.reason = s.pause()
	}
	if t.reason == nil {
		switch {
		case mine >= s.cfg.UserConcurrency: // who ends one of them makes the next lane
			t.full = true
		case all >= s.cfg.Concurrency:
			return nil, errCrowded
		}
	}
	c, err := take(ctx, tx, job, t)
	if err != nil {
		return nil, err
	}
	if err := s.next(ctx, tx, user, t.at); err != nil {
		return nil, err
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, fmt.Errorf("claim a recording: %w", err)
	}
	return c, nil
}

// standing is what the user may do now.
type standing struct {
	reason *Error    // why nothing is taken; nil: it may be
	at     time.Time // when the next one may be; zero: now
	full   bool      // as many as the user may have are taken
	untold bool      // those in Storage are not told why they wait
}

// take writes what comes of it.
func (s *Service) take(ctx context.Context, tx pgx.Tx, job *river.Job[Lane], t standing) (c *claim, err error) {
	user := job.Args.UserID
	switch {
	case t.reason != nil:
		return nil, s.park(ctx, tx, user, t.reason, t.at)
	case !t.full:
		if c, err = s.pick(ctx, tx, job); err != nil {
			return nil, err
		}
	}
	if s.objects == nil && !t.untold {
		return c, s.parkObjects(ctx, tx, user)
	}
	return c, nil
}

// takeOrSetAside is take where a row may be one that cannot be written. The user's
// locks are kept meanwhile: another lane would set the next recording aside
// for this one's fault; and so would this lane, for the fault of one in Storage that
// only had to be told something.
func (s *Service) takeOrSetAside(ctx context.Context, tx pgx.Tx, job *river.Job[Lane], t standing) (c *claim, err error) {
	for _, t.untold = range []bool{false, true} {
		err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			if c, err = s.take(ctx, tx, job, t); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "set constraints all immediate") // what the commit would refuse
			return err
		})
		if !refused(err) {
			return c, err
		}
	}
	s.log.Warn().Str("sqlstate", reactors.SQLState(err)).Str("user", job.Args.UserID).Msg("a recording cannot be written; it waits, and the user's others go on")
	return nil, s.setAside(ctx, tx, job.Args.UserID)
}

// thisHour is when the counting of a user's recordings begins anew.
const thisHour = "date_trunc('hour', now(), 'utc')"

func ignoreNone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// pick takes the recording in the transaction.
func (s *Service) pick(ctx context.Context, tx pgx.Tx, job *river.Job[Lane]) (*claim, error) {
	c := &claim{job: job.ID, attempt: job.Attempt}
	err := tx.QueryRow(ctx, `with picked as (
			select r.id from public.voice_recordings r left join helix.voice_work w on w.recording_id = r.id
			where `+ready+` order by r.created_at, r.id limit 1 for update of r skip locked),
		r as (
			update public.voice_recordings r set status = 'processing', error = null from picked where r.id = picked.id
			returning `+claimColumns+`),
		noted as (
			insert into helix.voice_work as w (recording_id, user_id, content_rev, job_id, attempt, holder)
			select id, user_id, content_rev, $3, $4, $5 from r
			on conflict (recording_id) do update set content_rev = excluded.content_rev, job_id = excluded.job_id,
				attempt = excluded.attempt, holder = excluded.holder, retry_at = null,
				tries = case when w.content_rev = excluded.content_rev then w.tries else 0 end,
				sent = case when w.content_rev = excluded.content_rev then w.sent else 0 end
			returning tries, sent),
		counted as (
			update helix.voice_queues q set begun = case when hour = `+thisHour+` then begun else 0 end + 1, hour = `+thisHour+`
			from r where q.user_id = r.user_id)
		select r.*, noted.tries, noted.sent from r, noted`, job.Args.UserID, s.objects != nil, job.ID, job.Attempt, s.jobs.Holder()).
		Scan(c.into()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claim a recording: %w", err)
	}
	return c, s.tell(ctx, tx, c, statusProcessing, nil)
}

func (c *claim) into() []any {
	return []any{&c.id, &c.user, &c.rev, &c.audioBytes, &c.storagePath, &c.mimeType, &c.language, &c.keepAudio, &c.tries, &c.sent}
}

// resume gives the recording that an earlier attempt of the lane had when its
// process was lost; nil: it had none.
func (s *Service) resume(ctx context.Context, job *river.Job[Lane]) (*claim, error) {
	c := &claim{job: job.ID, attempt: job.Attempt}
	err := s.pool.QueryRow(ctx, `update helix.voice_work w set attempt = $2, holder = $3, content_rev = r.content_rev
		from public.voice_recordings r where r.id = w.recording_id and w.job_id = $1 and w.attempt < $2
		returning `+claimColumns+`, w.tries, w.sent`, job.ID, job.Attempt, s.jobs.Holder()).Scan(c.into()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find the interrupted recording: %w", err)
	}
	return c, nil
}
