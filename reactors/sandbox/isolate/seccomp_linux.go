//go:build amd64 || arm64

package isolate

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// A rule permits one system call, by its number; with conditions, only when its
// arguments meet them. What no rule permits fails with EPERM.
//
// go-seccomp-bpf makes such filters too, but a call whose conditions fail goes on
// to be compared with its argument for its number: openat with O_WRONLY would
// pass for write.
type rule struct {
	call uint32
	when []bpf.Instruction // ends with a return in every branch; nil: always
}

// Offsets in struct seccomp_data, of little-endian machines.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArgs = 16
)

var (
	permit = bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	refuse = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)}
	absent = bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)}
	kill   = bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}
)

func low(arg uint32) bpf.Instruction  { return bpf.LoadAbsolute{Off: offsetArgs + 8*arg, Size: 4} }
func high(arg uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offsetArgs + 8*arg + 4, Size: 4} }

// oneOf permits values of an int argument, of which the kernel reads 32 bits.
func oneOf(arg uint32, values ...uint32) []bpf.Instruction {
	program := []bpf.Instruction{low(arg)}
	for _, v := range values {
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipFalse: 1}, permit)
	}
	return append(program, refuse)
}

// masked permits an int argument whose bits of mask are those of want.
func masked(arg, mask, want uint32) []bpf.Instruction {
	return []bpf.Instruction{
		low(arg), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: mask},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: want, SkipFalse: 1}, permit, refuse,
	}
}

// null permits an argument of 64 bits that is zero.
func null(arg uint32) []bpf.Instruction {
	return []bpf.Instruction{
		high(arg), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, refuse,
		low(arg), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, refuse, permit,
	}
}

// What Go's runtime, os, wazero and, in binaries with cgo, the C library's
// threads need, the frequent first. Descriptors that are open may be read and
// written: the socket to the parent is the only way out.
var always = []uint32{
	unix.SYS_FUTEX, unix.SYS_READ, unix.SYS_WRITE, unix.SYS_NANOSLEEP, unix.SYS_EPOLL_PWAIT, unix.SYS_MADVISE,
	unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MREMAP, unix.SYS_BRK, unix.SYS_MINCORE,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETCPU, unix.SYS_MEMBARRIER,
	unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_GETTIMEOFDAY,
	unix.SYS_GETRUSAGE, unix.SYS_TIMES, unix.SYS_SYSINFO, unix.SYS_UNAME, unix.SYS_GETRANDOM,
	unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID,
	unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETGROUPS,
	unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_SET_ROBUST_LIST, unix.SYS_SET_TID_ADDRESS, unix.SYS_RSEQ,
	unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_LSEEK, unix.SYS_CLOSE,
	unix.SYS_FSTAT, unix.SYS_FSTATFS, unix.SYS_GETDENTS64, unix.SYS_READLINKAT, unix.SYS_FADVISE64,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EVENTFD2, unix.SYS_PIPE2, unix.SYS_PPOLL,
	unix.SYS_RECVFROM, unix.SYS_SHUTDOWN, unix.SYS_GETSOCKOPT, unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME,
}

// What a compile child does to files beyond opening them, by os and wazero's
// compilation cache. Landlock and the uid say which files.
var compiling = []uint32{
	unix.SYS_PWRITE64, unix.SYS_FTRUNCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FCHMOD, unix.SYS_FALLOCATE,
	unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
}

// threadFlags are those of clone with which a thread may be made: the three that
// make it one must be there, those of namespaces and processes must not.
const (
	threadFlags = unix.CLONE_VM | unix.CLONE_SIGHAND | unix.CLONE_THREAD
	threadMay   = unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SYSVSEM | unix.CLONE_SETTLS | unix.CLONE_DETACHED |
		unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID | unix.CLONE_CHILD_SETTID
)

// writeFlags are those of open with which a file is written, made or emptied.
// unix.O_TMPFILE holds O_DIRECTORY too, which is needed for reading.
const writeFlags = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC | unix.O_APPEND | unix.O_TMPFILE&^unix.O_DIRECTORY

const setVMA = 0x53564d41 // PR_SET_VMA: Go names its mappings

func rules(spec Spec, pid int) []rule {
	var all []rule
	for _, call := range append(always[:len(always):len(always)], archCalls...) {
		all = append(all, rule{call: call})
	}
	if spec.Compile {
		for _, call := range append([]uint32{unix.SYS_OPENAT}, compiling...) {
			all = append(all, rule{call: call})
		}
	} else {
		all = append(all, rule{unix.SYS_OPENAT, masked(2, writeFlags, 0)})
	}
	return append(all,
		// Signals go to this process only; Go preempts its threads by them.
		rule{unix.SYS_TGKILL, oneOf(0, uint32(pid))},
		rule{unix.SYS_KILL, oneOf(0, uint32(pid))},
		rule{unix.SYS_CLONE, masked(0, ^uint32(threadMay), threadFlags)},
		// The flags of clone3 are in memory, where a filter cannot see them. The C
		// library takes clone when there is no clone3.
		rule{unix.SYS_CLONE3, []bpf.Instruction{absent}},
		// F_SETOWN and F_SETSIG would send signals to others.
		rule{unix.SYS_FCNTL, oneOf(1, unix.F_GETFL, unix.F_SETFL, unix.F_GETFD, unix.F_SETFD, unix.F_DUPFD_CLOEXEC)},
		rule{unix.SYS_PRLIMIT64, null(2)},
		rule{unix.SYS_PRCTL, oneOf(0, setVMA, unix.PR_SET_NAME, unix.PR_GET_NAME,
			unix.PR_GET_NO_NEW_PRIVS, unix.PR_GET_DUMPABLE, unix.PR_GET_SECCOMP)},
	)
}

// filterOf assembles the filter. A call of another architecture, and on amd64
// one of the x32 ABI, has other numbers: such a process is killed.
func filterOf(rules []rule) ([]bpf.RawInstruction, error) {
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offsetArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1}, kill,
		bpf.LoadAbsolute{Off: offsetCall, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: x32Bit, SkipFalse: 1}, kill,
	}
	for _, r := range rules {
		when := r.when
		if when == nil {
			when = []bpf.Instruction{permit}
		}
		if len(when) > 255 {
			return nil, fmt.Errorf("the conditions of call %d are too long", r.call)
		}
		program = append(program, bpf.JumpIf{Cond: bpf.JumpEqual, Val: r.call, SkipFalse: uint8(len(when))})
		program = append(program, when...)
	}
	return bpf.Assemble(append(program, refuse))
}

const x32Bit = 0x40000000

// filterCalls loads the filter into all threads.
func filterCalls(spec Spec) error {
	program, err := filterOf(rules(spec, os.Getpid()))
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(program))
	for i, in := range program {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	arg := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	thread, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&arg)))
	if errno != 0 {
		return errno
	}
	if thread != 0 {
		return fmt.Errorf("thread %d has another filter", thread)
	}
	return nil
}
