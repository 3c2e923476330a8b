package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	idleBefore = 15 * time.Second // for what is compiled once, and for the collector to give memory back
	idleFor    = 20 * time.Second
)

// idle measures what helixd costs while nobody writes: a release build, with no
// provider set and what else is there by default.
func idle(ctx context.Context, b *bench) error {
	const section = "idle"
	path, err := b.release(ctx)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	defer func(was string) { b.helixd = was }(b.helixd)
	b.helixd = path
	db, _, drop, err := b.project(ctx, "idle")
	if err != nil {
		return err
	}
	defer drop()
	var starts, memory, cpu []float64
	for n := range b.runs + 1 { // the first makes the slot, and fills the cache of compiled code
		began := time.Now()
		d, err := b.start(ctx, db.URL("postgres"))
		if err != nil {
			return err
		}
		if err := d.streaming(ctx); err != nil {
			return err
		}
		took := time.Since(began)
		rss, used, err := d.idle(ctx)
		if _, stopped := d.stop(); err != nil || stopped != nil {
			return errors.Join(err, stopped)
		}
		if n == 0 {
			continue
		}
		b.say("  run %d  streaming after %s s, %s MB, %s%% of a core", n, number(took.Seconds()), number(rss), number(used))
		starts, memory, cpu = append(starts, took.Seconds()), append(memory, rss), append(cpu, used)
	}
	b.report.add(
		newFigure(section, "size of the binary", "MB", float64(info.Size())/1e6).below(60),
		newFigure(section, "start to streaming", "s", starts...).below(1),
		newFigure(section, "RSS", "MB", memory...).below(40),
		newFigure(section, "CPU, of a core", "%", cpu...).below(1),
	)
	return nil
}

// release builds the daemon as make build does.
func (b *bench) release(ctx context.Context) (string, error) {
	if b.helixd != "" {
		return filepath.Abs(b.helixd)
	}
	b.say("  build helixd for release")
	dir, err := b.source(ctx)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, "helixd-release")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./cmd/helixd")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build helixd: %w\n%s", err, out)
	}
	return path, nil
}

// idle gives the memory of the daemon, in MB, and what it computed, in percent of
// a core, while nothing happened.
func (d *daemon) idle(ctx context.Context) (rss, used float64, err error) {
	pid := strconv.Itoa(d.cmd.Process.Pid)
	var before, after float64
	for _, step := range []struct {
		wait time.Duration
		cpu  *float64
	}{{idleBefore, &before}, {idleFor, &after}} {
		select {
		case <-d.done:
			return 0, 0, fmt.Errorf("helixd ended (%v); it said:\n%s", d.err, d.log)
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		case <-time.After(step.wait):
		}
		*step.cpu = computed(pid)
	}
	return memoryOf(pid, "VmRSS"), 100 * (after - before) / idleFor.Seconds(), nil
}

// computed reads the seconds that a process has computed; 0 where there is no
// /proc. Times are the 12th and 13th field after the name, in hundredths.
func computed(pid string) float64 {
	stat, _ := os.ReadFile("/proc/" + pid + "/stat")
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}
