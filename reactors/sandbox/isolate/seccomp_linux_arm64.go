package isolate

import "golang.org/x/sys/unix"

const auditArch uint32 = unix.AUDIT_ARCH_AARCH64

// archCalls are the permitted calls that not every architecture has.
var archCalls = []uint32{unix.SYS_FSTATAT}
