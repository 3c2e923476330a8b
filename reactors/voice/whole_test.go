package voice_test

import (
	"encoding/binary"
	"math"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
)

// boxes are real worker children.
func boxes(t *testing.T) *sandbox.Pool {
	t.Helper()
	if err := decode.Available(); err != nil {
		if os.Getenv("HELIX_TEST_AUDIO") == "require" {
			t.Fatal(err)
		}
		t.Skipf("%v; run reactors/voice/decode/build.sh", err)
	}
	dir, err := os.MkdirTemp("", "helixd-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { // children are another user
		t.Fatal(err)
	}
	config := voice.DefaultConfig
	pool, err := sandbox.NewPool(t.Context(), sandbox.Config{Dir: dir, Workers: 2, Limits: decode.Limits(config.Longest, config.MostBytes), Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool
}

// telephone is a second of a tone in a WAV file of 8 kHz with 8 bits.
func telephone() []byte {
	b := []byte("RIFF\x64\x1f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data")
	b = binary.LittleEndian.AppendUint32(b, 8000)
	for i := range 8000 {
		b = append(b, byte(128+100*math.Sin(float64(i)*2*math.Pi*440/8000)))
	}
	return b
}

// TestWhole: real worker children, and the client of a real provider.
func TestWhole(t *testing.T) {
	d := decode.New(boxes(t))
	for name, tt := range map[string]struct {
		audio []byte
		step  providertest.Step
		want  string
		tried int
	}{
		"Heard":                  {telephone(), providertest.Step{}, "done", 1},
		"AfterABusyServer":       {telephone(), providertest.Step{Status: http.StatusServiceUnavailable}, "done", 2},
		"AfterADroppedAnswer":    {telephone(), providertest.Step{Drop: providertest.AfterBody}, "done", 2},
		"AfterTooManyRequests":   {telephone(), providertest.Step{Status: http.StatusTooManyRequests}, "done", 2},
		"RefusedKey":             {telephone(), providertest.Step{Status: http.StatusUnauthorized}, "failed provider_unauthorized", 1},
		"RefusedAudio":           {telephone(), providertest.Step{Status: http.StatusBadRequest}, "failed provider_rejected", 1},
		"NoAudioRefused":         {[]byte("#!/bin/sh\necho no audio"), providertest.Step{Status: http.StatusBadRequest}, "failed undecodable", 1},
		"NoAudioHeardAllTheSame": {[]byte("fLaC, and then no FLAC"), providertest.Step{}, "done", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.stream(t)
			server := providertest.NewOpenAI(t)
			server.Script(tt.step)
			var log strings.Builder
			client := provider.NewClient(provider.NewOpenAI(provider.Options{BaseURL: server.URL, Key: providertest.Key}), provider.ClientOptions{Log: zerolog.New(&log)})
			stop := b.work(t, parts{decoder: d, ear: client})
			user := b.User(t)
			id := get[uuid.UUID](t, b.Admin, "insert into voice_recordings (user_id, audio_data) values ($1, $2) returning id", user, tt.audio)
			r := b.ended(t, id)
			stop()
			if r.code() != tt.want || r.Attempts != tt.tried || server.Count() != tt.tried {
				t.Fatalf("after %d requests, with %v, the row is %s: %+v %+v", server.Count(), server.Problems(), r.code(), r, r.Error)
			}
			if original := r.Provider != nil && strings.HasSuffix(*r.Provider, "(original audio)"); r.Status == "done" && original != strings.HasPrefix(name, "NoAudio") {
				t.Errorf("the row names the provider %q", *r.Provider)
			}
			if r.Status == "done" && !strings.HasPrefix(name, "NoAudio") && (*r.Duration < 950 || *r.Duration > 1050 || !strings.HasPrefix(*r.Transcript, "audio 1.")) {
				t.Errorf("of a second %d ms are heard: %q", *r.Duration, *r.Transcript)
			}
			if strings.Contains(log.String(), providertest.Key) {
				t.Error("the log has the key")
			}
		})
	}
}
