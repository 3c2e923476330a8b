package voice

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/helixd/helixd/internal/failpoint"
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
