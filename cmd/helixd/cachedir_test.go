package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv"
)

// TestCacheDir: where no directory is named, compiled skills are in one that is
// the same at each start, and helixd trusts it only as far as it is its own.
func TestCacheDir(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	migrated(t, db)
	// temporary gives a directory for TMPDIR that worker children can go through.
	temporary := func(t *testing.T) (tmp, dir string) {
		t.Helper()
		tmp, err := os.MkdirTemp("", "helixd-test-")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(tmp) })
		if err := os.Chmod(tmp, 0o711); err != nil {
			t.Fatal(err)
		}
		return tmp, filepath.Join(tmp, fmt.Sprintf("helixd-%d", os.Geteuid()))
	}
	content := func(t *testing.T, dir string) []string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(dir, "sandbox-*"))
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	t.Run("WhatAKilledOneLeftIsRemoved", func(t *testing.T) {
		tmp, dir := temporary(t)
		slot := db.SlotName("cachedir")
		run := func() *process {
			p := start(t, db.URL("postgres"), []string{"TMPDIR=" + tmp, "HELIX_CACHE_DIR="}, "run", "--slot", slot)
			until(t, "helixd to stream", func() bool { return strings.Contains(p.log.String(), `"streaming"`) })
			return p
		}
		run().Kill()
		left := content(t, dir)
		if len(left) != 1 {
			t.Fatalf("one that was killed left %v", left)
		}
		p := run()
		if now := content(t, dir); len(now) != 1 || now[0] == left[0] {
			t.Errorf("then there is %v; before there was %v", now, left)
		}
		p.stop(t)
		if now := content(t, dir); len(now) != 0 {
			t.Errorf("one that ended in order left %v", now)
		}
	})
	type refusal struct {
		make func(t *testing.T, dir string) error
		want string
	}
	refusals := map[string]refusal{
		"OthersMayWrite": {func(_ *testing.T, dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chmod(dir, 0o722)
		}, "others may write to"},
		"LinkToElsewhere": {func(t *testing.T, dir string) error { return os.Symlink(t.TempDir(), dir) }, "is no directory"},
		"File":            {func(_ *testing.T, dir string) error { return os.WriteFile(dir, nil, 0o600) }, "is no directory"},
	}
	if os.Geteuid() == 0 { // nobody else can give something away
		refusals["SomebodyElses"] = refusal{func(_ *testing.T, dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chown(dir, 12345, 12345)
		}, "is somebody else's"}
	}
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			tmp, dir := temporary(t)
			if err := c.make(t, dir); err != nil {
				t.Fatal(err)
			}
			p := start(t, db.URL("postgres"), []string{"TMPDIR=" + tmp, "HELIX_CACHE_DIR="}, "run")
			if status := p.wait(t); status != 1 || !strings.Contains(p.log.String(), c.want) || !strings.Contains(p.log.String(), "HELIX_CACHE_DIR") {
				t.Errorf("exit status %d: %s", status, p.log)
			}
		})
	}
}
