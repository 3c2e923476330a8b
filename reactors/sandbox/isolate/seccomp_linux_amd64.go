package isolate

import "golang.org/x/sys/unix"

const auditArch uint32 = unix.AUDIT_ARCH_X86_64

// archCalls are the permitted calls that not every architecture has.
var archCalls = []uint32{unix.SYS_EPOLL_WAIT, unix.SYS_POLL, unix.SYS_TIME, unix.SYS_NEWFSTATAT}
