package provider_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
)

// TestMain names a proxy that nobody can reach: loopback is not asked for through
// one.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "http_proxy"} {
		if err := os.Setenv(name, "http://127.0.0.1:1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// wav is a file of 16 kHz mono 16-bit PCM; seed makes it another one.
func wav(seconds float64, seed byte) []byte {
	size := int(seconds*16_000) * 2
	b := make([]byte, 44+size)
	copy(b, "RIFF")
	binary.LittleEndian.PutUint32(b[4:], uint32(36+size))
	copy(b[8:], "WAVEfmt ")
	binary.LittleEndian.PutUint32(b[16:], 16)
	binary.LittleEndian.PutUint16(b[20:], 1)
	binary.LittleEndian.PutUint16(b[22:], 1)
	binary.LittleEndian.PutUint32(b[24:], 16_000)
	binary.LittleEndian.PutUint32(b[28:], 32_000)
	binary.LittleEndian.PutUint16(b[32:], 2)
	binary.LittleEndian.PutUint16(b[34:], 16)
	copy(b[36:], "data")
	binary.LittleEndian.PutUint32(b[40:], uint32(size))
	for i := 44; i < len(b); i++ {
		b[i] = byte(i) * seed
	}
	return b
}

func request(audio []byte) provider.Request {
	return provider.Request{Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(audio)), nil },
		Size: int64(len(audio)), ContentType: "audio/wav", Key: "key-1"}
}

func sum(audio []byte) string {
	h := sha256.Sum256(audio)
	return hex.EncodeToString(h[:])
}

// refusal is the *provider.Error that err has to be, without a secret in it.
func refusal(t *testing.T, err error) *provider.Error {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Fatalf("the error is %T: %v", err, err)
	}
	noSecret(t, e.Error(), e.RequestID)
	if e.Message == "" || !utf8.ValidString(e.Message) || strings.ContainsAny(e.Message, "\n\r\x00\x1b") || utf8.RuneCountInString(e.Message) > 600 {
		t.Errorf("nobody can read %q", e.Message)
	}
	return e
}

// noSecret fails where the key or a part of it is in a text.
func noSecret(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for i := 0; i+6 <= len(providertest.Key); i++ {
			if strings.Contains(text, providertest.Key[i:i+6]) {
				t.Fatalf("the key is in %q", text)
			}
		}
	}
}

// valid fails where an Answer cannot be stored.
func valid(t *testing.T, a provider.Answer) {
	t.Helper()
	text := func(s string) {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			t.Fatalf("%q is no text of Postgres", s)
		}
	}
	unit := func(c *float64) {
		if c != nil && !(*c >= 0 && *c <= 1) {
			t.Fatalf("a confidence of %v", *c)
		}
	}
	text(a.Transcript)
	text(a.Language)
	text(a.RequestID)
	unit(a.Confidence)
	if a.Duration < 0 {
		t.Fatalf("a duration of %v", a.Duration)
	}
	if len(a.Words) > provider.MostWords {
		t.Fatalf("%d words", len(a.Words))
	}
	for _, w := range a.Words {
		text(w.Word)
		unit(w.Confidence)
		if w.Word == "" || !(w.Start >= 0) || !(w.End >= w.Start) || math.IsInf(w.End, 0) || w.End > 7*24*3600 {
			t.Fatalf("a word %+v", w)
		}
	}
}

// within gives a test's requests a time that no healthy one needs.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// each runs a test with both providers.
func each(t *testing.T, test func(t *testing.T, p provider.Provider, s *providertest.Server)) {
	t.Run("deepgram", func(t *testing.T) {
		s := providertest.NewDeepgram(t)
		test(t, provider.NewDeepgram(provider.Options{BaseURL: s.URL, Key: providertest.Key}), s)
	})
	t.Run("openai", func(t *testing.T) {
		s := providertest.NewOpenAI(t)
		test(t, provider.NewOpenAI(provider.Options{BaseURL: s.URL, Key: providertest.Key}), s)
	})
}
