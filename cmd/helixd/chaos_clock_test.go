package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// serverClock is Postgres's clock, by libfaketime: what it tells the time by is a file.
type serverClock struct {
	library, file string
	missing       string // why it cannot be moved
}

func newServerClock(t testing.TB) *serverClock {
	t.Helper()
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib64/faketime/libfaketime.so.1", "/usr/lib/faketime/libfaketime.so.1"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 || os.Getenv("HELIX_TESTENV") == "docker" {
			continue
		}
		dir, err := os.MkdirTemp("", "helix-clock-") // not t.TempDir: Postgres is another user
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		c := &serverClock{library: found[0], file: filepath.Join(dir, "clock")}
		c.ahead(t, 0)
		return c
	}
	return &serverClock{missing: "it takes libfaketime (apt-get install libfaketime), and a Postgres on this machine"}
}

// env is what a server needs to be told the time so.
func (c *serverClock) env() []string {
	if c.missing != "" {
		return nil
	}
	return []string{"LD_PRELOAD=" + c.library, "FAKETIME_TIMESTAMP_FILE=" + c.file, "FAKETIME_CACHE_DURATION=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"}
}

// ahead moves the clock. A server sees it within a second.
func (c *serverClock) ahead(t testing.TB, by time.Duration) {
	t.Helper()
	next := c.file + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+f\n", by.Seconds()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, c.file); err != nil {
		t.Fatal(err)
	}
}
