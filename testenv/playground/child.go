package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// child is a process that this one owns.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how it ended; readable then
}

// startChild starts cmd in a process group of its own, so that a Ctrl-C reaches this process alone, which then ends
// things in order.
func startChild(cmd *exec.Cmd) (*child, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
	c := &child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux tells the child of its parent's death when the thread that forked it ends: this one stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// stop sends SIGTERM, and kills the process when it has not ended after patience.
func (c *child) stop(patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // fails only if it has ended
	select {
	case <-c.done:
		return c.err
	case <-timer.C:
	}
	_ = c.cmd.Process.Kill()
	<-c.done
	return fmt.Errorf("it did not end within %v: %w", patience, errKilled)
}

// errKilled says that a process had to be killed.
var errKilled = errors.New("killed")

func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
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
