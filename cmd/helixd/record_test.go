package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/asr"
	"github.com/helixd/helixd/testenv/speech"
)

// sentence is plain words, which a recogniser knows.
var sentence = speech.Sentences[2]

// TestRecordUsage: what cannot be meant is refused before anybody speaks, also by
// a build that cannot record.
func TestRecordUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"Nowhere":          {nil, "--out FILE or --user"},
		"TwoPlaces":        {[]string{"--out", "x.wav", "--user", "ada@example.com"}, "--out FILE or --user"},
		"MemoOfFile":       {[]string{"--out", "x.wav", "--memo"}, "go with --user"},
		"Rate":             {[]string{"--out", "x.wav", "--rate", "4000"}, "--rate 4000: it takes 8000"},
		"NoLimit":          {[]string{"--out", "x.wav", "--limit", "0"}, "--limit"},
		"NotATime":         {[]string{"--out", "x.wav", "--limit", "ten"}, "--limit"},
		"SilenceBelow0":    {[]string{"--out", "x.wav", "--silence", "-1s"}, "below 0"},
		"ThresholdAbove0":  {[]string{"--out", "x.wav", "--threshold", "3"}, "--threshold 3: it takes -96 to 0"},
		"LongerThanFile":   {[]string{"--out", "x.wav", "--limit", "40h"}, "holds 37h16m57s"},
		"LongerThanRow":    {[]string{"--user", "ada@example.com", "--limit", "1h"}, "holds 27m18s"},
		"AnArgument":       {[]string{"x.wav"}, "unknown command"},
		"UserIsNoUserName": {[]string{"--user", "ada"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, errs, status := command(t, "postgresql://h/d", "", nil, append([]string{"record"}, c.args...)...)
			want := 2
			if c.want == "" { // it is known after the microphone
				want, c.want = 1, "no audio capture"
			}
			if status != want || !strings.Contains(errs, c.want) || out != "" {
				t.Errorf("exit status %d: %s%s", status, out, errs)
			}
		})
	}
	t.Run("without a database", func(t *testing.T) {
		if _, errs, status := command(t, "", "", nil, "record", "--user", uuid.NewString()); status != 1 || !strings.Contains(errs, "SUPABASE_DB_URL is not set") {
			t.Errorf("exit status %d: %s", status, errs)
		}
	})
	t.Run("without capture it says how to get it", func(t *testing.T) {
		if _, errs, status := command(t, "", "", nil, "record", "--out", "x.wav"); status != 1 || !strings.Contains(errs, "make build-record") {
			t.Errorf("exit status %d: %s", status, errs)
		}
	})
}

