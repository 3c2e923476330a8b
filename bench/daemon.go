package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	daemonSlot = "helix"
	// stopPatience is longer than the daemon takes to end in order.
	stopPatience = 30 * time.Second
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
	dir, err := b.source(ctx)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, "helixd")
	build := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/helixd")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build helixd: %w\n%s", err, out)
	}
	b.built = path
	return path, nil
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
	*process
	log *tail
}

// helixd makes a command of the daemon, in a folder without a .env.
func (b *bench) command(ctx context.Context, url string, args ...string) (*exec.Cmd, *tail, error) {
	path, err := b.binary(ctx)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopPatience
	cmd.Dir = b.dir
	log := &tail{}
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
	p, err := startProcess(cmd)
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
		case <-d.done:
			return fmt.Errorf("helixd ended (%v); it said:\n%s", d.err, d.log)
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
	peakMB = peakRSS(strconv.Itoa(d.cmd.Process.Pid))
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-d.done:
	case <-time.After(stopPatience):
		_ = d.cmd.Process.Kill()
		<-d.done
		return peakMB, errors.New("helixd did not end on SIGTERM and was killed")
	}
	if d.err != nil {
		return peakMB, fmt.Errorf("helixd: %w\n%s", d.err, d.log)
	}
	return peakMB, nil
}

// tail keeps the end of what a process says.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// maxTail bounds what is kept.
const maxTail = 64 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if over := t.b.Len() + len(p) - maxTail; over > 0 {
		t.b.Next(over)
	}
	return t.b.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}
