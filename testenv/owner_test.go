package testenv_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv"
)

// ownerEnv makes this test binary the owner of a cluster until it is killed: in the folder it names, or of a throwaway
// one.
const (
	ownerEnv  = "HELIX_TESTENV_TEST_OWNER"
	throwaway = "throwaway"
)

func ownUntilKilled() {
	opts := testenv.Options{Dir: os.Getenv(ownerEnv)}
	if opts.Dir == throwaway {
		opts.Dir = ""
	}
	cluster, err := testenv.Start(context.Background(), opts)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready", cluster.Port())
	select {}
}

// startReplication is the command that streams from a slot.
func startReplication(slot string) string {
	return fmt.Sprintf(`START_REPLICATION SLOT %s LOGICAL 0/0 (proto_version '1', publication_names 'p')`, slot)
}

// publicDir is a folder that the server's unprivileged user may enter, unlike t.TempDir when root runs the tests.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "helix-kept-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// startOwner runs this test binary as the owner of a cluster, and returns when it is up.
func startOwner(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	owner := exec.Command(exe)
	owner.Env = append(os.Environ(), "HELIX_TESTENV=local")
	owner.Env = append(owner.Env, env...)
	owner.Stderr = os.Stderr
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Process.Kill() }) // unless the test has
	line, _ := bufio.NewReader(out).ReadString('\n')
	if !strings.HasPrefix(line, "ready") {
		t.Fatalf("the owner said %q", line)
	}
	return owner
}

func kill(t *testing.T, owner *exec.Cmd) {
	t.Helper()
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // killed
}

// postmasterOf reads the process id of the server in dir.
func postmasterOf(t *testing.T, dir string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// forLocalServers skips a test of child processes, where there are none.
func forLocalServers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a server of its own")
	}
	if os.Getenv("HELIX_TESTENV") == "docker" {
		t.Skip("HELIX_TESTENV=docker: a container outlives its owner until the next sweep")
	}
	t.Setenv("HELIX_TESTENV", "local")
}

func TestKilledOwner(t *testing.T) {
	forLocalServers(t)
	dir := publicDir(t)
	owner := startOwner(t, ownerEnv+"="+dir)
	postmaster := postmasterOf(t, dir)

	t.Run("FolderIsLocked", func(t *testing.T) {
		_, err := testenv.Start(t.Context(), testenv.Options{Dir: dir})
		if err == nil || !strings.Contains(err.Error(), strconv.Itoa(owner.Process.Pid)) {
			t.Errorf("error = %v, want one that names process %d", err, owner.Process.Pid)
		}
	})
	kill(t, owner)
	t.Run("TakesThePostmasterAlong", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("only Linux ends a child when its parent is killed")
		}
		testenv.Until(t, 20*time.Second, "the postmaster to end", func() bool { return syscall.Kill(postmaster, 0) == syscall.ESRCH })
	})
	t.Run("FolderCanBeReopened", func(t *testing.T) {
		cluster := testenv.StartCluster(t, testenv.Options{Dir: dir})
		for range 2 { // made, then found
			if _, err := cluster.NewDatabase(t.Context(), "playground"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// What a killed process leaves behind, the next one removes; what belongs to a living one stays.
func TestSweep(t *testing.T) {
	forLocalServers(t)
	tmp := publicDir(t)
	t.Setenv("TMPDIR", tmp)
	clusters := func() []string {
		dirs, _ := filepath.Glob(filepath.Join(tmp, "*"))
		return dirs
	}
	living := startOwner(t, ownerEnv+"="+throwaway)
	before := clusters()
	killed := startOwner(t, ownerEnv+"="+throwaway)
	if n := len(clusters()); len(before) != 1 || n != 2 {
		t.Fatalf("%d clusters, then %d; want 1 and 2", len(before), n)
	}
	kill(t, killed)
	next := testenv.StartCluster(t, testenv.Options{})
	if err := next.Stop(); err != nil {
		t.Fatal(err)
	}
	if after := clusters(); len(after) != 1 || after[0] != before[0] {
		t.Errorf("left: %v; want %v", after, before)
	}
	if err := syscall.Kill(postmasterOf(t, before[0]), 0); err != nil {
		t.Errorf("the living owner's server: %v", err)
	}
	// Its folder is inside ours, which goes when nothing uses it any more.
	postmaster := postmasterOf(t, before[0])
	kill(t, living)
	testenv.Until(t, 20*time.Second, "the postmaster to end", func() bool { return syscall.Kill(postmaster, 0) == syscall.ESRCH })
}
