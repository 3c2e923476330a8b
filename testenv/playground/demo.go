package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// demoTimeout bounds the whole demo.
const demoTimeout = 3 * time.Minute

// errHelixd says that helixd did not live through the acts.
var errHelixd = errors.New("helixd run has ended")

// demo plays the acts on a world of its own. Several demos may run at once.
func demo(ctx context.Context, out *printer, r repo) error {
	tooLong := fmt.Errorf("the demo took longer than %v", demoTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, demoTimeout, tooLong)
	defer cancel()
	work, removeWork, err := makeWork()
	if err != nil {
		return err
	}
	w := &world{}
	log := r.state(fmt.Sprintf("demo-%d.log", os.Getpid()))
	err = play(ctx, out, r, w, work, log)
	interrupted := errors.Is(context.Cause(ctx), context.Canceled)
	if err != nil && errors.Is(context.Cause(ctx), tooLong) {
		err = fmt.Errorf("%w: %w", tooLong, err)
	}
	left := errors.Join(w.close(), removeWork())
	if left == nil && (err == nil || interrupted) {
		_ = os.Remove(log) // of no use now; it may not have been made
		return err
	}
	if left != nil {
		err = errors.Join(err, fmt.Errorf("%w: %w", errLeft, left))
	}
	if w.log != "" {
		err = fmt.Errorf("%w\n\n%s", err, lastLines(w.log, r.relative(w.log)))
	}
	return err
}

// play makes the world and plays all acts on it.
func play(ctx context.Context, out *printer, r repo, w *world, work, log string) (err error) {
	begun := time.Now()
	out.line("%s", out.bold("helixd demo: devices edit the same note, skills run, speech becomes text,\n             and memories become patterns"))
	out.line("")
	if err := r.makeState(); err != nil {
		return err
	}
	binary := filepath.Join(work, "helixd")
	if err := w.startPostgres(ctx, out, "helix_demo"); err != nil {
		return err
	}
	if err := r.build(ctx, out, binary); err != nil {
		return err
	}
	if err := w.startRecogniser(ctx, out, r); err != nil {
		return err
	}
	if err := w.startHelixd(ctx, out, binary, work, log); err != nil {
		return err
	}
	// What waits for a helixd that has ended need not wait on.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-w.helixd.Done:
			cancel(fmt.Errorf("%w: %w", errHelixd, cmp.Or(w.helixd.Err, errors.New("exit status 0"))))
		case <-ctx.Done():
		}
	}()
	var s *stage
	err = out.step("signing in", func() (string, error) {
		s, err = newStage(ctx, out, r, w.db)
		if err == nil {
			s.work = work
		}
		return "ada on phone, laptop and tablet", err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	acts := slices.Concat(syncActs, strategyActs, skillActs)
	if w.recogniser != nil {
		acts = append(acts, voiceActs...)
	}
	acts = append(append(acts, memoryActs...), analysisActs...)
	for i, a := range acts {
		out.line("")
		out.line("%s", out.bold(fmt.Sprintf("%d. %s", i+1, a.name)))
		err := a.run(s)
		if cause := context.Cause(ctx); errors.Is(cause, errHelixd) {
			err = cause
		}
		if err != nil {
			return fmt.Errorf("act %d: %w", i+1, err)
		}
	}
	s.summary(len(acts), time.Since(begun))
	return nil
}

// summary says what was played, and how fast helixd was.
func (s *stage) summary(acts int, took time.Duration) {
	out := s.out
	out.line("")
	out.line("%s", out.good(fmt.Sprintf("All %d acts as expected, in %.1f s.", acts, took.Seconds())))
	out.line("")
	out.line("   commit → resolved row   median %s, slowest %s, of %d writes",
		milliseconds(median(s.seen)), milliseconds(slices.Max(s.seen)), len(s.seen))
	out.line("   commit → commit         median %s, slowest %s",
		milliseconds(median(s.committed)), milliseconds(slices.Max(s.committed)))
	out.line("")
	out.line("The first is from the moment that the device's COMMIT is confirmed until the")
	out.line("row shows on another connection of the user, which looks every %v. The", watchEvery)
	out.line("second is the server's own account of it, by its commit timestamps.")
	out.line("")
	out.line("Next: %s leaves the same environment up, to try it yourself in psql.", out.bold("make dev"))
}

// lastLines shows the end of a log and where the rest is.
func lastLines(path, shown string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	lines = lines[max(0, len(lines)-12):]
	return fmt.Sprintf("helixd's log is %s; it ends with:\n%s", shown, strings.Join(lines, "\n"))
}
