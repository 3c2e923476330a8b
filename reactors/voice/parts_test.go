package voice_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/wav"
)

func TestParts(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	n := 0
	e := &ear{mostDuration: 2 * time.Second, hear: func(_ context.Context, r provider.Request, body []byte) (provider.Answer, error) {
		n++
		if n == 3 { // stored are two answers
			return provider.Answer{}, errUnavailable
		}
		samples := int64(len(body)-wav.HeaderBytes) / wav.SampleBytes
		if !bytes.HasPrefix(body, wav.Header(samples)) || r.ContentType != "audio/wav" {
			return provider.Answer{}, fmt.Errorf("%s, %d bytes", r.ContentType, len(body))
		}
		sure := float64(body[44]) / 10
		return provider.Answer{Transcript: fmt.Sprint("part ", body[44]), Confidence: &sure, Language: "en",
			Words: []provider.Word{{Word: "part", Start: 0.25, End: wav.Time(samples).Seconds()}}}, nil
	}}
	b.work(t, parts{decoder: raw{}, ear: e})
	// Five seconds, one more loud than the other, with a quiet place in each.
	var audio []byte
	for second := range byte(5) {
		audio = append(audio, pcm(12_000, second+1)...)
		audio = append(audio, pcm(4_000, 0)...)
	}
	id := b.record(t, b.User(t), audio)
	r := b.ended(t, id)
	if r.code() != "done" || r.Attempts != n || *r.Duration != 5000 || *r.Language != "en" {
		t.Fatalf("after %d requests the row is %+v", n, r)
	}
	for body, times := range e.requests {
		if times > 2 {
			t.Errorf("a part of %d bytes was bought %d times", len(body), times)
		}
	}
	// One part was asked about twice: the one that failed.
	if len(e.requests) != n-1 || len(e.requests) != len(r.Words) {
		t.Errorf("%d requests for %d parts, and %d words", n, len(e.requests), len(r.Words))
	}
	at, sum := 0.0, 0.0
	for i, w := range r.Words {
		if math.Abs(w.Start-at-0.25) > 0.001 {
			t.Errorf("word %d begins at %g, in a part that begins at %g", i, w.Start, at)
		}
		if w.End-at > 2 {
			t.Errorf("part %d lasts %g s", i, w.End-at)
		}
		at = w.End
	}
	if math.Abs(at-5) > 0.001 {
		t.Errorf("the parts end at %g", at)
	}
	for body := range e.requests {
		sum += float64(body[44]) / 10 * float64(len(body)-44) / 2 / wav.Rate / 5
	}
	if math.Abs(*r.Confidence-sum) > 1e-6 {
		t.Errorf("confidence %g, want %g", *r.Confidence, sum)
	}
	b.clear(t)
}

func TestKeepAudio(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, parts{decoder: raw{}, ear: &ear{}})
	user := b.User(t)
	for name, samples := range map[string]int{"Small": 1000, "Large": 1_700_001, "Parts": 1<<20 - 22} { // whole parts of 1 MB
		t.Run(name, func(t *testing.T) {
			audio := pcm(samples, 3)
			audio[samples] = 9 // somewhere in the middle
			id := b.record(t, user, audio)
			b.Exec(t, "delete from voice_recordings where id = $1", id)
			b.Exec(t, "insert into voice_recordings (id, user_id, audio_data, keep_audio) values ($1, $2, $3, true)", id, user, audio)
			if r := b.ended(t, id); r.code() != "done" {
				t.Fatalf("the row is %+v", r)
			}
			kept := get[[]byte](t, b.Admin, "select processed_audio from voice_recordings where id = $1", id)
			if !bytes.Equal(kept, append(wav.Header(int64(samples)), audio...)) {
				t.Errorf("%d bytes are kept, and are not the WAV file of %d samples", len(kept), samples)
			}
		})
	}
	t.Run("NoneWithoutAsking", func(t *testing.T) {
		id := b.record(t, user, pcm(10, 1))
		b.ended(t, id)
		if !get[bool](t, b.Admin, "select processed_audio is null from voice_recordings where id = $1", id) {
			t.Error("audio is kept")
		}
	})
}

// TestAnswerIsStoredLater: a part's answer that the database cannot take now is not
// bought again.
func TestAnswerIsStoredLater(t *testing.T) {
	b := newBench(t)
	b.unswept(t)
	b.stream(t)
	b.Exec(t, "create sequence storing")
	b.Exec(t, "grant usage on sequence storing to public")
	b.Exec(t, `create function public.away() returns trigger language plpgsql as $$ begin
		if nextval('public.storing') < 3 then raise sqlstate '57P03'; end if; return new; end $$`)
	b.Exec(t, "create trigger away before insert on helix.voice_answers for each row execute function public.away()")
	e := &ear{mostDuration: time.Second}
	b.work(t, parts{decoder: raw{}, ear: e})
	r := b.ended(t, b.record(t, b.User(t), pcm(24000, 1)))
	if r.code() != "done" || r.Attempts != 2 || e.count() != 2 {
		t.Errorf("after %d requests for two parts the row is %+v", e.count(), r)
	}
	b.clear(t)
}
