package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/asr"
	"github.com/helixd/helixd/testenv/speech"
)

// voiceActs tell how speech becomes text, and what a transcript may lead to.
var voiceActs = []act{
	{"Ada speaks, and each device records it in its own way", spoke},
	{"She finds what she said, and a spoken command runs a skill", commanded},
}

// startRecogniser starts what hears the recordings; helixd takes it for a provider. Without it the acts of voice are left
// out, unless HELIX_TEST_AUDIO=require says that they must be played.
func (w *world) startRecogniser(ctx context.Context, out *printer, r repo) error {
	return out.step("starting a recogniser", func() (string, error) {
		var err error
		for _, program := range []string{"flite", "ffmpeg", "node"} {
			if _, missing := exec.LookPath(program); missing != nil {
				err = errors.Join(err, fmt.Errorf("there is no %s", program))
			}
		}
		if err == nil {
			w.recogniser, err = asr.Serve(ctx, string(r))
		}
		if err == nil {
			return "Moonshine tiny, offline, as OpenAI's API", nil
		}
		if os.Getenv("HELIX_TEST_AUDIO") == "require" || ctx.Err() != nil {
			return "", err
		}
		first, _, _ := strings.Cut(err.Error(), "\n")
		return "none, so no voice acts: " + first, nil
	})
}

// voiceEnv is what helixd is told of the recogniser.
func (w *world) voiceEnv() []string {
	if w.recogniser == nil {
		return nil
	}
	return []string{"HELIX_VOICE_PROVIDER=openai", "HELIX_VOICE_URL=" + w.recogniser.URL}
}

// recorders are what devices make of sound.
var recorders = []struct {
	name, file string
	args       []string
}{
	{"Chrome, WebM and Opus", "r.webm", []string{"-c:a", "libopus", "-ar", "48000", "-ac", "2"}},
	{"Firefox, Ogg and Opus", "r.ogg", []string{"-c:a", "libopus", "-ar", "48000"}},
	{"iPhone, MP4 and AAC", "r.mp4", []string{"-c:a", "aac", "-ar", "44100", "-movflags", "frag_keyframe+empty_moov"}},
	{"a player, MP3", "r.mp3", []string{"-c:a", "libmp3lame", "-ar", "44100"}},
	{"a studio, FLAC", "r.flac", []string{"-c:a", "flac", "-ar", "96000", "-ac", "2"}},
	{"an old phone, WAV", "r.wav", []string{"-c:a", "pcm_mulaw", "-ar", "8000"}},
}

// record says a text and gives the bytes that a recorder makes of it.
func record(ctx context.Context, dir string, voice speech.Voice, text, file string, args ...string) ([]byte, error) {
	spoken := filepath.Join(dir, "spoken.wav")
	if err := speech.Say(ctx, voice, text, spoken); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, file)
	out, err := exec.CommandContext(ctx, "ffmpeg", append(append([]string{"-nostdin", "-v", "error", "-y", "-i", spoken}, args...), path)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("ffmpeg: %w\n%s", err, out)
	}
	return os.ReadFile(path)
}

// recording is a row of voice_recordings.
type recording struct {
	id, status, transcript, code string
	actions                      string
	took                         time.Duration
}

// recorded inserts a recording as ada, and waits until it has ended.
func (s *stage) recorded(audio []byte, more map[string]any) (r recording, err error) {
	r.id = uuid.NewString()
	row := map[string]any{"id": r.id, "audio_data": `\x` + hex.EncodeToString(audio)} // as PostgREST takes a bytea
	for name, value := range more {
		row[name] = value
	}
	if err := s.phone.insert(s, "voice_recordings", row); err != nil {
		return r, err
	}
	sent := time.Now()
	err = testenv.Poll(s.ctx, time.Minute, watchEvery, "wait for the transcript", func() (bool, error) {
		err := s.watcher.conn.QueryRow(s.ctx, `select status, coalesce(transcript, ''), coalesce(error ->> 'code', ''), coalesce(actions::text, '')
			from public.voice_recordings where id = $1`, r.id).Scan(&r.status, &r.transcript, &r.code, &r.actions)
		return r.status == "done" || r.status == "failed", err
	})
	r.took = time.Since(sent)
	if err == nil && r.status != "done" {
		err = fmt.Errorf("the recording is %s: %s", r.status, r.code)
	}
	return r, err
}

