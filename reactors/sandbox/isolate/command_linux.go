package isolate

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// nobody is the uid and the gid of a child whose parent is root.
const nobody = 65534

// namespacesVariable tells a child its parent's namespaces, so that it can find
// out whether its own are others.
const namespacesVariable = "ISOLATE_PARENT_NAMESPACES"

// Namespaces of pids are not among them: in a new one getppid is 0, by which a
// child cannot see that its parent died before PR_SET_PDEATHSIG, and seccomp
// keeps it from signalling others anyway. Nor are those of mounts, which hide
// nothing without a root file system to change to; that is Landlock's.
const namespaces = unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS

var namespaceNames = []string{"net", "ipc", "uts"}

// Command makes the command of a child: name is executed with a clean
// environment, in / and in a session of its own, as another user and in other
// namespaces as far as that is permitted, with /dev/null where the caller sets
// no Stdin, Stdout or Stderr. Start it with Start.
func Command(spec Spec, name string, args ...string) (*exec.Cmd, error) {
	attr, err := permitted()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(name, args...)
	if cmd.Err != nil {
		return nil, fmt.Errorf("find %s: %w", name, cmd.Err)
	}
	cmd.Dir = "/"
	cmd.Env = append(environment[:len(environment):len(environment)], namespacesVariable+"="+namespaceLinks())
	cmd.SysProcAttr = &attr
	return cmd, nil
}

// permitted finds once what of another uid and namespaces this process may give
// to its children. It forks children that end before they execute anything,
// because there is no such file: the error is that of the file when all before it
// was permitted.
var permitted = sync.OnceValues(func() (syscall.SysProcAttr, error) {
	plain := syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	var last error
	for _, attr := range []syscall.SysProcAttr{
		withNamespaces(withUser(plain)), withUser(plain), withNamespaces(plain), plain,
	} {
		launch(func() {
			_, last = syscall.ForkExec("/proc/self/no such file", []string{"none"}, &syscall.ProcAttr{Sys: &attr})
		})
		if errors.Is(last, syscall.ENOENT) {
			return attr, nil
		}
	}
	return plain, fmt.Errorf("fork a child: %w", last)
})

// withUser makes the child nobody. Only root can; another user's children are
// that user's.
func withUser(attr syscall.SysProcAttr) syscall.SysProcAttr {
	if os.Geteuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return attr
}

// withNamespaces gives the child namespaces of its own. One who is not root gets
// the right to make them by a user namespace, in which the user keeps its uid and
// so loses that right again as the child is executed.
func withNamespaces(attr syscall.SysProcAttr) syscall.SysProcAttr {
	attr.Cloneflags = namespaces
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	}
	return attr
}

// namespaceLinks is which namespaces this process is in, a field for each of
// namespaceNames; empty where there is no /proc.
func namespaceLinks() string {
	links := make([]string, len(namespaceNames))
	for i, name := range namespaceNames {
		links[i], _ = os.Readlink("/proc/self/ns/" + name)
	}
	return strings.Join(links, ",")
}

// Start starts cmd so that it is killed when this process ends, however it ends.
func Start(cmd *exec.Cmd) (err error) {
	launch(func() { err = cmd.Start() })
	return err
}

// launch calls f on a thread that lives as long as the process. The kernel sends
// the signal of Pdeathsig when the thread that forked ends, and Go ends threads
// as it likes.
func launch(f func()) {
	done := make(chan struct{})
	launcher() <- func() { defer close(done); f() }
	<-done
}

var launcher = sync.OnceValue(func() chan<- func() {
	// Descriptors that this process itself inherited are not its children's. Go
	// marks all those that it opens.
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range calls {
			f()
		}
	}()
	return calls
})
