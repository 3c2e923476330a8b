package main_test

import (
	le "encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
	"github.com/helixd/helixd/testenv"
)

// beep is a WAV file as recorders make small ones, 8 kHz with 8 bits: a tone of its
// own for each number, which fades, but not to silence: each part of it is its own.
func beep(number int, length time.Duration) []byte {
	samples := int(length.Seconds() * 8000)
	b := append([]byte("RIFF"), le.LittleEndian.AppendUint32(nil, uint32(36+samples))...)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data"...)
	b = le.LittleEndian.AppendUint32(b, uint32(samples))
	for i := range samples {
		at := float64(i) / 8000
		b = append(b, byte(128+(10+90*math.Exp(-at/10))*math.Sin(at*2*math.Pi*float64(200+number))))
	}
	return b
}

// TestVoiceSurvivesKill: helixd, or a worker child, is killed at each step of
// recordings; each ends once, and of requests that the provider has seen there are
// no more than the rows say, and no more than one a kill that were made before. One
// recording is worked on at a time, so that a kill finds one.
func TestVoiceSurvivesKill(t *testing.T) {
	if err := decode.Available(); err != nil {
		if os.Getenv("HELIX_TEST_AUDIO") == "require" {
			t.Fatal(err)
		}
		t.Skipf("%v; run reactors/voice/decode/build.sh", err)
	}
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	speech := providertest.NewOpenAI(t)
	slot := db.SlotName("voice")
	run := func(failpoint string) *process {
		return start(t, db.URL("postgres"), []string{"HELIX_FAILPOINT=" + failpoint, "DEEPGRAM_API_KEY=", "HELIX_VOICE_PROVIDER=openai",
			"HELIX_VOICE_URL=" + speech.URL, "HELIX_VOICE_KEY=" + providertest.Key, "HELIX_VOICE_CONCURRENCY=1"}, "run", "--slot", slot)
	}
	exec1(t, admin, `create table ends (id uuid, status text);
		create function note_end() returns trigger language plpgsql security definer as $$ begin insert into public.ends values (new.id, new.status); return new; end $$;
		create trigger note_end after update on voice_recordings for each row
			when (old.status in ('pending', 'processing') and new.status in ('done', 'failed')) execute function note_end()`)
	users := []string{db.NewUser(t).ID, db.NewUser(t).ID, db.NewUser(t).ID}
	const part = 14 * time.Minute // of which the provider takes less at a time: two requests
	total, requests := count(20, 200), 0
	made := 0
	record := func(length time.Duration) uuid.UUID {
		made++
		requests++
		if length == part {
			requests++
		}
		return get[uuid.UUID](t, admin, "insert into voice_recordings (user_id, audio_data) values ($1, $2) returning id", users[made%len(users)], beep(made, length))
	}
	short := func() time.Duration { return 200*time.Millisecond + rand.N(2*time.Second) }

	points := []string{"voice-claimed", "voice-decoded", "voice-counted", "voice-answered", "voice-stored", "voice-finished"}
	kills, rounds := 0, count(len(points), 5*len(points))
	for round := range rounds {
		point := points[round%len(points)]
		if point == "voice-stored" {
			record(part)
		}
		for made < (round+1)*total/(rounds+1) {
			record(short())
		}
		times := 1 + rand.IntN(2)*round/len(points)
		if point == "voice-stored" {
			times = 1 // only a recording in parts comes there
		}
		p := run(fmt.Sprintf("%s:%d", point, times))
		kills++
		select {
		case <-p.Done:
		case <-time.After(patience):
			t.Fatalf("helixd never came to %s:\n%s", point, p.log)
		}
	}
	p := run("")
	for made < total {
		record(short())
	}
	// Worker children, too, whatever they do just now. Such a kill costs no request.
	done := get[int](t, admin, "select count(*) from voice_recordings where status = 'done'")
	until(t, "the sandbox", func() bool {
		return get[int](t, admin, "select count(*) from voice_recordings where status = 'done'") > done
	})
	for range count(3, 20) {
		until(t, "a worker child", func() bool { return len(children(t, p.Pid())) > 0 })
		for _, pid := range children(t, p.Pid()) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		record(short())
	}
	deadline := time.Now().Add(5 * patience) // after a kill of a worker child a recording waits some seconds
	for tick := time.NewTicker(50 * time.Millisecond); get[bool](t, admin, "select exists (select from voice_recordings where status in ('pending', 'processing'))"); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("recordings did not end: %s", get[string](t, admin, "select string_agg(concat_ws(' ', status, attempts, error), '; ') from voice_recordings where status in ('pending', 'processing')"))
		}
	}
	p.stop(t)

	if n := get[int](t, admin, "select count(*) from ends"); n != made {
		t.Errorf("%d recordings ended %d times", made, n)
	}
	if odd := get[string](t, admin, "select coalesce(string_agg(concat_ws(' ', status, attempts, error), '; '), '') from voice_recordings where status <> 'done' and error ->> 'code' is distinct from 'interrupted'"); odd != "" {
		t.Errorf("some did not become transcripts: %s", odd)
	}
	if n := get[int](t, admin, "select count(*) from voice_recordings where status <> 'done'"); 3*n > kills {
		t.Errorf("%d recordings were interrupted, and helixd was killed %d times", n, kills)
	}
	// Of many kills three may meet the same recording: it fails, and its answers stay for whoever tries it again.
	if get[bool](t, admin, `select exists (select from helix.voice_work w join voice_recordings r on r.id = w.recording_id where r.status = 'done')
			or exists (select from helix.voice_answers a join voice_recordings r on r.id = a.recording_id where r.status = 'done')`) {
		t.Error("work or answers are left")
	}
	if problems := speech.Problems(); len(problems) > 0 {
		t.Logf("the provider found: %v", problems) // uploads that a kill interrupted
	}
	if n := speech.Count(); n < requests || n > requests+kills {
		t.Errorf("the provider has seen %d requests for %d, and helixd was killed %d times", n, requests, kills)
	}
	// By the key, which a request that a kill interrupted has as well, and what was
	// heard, which names the audio.
	byKey, keys := speech.ByKey(), map[string]string{}
	for _, r := range speech.Requests() {
		if r.Transcript != "" {
			keys[r.Transcript] = r.Key
		}
	}
	rows, err := admin.Query(t.Context(), "select coalesce(transcript, ''), attempts from voice_recordings")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen := 0
	for rows.Next() {
		var transcript string
		var attempts, asked int
		if err := rows.Scan(&transcript, &attempts); err != nil {
			t.Fatal(err)
		}
		for heard, key := range keys {
			if strings.Contains(transcript, heard) {
				asked += byKey[key]
			}
		}
		if transcript != "" && (asked < 1 || asked > attempts) {
			t.Errorf("of %q the provider has seen %d requests, and the row counts %d attempts", transcript, asked, attempts)
		}
		seen += asked
	}
	interrupted := get[int](t, admin, "select coalesce(sum(attempts), 0)::int from voice_recordings where status = 'failed'")
	if rows.Err() != nil || seen > speech.Count() || seen+interrupted < speech.Count() {
		t.Errorf("%d requests are of rows, of %d; error %v", seen, speech.Count(), rows.Err())
	}
	t.Logf("%d recordings, %d requests, %d kills", made, speech.Count(), kills)
}
