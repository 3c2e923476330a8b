package isolate_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/helixd/helixd/reactors/sandbox/isolate"
)

// lowered is a limit, and paths are strings, to which system calls get addresses
// that Go does not see.
var (
	lowered = unix.Rlimit{Cur: 1 << 10, Max: 1 << 10}
	paths   []*byte
)

func ptr(s string) uintptr {
	p, _ := unix.BytePtrFromString(s)
	paths = append(paths, p)
	return uintptr(unsafe.Pointer(p))
}

// forbidden are system calls, by what they are for, which a child tries. A string
// in the test's directory is replaced by its path.
var forbidden = []struct {
	name string
	call func(dir string) (uintptr, []uintptr)
	free bool // succeeds without the layers, for a user too
}{
	{"TCP socket", args(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0), true},
	{"UDP socket", args(unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM, 0), true},
	{"unix socket", args(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM, 0), true},
	{"netlink socket", args(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, 0), true},
	{"vsock socket", args(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0), false},
	{"packet socket", args(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0), false},
	{"bind", args(unix.SYS_BIND, 3, 0, 0), false},
	{"sendmsg", args(unix.SYS_SENDMSG, 3, 0, 0), false},
	{"io_uring_setup", args(unix.SYS_IO_URING_SETUP, 1, 0), false},
	{"execve", func(string) (uintptr, []uintptr) {
		return unix.SYS_EXECVE, []uintptr{ptr("/proc/self/no such file"), 0, 0}
	}, false},
	{"execveat", args(unix.SYS_EXECVEAT, 3, 0, 0, 0, unix.AT_EMPTY_PATH), false},
	{"memfd_create", func(string) (uintptr, []uintptr) { return unix.SYS_MEMFD_CREATE, []uintptr{ptr("m"), 0} }, true},
	{"fork", args(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0), true},
	{"vfork", args(unix.SYS_CLONE, unix.CLONE_VFORK|uintptr(unix.SIGCHLD), 0, 0, 0, 0), true},
	{"clone of a user namespace", args(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD), 0, 0, 0, 0), false},
	{"clone3", args(unix.SYS_CLONE3, 0, 0), false},
	{"ptrace", args(unix.SYS_PTRACE, unix.PTRACE_PEEKTEXT, uintptr(os.Getppid()), 0, 0), false},
	{"process_vm_readv", args(unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid()), 0, 0, 0, 0, 0), true},
	{"process_vm_writev", args(unix.SYS_PROCESS_VM_WRITEV, uintptr(os.Getppid()), 0, 0, 0, 0, 0), true},
	{"kill of the parent", args(unix.SYS_KILL, uintptr(os.Getppid()), 0), false},
	{"kill of all", args(unix.SYS_KILL, ^uintptr(0), 0), false},
	{"tkill", args(unix.SYS_TKILL, uintptr(os.Getppid()), 0), false},
	{"pidfd_open", args(unix.SYS_PIDFD_OPEN, uintptr(os.Getppid()), 0), true},
	{"open for writing", open("kept", unix.O_WRONLY), false},
	{"open for reading and writing", open("kept", unix.O_RDWR), false},
	{"creation", open("new", unix.O_RDONLY|unix.O_CREAT), false},
	{"truncation by open", open("kept", unix.O_RDONLY|unix.O_TRUNC), false},
	{"unnamed file", open("", unix.O_TMPFILE|unix.O_RDWR), false},
	{"openat2", args(unix.SYS_OPENAT2, ^uintptr(99), 0, 0, 24), false},
	{"truncate", onFile(unix.SYS_TRUNCATE, "kept", 0), false},
	{"chmod", func(dir string) (uintptr, []uintptr) {
		return unix.SYS_FCHMODAT, []uintptr{0, ptr(filepath.Join(dir, "kept")), 0o777}
	}, false},
	{"chown", at(unix.SYS_FCHOWNAT, 0, 0, 0), false},
	{"rename", at(unix.SYS_RENAMEAT2, 0, 0, 0), false},
	{"hard link", at(unix.SYS_LINKAT, 0, 0, 0), false},
	{"symbolic link", at(unix.SYS_SYMLINKAT, 0, 0), false},
	{"mknod", at(unix.SYS_MKNODAT, 0, unix.S_IFIFO, 0), false},
	{"mkdir", at(unix.SYS_MKDIRAT, 0, 0), false},
	{"unlink", at(unix.SYS_UNLINKAT, 0, 0), false},
	{"utimensat", at(unix.SYS_UTIMENSAT, 0, 0, 0), false},
	{"setxattr", args(unix.SYS_SETXATTR, 0, 0, 0, 0, 0), false},
	{"mount", args(unix.SYS_MOUNT, 0, 0, 0, 0, 0), false},
	{"chroot", args(unix.SYS_CHROOT, 0), false},
	{"unshare", args(unix.SYS_UNSHARE, 0), true},
	{"setns", args(unix.SYS_SETNS, 0, 0), false},
	{"setuid", args(unix.SYS_SETUID, 0), false},
	{"setgroups", args(unix.SYS_SETGROUPS, 0, 0), false},
	{"capset", args(unix.SYS_CAPSET, 0, 0), false},
	{"bpf", args(unix.SYS_BPF, 0, 0, 0), false},
	{"perf_event_open", args(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0), false},
	{"keyctl", args(unix.SYS_KEYCTL, 0, 0), false},
	{"add_key", args(unix.SYS_ADD_KEY, 0, 0, 0, 0, 0), false},
	{"userfaultfd", args(unix.SYS_USERFAULTFD, 0), false},
	{"sethostname", args(unix.SYS_SETHOSTNAME, 0, 0), false},
	{"prlimit that sets", func(string) (uintptr, []uintptr) {
		return unix.SYS_PRLIMIT64, []uintptr{0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&lowered)), 0}
	}, true},
	{"another seccomp filter", args(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0), false},
	{"dumpable", args(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 1), true},
	{"death signal", args(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0), true},
	{"owner of signals", args(unix.SYS_FCNTL, 0, unix.F_SETOWN, uintptr(os.Getppid())), true},
	{"ioctl", args(unix.SYS_IOCTL, 0, unix.TCGETS), false},
	{"shared memory", args(unix.SYS_SHMGET, 0, 4096, unix.IPC_CREAT), true},
	{"message queue", args(unix.SYS_MQ_OPEN, 0, unix.O_CREAT, 0, 0), false},
	{"scheduling", args(unix.SYS_SCHED_SETSCHEDULER, 0, 0, 0), false},
	{"priority", args(unix.SYS_SETPRIORITY, 0, 0, 19), true},
}

