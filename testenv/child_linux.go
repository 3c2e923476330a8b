package testenv

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// dieWithParent has the kernel end the child when this process dies, however it dies. SIGQUIT makes a postmaster take
// its own children along at once.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }

// commandLine is the command line of a process, or empty when there is none.
func commandLine(pid int) string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return ""
	}
	return string(bytes.ReplaceAll(line, []byte{0}, []byte{' '}))
}
