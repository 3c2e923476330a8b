package testenv

import (
	"syscall"
	"time"
)

// CPU is the time that this process has computed: what else the machine does is not in it.
func CPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
