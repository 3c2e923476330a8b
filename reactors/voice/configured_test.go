package voice_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/storage"
)

func TestNotConfigured(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	user := b.User(t)
	before := b.record(t, user, pcm(10, 1))
	stop := b.work(t, parts{decoder: raw{}})
	after := b.record(t, user, pcm(10, 2))
	for _, id := range []uuid.UUID{before, after} {
		b.until(t, "the reason", "select coalesce(error ->> 'code', '') = 'provider_not_configured' from voice_recordings where id = $1", id)
		if r := b.row(t, id); r.Status != "pending" || !r.Error.Retryable || r.Attempts != 0 {
			t.Errorf("the row is %+v", r)
		}
	}
	stop()
	b.work(t, parts{decoder: raw{}, ear: &ear{}})
	for _, id := range []uuid.UUID{before, after} {
		if r := b.ended(t, id); r.code() != "done" {
			t.Errorf("the row is %+v", r)
		}
	}
}

// shelf is Storage with one object, for what lanes do with any.
type shelf struct{ object []byte }

func (s shelf) Open(_ context.Context, _, path string, most int64) (io.ReadCloser, error) {
	switch {
	case path != "voice/object":
		return nil, &storage.Error{Code: storage.Forbidden, Message: "No."}
	case int64(len(s.object)) > most:
		return nil, &storage.Error{Code: storage.TooLarge, Message: "Large."}
	}
	return io.NopCloser(bytes.NewReader(s.object)), nil
}

func (s shelf) SignedURL(_ context.Context, _, path string, _ time.Duration) (string, int64, error) {
	if path != "voice/object" {
		return "", 0, &storage.Error{Code: storage.Forbidden, Message: "No."}
	}
	return "https://signed.example/object", int64(len(s.object)), nil
}

func TestStorage(t *testing.T) {
	config := voice.DefaultConfig
	config.MostBytes = 30 << 20
	hears := func(_ context.Context, r provider.Request, _ []byte) (provider.Answer, error) {
		return provider.Answer{Transcript: r.URL + r.ContentType}, nil
	}
	for name, tt := range map[string]struct {
		size       int
		path       string
		url        bool
		more       string
		want, said string
	}{
		"IsRead":             {size: 320, path: "voice/object", want: "done", said: "audio/wav"},
		"SmallIsRead":        {size: 320, path: "voice/object", url: true, want: "done", said: "audio/wav"},
		"LargeGoesByURL":     {size: 21 << 20, path: "voice/object", url: true, want: "done", said: "https://signed.example/object"},
		"KeptIsRead":         {size: 21 << 20, path: "voice/object", url: true, more: "keep_audio = true", want: "done", said: "audio/wav"},
		"OthersIsForbidden":  {size: 320, path: "voice/other", want: "failed storage_forbidden"},
		"TooLargeFails":      {size: 31 << 20, path: "voice/object", want: "failed audio_too_large"},
		"TooLargeByURLFails": {size: 31 << 20, path: "voice/object", url: true, want: "failed audio_too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			user := b.User(t)
			id := get[uuid.UUID](t, b.Admin, "insert into voice_recordings (user_id, storage_path) values ($1, $2) returning id", user, tt.path)
			if tt.more != "" {
				b.Exec(t, "update voice_recordings set "+tt.more)
			}
			b.work(t, parts{config: config, decoder: raw{}, ear: &ear{url: tt.url, hear: hears}, objects: shelf{pcm(tt.size/2, 1)}})
			if r := b.ended(t, id); r.code() != tt.want || tt.said != "" && *r.Transcript != tt.said {
				t.Errorf("the row is %s, %+v", r.code(), r)
			}
		})
	}
	t.Run("NotConfiguredWaitsAlone", func(t *testing.T) {
		b := newBench(t)
		b.stream(t)
		user := b.User(t)
		stop := b.work(t, parts{decoder: raw{}, ear: &ear{}})
		id := get[uuid.UUID](t, b.Admin, "insert into voice_recordings (user_id, storage_path) values ($1, 'voice/object') returning id", user)
		if r := b.ended(t, b.record(t, user, pcm(10, 1))); r.code() != "done" {
			t.Errorf("the row beside it is %+v", r)
		}
		b.until(t, "the reason", "select status = 'pending' and coalesce(error ->> 'code', '') = 'storage_not_configured' from voice_recordings where id = $1", id)
		stop()
		b.work(t, parts{decoder: raw{}, ear: &ear{}, objects: shelf{pcm(10, 1)}})
		if r := b.ended(t, id); r.code() != "done" {
			t.Errorf("the row is %+v", r)
		}
	})
}

