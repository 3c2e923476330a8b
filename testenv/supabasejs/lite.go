package supabasejs

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
	"github.com/helixd/helixd/testenv/child"
	"github.com/helixd/helixd/testenv/module"
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

// readHex makes bytes of what its driver stores for a bytea: the text that was
// sent, '\x' and hex, which the Data API of a project reads.
const readHex = `create schema lite;
	create function lite.read_hex() returns trigger language plpgsql set search_path = '' as $$
	begin
		if substring(new.audio_data from 1 for 2) = '\x5c78' then
			new.audio_data := decode(substring(convert_from(new.audio_data, 'UTF8') from 3), 'hex');
		end if;
		return new;
	end $$;
	create trigger a_a_read_hex before insert on public.voice_recordings for each row execute function lite.read_hex()`

// Project is what an app is configured with.
type Project struct{ URL, Key string }

// Start runs supabase-lite over a database with helixd's schema, and gives it back
// once it has answered a request for rows.
func Start(t testing.TB, db *testenv.Database) Project {
	t.Helper()
	node, packages := Node(t), Packages(t, "testenv/supabasejs")
	root, err := module.Root()
	if err != nil {
		t.Fatal(err)
	}
	conn := db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), conn, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	db.Exec(t, "supabase_admin", readHex)
	rights := Rights(t, conn)
	url := startLite(t, node, Folder(t, filepath.Join(root, "testenv/supabasejs"), packages, "until-stdin-ends.mjs"), db)

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
	if got := Rights(t, conn); got != rights {
		t.Fatalf("after the migrations ran again the rights are\n%s\nand were\n%s", got, rights)
	}
	return Project{URL: url, Key: publishableKey}
}

// Rights are those on all that is in schema public.
func Rights(t testing.TB, conn *pgx.Conn) string {
	t.Helper()
	var rights string
	err := conn.QueryRow(t.Context(), `select string_agg(oid::regclass || ' ' || relacl::text, E'\n' order by oid::regclass::text)
		from pg_class where relnamespace = 'public'::regnamespace and relacl is not null`).Scan(&rights)
	if err != nil {
		t.Fatal(err)
	}
	return rights
}

// Helixd builds helixd and runs it beside a database, as an operator does.
func Helixd(t testing.TB, db *testenv.Database, env ...string) *child.Process {
	t.Helper()
	root, err := module.Root()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, ".helix", "bin", "helixd-supabasejs")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./cmd/helixd")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(path, "run", "--slot", db.SlotName("js"))
	cmd.Dir = t.TempDir() // no .env of the developer's
	cmd.Env = append(append(os.Environ(), "SUPABASE_DB_URL="+db.URL("postgres"), "HELIX_HTTP=off"), env...)
	helixd, _ := child.Run(t, "helixd", cmd)
	return helixd
}

func startLite(t testing.TB, node, dir string, db *testenv.Database) string {
	t.Helper()
	db.Exec(t, "supabase_admin", accounts)
	port, err := testenv.FreePort()
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := cmd.StdinPipe(); err != nil { // open as long as this process lives
		t.Fatal(err)
	}
	lite, _ := child.Run(t, "supabase-lite", cmd)
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	err = testenv.Poll(t.Context(), time.Minute, 20*time.Millisecond, "wait until supabase-lite answers", func() (bool, error) {
		if lite.Ended() {
			return true, fmt.Errorf("supabase-lite has ended: %w", lite.Err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/rest/v1/sync_state?select=id", nil)
		if err != nil {
			return true, err
		}
		req.Header.Set("apikey", publishableKey)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, err
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return url
}
