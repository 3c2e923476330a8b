// Package supabasejs_test is an app: supabase-js, against the Data API and the
// Auth of supabase-lite, over a test Postgres with helixd beside it. The app's
// side is in the *.test.mjs files.
package supabasejs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestSupabaseJS(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own, and installs it the first time")
	}
	node, packages := node(t)
	db := testenv.New(t)
	conn := db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), conn, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	rights := rightsOf(t, conn)
	dir := scripts(t, packages)
	url := startLite(t, node, dir, db)

	// At its first request supabase-lite grants everything on every table to anon
	// and authenticated. Each migration may run again, and takes that back.
	for _, m := range migrations.All() {
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			_, err := tx.Conn().PgConn().Exec(t.Context(), m.SQL).ReadAll()
			return err
		})
		if err != nil {
			t.Fatalf("%s again: %v", m.File(), err)
		}
	}
	if got := rightsOf(t, conn); got != rights {
		t.Fatalf("after the migrations ran again the rights are\n%s\nand were\n%s", got, rights)
	}
	startHelixd(t, db)

	tests, err := filepath.Glob("*.test.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tests {
		t.Run(strings.TrimSuffix(name, ".test.mjs"), func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), node, "--test", "--test-reporter=spec", name)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "SUPABASE_URL="+url, "SUPABASE_PUBLISHABLE_KEY="+publishableKey)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("\n%s", out)
		})
	}
	if got := rightsOf(t, conn); got != rights {
		t.Errorf("the app's requests changed the rights to\n%s", got)
	}
}

func rightsOf(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	var rights string
	err := conn.QueryRow(t.Context(), `select string_agg(oid::regclass || ' ' || relacl::text, E'\n' order by oid::regclass::text)
		from pg_class where relnamespace = 'public'::regnamespace and relacl is not null`).Scan(&rights)
	if err != nil {
		t.Fatal(err)
	}
	return rights
}

// startHelixd builds helixd and runs it beside the database, as an operator does.
func startHelixd(t *testing.T, db *testenv.Database) {
	t.Helper()
	path, err := filepath.Abs("../../.helix/bin/helixd-supabasejs")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "../../cmd/helixd").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(path, "run", "--slot", db.SlotName("js"))
	cmd.Dir = t.TempDir() // no .env of the developer's
	cmd.Env = append(os.Environ(), "SUPABASE_DB_URL="+db.URL("postgres"))
	child(t, "helixd", cmd)
}
