package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/helixd/helixd/testenv"
)

// errHeld says that another process holds a lock.
var errHeld = errors.New("another process holds the lock")

// lock opens path and locks it until the file is closed or this process ends, however it ends. So, unlike a process id
// that is only written down, it never points at a stranger.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close() // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errHeld
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

// inTurn waits until no other up or down is at work, and does its own with the living supervisor's process id, or 0.
func (r repo) inTurn(ctx context.Context, do func(pid int) error) (err error) {
	if err := r.makeState(); err != nil {
		return err
	}
	var turn *os.File
	err = testenv.Poll(ctx, 3*time.Minute, 50*time.Millisecond, "wait for another up or down", func() (done bool, err error) {
		turn, err = lock(r.devTurn())
		return !errors.Is(err, errHeld), err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, turn.Close()) }()
	pid, err := r.supervisor()
	if err != nil {
		return err
	}
	return do(pid)
}

// supervisor gives the process id of the living supervisor, or 0. Only whose turn it is may ask: to ask is to try the
// lock, and a supervisor that starts at that moment would find it taken.
func (r repo) supervisor() (int, error) {
	f, err := lock(r.devPid())
	if err == nil {
		return 0, f.Close()
	}
	if !errors.Is(err, errHeld) {
		return 0, err
	}
	var pid int
	// It has locked the file, and is about to write its id.
	err = testenv.Poll(context.Background(), 5*time.Second, 5*time.Millisecond, "read the supervisor's process id", func() (bool, error) {
		content, err := os.ReadFile(r.devPid())
		if err != nil {
			return true, err
		}
		pid, err = strconv.Atoi(strings.TrimSuffix(string(content), "\n"))
		return err == nil && strings.HasSuffix(string(content), "\n"), nil
	})
	return pid, err
}

const (
	workPrefix = "helix-demo-"
	workLock   = "lock"
)

// makeWork makes a temporary folder that belongs to this process, and removes those whose owners were killed.
func makeWork() (dir string, remove func() error, err error) {
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), workPrefix+"*")) // the pattern is well-formed
	for _, dir := range old {
		if _, err := os.Stat(filepath.Join(dir, workLock)); err != nil {
			continue // being made, or a stranger's
		}
		if f, err := lock(filepath.Join(dir, workLock)); err == nil {
			_ = errors.Join(os.RemoveAll(dir), f.Close()) // best effort: the next one tries again
		}
	}
	// Locked under another name first: nobody may find it unlocked.
	if dir, err = os.MkdirTemp("", "."+workPrefix); err != nil {
		return "", nil, err
	}
	f, err := lock(filepath.Join(dir, workLock))
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	shown := filepath.Join(filepath.Dir(dir), strings.TrimPrefix(filepath.Base(dir), "."))
	if err := os.Rename(dir, shown); err != nil {
		return "", nil, errors.Join(err, f.Close(), os.RemoveAll(dir))
	}
	return shown, func() error { return errors.Join(os.RemoveAll(shown), f.Close()) }, nil
}
