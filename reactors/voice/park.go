package voice

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// parkMost is how many recordings are written in one statement.
const parkMost = 1000

// pause is until when the provider is not asked, and why.
func (s *Service) pause() (time.Time, *Error) {
	at, why := s.provider.Ready()
	if time.Until(at) <= 0 {
		return time.Time{}, nil
	}
	if why == nil {
		return at, &Error{Code: CodeInternal, Retryable: true, Message: "The speech provider is not asked for a while; the recording waits."}
	}
	reason := rowError(why)
	reason.Retryable, reason.pause = true, true
	return at, reason
}

// pauseLeft is how long the provider is not to be asked yet.
func (s *Service) pauseLeft() time.Duration {
	if s.provider == nil {
		return 0
	}
	at, _ := s.provider.Ready()
	return max(time.Until(at), 0)
}

// park says on recordings that wait why they do, once for a reason.
func (s *Service) park(ctx context.Context, tx pgx.Tx, user string, why *Error, until time.Time) error {
	at := &until
	if until.IsZero() {
		at = nil
	}
	_, err := tx.Exec(ctx, `with parked as (
			select r.id from public.voice_recordings r left join helix.voice_work w on w.recording_id = r.id
			where `+ready+` and r.error ->> 'code' is distinct from $3::jsonb ->> 'code'
			order by r.created_at, r.id limit $5 for update of r skip locked)
		update public.voice_recordings r set error = jsonb_strip_nulls($3::jsonb || jsonb_build_object('retry_at', $4::timestamptz))
		from parked where r.id = parked.id`,
		user, s.objects != nil, *why.json(), at, parkMost)
	if err != nil {
		return fmt.Errorf("say why recordings wait: %w", err)
	}
	return nil
}

// parkObjects says on recordings in Storage that it is not configured.
func (s *Service) parkObjects(ctx context.Context, tx pgx.Tx, user string) error {
	_, err := tx.Exec(ctx, `with parked as (
			select id from public.voice_recordings where user_id = $1 and status = 'pending' and storage_path is not null
				and error ->> 'code' is distinct from $2::jsonb ->> 'code' limit $3 for update skip locked)
		update public.voice_recordings r set error = $2::jsonb from parked where r.id = parked.id`,
		user, *errStorageNotConfigured.json(), parkMost)
	if err != nil {
		return fmt.Errorf("say why recordings wait: %w", err)
	}
	return nil
}

// parkAll says on what waits that no provider is configured.
func (s *Service) parkAll(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, `with parked as (
			select id from public.voice_recordings where status = 'pending' and error ->> 'code' is distinct from $1::jsonb ->> 'code'
			limit $2 for update skip locked)
		update public.voice_recordings r set error = $1::jsonb from parked where r.id = parked.id`, *errNotConfigured.json(), parkMost)
	if err != nil {
		return fmt.Errorf("say why recordings wait: %w", err)
	}
	return nil
}

// setAside lets the user's next recording wait, whose row cannot be written: the
// work says so, since the row cannot.
func (s *Service) setAside(ctx context.Context, tx pgx.Tx, user string) error {
	_, err := tx.Exec(ctx, `insert into helix.voice_work as w (recording_id, user_id, content_rev, retry_at)
		select r.id, r.user_id, r.content_rev, clock_timestamp() + $3::interval
		from public.voice_recordings r left join helix.voice_work w on w.recording_id = r.id
		where `+ready+` order by r.created_at, r.id limit 1 for update of r skip locked
		on conflict (recording_id) do update set retry_at = excluded.retry_at, content_rev = excluded.content_rev`, user, s.objects != nil, mostBackoff)
	if err != nil {
		return fmt.Errorf("set a recording aside: %w", err)
	}
	return nil
}