// TestRecordFile is not parallel: sound that is played is late on a busy machine.
func TestRecordFile(t *testing.T) {
	s := newSound(t)
	path := func(name string) string { return filepath.Join(s.dir, name) }
	ends := func(t *testing.T, r *recording, status int) {
		t.Helper()
		if got := r.wait(t); got != status {
			t.Fatalf("exit status %d: %s%s", got, r.out, r.log)
		}
	}
	t.Run("lists the microphones", func(t *testing.T) {
		r := s.start(t, "", "--list")
		ends(t, r, 0)
		if got := r.out.String(); !strings.Contains(got, "Monitor of Speech  speech.monitor") || strings.Count(got, "default") != 1 || strings.Count(got, "\n") != 2 {
			t.Errorf("it lists:\n%s", got)
		}
		r = s.start(t, "", "--list", "--json")
		ends(t, r, 0)
		var all []struct {
			Index    int
			Name, ID string
			Default  bool
		}
		if err := json.Unmarshal([]byte(r.out.String()), &all); err != nil || len(all) != 2 || all[1].Index != 1 || all[0].Default == all[1].Default {
			t.Errorf("it lists %+v: %v", all, err)
		}
	})
	t.Run("silence ends it and the words are in the file", func(t *testing.T) {
		spoken := path("spoken.wav")
		if err := speech.Say(t.Context(), speech.SLT, sentence, spoken); err != nil {
			t.Fatal(err)
		}
		r := s.record(t, "", "--device", "speech.monitor", "--out", path("x.wav"), "--wait", "0")
		s.play(t, spoken)
		ends(t, r, 0)
		got, want := samples(t, path("x.wav")), samples(t, spoken)
		if share := found(want, got); share < 0.8 { // a busy machine may play with gaps
			t.Errorf("%.0f %% of what was spoken is in the file", 100*share)
		}
		backwards := slices.Clone(got)
		slices.Reverse(backwards)
		if share := found(want[:2*16_000], backwards); share > 0.2 {
			t.Errorf("%.0f %% of what was spoken is in the file when it is played backwards: the comparison is none", 100*share)
		}
		if tail := got[len(got)-2*16_000:]; dot(tail, tail) > 2*16_000*330*330 {
			t.Error("the file does not end with two seconds of silence")
		}
		if r.out.String()+r.log.String() != "" {
			t.Errorf("it is not quiet: %s%s", r.out, r.log)
		}
	})
	t.Run("a recogniser hears the words", func(t *testing.T) {
		if err := decode.Available(); err != nil {
			speech.Missing(t, "%v", err)
		}
		out, errs, status := commandOf(t, plainBinary, "", "", []string{"HELIX_CACHE_DIR=" + cacheDir(t), "HELIX_VOICE_URL=" + asr.Start(t)}, "transcribe", "--language", "en", path("x.wav"))
		if score := speech.Compare(sentence, out); status != 0 || score.Accuracy() < 0.9 {
			t.Errorf("exit status %d: it hears %q, %.0f %% of the words: %s", status, out, 100*score.Accuracy(), errs)
		}
	})
	t.Run("Enter ends it", func(t *testing.T) {
		r := s.record(t, "", "--device", "Monitor of Quiet", "--out", path("enter.wav"), "--silence", "0")
		until(t, "audio", func() bool { return s.size(t, ".enter.wav.*") > 4096 })
		r.enter()
		ends(t, r, 0)
		if n := len(samples(t, path("enter.wav"))); n < 2000 || n > 60*16_000 {
			t.Errorf("it has %d samples", n)
		}
	})
	t.Run("Ctrl-C ends it, and keeps it", func(t *testing.T) {
		r := s.record(t, "", "--device", "quiet", "--out", path("interrupted.wav"), "--silence", "0")
		until(t, "audio", func() bool { return s.size(t, ".interrupted.wav.*") > 4096 })
		if err := r.Cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		ends(t, r, 0)
		if n := len(samples(t, path("interrupted.wav"))); n < 2000 {
			t.Errorf("it has %d samples", n)
		}
	})
	t.Run("the limit ends it, to the sample", func(t *testing.T) {
		r := s.start(t, "", "--device", "1", "--out", path("limit.wav"), "--silence", "0", "--limit", "700ms", "--rate", "16000")
		ends(t, r, 0)
		if n := len(samples(t, path("limit.wav"))); n != 11_200 {
			t.Errorf("it has %d samples, want 11200", n)
		}
	})
	t.Run("nothing heard is an error, and leaves no file", func(t *testing.T) {
		r := s.start(t, "", "--device", "quiet", "--out", path("unheard.wav"), "--wait", "500ms")
		ends(t, r, 1)
		if !strings.Contains(r.log.String(), "nothing was heard in 500ms; the loudest was -96 dBFS") || !strings.Contains(r.log.String(), "--threshold") {
			t.Errorf("it says: %s", r.log)
		}
		if left, err := filepath.Glob(path("*unheard*")); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
	t.Run("a microphone that may be several, or is none, is refused", func(t *testing.T) {
		for device, want := range map[string]string{"monitor of": "may be 0 ", "Blue Yeti": `there is no microphone "Blue Yeti"`, "7": "there is no microphone"} {
			r := s.start(t, "", "--device", device, "--out", path("none.wav"))
			ends(t, r, 1)
			if !strings.Contains(r.log.String(), want) || !strings.Contains(r.log.String(), "helixd record --list") {
				t.Errorf("%q: it says: %s", device, r.log)
			}
		}
	})
	t.Run("a device that goes is told, and what it gave is kept", func(t *testing.T) {
		r := s.record(t, "", "--device", "quiet", "--out", path("gone.wav"), "--silence", "0")
		until(t, "audio", func() bool { return s.size(t, ".gone.wav.*") > 4096 })
		s.server.Kill()
		ends(t, r, 0)
		if !strings.Contains(r.log.String(), "is gone") || len(samples(t, path("gone.wav"))) < 2000 {
			t.Errorf("it says: %s", r.log)
		}
	})
}

// size is that of the file of this pattern, 0 where there is none.
func (s *sound) size(t *testing.T, pattern string) int64 {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(s.dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		return 0
	}
	info, err := os.Stat(names[0])
	if err != nil {
		return 0
	}
	return info.Size()
}

func TestRecordRow(t *testing.T) {
	t.Parallel()
	s := newSound(t)
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t)
	url := db.URL("postgres")
	args := func(more ...string) []string {
		return append([]string{"--device", "quiet", "--limit", "500ms", "--silence", "0", "--user", user.Email}, more...)
	}
	// row is the newest recording, once it is there; a worker's part is played by SQL.
	row := func(t *testing.T) uuid.UUID {
		t.Helper()
		var id uuid.UUID
		until(t, "the row", func() bool {
			return admin.QueryRow(t.Context(), "select id from voice_recordings where status = 'pending'").Scan(&id) != pgx.ErrNoRows
		})
		return id
	}
	t.Run("the transcript is printed when it comes", func(t *testing.T) {
		r := s.start(t, url, args("--language", "en", "--memo", "--keep-audio")...)
		id := row(t)
		if got := get[string](t, admin, "select concat_ws(' ', user_id, mime_type, language, keep_audio, memo, octet_length(audio_data)) from voice_recordings where id = $1", id); got != user.ID+" audio/wav en t t 16044" {
			t.Errorf("the row is %s", got)
		}
		if _, err := pcmOf(get[[]byte](t, admin, "select audio_data from voice_recordings where id = $1", id)); err != nil {
			t.Errorf("its audio: %v", err)
		}
		exec1(t, admin, "update voice_recordings set status = 'processing' where id = $1", id)
		exec1(t, admin, "update voice_recordings set status = 'done', transcript = 'what was said' where id = $1", id)
		if status := r.wait(t); status != 0 || r.out.String() != "what was said\n" || !strings.Contains(r.log.String(), "helixd run is not running") {
			t.Errorf("exit status %d: %s%s", status, r.out, r.log)
		}
		if left, err := filepath.Glob(filepath.Join(s.dir, "helixd-recording-*")); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
	t.Run("a failure is told, with the way to try again", func(t *testing.T) {
		r := s.start(t, url, args()...)
		id := row(t)
		exec1(t, admin, `update voice_recordings set status = 'failed', error = '{"code": "provider_unavailable", "message": "It did not answer.", "retryable": true}' where id = $1`, id)
		if status := r.wait(t); status != 1 || r.out.String() != "" || !strings.Contains(r.log.String(), "provider_unavailable: It did not answer.") ||
			!strings.Contains(r.log.String(), "set status = 'pending' where id = '"+id.String()) {
			t.Errorf("exit status %d: %s%s", status, r.out, r.log)
		}
	})
	t.Run("a row that is deleted is told", func(t *testing.T) {
		r := s.start(t, url, args()...)
		exec1(t, admin, "delete from voice_recordings where id = $1", row(t))
		if status := r.wait(t); status != 1 || !strings.Contains(r.log.String(), "was deleted") {
			t.Errorf("exit status %d: %s%s", status, r.out, r.log)
		}
	})
	t.Run("the wait is bounded, and says where the transcript will be", func(t *testing.T) {
		r := s.start(t, url, args("--timeout", "100ms")...)
		status := r.wait(t)
		id := row(t)
		if status != 1 || !strings.Contains(r.log.String(), "has no transcript yet") || !strings.Contains(r.log.String(), id.String()) {
			t.Errorf("exit status %d: %s%s", status, r.out, r.log)
		}
		exec1(t, admin, "delete from voice_recordings where id = $1", id)
	})
	t.Run("without a wait the row's id is printed", func(t *testing.T) {
		r := s.start(t, url, args("--timeout", "0")...)
		status := r.wait(t)
		id := row(t)
		if status != 0 || r.out.String() != id.String()+"\n" {
			t.Errorf("exit status %d: %s%s", status, r.out, r.log)
		}
		exec1(t, admin, "delete from voice_recordings where id = $1", id)
	})
	t.Run("an unknown user is told before anybody speaks", func(t *testing.T) {
		for name, want := range map[string]string{uuid.NewString(): "has no user", "nobody@example.com": "has no user", "nobody": "a uuid, or its email"} {
			r := s.start(t, url, "--device", "quiet", "--user", name)
			if status := r.wait(t); status == 0 || !strings.Contains(r.log.String(), want) {
				t.Errorf("%s: exit status %d: %s%s", name, status, r.out, r.log)
			}
		}
	})
	t.Run("a recording that cannot be inserted is kept", func(t *testing.T) {
		exec1(t, admin, `create function refuse() returns trigger language plpgsql as $$ begin raise 'the table is closed'; end $$;
			create trigger refuse before insert on voice_recordings for each row execute function refuse()`)
		r := s.start(t, url, args()...)
		status := r.wait(t)
		left, err := filepath.Glob(filepath.Join(s.dir, "helixd-recording-*.wav"))
		if err != nil || len(left) != 1 {
			t.Fatalf("left: %v, %v: %s", left, err, r.log)
		}
		if status != 1 || !strings.Contains(r.log.String(), "the table is closed") || !strings.Contains(r.log.String(), "It is kept in "+left[0]) || len(samples(t, left[0])) != 8000 {
			t.Errorf("exit status %d: %s", status, r.log)
		}
	})
}
