package testenv

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
)

// dirPrefix begins the name of every throwaway cluster's folder.
const dirPrefix = "helix-testenv-"

// ownerFile in a cluster's folder names the process that it belongs to. That process holds a lock on it, which the
// system lets go when the process dies, so a reused process id cannot be mistaken for a living owner.
const ownerFile = "owner.pid"

// lockDir takes the folder for this process.
func lockDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, ownerFile)
	if err := tryRemoveStale(path); err != nil {
		return nil, err
	}
	// Locked first and named afterwards: a sweep by another process never sees the file without its lock.
	f, err := os.CreateTemp(dir, ownerFile+".*")
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		flock(f),
		func() error { _, err := fmt.Fprintln(f, os.Getpid()); return err }(),
		os.Rename(f.Name(), path),
	)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// tryRemoveStale removes a dead process's ownerFile, and fails when its owner lives.
func tryRemoveStale(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	if flock(f) != nil {
		owner, _ := os.ReadFile(path)
		return fmt.Errorf("%s is in use by process %s: stop it, or choose another folder", filepath.Dir(path), strings.TrimSpace(string(owner)))
	}
	return os.Remove(path)
}

func flock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// unlockDir gives the folder back, if it still exists.
func unlockDir(dir string, lock *os.File) error {
	err := os.Remove(filepath.Join(dir, ownerFile))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, lock.Close())
}

// sweep removes what processes that were killed have left behind. It is best effort: what it cannot remove belongs
// to somebody else.
func sweep() {
	dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), dirPrefix+"*"))
	for _, dir := range dirs {
		path := filepath.Join(dir, ownerFile)
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			// Just made, or its owner died in that moment.
			if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
				_ = os.RemoveAll(dir)
			}
			continue
		} else if err != nil {
			continue // another user's, who may be alive
		}
		if flock(f) == nil {
			endOrphan(dir)
			_ = os.RemoveAll(dir)
		}
		f.Close()
	}
}

// endOrphan ends the postmaster of a folder whose owner has died, should it still run.
func endOrphan(dir string) {
	data := filepath.Join(dir, "data")
	content, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return
	}
	first, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil || pid <= 1 {
		return
	}
	ours := func() bool { return strings.Contains(commandLine(pid), data) } // not a reused process id
	if !ours() {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGQUIT)
	err = Poll(context.Background(), 10*time.Second, pollEvery, "end an orphaned server", func() (bool, error) { return !ours(), nil })
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
