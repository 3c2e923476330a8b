package deploy_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/child"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const patience = 2 * time.Minute

// need skips a test where Prometheus is not installed. HELIX_TEST_PROMETHEUS=require
// says that it must run.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("HELIX_TEST_PROMETHEUS") == "require" {
				t.Fatalf("HELIX_TEST_PROMETHEUS=require, but %s is not installed (apt install prometheus)", p)
			}
			t.Skipf("%s is not installed (apt install prometheus)", p)
		}
	}
}

// TestAlerts: the rules are valid, and each alert comes when it is to.
func TestAlerts(t *testing.T) {
	t.Parallel()
	need(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "alerts.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.CommandContext(t.Context(), "promtool", args...)
		cmd.Dir = "prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	rules, err := os.ReadFile("prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	n := strings.Count(string(rules), "- alert: ")
	for _, part := range []string{"summary: ", "do: ", "runbook_url: https://github.com/helixd/helixd/blob/main/docs/operations.md#", "severity: "} {
		if strings.Count(string(rules), part) != n {
			t.Errorf("of %d alerts not each has %q", n, part)
		}
	}
	tests, err := os.ReadFile("prometheus/alerts_test.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(string(rules), -1) {
		if !strings.Contains(string(tests), "alertname: "+m[1]+"\n") {
			t.Errorf("no test lets %s come", m[1])
		}
	}
}

// run starts a program that ends with the test, and gives what a line of its output says.
func run(t *testing.T, cmd *exec.Cmd, says *regexp.Regexp) string {
	t.Helper()
	_, out := child.Run(t, cmd.Path, cmd)
	var said string
	testenv.Until(t, patience, fmt.Sprintf("%s of %s", says, cmd.Path), func() bool {
		if m := says.FindStringSubmatch(out.String()); m != nil {
			said = m[1]
		}
		return said != ""
	})
	return said
}

// dashboard is what of Grafana's format counts here.
type dashboard struct {
	Panels []struct {
		Type, Title string
		Targets     []struct{ Expr string }
	}
}

// absent are expressions that have no data in the test's project, and why.
var absent = map[string]string{
	"helixd_slot_safe_wal_bytes": "the test's server has no max_slot_wal_keep_size",
}

// TestDashboard: each query of each panel gives data from a Prometheus that scrapes a
// helixd at work, which fires no alert.
func TestDashboard(t *testing.T) {
	t.Parallel()
	need(t, "prometheus")
	raw, err := os.ReadFile("grafana/helixd.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}

	db := testenv.New(t)
	admin := db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	user := db.NewUser(t).ID
	model := llmtest.New(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "helixd")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../cmd/helixd").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cache, err := os.MkdirTemp("", "helixd-test-") // not dir: worker children are another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(cache) })
	helixd := exec.Command(program, "run", "--http", "127.0.0.1:0", "--slot", db.SlotName("dashboard"))
	helixd.Dir = dir
	helixd.Env = append(os.Environ(), "SUPABASE_DB_URL="+db.URL("postgres"), "HELIX_CACHE_DIR="+cache, "HELIX_LOG_FORMAT=json",
		"ANTHROPIC_API_KEY="+llmtest.Key, "HELIX_ANTHROPIC_URL="+model.URL, "HELIX_LLM_PRICE=anthropic=3/15")
	address := run(t, helixd, regexp.MustCompile(`"address":"(127\.0\.0\.1:\d+)"`))

	rules, err := filepath.Abs("prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(config, fmt.Appendf(nil, `global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [%q]
scrape_configs:
  - job_name: helixd
    static_configs: [{targets: [%q]}]
`, rules, address), 0o600); err != nil {
		t.Fatal(err)
	}
	prometheus := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "tsdb"), "--web.listen-address=127.0.0.1:0", "--log.format=json")
	base := "http://" + run(t, prometheus, regexp.MustCompile(`"address":"(127\.0\.0\.1:[1-9]\d*)"`))

	testenv.Until(t, patience, "Prometheus to be ready", func() bool {
		resp, err := http.Get(base + "/-/ready")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})

	work := func() {
		t.Helper()
		for _, sql := range []string{
			`insert into skill_runs (user_id, definition) values ($1, '{"kind": "composite", "capabilities": ["llm"],
				"steps": [{"stepId": "a", "toolName": "llm", "inputMapping": {"prompt": "a word", "max_tokens": 100}}]}')`,
			`insert into sync_state (user_id, entity_type, entity_id, device_id, data, vector_clock) values ($1, 'note', gen_random_uuid(), 'phone', '{}', '{"phone": 1}')`,
			"insert into memories (user_id, type, content) values ($1, 'semantic', 'a memory')",
		} {
			if _, err := admin.Exec(t.Context(), sql, user); err != nil {
				t.Fatal(err)
			}
		}
	}
	missing := func(expr string) string {
		expr = strings.NewReplacer("$__rate_interval", "1m", "$job", ".*").Replace(expr)
		var answer struct {
			Status, Error string
			Data          struct{ Result []struct{ Value [2]any } }
		}
		ask(t, base+"/api/v1/query?query="+url.QueryEscape(expr), &answer)
		switch {
		case answer.Status != "success":
			return answer.Error
		case len(answer.Data.Result) == 0:
			return "no data"
		}
		for _, r := range answer.Data.Result {
			if r.Value[1] != "NaN" {
				return ""
			}
		}
		return "only NaN"
	}
	queries := 0
	for _, p := range d.Panels {
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 {
			t.Errorf("panel %q asks nothing", p.Title)
		}
		for _, target := range p.Targets {
			queries++
			why := ""
			for name, reason := range absent {
				if strings.Contains(target.Expr, name) {
					why = reason
				}
			}
			if why != "" {
				if said := missing(target.Expr); said != "" && said != "no data" {
					t.Errorf("%s: %s: %s", p.Title, target.Expr, said)
				}
				continue
			}
			said := ""
			deadline := time.Now().Add(patience / 4)
			tick := time.NewTicker(300 * time.Millisecond)
			for said = missing(target.Expr); said != "" && time.Now().Before(deadline); said = missing(target.Expr) {
				work()
				<-tick.C
			}
			tick.Stop()
			if said != "" {
				t.Errorf("%s: %s: %s", p.Title, target.Expr, said)
			}
		}
	}
	if queries < 30 {
		t.Errorf("the dashboard asks %d queries only", queries)
	}

	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, State, LastError string }
			}
		}
	}
	testenv.Until(t, patience, "an evaluation of all rules", func() bool {
		ask(t, base+"/api/v1/rules", &answer)
		for _, g := range answer.Data.Groups {
			for _, r := range g.Rules {
				if r.Health == "unknown" {
					return false
				}
			}
		}
		return len(answer.Data.Groups) > 0
	})
	for _, r := range answer.Data.Groups[0].Rules {
		if r.Health != "ok" || r.State == "firing" {
			t.Errorf("%s is %s and %s: %s", r.Name, r.Health, r.State, r.LastError)
		}
	}
}

func ask(t *testing.T, url string, answer any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(body, answer); err != nil {
		t.Fatalf("%s: %s", err, body)
	}
}
