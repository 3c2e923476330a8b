//go:build failpoint

package failpoint

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// name and left come from HELIX_FAILPOINT, "before-commit:17": die the 17th
// time that point is passed; "before-commit:17:stop" stops there until SIGCONT.
var (
	name string
	left atomic.Int64
	stop bool
)

func init() {
	at, times, _ := strings.Cut(os.Getenv("HELIX_FAILPOINT"), ":")
	times, stop = strings.CutSuffix(times, ":stop")
	n, err := strconv.ParseInt(times, 10, 64)
	if err != nil {
		n = 1
	}
	name = at
	left.Store(n)
}

// Here kills or stops the process, as the kernel would, when it is the point to
// fail at.
func Here(point string) {
	if point != name || left.Add(-1) != 0 {
		return
	}
	if stop {
		continued := make(chan os.Signal, 1)
		signal.Notify(continued, syscall.SIGCONT)
		fmt.Fprintln(os.Stderr, "failpoint: stopped", point)
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		<-continued // this thread may run on until another one has taken the signal
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}
