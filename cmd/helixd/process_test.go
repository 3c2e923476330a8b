package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/child"
)

// binary builds the program once, with the race detector where the tests have
// it, and with failpoints.
var binary = sync.OnceValues(func() (string, error) {
	if raceEnabled {
		return build("helixd-test-race", "-race", "-tags", "failpoint")
	}
	return build("helixd-test", "-tags", "failpoint")
})

// plainBinary is the same without the race detector, with which it takes half a
// minute to compile the audio decoder.
var plainBinary = sync.OnceValues(func() (string, error) { return build("helixd-test", "-tags", "failpoint") })

func build(name string, args ...string) (string, error) {
	path, err := filepath.Abs(filepath.Join("../../.helix/bin", name))
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", append(append([]string{"build"}, args...), "-o", path, ".")...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// process is a helixd that runs.
type process struct {
	*child.Process
	log *child.Output
}

// start runs helixd with arguments and further environment. It is killed at
// the test's end; its log is shown when the test failed.
func start(t testing.TB, url string, env []string, args ...string) *process {
	t.Helper()
	return startOf(t, binary, url, env, args...)
}

// startOf is start, of another build.
func startOf(t testing.TB, binary func() (string, error), url string, env []string, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = t.TempDir()                          // no .env of the developer's
	cache, err := os.MkdirTemp("", "helixd-test-") // not t.TempDir: worker children are another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(cache) })
	cmd.Env = append(append(os.Environ(), "SUPABASE_DB_URL="+url, "HELIX_CACHE_DIR="+cache, "HELIX_HTTP=off"), env...)
	p := &process{}
	p.Process, p.log = child.Run(t, fmt.Sprintf("helixd %v", args), cmd)
	return p
}

// stop ends it in order. Before its first word SIGTERM would end it otherwise.
func (p *process) stop(t testing.TB) {
	t.Helper()
	until(t, "its first word", func() bool { return p.log.String() != "" })
	if err := p.Stop(syscall.SIGTERM, patience); err != nil {
		t.Fatalf("helixd: %v", err)
	}
	if p.Err != nil {
		t.Fatalf("helixd: %v", p.Err)
	}
}

// wait gives the exit status.
func (p *process) wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.Done:
	case <-time.After(patience):
		t.Fatalf("helixd did not end; it said:\n%s", p.log)
	}
	return p.Cmd.ProcessState.ExitCode()
}

// signal sends one to the process.
func (p *process) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func (p *process) says(text string) bool { return strings.Contains(p.log.String(), text) }

// leads reports whether helix.leaders names the process.
func (p *process) leads(t testing.TB, conn *pgx.Conn, slot string) bool {
	t.Helper()
	return get[bool](t, conn, "select exists (select from helix.leaders where slot = $1 and holder like '%/' || $2::int || ' %')",
		slot, p.Pid())
}

// standsBy waits until the process does.
func (p *process) standsBy(t testing.TB) {
	t.Helper()
	until(t, "a standby", func() bool { return p.says("standing by") })
}

// http gives the URL at which the process answers.
func (p *process) http(t testing.TB) string {
	t.Helper()
	var port string
	until(t, "an address", func() bool {
		if said := served.FindStringSubmatch(p.log.String()); said != nil {
			port = said[1]
		}
		return port != ""
	})
	return "http://127.0.0.1:" + port
}

// helixd runs a command to its end, which must be status 0.
func helixd(t testing.TB, db *testenv.Database, env []string, args ...string) string {
	t.Helper()
	p := start(t, db.URL("postgres"), env, args...)
	if status := p.wait(t); status != 0 {
		t.Fatalf("helixd %s: status %d\n%s", strings.Join(args, " "), status, p.log)
	}
	return p.log.String()
}

// command runs helixd to its end, and gives its output and exit status.
func command(t *testing.T, url, stdin string, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return commandOf(t, binary, url, stdin, env, args...)
}

// commandOf is command, of another build.
func commandOf(t *testing.T, binary func() (string, error), url, stdin string, env []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.TempDir(), strings.NewReader(stdin), &out, &errs
	cmd.Env = append(os.Environ(), append(env, "SUPABASE_DB_URL="+url)...)
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// children are the processes that a process has started, by /proc/<pid>/stat:
// "pid (name) state parent ...".
func children(t testing.TB, of int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it ended
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if fields[0] == "Z" || fields[1] != strconv.Itoa(of) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// alive are those of the processes that have not ended.
func alive(pids []int) (left []int) {
	for _, pid := range pids {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !strings.Contains(string(stat), ") Z ") {
			left = append(left, pid)
		}
	}
	return left
}

// peak is the most memory that a process has had, in bytes.
func peak(t *testing.T, pid int) int64 {
	t.Helper()
	return memory(t, pid, "VmHWM")
}

// memory is a field of /proc/PID/status, in bytes.
func memory(t *testing.T, pid int, field string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("this needs /proc")
	}
	match := regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(status)
	if match == nil {
		t.Fatal("no " + field)
	}
	kb, err := strconv.ParseInt(string(match[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kb << 10
}
