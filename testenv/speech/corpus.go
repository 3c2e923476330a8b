package speech

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv/module"
)

// A Clip is a recording with known words.
type Clip struct {
	Name     string // unique among those of one origin
	Path     string
	MIME     string // as the client says, which need not be true
	Text     string // what is said
	Duration time.Duration
}

// Record makes a clip in dir, in which voice says text.
func Record(ctx context.Context, f Format, voice Voice, text, dir string) (Clip, error) {
	path := filepath.Join(dir, f.Name+".spoken.wav")
	defer os.Remove(path)
	u, err := utter(ctx, voice, text, path)
	if err != nil {
		return Clip{}, err
	}
	return u.as(ctx, f, dir)
}

// utterance is a text that a voice has said, in a WAV.
type utterance struct {
	path, text string
	duration   time.Duration
}

func utter(ctx context.Context, voice Voice, text, path string) (utterance, error) {
	if err := Say(ctx, voice, text, path); err != nil {
		return utterance{}, err
	}
	duration, err := length(path)
	return utterance{path, text, duration}, err
}

// as writes it as f says, in dir.
func (u utterance) as(ctx context.Context, f Format, dir string) (Clip, error) {
	clip := Clip{Name: f.Name, Path: filepath.Join(dir, f.Name+f.Ext), MIME: f.MIME, Text: u.text, Duration: u.duration}
	args := append([]string{"-nostdin", "-v", "error", "-y", "-threads", "1", "-i", u.path}, strings.Fields(f.Args)...)
	return clip, run(ctx, "ffmpeg", append(args, clip.Path)...)
}

// amr are phones' formats: ffmpeg writes these containers, but has no encoder for
// what is in them in Debian; sox has.
var amr = []Format{
	{"amr", ".amr", "audio/amr", "-c copy"},
	{"3gp-amr", ".3gp", "audio/3gpp", "-c copy"},
}

// asAMR gives the same in AMR at 12.2 kbit/s.
func (u utterance) asAMR(ctx context.Context) (utterance, error) {
	narrow := utterance{u.path + ".amr", u.text, u.duration}
	return narrow, run(ctx, "sox", u.path, "-r", "8000", "-C", "7", "-t", "amr-nb", narrow.path)
}

// Corpus gives a clip of each of Formats and of two more, with all sentences in
// both voices. It skips the test where flite, ffmpeg or sox is missing, see
// [Need].
func Corpus(t testing.TB) []Clip {
	t.Helper()
	Need(t, "flite", "ffmpeg", "sox")
	recipe := []any{Formats, amr, Sentences, version("ffmpeg", "-version"), version("flite", "--version"), version("sox", "--version")}
	return kept(t, "corpus", recipe, corpus)
}

func corpus(ctx context.Context, dir string) ([]Clip, error) {
	work, err := os.MkdirTemp("", "helix-speech-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	said := make([]utterance, 2*len(Sentences))
	if err := each(len(said), func(i int) (err error) {
		round, sentence := i/len(Sentences), i%len(Sentences)
		path := filepath.Join(work, fmt.Sprintf("%d.wav", i))
		said[i], err = utter(ctx, []Voice{RMS, SLT}[(round+sentence)%2], Sentences[sentence], path)
		return err
	}); err != nil {
		return nil, err
	}
	clips := make([]Clip, len(Formats)+len(amr))
	return clips, each(len(clips), func(i int) (err error) {
		u := said[i%len(said)]
		if i < len(Formats) {
			clips[i], err = u.as(ctx, Formats[i], dir)
			return err
		}
		if u, err = u.asAMR(ctx); err != nil {
			return err
		}
		clips[i], err = u.as(ctx, amr[i-len(Formats)], dir)
		return err
	})
}

// each calls f for 0..n-1, some at a time, and gives the first error of each
// worker.
func each(n int, f func(i int) error) error {
	var (
		todo    = make(chan int)
		workers sync.WaitGroup
		mu      sync.Mutex
		errs    error
	)
	for range runtime.NumCPU() {
		workers.Go(func() {
			for i := range todo {
				if err := f(i); err != nil {
					mu.Lock()
					errs = errors.Join(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	workers.Wait()
	return errs
}

// kept gives what make made in a folder of .helix/speech, now or in an earlier
// run, with the same recipe.
func kept(t testing.TB, name string, recipe any, make func(ctx context.Context, dir string) ([]Clip, error)) []Clip {
	t.Helper()
	root, err := module.Root()
	if err != nil {
		t.Fatal(err)
	}
	content, err := json.Marshal([]any{runtime.GOARCH, recipe})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	cache := filepath.Join(root, ".helix", "speech")
	clips, err := keep(t.Context(), cache, name+"-"+hex.EncodeToString(sum[:8]), make)
	if err != nil {
		t.Fatalf("make the recordings: %v", err)
	}
	return clips
}

func keep(ctx context.Context, cache, name string, make func(ctx context.Context, dir string) ([]Clip, error)) (clips []Clip, err error) {
	dir := filepath.Join(cache, name)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return nil, err
	}
	// The tests of several packages run at once: one makes, the others wait.
	lock, err := os.OpenFile(dir+".lock", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	list := filepath.Join(dir, "clips.json") // written last: without it the folder is half-done
	content, err := os.ReadFile(list)
	if errors.Is(err, os.ErrNotExist) {
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755)); err != nil {
			return nil, err
		}
		if clips, err = make(ctx, dir); err != nil {
			return nil, err
		}
		for i := range clips {
			clips[i].Path = filepath.Base(clips[i].Path)
		}
		if content, err = json.Marshal(clips); err != nil {
			return nil, err
		}
		err = os.WriteFile(list, content, 0o644)
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(content, &clips); err != nil {
		return nil, fmt.Errorf("read %s: %w", list, err)
	}
	for i := range clips {
		clips[i].Path = filepath.Join(dir, clips[i].Path)
	}
	return clips, nil
}

// version is what a program says of itself; what it makes may change with it.
func version(name, arg string) string {
	out, _ := exec.Command(name, arg).CombinedOutput() // flite's fails, and says it all the same
	return string(out)
}
