package doctor_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/internal/doctor"
	"github.com/helixd/helixd/testenv"
)

// fault is one way to break a project, what doctor finds then, and how it is mended:
// by the SQL of the remedy, where it has some, else by undo, or by another setting.
type fault struct {
	check, kind string
	sql         string                                               // breaks it, as the administrator
	by          func(*testing.T, *patient, *doctor.Config) *pgx.Conn // breaks it, too; the connection is for the remedy's SQL
	undo        string                                               // mends it, where the remedy's SQL does not
	mend        func(*testing.T, *patient)                           // so does this
	restart     bool                                                 // the remedy's SQL holds after a restart of the server
	cleanup     string                                               // what is left over
	also        string                                               // another kind that comes along
	says        string                                               // a part of the problem
}

// with sets the configuration.
func with(f func(*patient, *doctor.Config)) func(*testing.T, *patient, *doctor.Config) *pgx.Conn {
	return func(_ *testing.T, p *patient, c *doctor.Config) *pgx.Conn { f(p, c); return nil }
}

// through has the database behind another address, with other parameters.
func through(t *testing.T, c *doctor.Config, address, query string) {
	t.Helper()
	u, err := url.Parse(c.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	if address != "" {
		u.Host = address
	}
	if query != "" {
		u.RawQuery = query
	}
	c.DatabaseURL = u.String()
}

func (p *patient) address() string {
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(p.db.Cluster().Port()))
}

// encrypt gives the server a certificate of its own, and switches TLS on.
func (p *patient) encrypt(t *testing.T) {
	t.Helper()
	cert, key := certificate(t)
	dir := ""
	if err := p.admin.QueryRow(t.Context(), "select current_setting('data_directory')").Scan(&dir); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"server.crt": cert, "server.key": key} {
		if _, err := p.admin.Exec(t.Context(), fmt.Sprintf(`copy (select unnest(string_to_array('%s', E'\n'))) to program 'umask 077; cat > "%s/%s"'`, strings.TrimSpace(text), dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	p.run(t, "alter system set ssl = on; "+reload)
	t.Cleanup(func() { p.run(t, "alter system reset ssl; "+reload) })
}

// read streams from the slot as a tool of somebody else.
func (p *patient) read(t *testing.T) {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), p.config.DatabaseURL+"&replication=database&application_name=psql")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	err = pglogrepl.StartReplication(t.Context(), conn, slot, 0, pglogrepl.StartReplicationOptions{PluginArgs: []string{"proto_version '1'", "publication_names 'helix'"}})
	if err != nil {
		t.Fatal(err)
	}
}

func kinds(found []doctor.Finding, kind string) []doctor.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f doctor.Finding) bool { return f.Kind != kind })
}

// TestFaults: a sound project has no warning; each way to break it gives exactly
// that finding; and the remedy's SQL mends it.
func TestFaults(t *testing.T) {
	p := newPatient(t)
	if bad := of(examine(t, p.config), doctor.Warn, doctor.Fail); len(bad) > 0 {
		t.Errorf("a sound project has %+v", bad)
	}
	shown := map[string]bool{}
	for _, f := range faults(t) {
		shown[f.check+" "+f.kind] = true
		t.Run(f.check+"/"+f.kind, func(t *testing.T) { p.suffer(t, f) })
	}
	for _, f := range tight {
		shown[f.check+" "+f.kind] = true
	}
	shown["extensions vault-missing"] = true // TestFaults's own project has none
	for _, c := range doctor.Checks() {
		for _, k := range c.Kinds {
			if !shown[c.Name+" "+k.Name] {
				t.Errorf("nothing shows %s %s", c.Name, k.Name)
			}
		}
	}
	if bad := of(examine(t, p.config), doctor.Warn, doctor.Fail); len(bad) > 0 {
		t.Errorf("the mended project has %+v", bad)
	}
}

// tight are faults of a server with too little of everything.
var tight = []fault{
	{check: "replication", kind: "wal-level", restart: true},
	{check: "slots", kind: "slots-full", sql: "select pg_create_physical_replication_slot('other')", restart: true, also: "senders-full"},
	{check: "slots", kind: "senders-full", restart: true, also: "slots-full", cleanup: "select pg_drop_replication_slot('other')"},
}

func TestTightServer(t *testing.T) {
	cluster := testenv.StartCluster(t, testenv.Options{Settings: map[string]string{
		"wal_level": "replica", "max_replication_slots": "1", "max_wal_senders": "0"}})
	p := &patient{db: testenv.NewOn(t, cluster)}
	p.admin = p.db.Connect(t, "supabase_admin")
	p.config = doctor.Config{DatabaseURL: p.db.URL("postgres"), Slot: slot, Publication: "helix", Timeout: time.Minute}
	for _, f := range tight {
		t.Run(f.check+"/"+f.kind, func(t *testing.T) { p.suffer(t, f) })
	}
}

// suffer breaks a project, looks, and mends it.
func (p *patient) suffer(t *testing.T, f fault) {
	c := p.config
	p.run(t, f.sql)
	admin := p.admin
	if f.by != nil {
		if conn := f.by(t, p, &c); conn != nil {
			admin = conn
		}
	}
	defer p.run(t, f.cleanup)
	found := examine(t, c, f.check)
	if f.says == "-" { // of what is no fault
		if len(kinds(found, f.kind)) > 0 {
			t.Errorf("%+v", found)
		}
		p.run(t, "select pg_drop_replication_slot(slot_name) from pg_replication_slots")
		return
	}
	hit := kinds(found, f.kind)
	if len(hit) == 0 {
		t.Fatalf("%+v", found)
	}
	for _, other := range of(found, doctor.Warn, doctor.Fail) {
		if other.Kind != f.kind && other.Kind != f.also {
			t.Errorf("%+v came along", other)
		}
	}
	if !strings.Contains(hit[0].Problem, f.says) {
		t.Errorf("%q is not in: %s", f.says, hit[0].Problem)
	}
	switch {
	case f.undo != "":
		p.run(t, f.undo)
	case f.mend != nil:
		f.mend(t, p)
	case f.restart:
		runOn(t, admin, hit[0].SQL)
		p.recorded(t, hit[0].SQL)
		return
	case hit[0].SQL != "":
		for _, h := range hit {
			runOn(t, admin, h.SQL)
		}
	default:
		c = p.config
	}
	deadline, tick := time.Now().Add(20*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		left := kinds(examine(t, c, f.check), f.kind)
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) { // a session that is ended takes a moment
			t.Fatalf("after the remedy: %+v", left)
		}
		<-tick.C
	}
}

// recorded makes sure that the server's file has what ALTER SYSTEM set: tests give
// their servers settings on the command line, which win over the file.
func (p *patient) recorded(t *testing.T, sql string) {
	t.Helper()
	words := strings.Fields(strings.TrimSuffix(sql, ";")) // alter system set name = value
	var there bool
	err := p.admin.QueryRow(t.Context(), "select exists (select from pg_file_settings where name = $1 and setting = $2)", words[3], strings.Trim(words[5], "'")).Scan(&there)
	if err != nil || !there {
		t.Errorf("%s: %v", sql, err)
	}
	p.run(t, "alter system reset "+words[3])
}
