package isolate

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// entered is what Enter saw before it closed the door, for SelfTest.
var entered struct {
	landlockABI int
	landlockErr error
	namespaces  []string // those that are not the parent's
}

// deathSignal is which signal the parent's death sends. It belongs to the first
// thread, where the initialisation of packages runs.
var deathSignal = func() int {
	var signal int32
	if err := unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&signal)), 0, 0, 0); err != nil {
		return 0
	}
	return int(signal)
}()

// Enter puts the layers around this process, for all its threads and for good.
// It comes before anything foreign is looked at. An error means that a required
// layer is not there, and the process must end.
func Enter(spec Spec) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	seeNamespaces()
	os.Clearenv()
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process not dumpable: %w", err)
	}
	if err := limit(spec); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := restrictFiles(spec); err != nil {
		return err
	}
	if err := filterCalls(spec); err != nil {
		return fmt.Errorf("load the seccomp filter: %w", err)
	}
	return nil
}

func seeNamespaces() {
	parents := strings.Split(os.Getenv(namespacesVariable), ",")
	own := strings.Split(namespaceLinks(), ",")
	for i, name := range namespaceNames {
		if i < len(parents) && parents[i] != "" && own[i] != "" && parents[i] != own[i] {
			entered.namespaces = append(entered.namespaces, name)
		}
	}
}

// limit sets the rlimits, the hard ones too. There is none on the number of
// threads: RLIMIT_NPROC counts all those of a user, and children that share one
// would take them from each other.
func limit(spec Spec) error {
	type rlimit struct {
		name     string
		resource int
		value    uint64
	}
	limits := []rlimit{
		{"NOFILE", unix.RLIMIT_NOFILE, descriptors},
		{"CORE", unix.RLIMIT_CORE, 0},
		{"MEMLOCK", unix.RLIMIT_MEMLOCK, 0},
		{"MSGQUEUE", unix.RLIMIT_MSGQUEUE, 0},
	}
	add := func(name string, resource int, value uint64) { limits = append(limits, rlimit{name, resource, value}) }
	if !spec.Compile {
		add("FSIZE", unix.RLIMIT_FSIZE, 0)
	} else if spec.FileBytes > 0 {
		add("FSIZE", unix.RLIMIT_FSIZE, spec.FileBytes)
	}
	if spec.CPUSeconds > 0 {
		// Go ignores SIGXCPU of the soft limit; at the hard one the kernel kills.
		add("CPU", unix.RLIMIT_CPU, spec.CPUSeconds)
	}
	if spec.DataBytes > 0 {
		mapped, err := dataBytes()
		if err != nil {
			return fmt.Errorf("read how much memory is mapped: %w", err)
		}
		add("DATA", unix.RLIMIT_DATA, mapped+spec.DataBytes)
	}
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("get RLIMIT_%s: %w", l.name, err)
		}
		value := min(l.value, now.Max)
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("set RLIMIT_%s to %d: %w", l.name, value, err)
		}
	}
	return nil
}

// dataBytes is how much of this process counts for RLIMIT_DATA.
func dataBytes() (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmData:"); ok {
			kb, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 54)
			return kb << 10, err
		}
	}
	return 0, errors.New("no VmData in /proc/self/status")
}

// restrictFiles leaves of the file system the directories of spec, where the
// kernel has Landlock, with as much of it as the kernel has.
func restrictFiles(spec Spec) error {
	entered.landlockABI, entered.landlockErr = llsyscall.LandlockGetABIVersion()
	if entered.landlockErr != nil {
		return nil
	}
	rules := []landlock.Rule{landlock.RODirs(spec.ReadOnly...)}
	if spec.Compile {
		rules = append(rules, landlock.RWDirs(spec.ReadWrite...))
	} else {
		rules = append(rules, landlock.RODirs(spec.ReadWrite...))
	}
	if err := landlock.V5.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("restrict files by Landlock: %w", err)
	}
	return nil
}
