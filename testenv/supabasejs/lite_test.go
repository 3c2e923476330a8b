package supabasejs_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv"
)

// The keys of the project. They open nothing but the test's own database.
const (
	publishableKey = "sb_publishable_of_a_test"
	config         = `
[api]
port = %d
[db]
driver = "postgres"
url = "env(HELIX_LITE_DB_URL)"
[auth]
enabled = true
jwt_secret = "only the throwaway database of one test trusts this"
enable_signup = true
publishable_key = "` + publishableKey + `"
secret_key = "sb_secret_of_a_test"
[auth.email]
enable_confirmations = false
`
)

// accounts are columns that a project's auth.users has, and testenv's does not.
const accounts = `alter table auth.users
	add email_change varchar(255), add email_change_sent_at timestamptz, add email_change_confirm_status smallint default 0,
	add email_change_token_new varchar(255), add email_change_token_current varchar(255),
	add phone_change text, add phone_change_token varchar(255), add phone_change_sent_at timestamptz,
	add reauthentication_token varchar(255), add reauthentication_sent_at timestamptz`

// startLite runs supabase-lite over the database, and gives its address once it
// has answered a request for rows.
func startLite(t *testing.T, node, dir string, db *testenv.Database) string {
	t.Helper()
	db.Exec(t, "supabase_admin", accounts)
	port := freePort(t)
	if err := os.MkdirAll(filepath.Join(dir, "supabase"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "supabase", "config.toml"), fmt.Appendf(nil, config, port), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "--import", "./until-stdin-ends.mjs", "node_modules/@supabase/lite/dist/cli/index.js", "start", "--no-admin")
	cmd.Dir = dir
	// It connects as the superuser: it makes Auth's tables.
	cmd.Env = append(os.Environ(), "LITE_TELEMETRY=0", "HELIX_LITE_DB_URL="+db.URL("supabase_admin"))
	said := child(t, "supabase-lite", cmd)
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	until(t, "supabase-lite answers", said, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/rest/v1/sync_state?select=id", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("apikey", publishableKey)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return url
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// process is a child that runs until the test ends.
type process struct {
	mu    sync.Mutex
	said  bytes.Buffer
	ended chan struct{}
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(b)
}

func (p *process) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// child starts a program, which is killed at the test's end; what it said last
// is shown when the test failed.
func child(t *testing.T, name string, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p, p
	stdin, err := cmd.StdinPipe() // open as long as this process lives
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is in what it said
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			said := strings.TrimSpace(p.String())
			t.Logf("%s:\n%s", name, said[max(0, len(said)-4000):])
		}
	})
	return p
}

// until polls a condition, for a minute at most and while p runs.
func until(t *testing.T, what string, p *process, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); !cond(); <-tick.C {
		select {
		case <-p.ended:
			t.Fatalf("it ended before: %s", what)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute until: %s", what)
		}
	}
}
