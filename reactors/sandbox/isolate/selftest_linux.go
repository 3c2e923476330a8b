package isolate

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// SelfTest tries, in a child after Enter, what the layers forbid, and tells which
// of them hold.
func SelfTest(spec Spec) []Layer {
	return []Layer{
		processLayer(), noNewPrivsLayer(), rlimitsLayer(spec), seccompLayer(spec), parentDeathLayer(),
		landlockLayer(), uidLayer(), namespacesLayer(),
	}
}

// layer is active when no reason was found against it.
func layer(name string, required bool, detail string, against ...string) Layer {
	if len(against) > 0 {
		return Layer{Name: name, Required: required, Detail: strings.Join(against, "; ")}
	}
	return Layer{Name: name, Required: required, Active: true, Detail: detail}
}

func processLayer() Layer {
	var against []string
	if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 0 {
		against = append(against, "the process is dumpable")
	}
	return layer("process", true, "own process, not dumpable", against...)
}

func noNewPrivsLayer() Layer {
	var against []string
	if set, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || set != 1 {
		against = append(against, "not set")
	}
	return layer("no_new_privs", true, "", against...)
}

func rlimitsLayer(spec Spec) Layer {
	var against []string
	if fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, descriptors); err == nil {
		_ = unix.Close(fd)
		against = append(against, fmt.Sprintf("descriptor %d could be made", fd))
	}
	detail := []string{fmt.Sprintf("NOFILE %d", descriptors)}
	for _, l := range []struct {
		name     string
		resource int
		set      bool
		most     uint64
	}{
		{"CORE", unix.RLIMIT_CORE, true, 0},
		{"FSIZE", unix.RLIMIT_FSIZE, !spec.Compile || spec.FileBytes > 0, spec.FileBytes},
		{"CPU", unix.RLIMIT_CPU, spec.CPUSeconds > 0, spec.CPUSeconds},
		{"DATA", unix.RLIMIT_DATA, spec.DataBytes > 0, unix.RLIM_INFINITY - 1},
	} {
		if !l.set {
			continue
		}
		var now unix.Rlimit
		err := unix.Prlimit(0, l.resource, nil, &now)
		if err != nil || now.Max > l.most || now.Cur > l.most {
			against = append(against, fmt.Sprintf("RLIMIT_%s is not set", l.name))
		}
		detail = append(detail, fmt.Sprintf("%s %d", l.name, now.Max))
	}
	return layer("rlimits", true, strings.Join(detail, ", "), against...)
}

// seccompLayer makes calls that fail in any case, by their arguments, but that
// the filter has to refuse before the kernel looks at them.
func seccompLayer(spec Spec) Layer {
	const bad = ^uintptr(0) // no descriptor, no address
	tries := []struct {
		name string
		call uintptr
		args [4]uintptr
	}{
		{"socket", unix.SYS_SOCKET, [4]uintptr{unix.AF_INET, unix.SOCK_STREAM, bad}},
		{"socket of unix", unix.SYS_SOCKET, [4]uintptr{unix.AF_UNIX, unix.SOCK_STREAM, bad}},
		{"connect", unix.SYS_CONNECT, [4]uintptr{bad}},
		{"execve", unix.SYS_EXECVE, [4]uintptr{bad, bad, bad}},
		{"execveat", unix.SYS_EXECVEAT, [4]uintptr{bad, bad, bad, bad}},
		{"clone of a process", unix.SYS_CLONE, [4]uintptr{unix.CLONE_SIGHAND}},
		{"unshare", unix.SYS_UNSHARE, [4]uintptr{bad}},
		{"ptrace", unix.SYS_PTRACE, [4]uintptr{bad, bad}},
		{"kill of the parent", unix.SYS_KILL, [4]uintptr{uintptr(os.Getppid())}},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, [4]uintptr{0, bad}},
		{"bpf", unix.SYS_BPF, [4]uintptr{bad}},
		{"openat2", unix.SYS_OPENAT2, [4]uintptr{bad, bad, bad, 0}},
	}
	if !spec.Compile {
		tries = append(tries, struct {
			name string
			call uintptr
			args [4]uintptr
		}{"opening for writing", unix.SYS_OPENAT, [4]uintptr{bad, bad, unix.O_WRONLY}})
	}
	var against []string
	for _, try := range tries {
		_, _, errno := unix.Syscall6(try.call, try.args[0], try.args[1], try.args[2], try.args[3], 0, 0)
		if errno != unix.EPERM {
			against = append(against, fmt.Sprintf("%s is not refused", try.name))
		}
	}
	return layer("seccomp", true, "system calls by an allow list", against...)
}

func parentDeathLayer() Layer {
	var against []string
	if deathSignal != int(unix.SIGKILL) {
		against = append(against, "the parent's death sends no SIGKILL")
	}
	return layer("parent_death", true, "killed with the parent", against...)
}

func landlockLayer() Layer {
	if err := entered.landlockErr; err != nil {
		why := "the kernel has none"
		if errors.Is(err, unix.EOPNOTSUPP) {
			why = "it is disabled in this kernel"
		}
		return layer("landlock", false, "", fmt.Sprintf("%s: %v", why, err))
	}
	var against []string
	for _, path := range []string{"/", "/etc/passwd", "/proc/self/environ"} {
		f, err := os.Open(path)
		if err == nil {
			_ = f.Close()
			against = append(against, path+" could be opened")
		}
	}
	return layer("landlock", false, fmt.Sprintf("ABI %d", entered.landlockABI), against...)
}

func uidLayer() Layer {
	uid := os.Getuid()
	if uid != nobody {
		why := fmt.Sprintf("uid %d is the daemon's, which may not change it", uid)
		if uid != 0 {
			why = fmt.Sprintf("uid %d is the daemon's, which is not root", uid)
		}
		return layer("uid", false, "", why)
	}
	var against []string
	groups, err := os.Getgroups()
	if err != nil || slices.ContainsFunc(groups, func(g int) bool { return g != nobody }) {
		against = append(against, "supplementary groups are left")
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETUID, 0, 0, 0); errno == 0 {
		against = append(against, "setuid(0) succeeded")
	}
	return layer("uid", false, fmt.Sprintf("uid and gid %d", nobody), against...)
}

func namespacesLayer() Layer {
	if len(entered.namespaces) == 0 {
		return layer("namespaces", false, "", "the daemon may not make them")
	}
	return layer("namespaces", false, "own "+strings.Join(entered.namespaces, ", "))
}
