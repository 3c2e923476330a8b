package doctor_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/internal/doctor"
	"github.com/helixd/helixd/internal/phoenix/phoenixtest"
	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const slot = "helix_doctor"

// watched are tables as reactors would have them published.
var watched = map[string][]string{
	"public.memories":   {"id", "user_id", "content_rev"},
	"public.sync_state": {"id", "user_id", "entity_type", "entity_id"},
	"helix.inbox":       {"id", "table_name", "op", "key", "user_id"},
}

// patient is a project that is well until a case breaks it.
type patient struct {
	db      *testenv.Database
	admin   *pgx.Conn // superuser
	conn    *pgx.Conn // as helixd
	gateway *phoenixtest.Server
	config  doctor.Config
}

// newPatient is a migrated project with all that a helixd makes at its start, but a
// slot, on a cluster whose settings may be changed.
func newPatient(t *testing.T) *patient {
	t.Helper()
	cluster := testenv.StartCluster(t, testenv.Options{Settings: map[string]string{"max_prepared_transactions": "5"}})
	p := &patient{db: testenv.NewOn(t, cluster)}
	p.admin, p.conn = p.db.Connect(t, "supabase_admin"), p.db.Connect(t, "postgres")
	p.run(t, "alter system set max_slot_wal_keep_size = '4GB'; select pg_reload_conf()")
	p.migrate(t)
	if _, err := stream.EnsurePublication(t.Context(), p.conn, "helix", watched, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	p.run(t, reactors.BroadcastPolicies)
	p.gateway = phoenixtest.New(t, p.db.URL("supabase_admin"))
	p.config = doctor.Config{
		DatabaseURL: p.db.URL("postgres"), Slot: slot, Publication: "helix", Tables: watched,
		SupabaseURL: p.gateway.URL, ServiceKey: p.gateway.ServiceKey, Connections: 12, Timeout: time.Minute,
		Sandbox: func(context.Context) ([]sandbox.Layer, error) {
			return []sandbox.Layer{{Name: "seccomp", Required: true, Active: true}}, nil
		},
	}
	return p
}

func (p *patient) migrate(t *testing.T) {
	t.Helper()
	if err := migrations.Up(t.Context(), p.conn, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
}

// run runs each statement by itself, as the administrator: ALTER SYSTEM takes no
// company.
func (p *patient) run(t *testing.T, sql string) {
	t.Helper()
	runOn(t, p.admin, sql)
}

func runOn(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	for _, s := range strings.Split(sql, ";") {
		if strings.TrimSpace(s) == "" {
			continue
		}
		loaded := loadTime(t, conn)
		if _, err := conn.PgConn().Exec(context.WithoutCancel(t.Context()), s).ReadAll(); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		for strings.Contains(s, "pg_reload_conf") && loadTime(t, conn) == loaded { // the postmaster does it before its children
		}
	}
}

func loadTime(t *testing.T, conn *pgx.Conn) time.Time {
	t.Helper()
	if conn.PgConn().TxStatus() != 'I' {
		return time.Time{}
	}
	var at time.Time
	if err := conn.QueryRow(context.WithoutCancel(t.Context()), "select pg_conf_load_time()").Scan(&at); err != nil {
		t.Fatal(err)
	}
	return at
}

// examine runs one check, or all.
func examine(t *testing.T, c doctor.Config, only ...string) []doctor.Finding {
	t.Helper()
	checks, err := doctor.Select(only, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := doctor.New(c)
	defer d.Close()
	var all []doctor.Finding
	d.Run(t.Context(), checks, func(_ doctor.Check, found []doctor.Finding) {
		if len(found) == 0 {
			t.Error("a check says nothing")
		}
		all = append(all, found...)
	})
	for _, f := range all {
		remember(t, f)
	}
	return all
}

// remember holds a finding against docs/doctor.md, and keeps secrets out of it.
func remember(t *testing.T, f doctor.Finding) {
	t.Helper()
	row, ok := documented(t)[f.Check+" "+f.Kind]
	if !ok {
		row, ok = documented(t)["every check "+f.Kind]
	}
	switch {
	case !ok:
		t.Errorf("docs/doctor.md has no %s %s", f.Check, f.Kind)
	case row.severity != string(f.Severity):
		t.Errorf("docs/doctor.md has %s for %s %s, which is %s", row.severity, f.Check, f.Kind, f.Severity)
	case !row.remedy.MatchString(strings.Join(strings.Fields(f.Remedy+" "+f.SQL), " ")):
		t.Errorf("docs/doctor.md has another remedy for %s %s (%s) than:\n%s %s", f.Check, f.Kind, row.remedy, f.Remedy, f.SQL)
	}
	if strings.Contains(fmt.Sprint(f), "canary") || strings.Contains(fmt.Sprint(f), "eyJ") {
		t.Errorf("a secret: %+v", f)
	}
	if (f.Severity == doctor.OK) != (f.Remedy == "") {
		t.Errorf("what is wrong has a remedy, and what is not has none: %+v", f)
	}
}

type row struct {
	severity string
	remedy   *regexp.Regexp
}

var docs map[string]row

// whereOne parts the remedy where no helixd runs from the one beside one that does.
var whereOne = regexp.MustCompile("; where one (leads|runs): ")

// documented are the rows of the table of docs/doctor.md. A word in <angle brackets>
// stands for anything.
func documented(t *testing.T) map[string]row {
	t.Helper()
	if docs != nil {
		return docs
	}
	text, err := os.ReadFile("../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	docs = map[string]row{}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 5 || !strings.HasPrefix(cells[0], "| `") && !strings.HasPrefix(cells[0], "| every") {
			continue
		}
		remedy := strings.TrimSuffix(strings.TrimSpace(cells[4]), " |")
		if remedy == "none" {
			remedy = ""
		}
		remedy = strings.ReplaceAll(remedy, "`", "")
		var patterns []string
		for _, one := range whereOne.Split(remedy, -1) {
			patterns = append(patterns, regexp.MustCompile(`<[^>]+>`).ReplaceAllString(regexp.QuoteMeta(strings.TrimSpace(one)), "(?s:.+)"))
		}
		key := strings.Trim(strings.TrimPrefix(cells[0], "| "), "`") + " " + strings.Trim(cells[1], "`")
		if _, twice := docs[key]; twice {
			t.Errorf("docs/doctor.md has %s twice", key)
		}
		docs[key] = row{cells[2], regexp.MustCompile("^(?:" + strings.Join(patterns, "|") + ")$")}
	}
	return docs
}

// TestDocs: the table has each finding of each check, and no others.
func TestDocs(t *testing.T) {
	want := map[string]doctor.Severity{}
	for _, k := range []doctor.Kind{doctor.Fine, doctor.CouldNotLook, doctor.Skipped} {
		want["every check "+k.Name] = k.Severity
	}
	for _, c := range doctor.Checks() {
		for _, k := range c.Kinds {
			want[c.Name+" "+k.Name] = k.Severity
		}
	}
	have := documented(t)
	for key, severity := range want {
		if have[key].severity != string(severity) {
			t.Errorf("docs/doctor.md has %q for %s, want %s", have[key].severity, key, severity)
		}
	}
	for key := range have {
		if _, ok := want[key]; !ok {
			t.Errorf("docs/doctor.md has %s, which no check finds", key)
		}
	}
}

func of(found []doctor.Finding, severities ...doctor.Severity) []doctor.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f doctor.Finding) bool { return !slices.Contains(severities, f.Severity) })
}

