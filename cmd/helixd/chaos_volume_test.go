package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// volume is a disk of Postgres's own, which can be made full.
type volume struct {
	dir     string // of the cluster; "": it has no disk of its own
	mounted string
	missing string // why it cannot be made full
}

const (
	volumePrefix = "helix-chaos-"
	volumeSize   = 8 << 30 // what is not written takes no memory
)

// newVolume mounts a tmpfs where it may: a file system of which the size can be changed
// while it is used.
func newVolume(t testing.TB) *volume {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv("HELIX_TESTENV") == "docker" {
		return &volume{missing: "it takes root, and a Postgres on this machine: a file system of its own is mounted for it"}
	}
	sweepVolumes()
	dir, err := os.MkdirTemp("", fmt.Sprintf("%s%d-", volumePrefix, os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d,mode=0755", volumeSize), "helix-chaos", dir).CombinedOutput(); err != nil {
		_ = os.Remove(dir)
		return &volume{missing: strings.TrimSpace(fmt.Sprintf("no file system can be mounted: %v %s", err, out))}
	}
	t.Cleanup(func() { unmount(dir) })
	return &volume{dir: filepath.Join(dir, "cluster"), mounted: dir}
}

// sweepVolumes removes those of tests that were killed.
func sweepVolumes() {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), volumePrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), volumePrefix), "-")
		if pid, err := strconv.Atoi(owner); err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			unmount(dir)
		}
	}
}

func unmount(dir string) {
	_ = exec.Command("umount", dir).Run() // one that is not mounted is an empty folder
	_ = os.Remove(dir)
}

// fill leaves no room: the next block that a file grows by is refused.
func (v *volume) fill(t testing.TB) {
	t.Helper()
	until(t, "the file system to be as small as what is in it", func() bool {
		var s syscall.Statfs_t
		if err := syscall.Statfs(v.mounted, &s); err != nil {
			t.Fatal(err)
		}
		return v.resize(int64(s.Blocks-s.Bfree)*int64(s.Bsize)) == nil // else Postgres has just written more
	})
}

func (v *volume) free(t testing.TB) {
	t.Helper()
	if err := v.resize(volumeSize); err != nil {
		t.Fatal(err)
	}
}

func (v *volume) resize(bytes int64) error {
	out, err := exec.Command("mount", "-o", fmt.Sprintf("remount,size=%d", bytes), v.mounted).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}
