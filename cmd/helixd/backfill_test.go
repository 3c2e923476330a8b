package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/voice/provider/providertest"
	"github.com/helixd/helixd/testenv"
)

func TestBackfill(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	one, two := db.NewUser(t).ID, db.NewUser(t).ID
	run := func(args ...string) (string, string, int) {
		return command(t, db.URL("postgres"), "", nil, append([]string{"backfill"}, args...)...)
	}
	const insert = `insert into voice_recordings (user_id, created_at, audio_data, storage_path, duration_ms, status, error, transcript, language)
		select $1, now() - n * interval '1 day', `
	const old = `'{"code": "predates_helixd", "message": "m", "retryable": true}'`
	exec1(t, admin, insert+`convert_to(repeat('x', 1048576), 'UTF8'), null, case n when 1 then 61000 end, 'failed', `+old+`, null, 'old' || n from generate_series(1, 5) n`, one)
	exec1(t, admin, insert+`null, 'a/b', null, 'failed', `+old+`, null, 'old6' from generate_series(6, 6) n`, two)
	exec1(t, admin, insert+`'\x00', null, null, 'failed', `+old+`, null, 'without audio' from generate_series(0, 0) n`, one)
	exec1(t, admin, "update voice_recordings set audio_data = null where language = 'without audio'")
	exec1(t, admin, insert+`'\x00', null, null, 'failed', '{"code": "provider_unavailable", "message": "m", "retryable": true}', null, 'unavailable' from generate_series(0, 0) n`, one)
	exec1(t, admin, insert+`'\x00', null, null, 'failed', '{"code": "audio_too_long", "message": "m", "retryable": false}', null, 'for good' from generate_series(0, 0) n`, one)
	exec1(t, admin, insert+`'\x00', null, null, 'failed', null, null, 'no error' from generate_series(0, 0) n`, one)
	exec1(t, admin, insert+`'\x00', null, null, 'done', null, 'x', 'done' from generate_series(0, 0) n`, one)
	pending := func(want string) {
		t.Helper()
		if got := get[string](t, admin, "select coalesce(string_agg(language, ' ' order by language), '') from voice_recordings where status = 'pending' and error is null"); got != want {
			t.Errorf("pending are %q, want %q", got, want)
		}
	}
	t.Run("a dry run changes nothing and says the same", func(t *testing.T) {
		out, errs, status := run("voice", "--max", "2", "--dry-run")
		if status != 0 || errs != "" || out != "7 recordings have failed with predates_helixd and can be tried again; 1 of them have no audio.\n"+
			"2 would be pending, the newest: 2 with audio in the row (2.0 MB), 0 in Storage.\n"+
			"The provider that helixd run is set to bills them by length: 1m1s of 1 recordings; of 1 it cannot be known before they are decoded.\n" {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		pending("")
	})
	t.Run("the newest are pending, at most so many", func(t *testing.T) {
		out, errs, status := run("voice", "--max", "2")
		if status != 0 || !strings.Contains(out, "2 are pending now, the newest") || !strings.Contains(errs, "helixd run is not running") {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		pending("old1 old2")
	})
	t.Run("of one user", func(t *testing.T) {
		out, errs, status := run("voice", "--max", "100", "--user", two)
		if status != 0 || !strings.Contains(out, "1 are pending now, the newest: 0 with audio in the row (0.0 MB), 1 in Storage.") {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		pending("old1 old2 old6")
	})
	t.Run("of another code, where it is retryable", func(t *testing.T) {
		if out, errs, status := run("voice", "--max", "100", "--code", "audio_too_long"); status != 0 || !strings.Contains(out, "0 are pending now") {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		if out, errs, status := run("voice", "--max", "100", "--code", "provider_unavailable"); status != 0 || !strings.Contains(out, "1 are pending now") {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		pending("old1 old2 old6 unavailable")
	})
	t.Run("the rest, once", func(t *testing.T) {
		for _, want := range []string{"3 are pending now", "0 are pending now"} {
			if out, errs, status := run("voice", "--max", "100"); status != 0 || !strings.Contains(out, want) {
				t.Errorf("exit status %d: %s%s", status, out, errs)
			}
		}
		pending("old1 old2 old3 old4 old5 old6 unavailable")
	})
	t.Run("wrong use is refused", func(t *testing.T) {
		for _, test := range []struct {
			args []string
			want string
		}{
			{nil, "voice or embeddings"},
			{[]string{"sync"}, "there is: voice, embeddings"},
			{[]string{"voice"}, "--max 0"},
			{[]string{"voice", "--max", "0"}, "1 or more"},
			{[]string{"voice", "--max", "1", "--user", "ada"}, "a uuid"},
		} {
			if out, errs, status := run(test.args...); status != 2 || !strings.Contains(errs, test.want) {
				t.Errorf("%v: exit status %d: %s%s", test.args, status, out, errs)
			}
		}
	})
}

// TestBackfillIsTranscribed: helixd run sees the change, and buys each recording
// once.
func TestBackfillIsTranscribed(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	audio, err := os.ReadFile(chirp(t, filepath.Join(t.TempDir(), "chirp.wav"), 2, 48_000))
	if err != nil {
		t.Fatal(err)
	}
	exec1(t, admin, `insert into voice_recordings (user_id, audio_data, status, error) select $1, $2, 'failed',
		'{"code": "predates_helixd", "message": "m", "retryable": true}' from generate_series(1, 3)`, user, audio)
	s := providertest.NewOpenAI(t)
	p := startOf(t, plainBinary, db.URL("postgres"), []string{"HELIX_VOICE_URL=" + s.URL, "HELIX_VOICE_KEY=" + providertest.Key}, "run", "--slot", db.SlotName("backfill"))
	until(t, "voice to be online", func() bool {
		return get[bool](t, admin, "select exists (select from helix_status where reactor = 'voice' and running and healthy)")
	})
	if n := s.Count(); n != 0 {
		t.Errorf("%d recordings were bought unasked", n)
	}
	out, errs, status := command(t, db.URL("postgres"), "", nil, "backfill", "voice", "--max", "2")
	if status != 0 || !strings.Contains(out, "2 are pending now") || errs != "" {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	until(t, "two transcripts", func() bool {
		return get[int](t, admin, "select count(*) from voice_recordings where status = 'done' and transcript <> ''") == 2
	})
	p.stop(t)
	if n, left := s.Count(), get[int](t, admin, "select count(*) from voice_recordings where status = 'failed'"); n != 2 || left != 1 {
		t.Errorf("%d recordings were bought, and %d are left", n, left)
	}
}
