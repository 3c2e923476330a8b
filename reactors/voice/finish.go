package voice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/voice/command"
	"github.com/helixd/helixd/reactors/voice/provider"
)

const (
	finishRetry     = 250 * time.Millisecond // doubled
	mostFinishRetry = 10 * time.Second
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

// finish writes an outcome and ends the lane's job. It tries for as long as the
// database is away: what it holds was paid for.
func (s *Service) finish(ctx context.Context, job *river.Job[Lane], c *claim, o *outcome) error {
	if errors.Is(o.cause, errLost) {
		return nil // another lane sees to it
	}
	ctx, cancel := s.writing(ctx)
	defer cancel()
	for wait := finishRetry; ; wait = min(2*wait, mostFinishRetry) {
		err := s.transact(ctx, job, c, o)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return err
		case refused(err) && o.answer != nil:
			s.log.Warn().Str("sqlstate", reactors.SQLState(err)).Stringer("recording", c.id).Msg("a transcript is refused by the database")
			o = &outcome{fault: refusal(err), provider: o.provider}
			continue
		case refused(err):
			return fmt.Errorf("recording %s cannot be written, whatever came of it: SQLSTATE %s", c.id, reactors.SQLState(err))
		case !reactors.Locked(err):
			s.log.Warn().Err(err).Stringer("recording", c.id).Msg("what came of a recording is not written yet; trying again")
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// writing is a context for what must be written though the work has ended; it
// ends with the Service.
func (s *Service) writing(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// transact is one transaction: the row, what follows from it, the work's end, the
// next lane, and the job's end.
func (s *Service) transact(ctx context.Context, job *river.Job[Lane], c *claim, o *outcome) error {
	tx, err := s.results.Begin(ctx)
	if err != nil {
		return fmt.Errorf("end a recording: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	batch := &pgx.Batch{}
	queueLock(batch, c.user.String())
	var mine bool
	var rev *int64
	batch.Queue(`with r as (select content_rev from public.voice_recordings where id = $1 for no key update),
		w as (select recording_id from helix.voice_work where recording_id = $1 and job_id = $2 and attempt = $3 for update)
		select exists (select from w), (select content_rev from r)`, c.id, c.job, c.attempt).
		QueryRow(func(row pgx.Row) error { return row.Scan(&mine, &rev) })
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("end a recording: %w", err)
	}
	if mine && rev != nil {
		if *rev != c.rev {
			o = &outcome{cause: errChanged}
		}
		if err := s.write(ctx, tx, c, o); err != nil {
			return err
		}
	}
	if err := s.next(ctx, tx, c.user.String(), time.Time{}); err != nil { // of a deleted one, too
		return err
	}
	// The claim is the fence. A job that was taken for lost, and waits to be worked
	// again, finds no claim, and is as good as any other lane.
	if err := reactors.Complete(ctx, tx, job); err != nil && !errors.Is(err, reactors.ErrRescued) {
		return fmt.Errorf("complete the job: %w", err)
	}
	failpoint.Here("voice-finished")
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("end a recording: %w", err)
	}
	return nil
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

// maxBroadcast is the size of a transcript that goes along, in bytes; a longer one
// the client selects.
const maxBroadcast = 4 << 10

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

// refused reports whether the same will not be taken another time: Postgres says so,
// or who acts upon a transcript does.
func refused(err error) bool {
	return reactors.Refused(err) || reactors.SQLState(err) == "" && rowError(err) != nil
}

func refusal(err error) *Error {
	if fault := rowError(err); fault != nil {
		return fault
	}
	return notStored(reactors.SQLState(err))
}
