//go:build !linux

package testenv

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// dieWithParent does nothing: only Linux can promise it. A postmaster whose owner was killed is ended by the next
// process that sweeps (see sweep.go).
func dieWithParent(*syscall.SysProcAttr) {}

// commandLine is the command line of a process, or empty when there is none.
func commandLine(pid int) string {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
