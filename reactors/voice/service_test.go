package voice_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
)

func TestRecording(t *testing.T) {
	b := newBench(t)
	b.unswept(t)
	b.stream(t)
	sure := 0.75
	e := &ear{hear: func(_ context.Context, r provider.Request, body []byte) (provider.Answer, error) {
		if len(body) == 44+2*160 {
			return provider.Answer{}, nil
		}
		return provider.Answer{Transcript: "hello world", Confidence: &sure, Language: "en",
			Words: []provider.Word{{Word: "hello", Start: 0.1, End: 0.4}, {Word: "world", Start: 0.5, End: 0.9}}}, nil
	}}
	b.work(t, parts{decoder: raw{}, ear: e})
	user := b.User(t)
	t.Run("InsertBecomesATranscript", func(t *testing.T) {
		r := b.ended(t, b.record(t, user, pcm(24_000, 1)))
		if r.code() != "done" || *r.Transcript != "hello world" || *r.Confidence != sure || *r.Language != "en" || *r.Duration != 1500 ||
			*r.Provider != "ear" || r.Attempts != 1 || r.Processed == nil || len(r.Words) != 2 || r.Words[1] != (word{"world", 0.5, 0.9}) {
			t.Errorf("the row is %+v", r)
		}
	})
	t.Run("SilenceIsDone", func(t *testing.T) {
		r := b.ended(t, b.record(t, user, pcm(160, 0)))
		if r.code() != "done" || *r.Transcript != "" {
			t.Errorf("the row is %+v", r)
		}
	})
	t.Run("NoAudioFails", func(t *testing.T) {
		id := uuid.New()
		b.Exec(t, "alter table voice_recordings disable trigger a_helix_guard")
		b.Exec(t, "insert into voice_recordings (id, user_id) values ($1, $2)", id, user)
		b.Exec(t, "alter table voice_recordings enable trigger a_helix_guard")
		if r := b.ended(t, id); r.code() != "failed audio_missing" || r.Error.Retryable || r.Attempts != 0 {
			t.Errorf("the row is %+v", r)
		}
	})
	t.Run("PendingAgainIsTriedAgain", func(t *testing.T) {
		id := b.record(t, user, pcm(320, 0))
		b.ended(t, id)
		b.Exec(t, "update voice_recordings set status = 'failed', transcript = null where id = $1", id)
		app := b.DB.AsUser(t, user.String())
		if _, err := app.Exec(t.Context(), "update voice_recordings set status = 'pending' where id = $1", id); err != nil {
			t.Fatal(err)
		}
		if r := b.ended(t, id); r.code() != "done" || r.Attempts != 2 {
			t.Errorf("the row is %+v", r)
		}
	})
	b.clear(t)
}

func TestUndecodable(t *testing.T) {
	for name, tt := range map[string]struct {
		refuse *decode.Error
		answer *provider.Error
		want   string
		name   string
	}{
		"OriginalIsHeard":   {&decode.Error{Code: decode.Undecodable, Message: "No."}, nil, "done", "ear (original audio)"},
		"HardIsHeard":       {&decode.Error{Code: decode.TooHard, Message: "No."}, nil, "done", "ear (original audio)"},
		"RefusedFails":      {&decode.Error{Code: decode.Undecodable, Message: "No."}, &provider.Error{Code: provider.Rejected, Message: "Nor I.", Sent: true}, "failed undecodable", ""},
		"EmptyFails":        {&decode.Error{Code: decode.Empty, Message: "No."}, nil, "failed audio_empty", ""},
		"LongFails":         {&decode.Error{Code: decode.TooLong, Message: "No."}, nil, "failed audio_too_long", ""},
		"UnauthorizedFails": {&decode.Error{Code: decode.Undecodable, Message: "No."}, &provider.Error{Code: provider.Unauthorized, Message: "Who?", Sent: true}, "failed provider_unauthorized", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.stream(t)
			e := &ear{hear: func(_ context.Context, r provider.Request, body []byte) (provider.Answer, error) {
				if tt.answer != nil {
					return provider.Answer{}, tt.answer
				}
				return provider.Answer{Transcript: r.ContentType, Duration: 3 * time.Second}, nil
			}}
			b.work(t, parts{decoder: raw{tt.refuse}, ear: e})
			r := b.ended(t, b.record(t, b.User(t), []byte("fLaC and more")))
			if r.code() != tt.want {
				t.Fatalf("the row is %+v", r)
			}
			if tt.name != "" && (*r.Provider != tt.name || *r.Transcript != "audio/flac" || *r.Duration != 3000) {
				t.Errorf("the row is %+v", r)
			}
			b.clear(t)
		})
	}
}

func TestRetry(t *testing.T) {
	b := newBench(t)
	b.unswept(t)
	b.stream(t)
	n, claims := 0, b.DB.Connect(t, "postgres")
	e := &ear{hear: func(ctx context.Context, _ provider.Request, _ []byte) (provider.Answer, error) {
		if n++; n == 1 {
			// The row waits for half a second at the least, and then until it has been looked at.
			if _, err := claims.Exec(ctx, "select pg_advisory_lock($1)", 0x766f696365); err != nil {
				return provider.Answer{}, err
			}
			return provider.Answer{}, errUnavailable
		}
		return provider.Answer{Transcript: "at last"}, nil
	}}
	b.work(t, parts{decoder: raw{}, ear: e})
	user := b.User(t)
	id := b.record(t, user, pcm(160, 1))
	b.until(t, "the error", "select status = 'pending' and error is not null from voice_recordings where id = $1", id)
	if r := b.row(t, id); r.code() != "pending provider_unavailable" || !r.Error.Retryable || r.Error.RetryAt == nil {
		t.Errorf("the row that waits is %+v", r)
	}
	if _, err := claims.Exec(t.Context(), "select pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	if r := b.ended(t, id); r.code() != "done" || r.Attempts != 2 || *r.Transcript != "at last" {
		t.Errorf("the row is %+v", r)
	}
	b.clear(t)
}
