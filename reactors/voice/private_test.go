package voice_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
)

const optOut = `insert into privacy_settings (user_id, opt_out) values ($1, '{voice_recordings.audio_data}') on conflict (user_id) do update set opt_out = excluded.opt_out`

// TestOptedOut: nothing of a user who wants none of it to leave is sent, on
// whichever way it would go; asked again after a change of mind, it is.
func TestOptedOut(t *testing.T) {
	undecodable := &decode.Error{Code: decode.Undecodable, Message: "No."}
	config := voice.DefaultConfig
	config.MostBytes = 30 << 20
	for name, tt := range map[string]struct {
		decoder raw
		object  bool
		killed  bool
	}{
		"Decoded":  {},
		"Original": {decoder: raw{undecodable}},
		"ByURL":    {object: true},
		"Resumed":  {killed: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.stream(t)
			e := &ear{url: true}
			user, other := b.User(t), b.User(t)
			b.Exec(t, optOut, user)
			b.Exec(t, "insert into privacy_settings (user_id, opt_out) values ($1, '{memories.content,skill_runs.llm}')", other)
			var id uuid.UUID
			attempts := 0
			switch {
			case tt.killed:
				attempts = 1
				id = b.killed(t, user, pcm(10, 1), attempts)
			case tt.object:
				id = get[uuid.UUID](t, b.Admin, "insert into voice_recordings (user_id, storage_path) values ($1, 'voice/object') returning id", user)
			default:
				id = b.record(t, user, pcm(10, 1))
			}
			b.work(t, parts{config: config, decoder: tt.decoder, ear: e, objects: shelf{pcm(11<<20, 1)}})
			r := b.ended(t, id)
			if r.code() != "failed opted_out" || !r.Error.Retryable || r.Attempts != attempts || e.count() != 0 ||
				!strings.Contains(r.Error.Message, "take voice_recordings.audio_data out of opt_out in privacy_settings, then set status to pending") {
				t.Fatalf("after %d requests the row is %+v, %+v", e.count(), r, r.Error)
			}
			if r := b.ended(t, b.record(t, other, pcm(10, 2))); r.code() != "done" || e.count() != 1 {
				t.Errorf("another user's row is %+v", r)
			}
			app := b.DB.AsUser(t, user.String())
			for _, sql := range []string{"update privacy_settings set opt_out = '{}'", "update voice_recordings set status = 'pending'"} {
				if _, err := app.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			if r := b.ended(t, id); r.code() != "done" || r.Attempts != attempts+1 || e.count() != 2 {
				t.Errorf("after %d requests the row is %+v", e.count(), r)
			}
			b.clear(t)
		})
	}
}

// TestOptedOutBetweenParts: what is not sent yet is not sent; what was bought is
// kept, and not sent again either.
func TestOptedOutBetweenParts(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	user := b.User(t)
	changer := b.DB.Connect(t, "postgres")
	asked := 0
	e := &ear{mostDuration: time.Second, hear: func(ctx context.Context, _ provider.Request, _ []byte) (provider.Answer, error) {
		if asked++; asked == 1 {
			if _, err := changer.Exec(ctx, optOut, user); err != nil {
				return provider.Answer{}, err
			}
		}
		return provider.Answer{Transcript: "part"}, nil
	}}
	b.work(t, parts{decoder: raw{}, ear: e})
	var audio []byte
	for second := range byte(3) {
		audio = append(audio, pcm(12_000, second+1)...)
		audio = append(audio, pcm(4_000, 0)...)
	}
	id := b.record(t, user, audio)
	if r := b.ended(t, id); r.code() != "failed opted_out" || r.Attempts != 1 || e.count() != 1 {
		t.Fatalf("after %d requests the row is %+v", e.count(), r)
	}
	b.Exec(t, "delete from privacy_settings")
	b.Exec(t, "update voice_recordings set status = 'pending'")
	r := b.ended(t, id)
	if r.code() != "done" || r.Attempts != e.count() || e.count() < 3 || !strings.HasPrefix(*r.Transcript, "part part part") {
		t.Errorf("after %d requests the row is %+v", e.count(), r)
	}
	for body, times := range e.requests {
		if times > 1 {
			t.Errorf("a part of %d bytes was sent %d times", len(body), times)
		}
	}
}
