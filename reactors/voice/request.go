package voice

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors/usage"
	"github.com/helixd/helixd/reactors/voice/provider"
)

// sign gives a request its key: that of the same bytes and of what is asked about
// them.
func (s *Service) sign(r *provider.Request) error {
	h := sha256.New()
	body, err := r.Open()
	if err != nil {
		return internal("read a temporary file", err)
	}
	defer body.Close()
	if _, err := io.Copy(h, body); err != nil {
		return internal("read a temporary file", err)
	}
	for _, asked := range []string{s.provider.Name(), r.Language, r.ContentType} {
		_, _ = io.WriteString(h, "\x00"+asked)
	}
	r.Key = hex.EncodeToString(h.Sum(nil))
	return nil
}

// ask makes one request, where the user has not opted out. That it is made is
// durable before, so that attempts are never fewer than what the provider has seen.
func (s *Service) ask(ctx context.Context, c *claim, r provider.Request) (*provider.Answer, error) {
	if _, why := s.pause(); why != nil {
		return nil, why
	}
	if err := s.count(ctx, c); err != nil {
		return nil, err
	}
	failpoint.Here("voice-counted")
	a, err := s.provider.Transcribe(ctx, r)
	failpoint.Here("voice-answered")
	if err != nil {
		return nil, err
	}
	return &a, nil
}

func (s *Service) count(ctx context.Context, c *claim) error {
	batch := &pgx.Batch{}
	s.results.QueueMarker(batch)
	queueRowLock(batch, c)
	var optedOut, counted bool
	batch.Queue(`with private as (
			select from public.privacy_settings where user_id = $5 and $6 = any (opt_out)),
		mine as (
			select recording_id from helix.voice_work where recording_id = $1 and job_id = $2 and attempt = $3 for update),
		counted as (
			update public.voice_recordings r set attempts = coalesce(attempts, 0) + 1 from mine
			where r.id = mine.recording_id and r.content_rev = $4 and not exists (select from private) returning r.id),
		begun as (update helix.voice_work w set sent = sent + 1 from counted where w.recording_id = counted.id)
		select exists (select from private), exists (select from counted)`, c.id, c.job, c.attempt, c.rev, c.user, usage.Voice).
		QueryRow(func(row pgx.Row) error { return row.Scan(&optedOut, &counted) })
	if err := s.pool.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("count a request: %w", err)
	}
	switch {
	case optedOut:
		return errOptedOut // if the claim is none any more, nothing comes of it
	case !counted:
		return s.whyNot(ctx, c)
	}
	return nil
}

// whyNot says why a claim is none any more.
func (s *Service) whyNot(ctx context.Context, c *claim) error {
	var rev int64
	err := s.pool.QueryRow(ctx, "select content_rev from public.voice_recordings where id = $1", c.id).Scan(&rev)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return errGone
	case err != nil:
		return fmt.Errorf("look for a recording: %w", err)
	case rev != c.rev:
		return errChanged
	}
	return errLost
}

// hint is the language that the row names.
func (c *claim) hint() string {
	if c.language == nil {
		return ""
	}
	return clean(*c.language, 35)
}
