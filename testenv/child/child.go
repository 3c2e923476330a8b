// Package child runs programs for tests, the demo and benchmarks: they do not outlive the process that started them,
// where the system can promise it, and what they say can be read while they run.
package child

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Process is a program that runs.
type Process struct {
	Cmd  *exec.Cmd
	Done <-chan struct{} // closed once it has ended
	Err  error           // how it ended, once it has
}

// ErrKilled says that a program had to be killed.
var ErrKilled = errors.New("killed")

// Start starts cmd. When this process dies, however it dies, the program gets a signal, unless that is 0; only Linux
// can promise it.
func Start(cmd *exec.Cmd, atDeath syscall.Signal) (*Process, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	signalAtDeath(cmd.SysProcAttr, atDeath)
	done := make(chan struct{})
	p := &Process{Cmd: cmd, Done: done}
	started := make(chan error)
	go func() {
		// Linux sends the parent-death signal when the thread that forked ends, not when the process does. So this
		// goroutine keeps its thread until the child has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.Err = cmd.Wait()
			close(done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// Pid is the process id.
func (p *Process) Pid() int { return p.Cmd.Process.Pid }

// Ended reports whether it has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.Done:
		return true
	default:
		return false
	}
}

// Stop sends a signal and waits. A program that does not heed it within patience is killed, which is an [ErrKilled].
func (p *Process) Stop(signal syscall.Signal, patience time.Duration) error {
	if err := p.Cmd.Process.Signal(signal); err != nil && !p.Ended() {
		return fmt.Errorf("signal process %d: %w", p.Pid(), err)
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.Done:
		return nil
	case <-timer.C:
	}
	p.Kill()
	return fmt.Errorf("process %d did not end on %v within %v: %w", p.Pid(), signal, patience, ErrKilled)
}

// Kill kills it, and waits until it has ended.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill() // it may have ended before
	<-p.Done
}

// Run starts cmd for a test, and keeps what it says on stderr, and on stdout unless cmd says where that goes. It is
// killed at the test's end; the end of what it said is shown, under name, when the test failed.
func Run(t testing.TB, name string, cmd *exec.Cmd) (*Process, *Output) {
	t.Helper()
	said := &Output{}
	if cmd.Stdout == nil {
		cmd.Stdout = said
	}
	cmd.Stderr = said
	p, err := Start(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%s, pid %d:\n%s", name, p.Pid(), strings.TrimSpace(said.String()))
		}
	})
	return p, said
}
