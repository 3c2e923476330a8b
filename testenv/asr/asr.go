// Package asr runs a server on loopback that hears English, for tests and the
// demo: OpenAI's POST /v1/audio/transcriptions around Moonshine-tiny, offline
// once testenv/asr/setup.sh has run.
//
// It takes WAV of 16 kHz, mono, 16 bits, which is what helixd sends; gives text,
// and with response_format=verbose_json duration, language, words with times that
// are shared out by their length, and segments; and answers what it cannot do as
// OpenAI does, with an error of message, type, param and code. It knows no keys.
package asr

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv/module"
	"github.com/helixd/helixd/testenv/speech"
)

// patience is how long the model may take to load: half a second on an idle
// machine.
const patience = time.Minute

// Server is a running server. It ends with this process, however that ends.
type Server struct {
	// URL is its base, without a path: http://127.0.0.1:port.
	URL string

	stdin  io.Closer
	stderr bytes.Buffer // to be read once it has ended
	ended  chan struct{}
}

// Serve starts a server from the repository's root, and gives it back once it
// takes requests. It runs until Close, or until ctx ends.
func Serve(ctx context.Context, repoRoot string) (*Server, error) {
	scripts := filepath.Join(repoRoot, "testenv", "asr")
	packages, err := installed(scripts, filepath.Join(repoRoot, ".helix", "asr"))
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", filepath.Join(scripts, "serve.mjs"), packages)
	s := &Server{ended: make(chan struct{})}
	cmd.Stderr = &s.stderr
	stdin, err := cmd.StdinPipe() // open as long as this process lives
	if err != nil {
		return nil, err
	}
	s.stdin = stdin
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start node: %w", err)
	}
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(stdout).ReadString('\n') // how it ended is in stderr
		said <- line
		_ = cmd.Wait()
		close(s.ended)
	}()
	tooLong := time.NewTimer(patience)
	defer tooLong.Stop()
	select {
	case line := <-said:
		if url, whole := strings.CutSuffix(line, "\n"); whole {
			s.URL = url
			return s, nil
		}
		<-s.ended
		return nil, fmt.Errorf("the recogniser ended before it took requests: %s", bytes.TrimSpace(s.stderr.Bytes()))
	case <-tooLong.C:
		_ = cmd.Process.Kill()
		<-s.ended
		return nil, fmt.Errorf("the recogniser took no requests within %v", patience)
	}
}

// Close ends the server, and waits until it has ended.
func (s *Server) Close() error {
	err := s.stdin.Close()
	<-s.ended
	if errors.Is(err, os.ErrClosed) { // ctx ended it before
		return nil
	}
	return err
}

// Start gives the URL of a server that runs until the test ends. It skips the
// test where the recogniser is not set up, see [speech.Missing].
func Start(t testing.TB) (url string) {
	t.Helper()
	root, err := module.Root()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Serve(t.Context(), root)
	if errors.Is(err, errNotSetUp) || errors.Is(err, exec.ErrNotFound) {
		speech.Missing(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.URL
}

var errNotSetUp = errors.New("there is no recogniser under .helix/asr: run testenv/asr/setup.sh")

// installed gives the folder that setup.sh makes for the present contents of
// itself and of package-lock.json.
func installed(scripts, cache string) (string, error) {
	sum := sha256.New()
	for _, name := range []string{"package-lock.json", "setup.sh"} {
		content, err := os.ReadFile(filepath.Join(scripts, name))
		if err != nil {
			return "", err
		}
		_, _ = sum.Write(content) // a hash takes everything
	}
	dir := filepath.Join(cache, hex.EncodeToString(sum.Sum(nil))[:16])
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return "", errNotSetUp
	} else if err != nil {
		return "", err
	}
	return dir, nil
}
