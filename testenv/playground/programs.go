package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/helixd/helixd/testenv/child"
)

// own starts cmd, which ends when this process does, in a process group of its own: a Ctrl-C reaches this process
// alone, which then ends things in order.
func own(cmd *exec.Cmd) (*child.Process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return child.Start(cmd, syscall.SIGKILL)
}

// output runs a command to its end and gives what it said. When ctx ends, it is interrupted together with its own
// children, such as the compilers of a go build.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("%w; it said:\n%s", err, strings.TrimSpace(string(out)))
	}
	return string(out), err
}

// cleanEnv is this process's environment without what would lead helixd elsewhere, and with more.
func cleanEnv(more ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return slices.ContainsFunc([]string{"PG", "SUPABASE_", "HELIX_", "DEEPGRAM_", "ANTHROPIC_", "EMBEDDINGS_"}, func(prefix string) bool {
			return strings.HasPrefix(kv, prefix)
		})
	})
	return append(env, more...)
}
