package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/helixd/helixd/testenv/child"
)

const (
	daemonSlot = "helix"
	// stopPatience is longer than the daemon takes to end in order.
	stopPatience = 30 * time.Second
	// logKept is how much is kept of the end of what it says.
	logKept = 64 << 10
)

// binary builds the daemon once, without the race detector and failpoints.
func (b *bench) binary(ctx context.Context) (string, error) {
	if b.helixd != "" {
		return filepath.Abs(b.helixd)
	}
	if b.built != "" {
		return b.built, nil
	}
	b.say("  build helixd")
	path := filepath.Join(b.dir, "helixd")
	if err := b.build(ctx, path, nil); err != nil {
		return "", err
	}
	b.built = path
	return path, nil
}

// release builds the daemon as make build does.
func (b *bench) release(ctx context.Context) (string, error) {
	if b.helixd != "" {
		return filepath.Abs(b.helixd)
	}
	b.say("  build helixd for release")
	path := filepath.Join(b.dir, "helixd-release")
	return path, b.build(ctx, path, []string{"CGO_ENABLED=0"}, "-trimpath", "-ldflags", "-s -w")
}

// build builds the daemon, with further environment and flags of go build.
func (b *bench) build(ctx context.Context, path string, env []string, flags ...string) error {
	dir, err := b.source(ctx)
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", slices.Concat([]string{"build"}, flags, []string{"-o", path, "./cmd/helixd"})...)
	build.Dir, build.Env = dir, append(os.Environ(), env...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build helixd: %w\n%s", err, out)
	}
	return nil
}

// source is the folder of helixd's module.
func (b *bench) source(ctx context.Context) (string, error) {
	dir, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/helixd/helixd").Output()
	if err != nil {
		return "", fmt.Errorf("find helixd's source: run this in the folder bench: %w", err)
	}
	return strings.TrimSpace(string(dir)), nil
}

// daemon is a helixd run.
type daemon struct {
	*child.Process
	log *child.Output
}

// command makes one of the daemon, in a folder without a .env.
func (b *bench) command(ctx context.Context, url string, args ...string) (*exec.Cmd, *child.Output, error) {
	path, err := b.binary(ctx)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopPatience
	cmd.Dir = b.dir
	log := &child.Output{Most: logKept}
	cmd.Stdout, cmd.Stderr = log, log
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "HELIX_") && !strings.HasPrefix(kv, "GOMEMLIMIT=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "SUPABASE_DB_URL="+url)
	return cmd, log, nil
}

// migrate runs helixd migrate.
func (b *bench) migrate(ctx context.Context, url string) error {
	cmd, log, err := b.command(ctx, url, "migrate")
	if err != nil {
		return err
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("helixd migrate: %w\n%s", err, log)
	}
	return nil
}

// start runs helixd run, with flags of its own, and returns at once.
func (b *bench) start(ctx context.Context, url string, flags ...string) (*daemon, error) {
	cmd, log, err := b.command(ctx, url, append([]string{"run", "--slot", daemonSlot, "--log-format", "json"}, flags...)...)
	if err != nil {
		return nil, err
	}
	p, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	return &daemon{p, log}, nil
}

// until polls a condition; it fails when the daemon ends.
func (d *daemon) until(ctx context.Context, every time.Duration, cond func() (bool, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if ok, err := cond(); ok || err != nil {
			return err
		}
		select {
		case <-d.Done:
			return fmt.Errorf("helixd ended (%v); it said:\n%s", d.Err, d.log)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// streaming waits until it streams.
func (d *daemon) streaming(ctx context.Context) error {
	return d.until(ctx, 20*time.Millisecond, func() (bool, error) {
		return strings.Contains(d.log.String(), `"message":"streaming"`), nil
	})
}

// stop ends it in order, and gives the most memory that it ever had.
func (d *daemon) stop() (peakMB float64, err error) {
	peakMB = peakRSS(d.Pid())
	if err := d.Stop(syscall.SIGTERM, stopPatience); err != nil {
		return peakMB, fmt.Errorf("helixd: %w", err)
	}
	if d.Err != nil {
		return peakMB, fmt.Errorf("helixd: %w\n%s", d.Err, d.log)
	}
	return peakMB, nil
}
