package voice_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/wav"
)

// killed leaves a recording as a process does that is killed with requests under
// way: claimed by the first attempt of a lane of a holder that is gone.
func (b *bench) killed(t *testing.T, user uuid.UUID, audio []byte, sent int) uuid.UUID {
	t.Helper()
	id := b.record(t, user, audio)
	b.Exec(t, "insert into helix.workers (holder, heartbeat_at) values ('killed', now() - interval '1 hour') on conflict do nothing")
	b.Exec(t, "insert into helix.voice_queues (user_id) values ($1) on conflict do nothing", user)
	job := get[int64](t, b.Admin, `insert into helix.river_job (state, attempt, max_attempts, attempted_at, args, attempted_by, kind, queue)
		values ('running', 1, 1000, now(), jsonb_build_object('user_id', $1::uuid), '{killed}', 'voice_lane', 'voice') returning id`, user)
	b.Exec(t, "insert into helix.voice_work (recording_id, user_id, content_rev, job_id, attempt, holder, sent) values ($1, $2, 0, $3, 1, 'killed', $4)", id, user, job, sent)
	b.Exec(t, "update voice_recordings set status = 'processing', attempts = $2 where id = $1", id, sent)
	return id
}

func TestResume(t *testing.T) {
	b := newBench(t)
	user := b.User(t)
	e := &ear{}
	once := b.killed(t, user, pcm(10, 1), 1)
	twice := b.killed(t, user, pcm(10, 2), 2)
	poison := b.killed(t, user, pcm(10, 3), 3)
	jobless := b.killed(t, user, pcm(10, 4), 1)
	b.Exec(t, "update helix.river_job set state = 'discarded', finalized_at = now() where id = (select job_id from helix.voice_work where recording_id = $1)", jobless)
	claimless := b.killed(t, user, pcm(10, 5), 0)
	b.Exec(t, "delete from helix.river_job where id = (select job_id from helix.voice_work where recording_id = $1)", claimless)
	b.Exec(t, "delete from helix.voice_work where recording_id = $1", claimless)
	changed := b.killed(t, user, pcm(10, 6), 1)
	b.Exec(t, "update voice_recordings set audio_data = $2 where id = $1", changed, pcm(10, 7))
	b.work(t, parts{decoder: raw{}, ear: e})
	for what, c := range map[string]struct {
		id       uuid.UUID
		want     string
		attempts int
	}{
		"once":      {once, "done", 2},
		"twice":     {twice, "done", 3},
		"poison":    {poison, "failed interrupted", 3},
		"jobless":   {jobless, "done", 2},
		"claimless": {claimless, "done", 1},
		"changed":   {changed, "done", 2},
	} {
		if r := b.ended(t, c.id); r.code() != c.want || r.Attempts != c.attempts {
			t.Errorf("%s: the row is %+v", what, r)
		}
	}
	if e.count() != 5 {
		t.Errorf("%d requests, want 5", e.count())
	}
	b.clear(t)
	t.Run("PoisonIsTriedAgainWhenAsked", func(t *testing.T) {
		b.stream(t)
		b.Exec(t, "update voice_recordings set status = 'pending' where id = $1", poison)
		if r := b.ended(t, poison); r.code() != "done" || r.Attempts != 4 {
			t.Errorf("the row is %+v", r)
		}
	})
}

// TestStoredAnswer: it is not bought again.
func TestStoredAnswer(t *testing.T) {
	b := newBench(t)
	user := b.User(t)
	audio := append(pcm(16_000, 0), pcm(16_000, 2)...)
	audio[0] = 1 // the parts are not the same
	id := b.killed(t, user, audio, 0)
	all := wav.New(bytes.NewReader(append(wav.Header(32_000), audio...)), 32_000)
	split, err := all.Split(20_000)
	if err != nil || len(split) != 2 {
		t.Fatalf("parts %v, error %v", split, err)
	}
	h := sha256.New()
	if _, err := h.Write(mustRead(t, all, split[0])); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(h, "\x00%s\x00%s\x00%s", "ear", "", "audio/wav")
	b.Exec(t, `insert into helix.voice_answers (recording_id, key, user_id, answer) values ($1, $2, $3, '{"transcript": "bought before"}')`, id, h.Sum(nil), user)
	e := &ear{mostDuration: 1250 * time.Millisecond, hear: func(context.Context, provider.Request, []byte) (provider.Answer, error) {
		return provider.Answer{Transcript: "and now"}, nil
	}}
	b.work(t, parts{decoder: raw{}, ear: e})
	if r := b.ended(t, id); r.code() != "done" || *r.Transcript != "bought before and now" || r.Attempts != 1 || e.count() != 1 {
		t.Errorf("after %d requests the row is %+v", e.count(), r)
	}
	b.clear(t)
}

func mustRead(t *testing.T, a wav.Audio, p wav.Part) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := b.ReadFrom(a.Open(p)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLateAnswer: a process that was frozen, and whose recording another has done
// meanwhile, changes nothing, and leaves nothing behind.
func TestLateAnswer(t *testing.T) {
	b := newBench(t)
	b.unswept(t)
	b.stream(t)
	gate := make(chan struct{})
	var first atomic.Bool
	e := &ear{mostDuration: time.Second, hear: func(ctx context.Context, _ provider.Request, _ []byte) (a provider.Answer, err error) {
		a.Transcript = "new"
		if first.CompareAndSwap(false, true) {
			a.Transcript = "late"
			err = wait(ctx, gate)
		}
		return a, err
	}}
	stops := []func(){b.work(t, parts{decoder: raw{}, ear: e}), b.work(t, parts{decoder: raw{}, ear: e})}
	id := b.record(t, b.User(t), pcm(24000, 1))
	b.until(t, "the request", "select attempts = 1 from voice_recordings where id = $1", id)
	b.Exec(t, "update helix.river_job set state = 'available', scheduled_at = now() where queue = 'voice' and state = 'running'")
	b.ended(t, id)
	close(gate)
	for _, stop := range stops {
		stop()
	}
	if r := b.row(t, id); r.code() != "done" || *r.Transcript != "new new" || r.Attempts != 3 || e.count() != 3 {
		t.Errorf("after %d requests the row is %+v", e.count(), r)
	}
	if n := get[int](t, b.Admin, "select (select count(*) from helix.voice_work) + (select count(*) from helix.voice_answers)"); n > 0 {
		t.Errorf("%d rows are left", n)
	}
}
