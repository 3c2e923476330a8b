//go:build !linux

package testenv

import (
	"os/exec"
	"strconv"
	"strings"
)

// commandLine is the command line of a process, or empty when there is none.
func commandLine(pid int) string {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
