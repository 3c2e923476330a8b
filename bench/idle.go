package main

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// idle gives the memory of the daemon, in MB, and what it computed, in percent of
// a core, while nothing happened.
func (d *daemon) idle(ctx context.Context) (rss, used float64, err error) {
	pid := d.Pid()
	var before, after float64
	for _, step := range []struct {
		wait time.Duration
		cpu  *float64
	}{{idleBefore, &before}, {idleFor, &after}} {
		select {
		case <-d.Done:
			return 0, 0, fmt.Errorf("helixd ended (%v); it said:\n%s", d.Err, d.log)
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
func computed(pid int) float64 {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}
