package main

import (
	"os/exec"
	"runtime"
)

// process is a child that does not outlive the benchmark, however that ends.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // of Wait, once done
}

// startProcess starts cmd. Linux sends the parent-death signal when the thread
// that forked ends, so a goroutine keeps its thread until the child has ended.
func startProcess(cmd *exec.Cmd) (*process, error) {
	dieWithParent(cmd)
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	return p, <-started
}

// cpu gives the seconds that it has computed, once done.
func (p *process) cpu() float64 {
	return (p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()).Seconds()
}
