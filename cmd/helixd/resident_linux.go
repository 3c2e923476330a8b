package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// leaveCode takes the program's code out of this process's memory. Every package's
// init has run once and, with what the kernel maps around it, holds most of the file;
// what is run again comes back from the page cache, 64 kB at a time. Only code: it is
// never written to, so nothing can be lost.
func leaveCode() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) { // 00400000-01529000 r-xp 00000000 fe:00 10331645 /usr/bin/helixd
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[1] != "r-xp" || fields[5] != program {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		begin, err := strconv.ParseUint(from, 16, 64)
		if err != nil {
			continue
		}
		end, err := strconv.ParseUint(to, 16, 64)
		if err != nil {
			continue
		}
		// Where it is refused the code stays, which is no fault.
		_, _, _ = syscall.Syscall(unix.SYS_MADVISE, uintptr(begin), uintptr(end-begin), unix.MADV_DONTNEED)
	}
}
