// Package isolate puts layers between a child process and the machine. The
// child is the same binary executed again; its program is assumed to have
// broken out of everything that runs inside the child.
//
//	parent                                      child
//	Command: clean environment, own session,    Enter: memory, file and CPU limits,
//	  another uid, namespaces, dies with          no_new_privs, Landlock, seccomp
//	  its parent
//	Start: from one thread that never ends      SelfTest: tries what is forbidden
//
// Required are an own process, no_new_privs, rlimits, seccomp and the death with
// the parent: they need no right and no kernel option, so a daemon that is not
// root in a container has them too. Landlock, another uid and namespaces are
// there where the kernel and the daemon's rights give them.
//
// Where Landlock is not active and the daemon is not root, the child can open
// for reading what the daemon's user can open; what it reads it can tell to
// nobody but its parent.
//
// Where the daemon is root, the child is uid and gid 65534 without further
// groups. The directories of Spec must then be open to it: mode 0755 with files
// of 0644 for those it reads, and owned by 65534 for those that a compile child
// writes. Each directory above them must have the x bit for others.
package isolate

// Spec says what one child may do. Zero of a limit is no such limit. It goes to
// the child by the caller's means; Command, Enter and SelfTest of one child are
// given the same.
type Spec struct {
	ReadOnly  []string `json:"read_only,omitempty"`  // directories that it may read
	ReadWrite []string `json:"read_write,omitempty"` // directories that it may read, and write when Compile is set

	// Compile lets it create, write, rename and remove files. Without it no file is
	// opened for writing, by seccomp, and none grows, by RLIMIT_FSIZE.
	Compile bool `json:"compile,omitempty"`

	// DataBytes is how much writable memory it may map beyond what it has mapped
	// when it calls Enter, by RLIMIT_DATA. RLIMIT_AS would not do: Go reserves more
	// than 1 GB of addresses that it never touches, and with the race detector
	// terabytes.
	DataBytes uint64 `json:"data_bytes,omitempty"`
	// FileBytes is the size of the largest file of a compile child.
	FileBytes uint64 `json:"file_bytes,omitempty"`
	// CPUSeconds is after how much CPU time, of all its threads, it is killed.
	CPUSeconds uint64 `json:"cpu_seconds,omitempty"`
}

// descriptors are how many a child may have.
const descriptors = 64

// Layer is one wall around a child, as the child found it to hold.
type Layer struct {
	Name     string `json:"name"` // process, no_new_privs, rlimits, seccomp, parent_death, landlock, uid, namespaces
	Required bool   `json:"required"`
	Active   bool   `json:"active"`
	Detail   string `json:"detail,omitempty"` // what of it is there, or why it is not
}

// environment is all that a child sees. Go reads no cgroup files again when
// GOMAXPROCS is set, and a trace of goroutines could tell what it worked on.
var environment = []string{"GOMAXPROCS=2", "GOTRACEBACK=none", "TZ=UTC"}
