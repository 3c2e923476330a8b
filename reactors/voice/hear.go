package voice

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/usage"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/wav"
)

const (
	mostOriginal = 25 << 20 // bytes of a recording that is sent as it is
	leastURL     = 20 << 20 // bytes of an object that a provider fetches itself
	urlExpires   = time.Hour
	original     = " (original audio)" // behind the provider's name on the row
)

// hear brings a claim from its source to what was said. The outcome may hold a
// spool with an error, too.
func (s *Service) hear(ctx context.Context, c *claim) (*outcome, error) {
	if c.sent >= mostSent {
		return nil, errInterrupted
	}
	if o, err := s.hearObject(ctx, c); o != nil || err != nil {
		return o, err
	}
	source, err := s.read(ctx, c)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if source.size == 0 {
		return nil, &decode.Error{Code: decode.Empty, Message: "The recording has 0 bytes."}
	}
	if s.decoder == nil {
		return s.hearOriginal(ctx, c, source, &decode.Error{Code: decode.Unavailable, Message: "This helixd was built without its decoder."})
	}
	file, audio, err := s.decode(ctx, c, source)
	failpoint.Here("voice-decoded")
	var undecoded *decode.Error
	if errors.As(err, &undecoded) && (undecoded.Code == decode.Undecodable || undecoded.Code == decode.TooHard) {
		return s.hearOriginal(ctx, c, source, undecoded)
	}
	if err != nil {
		return nil, err
	}
	o := &outcome{provider: s.provider.Name(), duration: audio.Duration()}
	if c.keepAudio {
		o.audio = file
	} else {
		defer file.Close()
	}
	o.answer, err = s.hearParts(ctx, c, audio)
	return o, err
}

// hearObject lets a provider fetch a large object itself; nil: it cannot, or the
// audio is wanted here.
func (s *Service) hearObject(ctx context.Context, c *claim) (*outcome, error) {
	if c.storagePath == nil || c.audioBytes != nil || c.keepAudio || s.objects == nil || !s.provider.TakesURL() {
		return nil, nil
	}
	url, size, err := s.objects.SignedURL(ctx, c.user.String(), *c.storagePath, urlExpires)
	if err != nil {
		return nil, err
	}
	if size > s.cfg.MostBytes {
		return nil, tooLarge(s.cfg.MostBytes)
	}
	if size < leastURL {
		return nil, nil
	}
	r := provider.Request{Owner: c.user.String(), URL: url, Size: size, Language: c.hint()}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%s\x00%s", *c.storagePath, size, s.provider.Name(), c.hint()))
	r.Key = hex.EncodeToString(key[:])
	answer, err := s.ask(ctx, c, r)
	if err != nil {
		return nil, err
	}
	return &outcome{answer: answer, provider: s.provider.Name() + original}, nil
}

// hearOriginal sends the bytes as they came: a provider may know what the decoder
// does not.
func (s *Service) hearOriginal(ctx context.Context, c *claim, source *spool, why *decode.Error) (*outcome, error) {
	if isText(source) { // as apps send it that forget to encode a bytea
		why = &decode.Error{Code: why.Code, Message: why.Message + ` The bytes are text: send audio_data as '\x' and hex.`}
	}
	tooMuch := int64(mostOriginal)
	if most := s.provider.MostBytes(); most > 0 {
		tooMuch = min(tooMuch, most)
	}
	if source.size > tooMuch {
		return nil, &Error{Code: CodeUndecodable, Message: why.Message}
	}
	r := provider.Request{Owner: c.user.String(), Size: source.size, ContentType: sniff(source, c.mimeType), Language: c.hint(),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(source, 0, source.size)), nil }}
	if err := s.sign(&r); err != nil {
		return nil, err
	}
	answer, err := s.ask(ctx, c, r)
	var refused *provider.Error
	if errors.As(err, &refused) && !refused.Retry && (refused.Code == provider.Rejected || refused.Code == provider.TooLarge) {
		return nil, &Error{Code: CodeUndecodable, Message: fmt.Sprintf("%s The provider could not read it either: %s", why.Message, refused.Message)}
	}
	if err != nil {
		return nil, err
	}
	return &outcome{answer: answer, provider: s.provider.Name() + original}, nil
}

// hearParts sends a WAV file in as few parts as the provider takes. The answer to
// the last one is stored with the result; the others at once.
func (s *Service) hearParts(ctx context.Context, c *claim, audio wav.Audio) (*provider.Answer, error) {
	parts, err := provider.Parts(s.provider, audio)
	if err != nil {
		return nil, internal("split the recording", err)
	}
	answers := make([]provider.Answer, len(parts))
	for i, p := range parts {
		r := provider.Request{Owner: c.user.String(), Size: p.Size(), ContentType: "audio/wav", Language: c.hint(),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(audio.Open(p)), nil }}
		if err := s.sign(&r); err != nil {
			return nil, err
		}
		var a *provider.Answer
		if len(parts) > 1 {
			if a, err = s.stored(ctx, c, r.Key); err != nil {
				return nil, err
			}
		}
		if a == nil {
			if a, err = s.ask(ctx, c, r); err != nil {
				return nil, err
			}
			if i < len(parts)-1 {
				if err := s.store(ctx, c, r.Key, a); err != nil {
					return nil, err
				}
				failpoint.Here("voice-stored")
			}
		}
		answers[i] = *a
	}
	whole := provider.Join(parts, answers)
	return &whole, nil
}

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

// stored gives the answer of an earlier time; nil: there is none.
func (s *Service) stored(ctx context.Context, c *claim, key string) (*provider.Answer, error) {
	var raw []byte
	err := s.pool.QueryRow(ctx, "select answer from helix.voice_answers where recording_id = $1 and key = decode($2, 'hex')", c.id, key).Scan(&raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for an answer: %w", err)
	}
	a := &provider.Answer{}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(a); err != nil {
		return nil, nil // another helixd's form: it is bought again
	}
	return a, nil
}

// store keeps the answer to a part.
func (s *Service) store(ctx context.Context, c *claim, key string, a *provider.Answer) error {
	raw, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("store an answer: %w", err)
	}
	// What was bought is kept whatever happens meanwhile, even where the claim is
	// lost, or the database is away; but not once another lane has ended with all of it.
	ctx, cancel := s.writing(ctx)
	defer cancel()
	for wait := finishRetry; ; wait = min(2*wait, mostFinishRetry) {
		batch := &pgx.Batch{}
		queueRowLock(batch, c)
		batch.Queue(`with kept as (
				insert into helix.voice_answers (recording_id, key, user_id, answer)
				select id, decode($4, 'hex'), user_id, $5::jsonb from public.voice_recordings where id = $1 and status <> 'done' on conflict do nothing)
			update helix.voice_work set sent = 0 where recording_id = $1 and job_id = $2 and attempt = $3`, c.id, c.job, c.attempt, key, string(raw))
		err := s.pool.SendBatch(ctx, batch).Close()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil || refused(err) {
			return fmt.Errorf("store an answer: %w", err)
		}
		if !reactors.Locked(err) {
			s.log.Warn().Err(err).Stringer("recording", c.id).Msg("an answer is not stored yet; trying again")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("store an answer: %w", err)
		case <-time.After(wait):
		}
	}
}

// hint is the language that the row names.
func (c *claim) hint() string {
	if c.language == nil {
		return ""
	}
	return clean(*c.language, 35)
}
