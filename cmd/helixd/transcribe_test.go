package main_test

import (
	endian "encoding/binary"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
	"github.com/helixd/helixd/testenv/speech"
)

// chirp writes a stereo WAV file of so many samples a second, in which a tone rises
// and falls.
func chirp(t *testing.T, path string, seconds, rate int) string {
	t.Helper()
	pcm := make([]byte, 0, 4*seconds*rate)
	phase := 0.0
	for i := range seconds * rate {
		at := float64(i) / float64(rate)
		phase += 2 * math.Pi * (400 + 200*math.Sin(2*math.Pi*0.7*at)) / float64(rate)
		v := uint16(int16(8000 * math.Sin(phase)))
		pcm = endian.LittleEndian.AppendUint16(endian.LittleEndian.AppendUint16(pcm, v), v)
	}
	le := endian.LittleEndian
	h := append([]byte("RIFF"), le.AppendUint32(nil, uint32(36+len(pcm)))...)
	h = append(h, "WAVEfmt \x10\x00\x00\x00\x01\x00\x02\x00"...)
	h = le.AppendUint32(le.AppendUint32(h, uint32(rate)), uint32(4*rate))
	h = append(h, "\x04\x00\x10\x00data"...)
	if err := os.WriteFile(path, append(le.AppendUint32(h, uint32(len(pcm))), pcm...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// cacheDir is for the programs of worker children, which are another user.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "helixd-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestTranscribeUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		status int
		want   string
	}{
		"NoFile":     {nil, 2, "requires at least 1 arg"},
		"WAVOfTwo":   {[]string{"--wav", "x.wav", "a", "b"}, 2, "of one FILE"},
		"NoProvider": {[]string{"a.webm"}, 1, "HELIX_VOICE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if out, errs, status := command(t, "", "", nil, append([]string{"transcribe"}, c.args...)...); status != c.status || !strings.Contains(errs, c.want) || out != "" {
				t.Errorf("exit status %d: %s%s", status, out, errs)
			}
		})
	}
}

