package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/storage"
	"github.com/helixd/helixd/replication/stream"
)

// Providers of transcripts.
const (
	providerDeepgram = "deepgram"
	providerOpenAI   = "openai"
	providerOff      = "off"
)

// voiceSettings are those of the reactor voice: as they were given, and read.
type voiceSettings struct {
	provider, baseURL, model, denoise, concurrency, userConcurrency, rate, mostBytes, longest string
	deepgramKey, key                                                                          string
	decoder, supabaseURL, serviceKey                                                          string

	config voice.Config
}

func (s *voiceSettings) settings() []setting {
	byDefault := voice.DefaultConfig
	return []setting{
		{"voice-provider", "HELIX_VOICE_PROVIDER", "", "who transcribes: deepgram, openai (any server of that protocol) or off; the one whose key or address is set", &s.provider},
		{"voice-url", "HELIX_VOICE_URL", "", "base address of the provider, such as http://localhost:8000", &s.baseURL},
		{"voice-model", "HELIX_VOICE_MODEL", "", "the provider's model", &s.model},
		{"voice-denoise", "HELIX_VOICE_DENOISE", string(byDefault.Denoise), "off, highpass, light or strong; recognisers hear best with off", &s.denoise},
		{"voice-concurrency", "HELIX_VOICE_CONCURRENCY", strconv.Itoa(byDefault.Concurrency), "recordings at a time, in all processes", &s.concurrency},
		{"voice-user-concurrency", "HELIX_VOICE_USER_CONCURRENCY", strconv.Itoa(byDefault.UserConcurrency), "recordings of one user at a time, in all processes", &s.userConcurrency},
		{"voice-rate", "HELIX_VOICE_RATE", strconv.Itoa(byDefault.Rate), "recordings of one user that are begun in an hour, 0 for no limit; others wait", &s.rate},
		{"voice-max-bytes", "HELIX_VOICE_MAX_BYTES", strconv.FormatInt(byDefault.MostBytes>>20, 10) + "MB", "size of the largest recording", &s.mostBytes},
		{"voice-max-duration", "HELIX_VOICE_MAX_DURATION", "4h", "longest recording", &s.longest},
		{"voice-decoder", "HELIX_VOICE_DECODER", "", "file with a decoder of your own build, in place of the one in helixd", &s.decoder},
		{"supabase-url", "SUPABASE_URL", "", "address of the project, https://<ref>.supabase.co, for recordings in Storage", &s.supabaseURL},
		{"", "DEEPGRAM_API_KEY", "", "key of Deepgram, for transcripts", &s.deepgramKey},
		{"", "HELIX_VOICE_KEY", "", "key of a server with OpenAI's protocol, for transcripts", &s.key},
		{"", "SUPABASE_SERVICE_ROLE_KEY", "", "secret key of the project, for recordings in Storage", &s.serviceKey},
	}
}

func (s *voiceSettings) parse() error {
	s.config = voice.DefaultConfig
	if err := cmp.Or(
		readNumber("voice-concurrency", s.concurrency, 1, math.MaxInt16, &s.config.Concurrency),
		readNumber("voice-user-concurrency", s.userConcurrency, 1, math.MaxInt16, &s.config.UserConcurrency),
		readNumber("voice-rate", s.rate, 0, math.MaxInt16, &s.config.Rate),
	); err != nil {
		return err
	}
	switch s.config.Denoise = decode.Denoise(s.denoise); s.config.Denoise {
	case decode.Off, decode.Highpass, decode.Light, decode.Strong:
	default:
		return &usageError{fmt.Errorf("--voice-denoise %q: it takes off, highpass, light or strong", s.denoise)}
	}
	var err error
	if s.config.MostBytes, err = skills.ParseBytes(s.mostBytes); err != nil || s.config.MostBytes < 1 {
		return &usageError{fmt.Errorf("--voice-max-bytes %q: it takes a size, such as 100MB", s.mostBytes)}
	}
	if s.config.Longest, err = time.ParseDuration(s.longest); err != nil || s.config.Longest < time.Second || s.config.Longest > 24*time.Hour {
		return &usageError{fmt.Errorf("--voice-max-duration %q: it takes a time from 1s to 24h, such as 4h", s.longest)}
	}
	for flag, text := range map[string]string{"voice-url": s.baseURL, "supabase-url": s.supabaseURL} {
		if err := checkAddress(text); err != nil {
			return &usageError{fmt.Errorf("--%s: %w", flag, err)}
		}
	}
	return s.parseProvider()
}

// checkAddress refuses what cannot be the base of requests. It never quotes the
// address: somebody may have put a key there.
func checkAddress(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("it takes an address, such as https://api.example.com")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("its address has a password, a query or a fragment; it takes one without")
	}
	return nil
}

