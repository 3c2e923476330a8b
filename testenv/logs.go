package testenv

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv/module"
)

// keepLogOnFailure saves what the server logs from now on, if the test fails.
func keepLogOnFailure(t testing.TB, c *Cluster) {
	mark := c.server.logMark()
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		path, err := saveLog(t.Name(), c.server, mark)
		if err != nil {
			t.Logf("the server's log could not be kept: %v", err)
			return
		}
		t.Logf("the server's log of this test: %s", path)
	})
}

func saveLog(test string, s server, mark int64) (string, error) {
	said, err := s.logSince(mark)
	if err != nil {
		return "", err
	}
	dir, err := logDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, strings.NewReplacer("/", "_", " ", "_", string(filepath.Separator), "_").Replace(test)+".log")
	return path, os.WriteFile(path, said, 0o644)
}

// logDir is where the logs of failed tests go: under the module's root, whichever package runs.
func logDir() (string, error) {
	if dir := os.Getenv("HELIX_TESTENV_LOGS"); dir != "" {
		return dir, nil
	}
	root, err := module.Root()
	if err != nil { // a test binary outside of its module
		root = "."
	}
	return filepath.Join(root, ".helix", "test-logs"), nil
}
