package testenv

import (
	"fmt"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// child is a process that does not outlive this one, as far as the system can promise it (see dieWithParent).
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

func startChild(cmd *exec.Cmd) (*child, error) {
	dieWithParent(cmd.SysProcAttr)
	c := &child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux sends the parent-death signal when the thread that forked ends, not when the process does. So this
		// goroutine keeps its thread until the child has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in its log
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// end sends signal, waits, and kills the process when it does not heed it.
func (c *child) end(signal syscall.Signal) error {
	pid := c.cmd.Process.Pid
	if err := c.cmd.Process.Signal(signal); err != nil && !c.ended() {
		return fmt.Errorf("signal process %d: %w", pid, err)
	}
	patience := time.NewTimer(20 * time.Second)
	defer patience.Stop()
	select {
	case <-c.done:
		return nil
	case <-patience.C:
	}
	_ = c.cmd.Process.Kill() // fails only if it has just ended
	<-c.done
	return fmt.Errorf("process %d did not end on %v and was killed", pid, signal)
}

func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// userIDs looks up a user by name.
func userIDs(name string) (uid, gid uint32, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, err
	}
	uid64, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return 0, 0, err
	}
	gid64, err := strconv.ParseUint(u.Gid, 10, 32)
	return uint32(uid64), uint32(gid64), err
}
