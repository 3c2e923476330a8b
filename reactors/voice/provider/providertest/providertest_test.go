package providertest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/voice/provider/providertest"
)

// wav is 16 kHz mono PCM of so many samples, each zero.
func wav(samples int) []byte {
	b := append([]byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data...."), make([]byte, 2*samples)...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	binary.LittleEndian.PutUint32(b[40:], uint32(2*samples))
	return b
}

func TestTranscript(t *testing.T) {
	audio := wav(24_000)
	sum := sha256.Sum256(audio)
	if got, want := providertest.Transcript(audio), "audio 1.50 seconds "+hex.EncodeToString(sum[:])[:12]; got != want {
		t.Errorf("%q, and not %q", got, want)
	}
	if got := providertest.Transcript(audio[:1000]); !strings.HasPrefix(got, "audio 1000 bytes ") {
		t.Errorf("a truncated file is %q", got)
	}
}

// ask posts to a server and gives what it says.
func ask(t *testing.T, url, contentType string, header http.Header, body []byte) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Token " + providertest.Key}, "User-Agent": {"helixd"}, "Content-Type": {contentType}}
	for name, values := range header {
		r.Header[name] = values
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // it is read to its end
	said, err := io.ReadAll(resp.Body)
	if err != nil || !json.Valid(said) {
		t.Fatalf("%q, %v", said, err)
	}
	return resp.StatusCode, string(said)
}

func TestDeepgram(t *testing.T) {
	const query = "/v1/listen?model=nova-3&detect_language=true"
	damaged := func(at int, to uint32) []byte {
		b := wav(100)
		binary.LittleEndian.PutUint32(b[at:], to)
		return b
	}
	for name, c := range map[string]struct {
		path, contentType string
		header            http.Header
		body              []byte
		status            int
		says              string
	}{
		"a good request":                    {query, "audio/wav", nil, wav(16_000), 200, `"duration":1`},
		"original bytes":                    {query, "audio/webm", nil, []byte("webm"), 200, "audio 4 bytes"},
		"a wrong key":                       {query, "audio/wav", http.Header{"Authorization": {"Token x"}}, wav(100), 401, "INVALID_AUTH"},
		"a wrong scheme":                    {query, "audio/wav", http.Header{"Authorization": {"Bearer " + providertest.Key}}, wav(100), 401, "INVALID_AUTH"},
		"no media type":                     {query, "", nil, wav(100), 400, "Content-Type"},
		"no model":                          {"/v1/listen?detect_language=true", "audio/wav", nil, wav(100), 400, "model"},
		"two languages":                     {query + "&language=en", "audio/wav", nil, wav(100), 400, "language"},
		"another path":                      {"/listen", "audio/wav", nil, wav(100), 404, "there is no /listen"},
		"WAV that is shorter than its RIFF": {query, "audio/wav", nil, damaged(4, 1000), 400, "its RIFF has 236 bytes and says 1000"},
		"WAV that is shorter than its data": {query, "audio/wav", nil, damaged(40, 1000), 400, "its data has 200 bytes and says 1000"},
		"WAV of unknown length":             {query, "audio/wav", nil, damaged(40, 0xffffffff), 400, "its data"},
		"WAV of a wrong rate":               {query, "audio/wav", nil, damaged(24, 44_100), 400, "its format"},
		"what is no WAV":                    {query, "audio/wav", nil, []byte("webm"), 400, "RIFF"},
		"JSON that is none":                 {query, "application/json", nil, []byte("{"), 400, "could not process the JSON payload"},
		"a URL that is none":                {query, "application/json", nil, []byte(`{"url":"http://127.0.0.1:1/"}`), 400, "REMOTE_CONTENT_ERROR"},
	} {
		t.Run(fmt.Sprintf("answers %s with %d", name, c.status), func(t *testing.T) {
			s := providertest.NewDeepgram(t)
			status, said := ask(t, s.URL+c.path, c.contentType, c.header, c.body)
			if status != c.status || !strings.Contains(said, c.says) {
				t.Errorf("%d %s", status, said)
			}
			if r := s.Requests()[0]; (r.Problem == "") != (status == 200) || r.Status != status {
				t.Errorf("%+v", r)
			}
		})
	}
	t.Run("counts", func(t *testing.T) {
		s := providertest.NewDeepgram(t)
		s.Script(providertest.Step{}, providertest.Step{Status: 503})
		for i, key := range []string{"a", "b", "a"} {
			status, _ := ask(t, s.URL+query, "audio/wav", http.Header{"Idempotency-Key": {key}}, wav(100+i%2))
			if want := []int{200, 503, 200}[i]; status != want {
				t.Errorf("request %d is answered with %d", i, status)
			}
		}
		sum := sha256.Sum256(wav(100))
		if s.Count() != 3 || s.ByKey()["a"] != 2 || s.ByKey()["b"] != 1 || s.Requests()[2].SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%+v", s.Requests())
		}
	})
}

func TestOpenAI(t *testing.T) {
	post := func(t *testing.T, s *providertest.Server, name string, audio []byte, fields ...string) (int, string) {
		t.Helper()
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		for _, field := range fields {
			name, value, _ := strings.Cut(field, "=")
			if err := w.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
		if name != "" {
			part, err := w.CreateFormFile("file", name)
			if err != nil {
				t.Fatal(err)
			}
			part.Write(audio) // into memory
		}
		w.Close() // into memory
		return ask(t, s.URL+"/audio/transcriptions", w.FormDataContentType(), http.Header{"Authorization": {"Bearer " + providertest.Key}}, form.Bytes())
	}
	for name, c := range map[string]struct {
		file   string
		fields []string
		status int
		says   string
	}{
		"a good request":         {"a.wav", []string{"model=whisper-1", "response_format=verbose_json"}, 200, `"language":"english"`},
		"one for plain JSON":     {"a.wav", []string{"model=gpt-4o-transcribe", "response_format=json"}, 200, `{"text":"audio 1.00 seconds`},
		"one for what it cannot": {"a.wav", []string{"model=gpt-4o-transcribe", "response_format=verbose_json"}, 400, `"param":"response_format"`},
		"words without verbose":  {"a.wav", []string{"model=whisper-1", "response_format=json", "timestamp_granularities[]=word"}, 400, "timestamp_granularities"},
		"an unknown extension":   {"a.bin", []string{"model=whisper-1", "response_format=json"}, 400, "Invalid file format."},
		"a language's country":   {"a.wav", []string{"model=whisper-1", "response_format=json", "language=en-US"}, 400, "ISO-639-1"},
		"no model":               {"a.wav", []string{"response_format=json"}, 400, "model"},
		"no file":                {"", []string{"model=whisper-1", "response_format=json"}, 400, "file"},
	} {
		t.Run(fmt.Sprintf("answers %s with %d", name, c.status), func(t *testing.T) {
			s := providertest.NewOpenAI(t)
			if status, said := post(t, s, c.file, wav(16_000), c.fields...); status != c.status || !strings.Contains(said, c.says) {
				t.Errorf("%d %s", status, said)
			}
		})
	}
	t.Run("refuses what is too large", func(t *testing.T) {
		s := providertest.NewOpenAI(t)
		if status, said := post(t, s, "a.webm", make([]byte, 25<<20), "model=whisper-1", "response_format=json"); status != http.StatusRequestEntityTooLarge {
			t.Errorf("%d %s", status, said)
		}
	})
}
