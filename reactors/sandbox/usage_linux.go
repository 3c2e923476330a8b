package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// usage tells what a child has taken. The child itself is not asked.
type usage struct {
	mu    sync.Mutex
	clock int32    // the child's CPU clock; 0 when it is gone
	statm *os.File // nil when it is gone
}

func (u *usage) open(pid int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	// CPUCLOCK_SCHED of a process, as clock_getcpuclockid(3) makes it.
	u.clock = int32(^pid<<3 | 2)
	u.statm, _ = os.Open(fmt.Sprintf("/proc/%d/statm", pid))
}

// close comes when the child is reaped: its pid may be another's afterwards.
func (u *usage) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.clock = 0
	if u.statm != nil {
		u.statm.Close()
		u.statm = nil
	}
}

func (u *usage) cpu() (time.Duration, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	var t unix.Timespec
	if u.clock == 0 || unix.ClockGettime(u.clock, &t) != nil {
		return 0, false
	}
	return time.Duration(t.Nano()), true
}

// rss is the child's resident memory in bytes.
func (u *usage) rss() (int64, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.statm == nil {
		return 0, false
	}
	var buf [128]byte
	n, _ := u.statm.ReadAt(buf[:], 0)
	fields := bytes.Fields(buf[:n])
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(unix.Getpagesize()), err == nil
}

const signalCPU = syscall.SIGXCPU

func killedBy(state *os.ProcessState, signal syscall.Signal) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == signal
}