func TestTranscribe(t *testing.T) {
	t.Parallel()
	if err := decode.Available(); err != nil {
		speech.Missing(t, "%v", err)
	}
	dir := t.TempDir()
	file := chirp(t, filepath.Join(dir, "chirp.wav"), 3, 44_100)
	cache := cacheDir(t)
	server := func(t *testing.T, more ...string) (*providertest.Server, []string) {
		s := providertest.NewOpenAI(t)
		return s, append([]string{"HELIX_CACHE_DIR=" + cache, "HELIX_VOICE_URL=" + s.URL, "HELIX_VOICE_KEY=" + providertest.Key}, more...)
	}
	transcribe := func(t *testing.T, env []string, args ...string) (string, string, int) {
		return commandOf(t, plainBinary, "", "", env, append([]string{"transcribe"}, args...)...)
	}
	t.Run("prints the transcript and nothing else", func(t *testing.T) {
		s, env := server(t)
		out, errs, status := transcribe(t, env, "--language", "en", file)
		all := s.Requests()
		if status != 0 || errs != "" || len(all) != 1 || out != all[0].Transcript+"\n" {
			t.Fatalf("exit status %d: %s%s", status, out, errs)
		}
		if r := all[0]; math.Abs(r.Seconds-3) > 0.01 || r.ContentType != "audio/wav" || r.Form.Get("language") != "en" || r.Problem != "" {
			t.Errorf("the request is %+v", r)
		}
	})
	t.Run("prints all that is known as JSON", func(t *testing.T) {
		s, env := server(t)
		out, errs, status := transcribe(t, env, "--json", file)
		var got struct {
			File, Transcript, Provider string
			Words                      []provider.Word
			DurationMS                 int `json:"duration_ms"`
			Parts                      int
			Source                     decode.Info
		}
		if err := json.Unmarshal([]byte(out), &got); status != 0 || err != nil {
			t.Fatalf("exit status %d, %v: %s%s", status, err, out, errs)
		}
		if got.File != file || got.Transcript != s.Requests()[0].Transcript || !strings.HasPrefix(got.Provider, "openai") || len(got.Words) == 0 ||
			got.DurationMS != 3000 || got.Parts != 1 || got.Source.Rate != 44_100 || got.Source.Channels != 2 || got.Source.Codec != "pcm_s16le" {
			t.Errorf("it prints %s", out)
		}
	})
	t.Run("of several files one may fail", func(t *testing.T) {
		_, env := server(t)
		empty := filepath.Join(dir, "empty.webm")
		if err := os.WriteFile(empty, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, status := transcribe(t, env, filepath.Join(dir, "nowhere.webm"), file, empty, dir)
		if status != 1 || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, file+": ") || !strings.Contains(errs, "3 of 4 files") ||
			!strings.Contains(errs, "nowhere.webm: no such file") || !strings.Contains(errs, "audio_empty") || !strings.Contains(errs, "it is a directory") {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
	})
	t.Run("reads stdin, so much and no more", func(t *testing.T) {
		s, env := server(t)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out, errs, status := commandOf(t, plainBinary, "", string(b), env, "transcribe", "-"); status != 0 || out != s.Requests()[0].Transcript+"\n" {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		env = append(env, "HELIX_VOICE_MAX_BYTES=512KB")
		for name, arg := range map[string]string{"stdin": "-", "file": file} {
			if out, errs, status := commandOf(t, plainBinary, "", string(b), env, "transcribe", arg); status != 1 || !strings.Contains(errs, "--voice-max-bytes") || out != "" {
				t.Errorf("%s: exit status %d: %s%s", name, status, out, errs)
			}
		}
	})
	t.Run("what waits for a pipe can be interrupted", func(t *testing.T) {
		_, env := server(t, "TMPDIR="+t.TempDir())
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		p := startOf(t, plainBinary, "", env, "transcribe", pipe)
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // when it is open for reading
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if status := p.wait(t); status != 1 {
			t.Errorf("exit status %d: %s", status, p.log)
		}
	})
	t.Run("a name does nothing to a terminal", func(t *testing.T) {
		_, env := server(t)
		odd := filepath.Join(t.TempDir(), "\x1b]0;title\a\nx.wav")
		if err := os.Link(file, odd); err != nil {
			t.Fatal(err)
		}
		out, errs, status := transcribe(t, env, odd, odd+"\u202e")
		if status != 1 || strings.Count(out, "\n") != 1 || !strings.Contains(out, `\x1b]0;title\a\nx.wav": `) || strings.ContainsAny(out+errs, "\x1b\a\u202e") {
			t.Errorf("exit status %d: %q %q", status, out, errs)
		}
	})
	t.Run("audio that is too long is refused", func(t *testing.T) {
		s, env := server(t, "HELIX_VOICE_MAX_DURATION=2s")
		if out, errs, status := transcribe(t, env, file); status != 1 || !strings.Contains(errs, "--voice-max-duration") || s.Count() != 0 {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
	})
	t.Run("only decodes without a provider", func(t *testing.T) {
		to := filepath.Join(dir, "decoded.wav")
		if out, errs, status := transcribe(t, []string{"HELIX_CACHE_DIR=" + cache}, "--wav", to, file); status != 0 || out+errs != "" {
			t.Fatalf("exit status %d: %s%s", status, out, errs)
		}
		got := samples(t, to)
		if len(got) < 47_990 || len(got) > 48_010 || math.Sqrt(dot(got, got)/float64(len(got))) < 5000 {
			t.Errorf("it has %d samples", len(got))
		}
	})
	t.Run("what cannot be decoded goes to the provider as it is", func(t *testing.T) {
		s, env := server(t)
		odd := filepath.Join(dir, "odd.bin")
		if err := os.WriteFile(odd, []byte(strings.Repeat("no audio at all ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, _ = transcribe(t, env, odd)
		if all := s.Requests(); len(all) != 1 || all[0].Bytes != 1600 {
			t.Errorf("the requests are %+v", all)
		}
		if _, errs, status := transcribe(t, env, "--wav", filepath.Join(dir, "odd.wav"), odd); status != 1 || !strings.Contains(errs, "undecodable") {
			t.Errorf("exit status %d: %s", status, errs)
		}
	})
	t.Run("asks again where that may help", func(t *testing.T) {
		s, env := server(t)
		s.Script(providertest.Step{Status: http.StatusServiceUnavailable})
		if out, errs, status := transcribe(t, env, file); status != 0 || s.Count() != 2 {
			t.Errorf("exit status %d after %d requests: %s%s", status, s.Count(), out, errs)
		}
	})
	t.Run("a refused key is told, and never shown", func(t *testing.T) {
		s := providertest.NewDeepgram(t)
		env := []string{"HELIX_CACHE_DIR=" + cache, "HELIX_VOICE_PROVIDER=deepgram", "HELIX_VOICE_URL=" + s.URL, "DEEPGRAM_API_KEY=not-the-right-key"}
		out, errs, status := transcribe(t, env, file)
		if status != 1 || !strings.Contains(errs, "provider_unauthorized") || !strings.Contains(errs, "DEEPGRAM_API_KEY") || strings.Contains(out+errs, "not-the-right-key") || s.Count() != 1 {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
		env[3] = "DEEPGRAM_API_KEY=" + providertest.Key
		if out, errs, status := transcribe(t, env, file); status != 0 || out != s.Requests()[1].Transcript+"\n" {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
	})
	t.Run("what is too large for the provider is sent in parts", func(t *testing.T) {
		s, env := server(t)
		out, errs, status := transcribe(t, env, "--json", chirp(t, filepath.Join(t.TempDir(), "long.wav"), 14*60, 8_000))
		var got struct {
			Transcript string
			Words      []provider.Word
			DurationMS int `json:"duration_ms"`
			Parts      int
		}
		if err := json.Unmarshal([]byte(out), &got); status != 0 || err != nil {
			t.Fatalf("exit status %d, %v: %s%s", status, err, out, errs)
		}
		all := s.Requests()
		if len(all) != 2 || got.Parts != 2 || got.DurationMS != 840_000 || got.Transcript != all[0].Transcript+" "+all[1].Transcript || math.Abs(all[0].Seconds+all[1].Seconds-840) > 0.01 {
			t.Fatalf("%d requests; it prints %.300s", len(all), out)
		}
		if last := got.Words[len(got.Words)-1]; last.Start < all[0].Seconds || last.End > 840.01 {
			t.Errorf("the last word is %+v", last)
		}
	})
}
