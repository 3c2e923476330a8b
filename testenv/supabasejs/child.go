package supabasejs

import (
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Process is a child that runs until the test ends.
type Process struct {
	cmd   *exec.Cmd
	mu    sync.Mutex
	said  bytes.Buffer
	ended chan struct{}
}

// Write takes what it says.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(b)
}

// String is what it has said so far.
func (p *Process) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// Kill ends it, and waits until it has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended before
	<-p.ended
}

// Child starts a program, which is killed at the test's end; what it said last
// is shown when the test failed.
func Child(t testing.TB, name string, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p, p
	stdin, err := cmd.StdinPipe() // open as long as this process lives
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is in what it said
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		p.Kill()
		if t.Failed() {
			said := strings.TrimSpace(p.String())
			t.Logf("%s:\n%s", name, said[max(0, len(said)-4000):])
		}
	})
	return p
}

// Until polls a condition, for a minute at most and while p runs.
func Until(t testing.TB, what string, p *Process, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !cond(); <-tick.C {
		select {
		case <-p.ended:
			t.Fatalf("it ended before: %s", what)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute until: %s", what)
		}
	}
}
