package speech

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Need skips the test where one of the programs is not on PATH, see [Missing].
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			Missing(t, "there is no %s (on Debian and Ubuntu as root: testenv/voice.sh)", name)
		}
	}
}

// Missing skips a test that lacks what voice tests need, or fails it where
// HELIX_TEST_AUDIO=require says that it must run.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("HELIX_TEST_AUDIO") == "require" {
		t.Fatalf("HELIX_TEST_AUDIO=require, but "+format, args...)
	}
	t.Skipf(format, args...)
}

// run runs a program to its end.
func run(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}
