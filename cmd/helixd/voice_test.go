package main_test

import (
	"os"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/asr"
	"github.com/helixd/helixd/testenv/speech"
)

// TestTranscripts: recordings in all formats, made by ffmpeg and by a real browser's
// MediaRecorder, become the words that were spoken.
func TestTranscripts(t *testing.T) {
	clips := append(speech.Corpus(t), speech.Recorded(t)...)
	url := asr.Start(t)
	if len(clips) < 80 {
		t.Fatalf("the corpus has %d files", len(clips))
	}
	db := testenv.New(t)
	admin := migrated(t, db)
	p := startOf(t, plainBinary, db.URL("postgres"), []string{"HELIX_VOICE_PROVIDER=openai", "HELIX_VOICE_URL=" + url, "DEEPGRAM_API_KEY="},
		"run", "--slot", db.SlotName("voice"))
	users := []string{db.NewUser(t).ID, db.NewUser(t).ID, db.NewUser(t).ID}
	ids := make([]uuid.UUID, len(clips))
	for i, clip := range clips {
		audio, err := os.ReadFile(clip.Path)
		if err != nil {
			t.Fatal(err)
		}
		app := db.AsUser(t, users[i%len(users)])
		ids[i] = get[uuid.UUID](t, app, "insert into voice_recordings (audio_data, mime_type) values ($1, $2) returning id", audio, clip.MIME)
	}
	for left := len(clips); left > 0; { // as long as it goes on, however slow the recogniser is
		until(t, "the next transcript", func() bool {
			now := get[int](t, admin, "select count(*) from voice_recordings where status in ('pending', 'processing')")
			went := now < left
			left = now
			return went
		})
	}
	var heard speech.Score
	for i, clip := range clips {
		got := get[string](t, admin, "select coalesce(transcript, error::text) from voice_recordings where id = $1", ids[i])
		score := speech.Compare(clip.Text, got)
		heard = heard.Add(score)
		if score.Accuracy() < 0.5 {
			t.Errorf("%s: %q was heard as %q", clip.Name, clip.Text, got)
		}
	}
	odd := get[string](t, admin, `select coalesce(string_agg(concat_ws(' ', status, provider, attempts, duration_ms, words is null, error), '; '), '')
		from voice_recordings where status <> 'done' or provider like '%original%' or attempts <> 1 or duration_ms is null or words is null or error is not null`)
	if odd != "" {
		t.Errorf("some rows are not as expected: %s", odd)
	}
	t.Logf("%d recordings, %d words, accuracy %.3f", len(clips), heard.Words, heard.Accuracy())
	if heard.Accuracy() < 0.95 {
		t.Errorf("the accuracy is %.3f", heard.Accuracy())
	}
	p.stop(t)
}
