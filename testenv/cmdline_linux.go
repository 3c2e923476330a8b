package testenv

import (
	"bytes"
	"fmt"
	"os"
)

// commandLine is the command line of a process, or empty when there is none.
func commandLine(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}
