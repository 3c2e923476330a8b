package main_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// patience is how long a test waits for what must happen; nothing waits for it
// to pass.
const patience = 60 * time.Second

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
	cmd  *exec.Cmd
	log  *buffer
	done chan struct{}
	err  error
}

// buffer is a bytes.Buffer that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
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
	p := &process{cmd: exec.Command(path, args...), log: &buffer{}, done: make(chan struct{})}
	p.cmd.Dir = t.TempDir()                        // no .env of the developer's
	cache, err := os.MkdirTemp("", "helixd-test-") // not t.TempDir: worker children are another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(cache) })
	p.cmd.Env = append(append(os.Environ(), "SUPABASE_DB_URL="+url, "HELIX_CACHE_DIR="+cache, "HELIX_HTTP=off"), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("helixd %v, pid %d:\n%s", args, p.cmd.Process.Pid, p.log)
		}
	})
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop ends it in order. Before its first word SIGTERM would end it otherwise.
func (p *process) stop(t testing.TB) {
	t.Helper()
	until(t, "its first word", func() bool { return p.log.String() != "" })
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatal("helixd did not stop")
	}
	if p.err != nil {
		t.Fatalf("helixd: %v", p.err)
	}
}

// wait gives the exit status.
func (p *process) wait(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("helixd did not end; it said:\n%s", p.log)
	}
	return p.cmd.ProcessState.ExitCode()
}

// until polls a condition.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for: %s", patience, what)
		}
		<-tick.C
	}
}

// migrated is a database with helixd's schema.
func migrated(t testing.TB, db *testenv.Database) *pgx.Conn {
	t.Helper()
	conn := db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), conn, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	return conn
}

func get[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	rows, err := conn.Query(context.WithoutCancel(t.Context()), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	v, err := pgx.CollectOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func exec1(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