// parseProvider finds out who transcribes. A key never goes to an address that may
// be meant for the other provider.
func (s *voiceSettings) parseProvider() error {
	switch s.provider {
	case "":
		switch {
		case s.deepgramKey != "" && s.baseURL != "":
			return &usageError{errors.New("--voice-provider: DEEPGRAM_API_KEY and HELIX_VOICE_URL are both set: say deepgram or openai")}
		case s.deepgramKey != "":
			s.provider = providerDeepgram
		case s.baseURL != "", s.key != "":
			s.provider = providerOpenAI
		default:
			s.provider = providerOff
		}
	case providerDeepgram:
		if s.deepgramKey == "" {
			return &usageError{errors.New("--voice-provider deepgram: DEEPGRAM_API_KEY is not set")}
		}
	case providerOpenAI:
		if s.baseURL == "" && s.key == "" {
			return &usageError{errors.New("--voice-provider openai: neither HELIX_VOICE_KEY nor HELIX_VOICE_URL is set, such as http://127.0.0.1:8000/v1")}
		}
	case providerOff:
		s.config.Off = "HELIX_VOICE_PROVIDER"
	default:
		return &usageError{fmt.Errorf("--voice-provider %q: it takes deepgram, openai or off", s.provider)}
	}
	return nil
}

// newTranscriber makes the client of the provider that is set, nil where none is.
func newTranscriber(cfg *config, log zerolog.Logger) (*provider.Client, error) {
	s := &cfg.voice
	o := provider.Options{BaseURL: s.baseURL, Model: s.model}
	var p provider.Provider
	switch s.provider {
	case providerDeepgram:
		o.Key = s.deepgramKey
		p = provider.NewDeepgram(o)
	case providerOpenAI:
		o.Key = s.key
		p = provider.NewOpenAI(o)
	default:
		return nil, nil
	}
	return provider.NewClient(p, provider.ClientOptions{Concurrency: s.config.Concurrency, Log: log}), nil
}

// newDecoder makes the decoder with its worker children; nil where this build has
// none: recordings go to the provider as they are. stop ends the children.
func newDecoder(ctx context.Context, cfg *config, log zerolog.Logger) (d *decode.Decoder, stop func(), err error) {
	s := &cfg.voice
	if err := decode.Available(); err != nil && s.decoder == "" {
		log.Warn().Err(err).Msg("voice: recordings are not decoded; the provider gets them as they are")
		return nil, func() {}, nil
	}
	dir, err := cfg.skills.childrenDir()
	if err != nil {
		return nil, nil, err
	}
	// The layers of a sandbox are those of the kernel, and skills' has told them.
	quiet := log.Level(max(log.GetLevel(), zerolog.WarnLevel))
	boxes, err := sandbox.NewPool(ctx, sandbox.Config{Dir: dir, Workers: max(2, runtime.NumCPU()), AllowUnsafe: cfg.skills.unsafe, Log: quiet,
		Limits: decode.Limits(s.config.Longest, s.config.MostBytes)})
	if err != nil {
		return nil, nil, &stream.SetupError{Problem: "worker children for recordings cannot be made: " + err.Error(), Hint: cacheDirHint}
	}
	d = decode.New(boxes)
	if s.decoder != "" {
		if err := d.Use(s.decoder); err != nil {
			_ = boxes.Close()
			return nil, nil, &usageError{fmt.Errorf("--voice-decoder: %w", err)}
		}
	}
	return d, func() {
		if err := boxes.Close(); err != nil && !errors.Is(err, context.Canceled) {
			log.Warn().Err(err).Msg("the sandbox did not close in order")
		}
	}, nil
}

// newVoice makes what does the jobs of voice. stop ends its worker children, of
// which there are none where nobody transcribes.
func newVoice(ctx context.Context, cfg *config, db *pgxpool.Pool, log zerolog.Logger) (service *voice.Service, stop func(), err error) {
	s := &cfg.voice
	var objects voice.Objects
	if s.supabaseURL != "" && s.serviceKey != "" {
		objects = storage.New(db, storage.Options{URL: s.supabaseURL, Key: s.serviceKey})
		if outbound.InTheClear(s.supabaseURL) {
			log.Warn().Str("address", s.supabaseURL).Msg("storage: recordings, the service key with them, can be read on their way: give SUPABASE_URL with https")
		}
	}
	client, err := newTranscriber(cfg, log)
	if err != nil {
		return nil, nil, err
	}
	said := log.Info().Bool("storage", objects != nil)
	if client != nil {
		said = said.Str("provider", client.Name())
	} else {
		said = said.Str("provider", "none: recordings wait")
	}
	said.Msg("voice")
	if client == nil {
		return voice.NewService(s.config, db, nil, nil, objects, log), func() {}, nil
	}
	decoder, end, err := newDecoder(ctx, cfg, log)
	if err != nil {
		return nil, nil, err
	}
	if decoder == nil {
		return voice.NewService(s.config, db, nil, client, objects, log), end, nil
	}
	preparing, cancel := context.WithCancel(ctx)
	var prepared sync.WaitGroup
	prepared.Go(func() { // so that the first recording does not wait for it
		if err := decoder.Prepare(preparing); err != nil && preparing.Err() == nil {
			log.Warn().Err(err).Msg("voice: the decoder does not run; the provider gets recordings as they are")
		}
	})
	return voice.NewService(s.config, db, decoder, client, objects, log), func() {
		cancel()
		end()
		prepared.Wait()
	}, nil
}
