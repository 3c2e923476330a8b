package speech

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

//go:embed recorder.html
var recorder []byte

// way is one in which a browser records.
type way struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Slice int    `json:"slice"` // milliseconds of a chunk; 0: all in one
}

var ways = []way{
	{"webm", "audio/webm", 0},
	{"webm-opus", "audio/webm;codecs=opus", 0},
	{"webm-opus-sliced", "audio/webm;codecs=opus", 1000},
	{"webm-opus-sliced-thin", "audio/webm;codecs=opus", 100},
	{"webm-pcm", "audio/webm;codecs=pcm", 0},
	{"webm-pcm-sliced", "audio/webm;codecs=pcm", 1000},
	{"mp4", "audio/mp4", 0},
	{"mp4-sliced", "audio/mp4", 1000},
	{"mp4-opus", "audio/mp4;codecs=opus", 0},
	{"mp4-aac", "audio/mp4;codecs=mp4a.40.2", 1000},
	{"ogg-opus", "audio/ogg;codecs=opus", 1000},
	{"video-webm", "video/webm;codecs=vp8,opus", 1000},
	{"video-mp4", "video/mp4", 1000},
}

const (
	// The voice begins after this: a page hears its microphone a moment after the
	// browser has opened it.
	lead = 500 * time.Millisecond
	// And the recorder runs on after the voice has ended.
	trail = time.Second
	// recordings are made of so many sentences.
	recordedSentences = 2
)

// Recorded gives what headless Chromium's MediaRecorder makes of two sentences, one
// in each voice, in all types that it supports. A clip's duration is of what came out of the
// microphone meanwhile, to some 100 ms. It skips the test where Chromium, flite or ffmpeg is missing, see [Need].
func Recorded(t testing.TB) []Clip {
	t.Helper()
	Need(t, "chromium", "flite", "ffmpeg")
	recipe := []any{string(recorder), ways, lead, trail, Sentences[:recordedSentences], version("chromium", "--version")}
	return kept(t, "recorded", recipe, recorded)
}

func recorded(ctx context.Context, dir string) ([]Clip, error) {
	made := make([][]Clip, recordedSentences)
	err := each(recordedSentences, func(i int) (err error) {
		made[i], err = browse(ctx, dir, i+1, []Voice{RMS, SLT}[i%2], Sentences[i])
		return err
	})
	var all []Clip
	for _, clips := range made {
		all = append(all, clips...)
	}
	return all, err
}

// browse has one browser record one sentence in all ways at once; number is in
// the clips' names.
func browse(ctx context.Context, dir string, number int, voice Voice, text string) ([]Clip, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	work, err := os.MkdirTemp("", "helix-browser-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	u, err := utter(ctx, voice, text, filepath.Join(work, "spoken.wav"))
	if err != nil {
		return nil, err
	}
	microphone := filepath.Join(work, "microphone.wav")
	if err := run(ctx, "ffmpeg", "-nostdin", "-v", "error", "-i", u.path, "-ar", "48000",
		"-af", fmt.Sprintf("adelay=%d,apad=pad_dur=5", lead.Milliseconds()), microphone); err != nil {
		return nil, err
	}

	p := &page{dir: dir, number: number, text: text, seconds: (lead + u.duration + trail).Seconds(), end: make(chan error, 1)}
	listener, err := net.Listen("tcp4", "127.0.0.1:0") // which browsers trust with a microphone
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: p.handler()}
	go func() { _ = server.Serve(listener) }() // until Close
	defer server.Close()

	cmd := exec.CommandContext(ctx, "chromium", "--headless", "--no-sandbox", "--no-first-run", "--disable-gpu",
		"--user-data-dir="+filepath.Join(work, "profile"),
		"--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream",
		"--use-file-for-fake-audio-capture="+microphone+"%noloop", "http://"+listener.Addr().String()+"/")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has many processes
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it is killed
		close(ended)
	}()
	select {
	case err = <-p.end:
	case <-ended:
		err = errors.New("it ended")
	}
	cancel()
	<-ended
	if err != nil {
		return nil, fmt.Errorf("record %q in chromium: %w\n%s", text, err, bytes.TrimSpace(said.Bytes()))
	}
	return p.clips, nil
}

// page is what the browser talks with.
type page struct {
	dir     string
	number  int
	text    string
	seconds float64
	clips   []Clip
	end     chan error
}

func (p *page) handler() http.Handler {
	mux := http.NewServeMux()
	var one sync.Mutex // the recordings come together
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write(recorder) // a browser that has gone does not post
	})
	mux.HandleFunc("GET /ways", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"seconds": p.seconds, "ways": ways})
	})
	mux.HandleFunc("POST /recording", func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		if err := p.keep(r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			p.ended(err)
		}
	})
	mux.HandleFunc("POST /end", func(_ http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		if said := r.FormValue("error"); said != "" {
			p.ended(errors.New(said))
			return
		}
		p.ended(nil)
	})
	return mux
}

// ended keeps the first of several ends.
func (p *page) ended(err error) {
	select {
	case p.end <- err:
	default:
	}
}

func (p *page) keep(r *http.Request) error {
	query := r.URL.Query()
	ms, err := strconv.Atoi(query.Get("ms"))
	if err != nil {
		return err
	}
	content, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	clip := Clip{
		Name:     fmt.Sprintf("chromium-%s-%d", filepath.Base(query.Get("name")), p.number),
		MIME:     query.Get("type"),
		Text:     p.text,
		Duration: time.Duration(ms) * time.Millisecond,
	}
	kind, _, _ := strings.Cut(clip.MIME, ";")
	clip.Path = filepath.Join(p.dir, clip.Name+"."+filepath.Base(kind))
	p.clips = append(p.clips, clip)
	return os.WriteFile(clip.Path, content, 0o644)
}
