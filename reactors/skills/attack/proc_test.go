package attack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// residentSet is this process's memory, in bytes, without what Go would give
// back.
func residentSet(t *testing.T) int64 {
	t.Helper()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(status), &size, &resident); err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}

// children are the processes that this one started, the dead that nobody waited
// for included.
func children(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, path := range paths {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		// "pid (name) state ppid …", where a name may hold anything.
		after := string(stat[strings.LastIndexByte(string(stat), ')')+1:])
		var state string
		var parent int
		if _, err := fmt.Sscan(after, &state, &parent); err != nil {
			t.Fatal(err)
		}
		if parent == os.Getpid() {
			left = append(left, string(stat[:strings.LastIndexByte(string(stat), ')')+1])+" "+state)
		}
	}
	return left
}