func spoke(s *stage) error {
	dir, err := os.MkdirTemp(s.work, "voice-")
	if err != nil {
		return err
	}
	var heard speech.Score
	for i, recorder := range recorders {
		text, voice := speech.Sentences[i], []speech.Voice{speech.RMS, speech.SLT}[i%2]
		audio, err := record(s.ctx, dir, voice, text, recorder.file, recorder.args...)
		if err != nil {
			return err
		}
		got, err := s.recorded(audio, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", recorder.name, err)
		}
		score := speech.Compare(text, got.transcript)
		heard = heard.Add(score)
		s.out.line("   ada     %-22s %4d KB  → %s after %s, %d of %d words", recorder.name, (len(audio)+1023)/1024, got.status,
			milliseconds(got.took), max(0, score.Words-score.Wrong), score.Words)
		s.out.detail("%.68s", got.transcript)
	}
	if heard.Accuracy() < 0.95 {
		return fmt.Errorf("%d of %d words were heard wrongly", heard.Wrong, heard.Words)
	}
	return nil
}

func commanded(s *stage) error {
	dir, err := os.MkdirTemp(s.work, "voice-")
	if err != nil {
		return err
	}
	err = s.phone.insert(s, "voice_commands", map[string]any{"phrase": "(count|count the) words of {text}",
		"skill_id": s.skills["wordcount"], "arguments": map[string]any{"text": "{text}", "top": 1}})
	if err != nil {
		return err
	}
	const said = "Count the words of: the river was high and the river was brown."
	s.out.line("   ada     says           %s", s.out.dim(said))
	audio, err := record(s.ctx, dir, speech.RMS, said, "r.webm", "-c:a", "libopus")
	if err != nil {
		return err
	}
	got, err := s.recorded(audio, map[string]any{"memo": true})
	if err != nil {
		return err
	}
	var actions []struct {
		Action string `json:"action"`
		ID     string `json:"id"`
	}
	if err := json.Unmarshal([]byte(got.actions), &actions); err != nil {
		return fmt.Errorf("actions %q of the transcript %q: %w", got.actions, got.transcript, err)
	}
	ids := map[string]string{}
	for _, a := range actions {
		ids[a.Action] = a.ID
	}
	if ids["command"] == "" || ids["memory"] == "" {
		return fmt.Errorf("the transcript %q led to %s", got.transcript, got.actions)
	}
	s.out.line("   helixd  hears          %s", s.out.dim(got.transcript))
	run, err := s.finish(skillRun{id: ids["command"]}, time.Now())
	if err != nil {
		return err
	}
	if err := s.ends(run, skillRun{status: "succeeded", output: `{"top": [{"word": "river", "count": 2}], "words": 9, "unique": 6, "sentences": 1, "characters": 42}`}); err != nil {
		return err
	}
	var memory, found string
	if err := s.watcher.conn.QueryRow(s.ctx, "select content from public.memories where id = $1", ids["memory"]).Scan(&memory); err != nil {
		return fmt.Errorf("the memory: %w", err)
	}
	s.out.line("   ada     searches       %s", s.out.dim("vegetable -river"))
	if err := s.watcher.conn.QueryRow(s.ctx, "select highlights from public.search_transcripts('vegetable -river')").Scan(&found); err != nil {
		return fmt.Errorf("search_transcripts: %w", err)
	}
	s.out.line("   helixd  finds          %.60s", found)
	if !strings.Contains(found, "<b>vegetables</b>") {
		return fmt.Errorf("search_transcripts gave %q", found)
	}
	return nil
}