func args(call uintptr, a ...uintptr) func(string) (uintptr, []uintptr) {
	return func(string) (uintptr, []uintptr) { return call, a }
}

// at is a call whose path is no address.
func at(call uintptr, a ...uintptr) func(string) (uintptr, []uintptr) { return args(call, a...) }

func open(name string, flags uintptr) func(string) (uintptr, []uintptr) {
	return func(dir string) (uintptr, []uintptr) {
		return unix.SYS_OPENAT, []uintptr{0, ptr(filepath.Join(dir, name)), flags, 0o600}
	}
}

func onFile(call uintptr, name string, a uintptr) func(string) (uintptr, []uintptr) {
	return func(dir string) (uintptr, []uintptr) { return call, []uintptr{ptr(filepath.Join(dir, name)), a} }
}

func init() {
	jobs["forbidden"] = func(t task) any {
		failed := map[string]string{}
		for _, f := range forbidden {
			call, a := f.call(t.Arg)
			a = append(slices.Clone(a), make([]uintptr, 6-len(a))...)
			r, _, errno := unix.RawSyscall6(call, a[0], a[1], a[2], a[3], a[4], a[5])
			if errno != 0 {
				failed[f.name] = unix.ErrnoName(errno)
			} else if call == unix.SYS_CLONE && r == 0 {
				unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0) // the process that must not be
			}
		}
		return failed
	}
	jobs["open"] = func(t task) any {
		f, err := os.Open(t.Arg)
		if err != nil {
			return err.Error()
		}
		f.Close()
		return ""
	}
	jobs["environment"] = func(task) any { return os.Environ() }
}

func TestForbidden(t *testing.T) {
	dir := shared(t)
	if err := os.WriteFile(filepath.Join(dir, "kept"), []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	spec := isolate.Spec{ReadOnly: []string{dir}}
	inside, err := do[map[string]string](task{Job: "forbidden", Spec: spec, Arg: dir})
	if err != nil {
		t.Fatal(err)
	}
	outside, err := do[map[string]string](task{Job: "forbidden", Spec: spec, Arg: dir, Outside: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range forbidden {
		t.Run(f.name+" fails", func(t *testing.T) {
			want := "EPERM"
			if f.name == "clone3" {
				want = "ENOSYS"
			}
			if inside[f.name] != want {
				t.Errorf("got %q, want %s", inside[f.name], want)
			}
			if f.free && outside[f.name] != "" {
				t.Errorf("fails without the layers too: %s", outside[f.name])
			}
		})
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "kept")); err != nil || string(kept) != "kept" {
		t.Errorf("the file has become %q, %v", kept, err)
	}
}

// shared makes a directory that another user can read.
func shared(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "isolate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEnvironmentIsEmptyInTheChild(t *testing.T) {
	t.Setenv("SUPABASE_DB_URL", "secret")
	env, err := do[[]string](task{Job: "environment"})
	if err != nil || len(env) != 0 {
		t.Errorf("got %q, %v", env, err)
	}
	env, err = do[[]string](task{Job: "environment", Outside: true})
	if err != nil || slices.ContainsFunc(env, func(v string) bool { return v == "SUPABASE_DB_URL=secret" }) {
		t.Errorf("got %q, %v", env, err)
	}
}
