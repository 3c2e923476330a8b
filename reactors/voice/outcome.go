package voice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/voice/command"
	"github.com/helixd/helixd/reactors/voice/provider"
)

// outcome is what a claim comes to: an answer, a fault, or a cause for which it is
// given back as it was.
type outcome struct {
	answer   *provider.Answer
	provider string
	duration time.Duration // of the decoded audio, 0: it was not decoded
	audio    *spool        // a WAV file that goes onto the row, nil: none

	fault  *Error
	wait   time.Duration // until the next try; 0: there is none
	counts bool          // as one of the tries that a recording has

	cause error // errGone, errChanged, errLost or errStopping
}

func (o *outcome) close() {
	if o.audio != nil {
		_ = o.audio.Close()
	}
}

// without is what comes of a claim whose work ended in an error; nil: nothing,
// since the database cannot be asked.
func (s *Service) without(ctx context.Context, c *claim, err error) *outcome {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	switch {
	case errors.Is(err, errGone), errors.Is(err, errChanged), errors.Is(err, errLost):
		return &outcome{cause: err}
	case ctx.Err() != nil: // River's, or this process's end
		return &outcome{cause: errStopping}
	}
	fault := rowError(err)
	if fault == nil {
		return nil
	}
	o := &outcome{fault: fault}
	switch {
	case fault.pause:
		o.wait = max(fault.after, s.pauseLeft(), leastPause)
	case fault.machine: // none of the tries
		o.wait = machineWait/2 + rand.N(machineWait)
	case fault.again && c.tries+1 < s.cfg.MostTries:
		o.wait, o.counts = max(min(fault.after, mostBackoff), backoff(c.tries), s.pauseLeft()), true
	case fault.again:
		last := *fault
		last.Message = fmt.Sprintf("%s; it was tried %d times: set status to pending to try again", strings.TrimSuffix(fault.Message, "."), c.tries+1)
		o.fault = &last
	}
	return o
}

func (s *Service) write(ctx context.Context, tx pgx.Tx, c *claim, o *outcome) error {
	switch {
	case o.cause != nil:
		return s.giveBack(ctx, tx, c, errors.Is(o.cause, errChanged))
	case o.fault != nil && o.wait > 0:
		return s.putOff(ctx, tx, c, o)
	case o.fault != nil:
		return s.fail(ctx, tx, c, o)
	}
	return s.done(ctx, tx, c, o)
}

// giveBack lets the recording wait as it did before; of other audio nothing that
// was found counts.
func (s *Service) giveBack(ctx context.Context, tx pgx.Tx, c *claim, changed bool) error {
	batch := &pgx.Batch{}
	batch.Queue("update public.voice_recordings set status = 'pending', error = null where id = $1", c.id)
	if changed {
		batch.Queue("delete from helix.voice_work where recording_id = $1", c.id)
		batch.Queue("delete from helix.voice_answers where recording_id = $1", c.id)
	} else {
		batch.Queue("update helix.voice_work set job_id = null, attempt = null, holder = null, sent = 0 where recording_id = $1", c.id)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("give a recording back: %w", err)
	}
	return s.tell(ctx, tx, c, statusPending, nil)
}

// putOff lets the recording wait for another try.
func (s *Service) putOff(ctx context.Context, tx pgx.Tx, c *claim, o *outcome) error {
	var fault json.RawMessage
	err := tx.QueryRow(ctx, `with w as (
			update helix.voice_work set job_id = null, attempt = null, holder = null, sent = 0,
				tries = tries + $2::int, retry_at = clock_timestamp() + $3::interval
			where recording_id = $1 returning retry_at)
		update public.voice_recordings r set status = 'pending', error = $4::jsonb || jsonb_build_object('retry_at', w.retry_at)
		from w where r.id = $1 returning r.error`, c.id, number(o.counts), o.wait, *o.fault.json()).Scan(&fault)
	if err != nil {
		return fmt.Errorf("put a recording off: %w", err)
	}
	return s.tell(ctx, tx, c, statusPending, map[string]any{"error": fault})
}

func number(is bool) int {
	if is {
		return 1
	}
	return 0
}

// fail ends the recording without a transcript, also that of audio which it had
// before. Answers to parts of it are kept where another try can use them.
func (s *Service) fail(ctx context.Context, tx pgx.Tx, c *claim, o *outcome) error {
	fault := *o.fault.json()
	batch := &pgx.Batch{}
	batch.Queue(`update public.voice_recordings set status = 'failed', error = $2::jsonb, processed_at = clock_timestamp(), provider = $3,
		transcript = null, transcript_confidence = null, words = null, detected_language = null, duration_ms = null, processed_audio = null, actions = null
		where id = $1`, c.id, fault, optional(o.provider))
	batch.Queue("delete from helix.voice_work where recording_id = $1", c.id)
	if !o.fault.Retryable {
		batch.Queue("delete from helix.voice_answers where recording_id = $1", c.id)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("fail a recording: %w", err)
	}
	s.log.Warn().Stringer("recording", c.id).Str("code", o.fault.Code).Msg("a recording has failed")
	return s.tell(ctx, tx, c, statusFailed, map[string]any{"error": json.RawMessage(fault)})
}

// done writes a transcript and what follows from it.
func (s *Service) done(ctx context.Context, tx pgx.Tx, c *claim, o *outcome) error {
	audio, err := keep(ctx, tx, o.audio)
	if err != nil {
		return err
	}
	a := o.answer
	duration := o.duration
	if duration == 0 {
		duration = a.Duration
	}
	words := a.Words
	if words == nil {
		words = []provider.Word{}
	}
	raw, err := json.Marshal(words)
	if err != nil {
		return fmt.Errorf("write words: %w", err)
	}
	r := command.Recording{ID: c.id, UserID: c.user, Transcript: a.Transcript}
	err = tx.QueryRow(ctx, `update public.voice_recordings set status = 'done', error = null, transcript = $2, transcript_confidence = $3,
			words = $4::jsonb, detected_language = $5, duration_ms = $6, provider = $7, processed_at = clock_timestamp(), actions = null, processed_audio = `+audio.sql+`
		where id = $1 returning coalesce(memo, false), coalesce(created_at, now())`,
		append([]any{c.id, a.Transcript, a.Confidence, string(raw), optional(a.Language), milliseconds64(duration), o.provider}, audio.args...)...).
		Scan(&r.Memo, &r.CreatedAt)
	if err != nil {
		return fmt.Errorf("write a transcript: %w", err)
	}
	batch := &pgx.Batch{}
	batch.Queue("delete from helix.voice_work where recording_id = $1", c.id)
	batch.Queue("delete from helix.voice_answers where recording_id = $1", c.id)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("end a recording: %w", err)
	}
	if err := s.act(ctx, tx, r); err != nil {
		return err
	}
	record := map[string]any{"duration_ms": milliseconds64(duration), "detected_language": optional(a.Language)}
	if len(a.Transcript) <= maxBroadcast {
		record["transcript"] = a.Transcript
	}
	return s.tell(ctx, tx, c, statusDone, record)
}

func milliseconds64(d time.Duration) *int64 {
	if d <= 0 {
		return nil
	}
	ms := d.Milliseconds()
	return &ms
}

// optional is nil for "".
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
