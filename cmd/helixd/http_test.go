package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv"
)

var served = regexp.MustCompile(`"address":"[^"]*:(\d+)","token":(?:true|false),"time":"[^"]*","message":"metrics and health over HTTP"`)

// fetch gives an answer's status and body.
func fetch(t testing.TB, url, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
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
	return resp.StatusCode, strings.TrimSpace(string(body))
}

// TestHealth: who asks a helixd how it is.
func TestHealth(t *testing.T) {
	t.Parallel()
	t.Run("each role is ready, and the token is asked for", func(t *testing.T) {
		db := testenv.New(t)
		admin := migrated(t, db)
		const token = "canary-4f0e1d52a9c8b736"
		p := start(t, db.URL("postgres"), []string{"HELIX_HTTP=0.0.0.0:0", "HELIX_HTTP_TOKEN=" + token}, "run", "--slot", db.SlotName("health"))
		at := p.http(t)
		until(t, "it to be ready", func() bool { code, _ := fetch(t, at+"/readyz", ""); return code == 200 })
		for path, want := range map[string]string{"/livez": "ok", "/readyz": "leading"} {
			if code, body := fetch(t, at+path, ""); code != 200 || body != want {
				t.Errorf("%s: %d %s", path, code, body)
			}
		}
		for _, path := range []string{"/metrics", "/status"} {
			if code, _ := fetch(t, at+path, ""); code != 401 {
				t.Errorf("%s without the token: %d", path, code)
			}
			if code, _ := fetch(t, at+path, token); code != 200 {
				t.Errorf("%s with it: %d", path, code)
			}
		}
		standby := start(t, db.URL("postgres"), []string{"HELIX_HTTP=127.0.0.1:0"}, "run", "--role", "stream", "--slot", db.SlotName("health"))
		worker := start(t, db.URL("postgres"), []string{"HELIX_HTTP=127.0.0.1:0"}, "run", "--role", "worker", "--slot", db.SlotName("health"))
		for p, want := range map[*process]string{standby: "standby", worker: "working"} {
			at := p.http(t)
			until(t, "it to be "+want, func() bool { _, body := fetch(t, at+"/readyz", ""); return body == want })
		}
		exec1(t, admin, "delete from helix.migrations where version = (select max(version) from helix.migrations)")
		until(t, "it to be no longer ready", func() bool {
			code, body := fetch(t, at+"/readyz", "")
			return code == 503 && body == "the schema lacks migrations"
		})
		p.stop(t)
		if strings.Contains(p.log.String(), token) {
			t.Error("the log has the token")
		}
	})
	t.Run("others than this machine need a token", func(t *testing.T) {
		db := testenv.New(t)
		p := start(t, db.URL("postgres"), []string{"HELIX_HTTP=:0"}, "run")
		if status := p.wait(t); status != 1 || !p.says("HELIX_HTTP_TOKEN is not set") || !p.says("→ Set it to a long random text") {
			t.Errorf("exit status %d: %s", status, p.log)
		}
	})
	t.Run("a token that can be guessed is refused", func(t *testing.T) {
		db := testenv.New(t)
		p := start(t, db.URL("postgres"), []string{"HELIX_HTTP=127.0.0.1:0", "HELIX_HTTP_TOKEN=short-secret"}, "run")
		if status := p.wait(t); status != 1 || !p.says("HELIX_HTTP_TOKEN is shorter than 16 characters") || p.says("short-secret") {
			t.Errorf("exit status %d: %s", status, p.log)
		}
	})
	t.Run("a port that was asked for is had, the default one need not be", func(t *testing.T) {
		db := testenv.New(t)
		migrated(t, db)
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		p := start(t, db.URL("postgres"), []string{"HELIX_HTTP=" + taken.Addr().String()}, "run")
		if status := p.wait(t); status != 1 || !p.says("another process has the port") || !p.says("→ Choose another one") {
			t.Errorf("exit status %d: %s", status, p.log)
		}
		if other, err := net.Listen("tcp", "127.0.0.1:9464"); err == nil { // else somebody has it
			defer other.Close()
		}
		p = start(t, db.URL("postgres"), []string{"HELIX_HTTP="}, "run", "--slot", db.SlotName("default"))
		until(t, "it to work all the same", func() bool {
			return p.says("another process has the port: no metrics of this one") && p.says(`"message":"streaming"`)
		})
		p.stop(t)
	})
}

// TestStuckApply: an apply that a lock keeps for too long shows in /livez and in the
// slot's lag, and both are well again once it goes on.
func TestStuckApply(t *testing.T) {
	t.Parallel()
	x := streaming(t, testenv.New(t), "HELIX_HTTP=127.0.0.1:0", "HELIX_LIVEZ_APPLY=1s")
	at := x.http(t)
	if code, body := fetch(t, at+"/livez", ""); code != 200 {
		t.Fatal(code, body)
	}
	const much = 40 << 20
	before := scrape(t, at).value(t, "helixd_slot_lag_bytes")
	tx, err := x.db.Connect(t, "postgres").Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "lock table sync_entities in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	x.edit(t, "sync_state")
	until(t, "/livez to name the apply", func() bool {
		code, body := fetch(t, at+"/livez", "")
		return code == 503 && strings.HasPrefix(body, "apply: an apply has not ended for ") && !strings.Contains(body, "\n")
	})
	for range much >> 20 {
		exec1(t, x.admin, "select pg_logical_emit_message(false, 'filler', repeat('x', 1 << 20))")
	}
	until(t, "the lag to grow", func() bool { return scrape(t, at).value(t, "helixd_slot_lag_bytes") >= before+much })
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "/livez to be well", func() bool { code, _ := fetch(t, at+"/livez", ""); return code == 200 })
	until(t, "the lag to fall", func() bool { return scrape(t, at).value(t, "helixd_slot_lag_bytes") < much/2 })
	if code, body := fetch(t, at+"/status", ""); code != 200 || !strings.Contains(body, fmt.Sprintf(`"slot":{"name":%q,"active":true`, x.slot)) {
		t.Errorf("%d %s", code, body)
	}
	x.stop(t)
}
