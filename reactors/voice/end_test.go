package voice_test

import (
	"context"
	"errors"
	"testing"

	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/reactors/voice/provider"
)

// TestDeletedRecording: its request is cancelled, and the lane goes on.
func TestDeletedRecording(t *testing.T) {
	b := newBench(t)
	b.unswept(t)
	b.stream(t)
	cancelled := make(chan error, 1)
	e := &ear{}
	e.hear = func(ctx context.Context, _ provider.Request, body []byte) (provider.Answer, error) {
		if body[44] == 1 {
			err := wait(ctx, nil)
			cancelled <- err
			return provider.Answer{}, err
		}
		return provider.Answer{Transcript: "next"}, nil
	}
	config := voice.DefaultConfig
	config.UserConcurrency = 1
	b.work(t, parts{config: config, decoder: raw{}, ear: e})
	user := b.User(t)
	id := b.record(t, user, pcm(10, 1))
	b.until(t, "the request", "select attempts = 1 from voice_recordings where id = $1", id)
	next := b.record(t, user, pcm(10, 2))
	b.Exec(t, "delete from voice_recordings where id = $1", id)
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("the request ended with %v", err)
	}
	if r := b.ended(t, next); r.code() != "done" {
		t.Errorf("the next row is %+v", r)
	}
	b.clear(t)
}

// TestChangedAudio: nothing of the old audio is written, and the new one is heard.
func TestChangedAudio(t *testing.T) {
	for name, change := range map[string]func(b *bench, t *testing.T, id any){
		"WhileItIsHeard": func(b *bench, t *testing.T, id any) {
			b.Exec(t, "update voice_recordings set audio_data = $2 where id = $1", id, pcm(10, 2))
		},
		"BeforeItIsWritten": func(b *bench, t *testing.T, id any) { // sooner than the request can be cancelled
			b.Exec(t, "create function swap() returns trigger language plpgsql as $$ begin new.content_rev := new.content_rev + 1; new.audio_data := '\\x0200'; return new; end $$")
			b.Exec(t, "create trigger z before update on voice_recordings for each row when (old.attempts = 1 and new.audio_data = '\\x0100' and new.status = 'processing' and new.language = 'en') execute function swap()")
			b.Exec(t, "update voice_recordings set language = 'en' where id = $1", id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.unswept(t)
			b.stream(t)
			gate := make(chan struct{})
			e := &ear{hear: func(ctx context.Context, _ provider.Request, body []byte) (provider.Answer, error) {
				if body[44] == 1 {
					return provider.Answer{Transcript: "old"}, wait(ctx, gate)
				}
				return provider.Answer{Transcript: "new"}, nil
			}}
			b.work(t, parts{decoder: raw{}, ear: e})
			id := b.record(t, b.User(t), pcm(1, 1))
			b.until(t, "the request", "select attempts = 1 from voice_recordings where id = $1", id)
			change(b, t, id)
			if name == "BeforeItIsWritten" {
				close(gate)
			}
			if r := b.ended(t, id); r.code() != "done" || *r.Transcript != "new" || r.Attempts != 2 {
				t.Errorf("the row is %+v", r)
			}
			b.clear(t)
		})
	}
}

// TestNewAudioThatFails: what was said in the old audio is not left on the row.
func TestNewAudioThatFails(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, parts{decoder: raw{}, ear: &ear{}})
	user := b.User(t)
	id := b.record(t, user, pcm(10, 1))
	b.ended(t, id)
	app := b.DB.AsUser(t, user.String())
	if _, err := app.Exec(t.Context(), "update voice_recordings set audio_data = '\\x00' where id = $1", id); err != nil {
		t.Fatal(err)
	}
	b.until(t, "the new audio's end", "select status = 'failed' from voice_recordings where id = $1", id)
	if r := b.row(t, id); r.code() != "failed audio_empty" || r.Transcript != nil || r.Duration != nil || r.Provider != nil {
		t.Errorf("the row is %+v", r)
	}
}

// TestRefusedTranscript: a row that does not take it fails, and is not tried for ever.
func TestRefusedTranscript(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.Exec(t, "alter table voice_recordings add check (transcript <> 'hello')")
	e := &ear{}
	b.work(t, parts{decoder: raw{}, ear: e})
	r := b.ended(t, b.record(t, b.User(t), pcm(10, 1)))
	if r.code() != "failed transcript_refused" || r.Attempts != 1 || e.count() != 1 {
		t.Errorf("after %d requests the row is %+v", e.count(), r)
	}
	b.clear(t)
}

func TestTriesEnd(t *testing.T) {
	b := newBench(t)
	b.unswept(t)
	b.stream(t)
	config := voice.DefaultConfig
	config.MostTries = 2
	e := &ear{hear: func(context.Context, provider.Request, []byte) (provider.Answer, error) {
		return provider.Answer{}, errUnavailable
	}}
	b.work(t, parts{config: config, decoder: raw{}, ear: e})
	r := b.ended(t, b.record(t, b.User(t), pcm(10, 1)))
	if r.code() != "failed provider_unavailable" || !r.Error.Retryable || r.Error.RetryAt != nil || r.Attempts != 2 || e.count() != 2 {
		t.Errorf("after %d requests the row is %+v", e.count(), r)
	}
	b.clear(t)
}

func TestStop(t *testing.T) {
	t.Run("AnswerInTheGraceIsStored", func(t *testing.T) {
		b := newBench(t)
		b.unswept(t)
		b.stream(t)
		e, gate := held()
		stop := b.work(t, parts{decoder: raw{}, ear: e})
		id := b.record(t, b.User(t), pcm(10, 1))
		b.until(t, "the request", "select attempts = 1 from voice_recordings where id = $1", id)
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		gate <- struct{}{}
		<-stopped
		if r := b.row(t, id); r.code() != "done" || *r.Transcript != "heard" {
			t.Errorf("the row is %+v", r)
		}
	})
	t.Run("OthersGoBack", func(t *testing.T) {
		b := newBench(t)
		b.stream(t)
		e, gate := held()
		stop := b.work(t, parts{decoder: raw{}, ear: e})
		id := b.record(t, b.User(t), pcm(10, 1))
		b.until(t, "the request", "select attempts = 1 from voice_recordings where id = $1", id)
		stop()
		if r := b.row(t, id); r.code() != "pending" {
			t.Errorf("the row is %+v", r)
		}
		close(gate)
		b.work(t, parts{decoder: raw{}, ear: e})
		if r := b.ended(t, id); r.code() != "done" || r.Attempts != 2 || e.count() != 2 {
			t.Errorf("after %d requests the row is %+v", e.count(), r)
		}
		b.clear(t)
	})
}