// TestFreshProject: before helixd migrate there are remedies, and nothing stops
// doctor from looking.
func TestFreshProject(t *testing.T) {
	db := testenv.New(t)
	found := examine(t, doctor.Config{DatabaseURL: db.URL("postgres"), Slot: slot, Publication: "helix", Tables: watched, Timeout: time.Minute})
	fails := of(found, doctor.Fail)
	if len(fails) != 1 || fails[0].Check != "migrations" || fails[0].Remedy != "Run: helixd migrate" {
		t.Errorf("%+v", fails)
	}
	for _, f := range found {
		if f.Kind == doctor.CouldNotLook.Name {
			t.Errorf("%+v", f)
		}
	}
}

// TestNotAllowedToLook: what a role may not see is a finding, and the others are
// made nevertheless.
func TestNotAllowedToLook(t *testing.T) {
	p := newPatient(t)
	p.run(t, "create role stranger login password 'canary-stranger'")
	u, err := url.Parse(p.config.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("stranger", "canary-stranger")
	p.config.DatabaseURL = u.String()
	var blind []string
	found := examine(t, p.config)
	for _, f := range found {
		if f.Kind == doctor.CouldNotLook.Name {
			blind = append(blind, f.Check)
			if !strings.Contains(f.SQL, "to stranger;") {
				t.Errorf("%+v", f)
			}
		}
	}
	for _, want := range []string{"transactions", "migrations", "leader", "dead-letters", "jobs"} {
		if !slices.Contains(blind, want) {
			t.Errorf("%s is no finding among %v", want, blind)
		}
	}
	for _, name := range doctor.Names() {
		if !slices.ContainsFunc(found, func(f doctor.Finding) bool { return f.Check == name }) {
			t.Errorf("check %s was not made", name)
		}
	}
	for _, f := range of(found, doctor.Fail) {
		if f.Check == "replication" {
			p.run(t, f.SQL)
		}
	}
	for _, f := range found {
		if f.Kind == doctor.CouldNotLook.Name {
			p.run(t, f.SQL)
		}
	}
	for _, f := range examine(t, p.config, append(blind, "replication")...) {
		if f.Kind == doctor.CouldNotLook.Name || f.Check == "replication" && f.Severity != doctor.OK {
			t.Errorf("after the remedy: %+v", f)
		}
	}
}

// TestNeverHangs: what does not answer in time is a finding, and the next check is
// made.
func TestNeverHangs(t *testing.T) {
	p := newPatient(t)
	runOn(t, p.conn, "begin; lock table helix.dead_letters in access exclusive mode")
	p.config.Timeout = 2 * time.Second
	found := examine(t, p.config, "dead-letters", "jobs")
	if len(found) != 2 || found[0].Kind != doctor.CouldNotLook.Name || !strings.Contains(found[0].Problem, "took too long") || found[1].Severity != doctor.OK {
		t.Errorf("%+v", found)
	}
	t.Run("AskedKeyIsTaken", func(t *testing.T) {
		p.config.Ask = true
		p.config.Keys = []doctor.Key{{Name: "some", Setting: "SOME_KEY", Value: p.gateway.ServiceKey, Ask: p.gateway.URL + "/rest/v1/", Header: "apikey: "}}
		if found := examine(t, p.config, "keys"); len(found) != 1 || found[0].Problem != "some takes the key" {
			t.Errorf("%+v", found)
		}
	})
}

func TestSelect(t *testing.T) {
	if _, err := doctor.Select([]string{"slotz"}, nil); err == nil || !strings.Contains(err.Error(), "slots") {
		t.Error(err)
	}
	checks, err := doctor.Select([]string{"slot", "slots"}, []string{"slot"})
	if err != nil || len(checks) != 1 || checks[0].Name != "slots" {
		t.Error(checks, err)
	}
}