// TestPause: while the provider is not to be asked nothing is claimed, and one row
// says why.
func TestPause(t *testing.T) {
	b := newBench(t)
	b.unswept(t)
	b.stream(t)
	var mu sync.Mutex
	paused := false
	e := &ear{}
	e.ready = func() (time.Time, *provider.Error) {
		mu.Lock()
		defer mu.Unlock()
		if paused {
			return time.Now().Add(3 * time.Second), &provider.Error{Code: provider.PaymentRequired, Message: "Pay."}
		}
		return time.Time{}, nil
	}
	e.hear = func(context.Context, provider.Request, []byte) (provider.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		if !paused && e.count() == 1 {
			paused = true
			return provider.Answer{}, &provider.Error{Code: provider.PaymentRequired, Message: "Pay.", Status: 402, Sent: true}
		}
		return provider.Answer{Transcript: "paid"}, nil
	}
	config := voice.DefaultConfig
	config.UserConcurrency, config.MostTries = 1, 1 // the pause is none of the tries
	b.work(t, parts{config: config, decoder: raw{}, ear: e})
	user := b.User(t)
	b.Exec(t, "insert into voice_recordings (user_id, audio_data) select $1, '\\x0100' from generate_series(1, 50)", user)
	b.until(t, "the reason", "select exists (select from voice_recordings where error ->> 'code' = 'provider_payment_required' and error ? 'retry_at')")
	b.until(t, "a lane that waits", "select exists (select from helix.river_job where queue = 'voice' and state = 'scheduled')")
	if n := get[int](t, b.Admin, "select count(*) from voice_recordings where error is not null"); n > 3 {
		t.Errorf("%d rows were written", n)
	}
	mu.Lock()
	paused = false
	mu.Unlock()
	b.until(t, "all", "select not exists (select from voice_recordings where status <> 'done')")
	if e.count() != 51 {
		t.Errorf("%d requests for 50 recordings and a refusal", e.count())
	}
	b.clear(t)
}

func TestStatus(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.Exec(t, "insert into helix.leaders (slot, epoch, holder, heartbeat_at) select slot, epoch, 'test', now() + interval '1 hour' from helix.checkpoints")
	b.Exec(t, "insert into helix.reactors (reactor, slot, queue) select 'voice', slot, 'voice' from helix.checkpoints")
	user := b.User(t)
	b.Exec(t, "insert into voice_recordings (user_id, audio_data) select $1, '\\x0100' from generate_series(1, 7)", user)
	app := b.DB.AsUser(t, user.String())
	const status = "select concat_ws(' ', healthy, queue_depth, details ->> 'healthy', details ->> 'reason') from helix_status where reactor = 'voice'"
	stop := b.work(t, parts{decoder: raw{}})
	if got := get[string](t, app, status); got != "f 7 false No speech provider is configured: set DEEPGRAM_API_KEY, or HELIX_VOICE_URL, and start helixd again; the recording waits." {
		t.Errorf("without a provider helix_status says %q", got)
	}
	stop()
	config := voice.DefaultConfig
	config.Off = "SOME_SETTING"
	stop = b.work(t, parts{config: config, decoder: raw{}})
	if got := get[string](t, app, status); got != "f 7 false Recordings are not transcribed: SOME_SETTING is off." {
		t.Errorf("switched off helix_status says %q", got)
	}
	stop()
	e := &sick{}
	b.work(t, parts{decoder: raw{}, ear: e})
	b.until(t, "all", "select not exists (select from voice_recordings where status <> 'done')")
	if got := get[string](t, app, status); got != "t 0 true" {
		t.Errorf("with a provider helix_status says %q", got)
	}
	e.set("It is away.")
	b.until(t, "the news", "select exists (select from helix.workers where details -> 'voice' ->> 'reason' = 'It is away.')")
	if got := get[string](t, app, status); got != "f 0 false It is away." {
		t.Errorf("with a sick provider helix_status says %q", got)
	}
}

// sick is an ear that may be ill.
type sick struct {
	ear
	mu     sync.Mutex
	reason string
}

func (s *sick) set(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reason = reason
}

func (s *sick) Health() (bool, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reason == "", s.reason
}
