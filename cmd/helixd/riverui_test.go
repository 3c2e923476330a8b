package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/testenv"
)

// TestRiverUI: River's interface has the jobs of the project, for whoever has the token,
// and works in a browser.
func TestRiverUI(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	const token = "a-token-of-twenty-characters"
	p := start(t, db.URL("postgres"), []string{"HELIX_HTTP=127.0.0.1:0", "HELIX_HTTP_TOKEN=" + token}, "run", "--slot", db.SlotName("river"))
	base := p.http(t)
	run := get[uuid.UUID](t, admin, `insert into skill_runs (user_id, definition, dry_run) values ($1, '{"kind": "javascript", "source": "execute = () => 7"}', true) returning id`, user)
	until(t, "the run's result", func() bool {
		return get[bool](t, admin, "select finished_at is not null from skill_runs where id = $1", run)
	})
	ask := func(method, path, token, origin string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.SetBasicAuth("helixd", token)
		}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}

	t.Run("nobody without the token sees it", func(t *testing.T) {
		for _, path := range []string{"/river/", "/river/api/jobs", "/river/assets/"} {
			for _, token := range []string{"", "another"} {
				if status, body := ask("GET", path, token, ""); status != http.StatusUnauthorized {
					t.Errorf("%s: %d %s", path, status, body)
				}
			}
		}
		if status, _ := ask("PUT", "/river/api/queues/skills/pause", token, "https://evil.example"); status != http.StatusForbidden {
			t.Errorf("another site may pause a queue: %d", status)
		}
	})
	t.Run("its API has the project's jobs and queues", func(t *testing.T) {
		until(t, "the run's job", func() bool { // River tells of its end a little later
			status, body := ask("GET", "/river/api/jobs?state=completed&limit=20", token, "")
			var jobs struct {
				Data []struct {
					Kind, Queue, State string
					Args               map[string]any
				}
			}
			if err := json.Unmarshal([]byte(body), &jobs); err != nil || status != http.StatusOK {
				t.Fatalf("%d %s", status, body)
			}
			for _, j := range jobs.Data {
				if j.Kind == "skill_lane" && j.Queue == "skills" && j.State == "completed" && j.Args["user_id"] == user {
					return true
				}
			}
			return false
		})
		if status, body := ask("GET", "/river/api/queues?limit=50", token, ""); status != http.StatusOK || !strings.Contains(body, `"skills"`) {
			t.Errorf("%d %s", status, body)
		}
		if status, body := ask("PUT", "/river/api/queues/skills/pause", token, ""); status != http.StatusOK || !get[bool](t, admin, "select paused_at is not null from helix.river_queue where name = 'skills'") {
			t.Errorf("the queue is not paused: %d %s", status, body)
		}
		if status, body := ask("PUT", "/river/api/queues/skills/resume", token, ""); status != http.StatusOK || get[bool](t, admin, "select paused_at is not null from helix.river_queue where name = 'skills'") {
			t.Errorf("the queue is still paused: %d %s", status, body)
		}
		if status, body := ask("GET", "/river/api/nothing", token, ""); status != http.StatusNotFound {
			t.Errorf("%d %s", status, body)
		}
	})
	t.Run("a browser shows the queues", func(t *testing.T) {
		if _, err := exec.LookPath("chromium"); err != nil {
			t.Skip("chromium is not installed")
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		dir := t.TempDir()
		shot := filepath.Join(dir, "queues.png")
		// A page whose own address has a password may not fetch: so somebody else types it.
		to, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		typist := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.SetBasicAuth("helixd", token)
		}})
		defer typist.Close()
		browse := func(how ...string) []byte {
			cmd := exec.CommandContext(ctx, "chromium", append([]string{"--headless", "--no-sandbox", "--no-first-run", "--disable-gpu",
				"--user-data-dir=" + filepath.Join(dir, "profile"), "--window-size=1200,800", "--virtual-time-budget=8000"}, append(how, typist.URL+"/river/queues")...)...)
			cmd.WaitDelay = time.Second
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("chromium: %v", err)
			}
			return out
		}
		dom := string(browse("--dump-dom"))
		for _, queue := range []string{"skills", "default", "voice"} {
			if !strings.Contains(dom, ">"+queue+"<") {
				t.Errorf("the page does not show queue %s: %s", queue, dom)
			}
		}
		browse("--screenshot=" + shot)
		if info, err := os.Stat(shot); err != nil || info.Size() < 10_000 {
			t.Errorf("the picture is %v, %v", info, err)
		}
		if keep := os.Getenv("HELIX_TEST_SCREENSHOTS"); keep != "" {
			if err := os.Rename(shot, filepath.Join(keep, "river.png")); err != nil {
				t.Error(err)
			}
		}
	})
	if strings.Contains(p.log.String(), `"from":"river"`) {
		t.Errorf("River has something to say: %s", p.log)
	}
	p.stop(t)
}
