package asr_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv/asr"
	"github.com/helixd/helixd/testenv/module"
	"github.com/helixd/helixd/testenv/speech"
)

// answer is OpenAI's, of any kind.
type answer struct {
	Text     string
	Language string
	Duration float64
	Words    []struct {
		Word       string
		Start, End float64
	}
	Segments []struct {
		Start, End float64
		Text       string
		AvgLogprob float64 `json:"avg_logprob"`
	}
	Error struct{ Message, Type, Param, Code string }
}

func TestServer(t *testing.T) {
	url := asr.Start(t)
	say := func(t *testing.T, text string) []byte {
		t.Helper()
		speech.Need(t, "flite", "ffmpeg")
		path := filepath.Join(t.TempDir(), "spoken.wav")
		if err := speech.Say(t.Context(), speech.RMS, text, path); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	silence := wav(16000, make([]byte, 3*2*16000))

	t.Run("hears a sentence", func(t *testing.T) {
		got := post(t, url, http.StatusOK, say(t, speech.Sentences[0]), "model", "moonshine")
		if score := speech.Compare(speech.Sentences[0], got.Text); score.Accuracy() < 0.95 {
			t.Errorf("heard %q of %q", got.Text, speech.Sentences[0])
		}
		if got.Words != nil || got.Segments != nil || got.Duration != 0 {
			t.Errorf("json has more than the text: %+v", got)
		}
	})
	t.Run("hears what is longer than the model takes, in pieces", func(t *testing.T) {
		var samples []byte
		var text string
		for _, sentence := range speech.Sentences[:4] {
			samples = append(samples, say(t, sentence)[44:]...)
			text += " " + sentence
		}
		got := post(t, url, http.StatusOK, wav(16000, samples), "model", "moonshine",
			"response_format", "verbose_json", "timestamp_granularities[]", "word", "timestamp_granularities[]", "segment")
		if score := speech.Compare(text, got.Text); score.Accuracy() < 0.9 {
			t.Errorf("heard %q of %q", got.Text, text)
		}
		seconds := float64(len(samples)) / 32000
		if got.Language != "english" || got.Duration < seconds-0.01 || got.Duration > seconds+0.01 {
			t.Errorf("language %q and %v s, want english and %v s", got.Language, got.Duration, seconds)
		}
		if len(got.Segments) < 3 || len(got.Words) < 60 {
			t.Fatalf("%d segments and %d words", len(got.Segments), len(got.Words))
		}
		var at float64
		for _, w := range got.Words {
			if w.Start < at-0.02 || w.End <= w.Start || w.End > seconds {
				t.Errorf("%q is from %v to %v, after %v and of %v s", w.Word, w.Start, w.End, at, seconds)
			}
			at = w.End
		}
		if p := got.Segments[0].AvgLogprob; p >= 0 || p < -1 {
			t.Errorf("the first segment has a mean log probability of %v", p)
		}
	})
	t.Run("hears nothing in silence", func(t *testing.T) {
		if got := post(t, url, http.StatusOK, silence, "model", "moonshine"); got.Text != "" {
			t.Errorf("heard %q", got.Text)
		}
	})

	for _, c := range []struct {
		what   string
		file   []byte
		fields []string
		status int
		code   string
	}{
		{"refuses what is not a WAV", []byte("ID3 is not RIFF, is it?"), []string{"model", "m"}, 400, "invalid_audio"},
		{"refuses another rate", wav(8000, make([]byte, 16000)), []string{"model", "m"}, 400, "invalid_audio"},
		{"refuses a request without a file", nil, []string{"model", "m"}, 400, "missing_parameter"},
		{"refuses a request without a model", silence, nil, 400, "missing_parameter"},
		{"refuses another language", silence, []string{"model", "m", "language", "de"}, 400, "unsupported_language"},
		{"refuses another format", silence, []string{"model", "m", "response_format", "srt"}, 400, "unsupported_format"},
		{"refuses what OpenAI finds too large", make([]byte, 26<<20), []string{"model", "m"}, 413, "content_too_large"},
	} {
		t.Run(c.what, func(t *testing.T) {
			got := post(t, url, c.status, c.file, c.fields...)
			if got.Error.Code != c.code || got.Error.Type != "invalid_request_error" || got.Error.Message == "" {
				t.Errorf("the error is %+v, want code %s", got.Error, c.code)
			}
		})
	}
	t.Run("knows no other path", func(t *testing.T) {
		res, err := http.Get(url + "/v1/models")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusNotFound {
			t.Errorf("status %d", res.StatusCode)
		}
	})
}

func TestServe(t *testing.T) {
	asr.Start(t) // skips where there is none
	root, err := module.Root()
	if err != nil {
		t.Fatal(err)
	}
	gone := func(t *testing.T, url string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) { // between two looks
			res, err := http.Get(url)
			if err != nil {
				return
			}
			_ = res.Body.Close()
			if time.Now().After(deadline) {
				t.Fatal("it still answers")
			}
		}
	}
	t.Run("ends with Close", func(t *testing.T) {
		s, err := asr.Serve(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		gone(t, s.URL)
	})
	t.Run("ends with its context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s, err := asr.Serve(ctx, root)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		gone(t, s.URL)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// post sends a file, unless it is nil, with fields of name and value.
func post(t *testing.T, url string, status int, file []byte, fields ...string) (got answer) {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		if err := form.WriteField(fields[i], fields[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if file != nil {
		part, err := form.CreateFormFile("file", "audio.wav")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(file); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(url+"/v1/audio/transcriptions", form.FormDataContentType(), &body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", res.StatusCode, status, content)
	}
	if err := json.Unmarshal(content, &got); err != nil {
		t.Fatalf("%v: %s", err, content)
	}
	return got
}

// wav puts a header before samples of 16 bits, mono.
func wav(rate uint32, samples []byte) []byte {
	le := func(b []byte, n uint32) []byte { return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24)) }
	out := le([]byte("RIFF"), uint32(36+len(samples)))
	out = append(out, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	out = le(le(out, rate), 2*rate)
	out = append(out, "\x02\x00\x10\x00data"...)
	return append(le(out, uint32(len(samples))), samples...)
}
