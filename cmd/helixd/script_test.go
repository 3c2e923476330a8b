package main_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/helixd/helixd/testenv"
)

// TestScripts runs testdata/script/*.txtar, one for each subcommand, with the real
// binary. Each has a database of its own, not migrated, and in its environment
// SUPABASE_DB_URL, HELIX_SLOT and USER_ID, a user of auth.users. Beside
// testscript's own commands there are:
//
//	sql [-user|-anon|-service|-admin] 'statement'    run as that role (-admin: the role that helixd connects as, the default); rows go to stdout,
//	                                                 columns with tabs between; may be negated with !
//	eventually 'select …'                            waits until the query gives true
//
// helixd-plain is helixd without the race detector, for what runs skills: that takes half a minute to compile their engine.
// helixd runs in the background as "exec helixd run &run&", is ended with "kill -INT run" and "wait run".
func TestScripts(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatal("no scripts", err)
	}
	bin := t.TempDir()
	for name, binary := range map[string]func() (string, error){"helixd": binary, "helixd-plain": plainBinary} {
		path, err := binary()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, script := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar"), func(t *testing.T) {
			t.Parallel()
			db := testenv.New(t)
			user := db.NewUser(t)
			conns := map[string]*pgx.Conn{
				"-admin": db.Connect(t, "postgres"), "-user": db.AsUser(t, user.ID), "-anon": db.AsAnon(t), "-service": db.AsService(t),
			}
			cache, err := os.MkdirTemp("", "helixd-test-") // not t.TempDir: worker children are another user
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(cache) })
			testscript.Run(t, testscript.Params{
				Files: []string{script},
				Setup: func(env *testscript.Env) error {
					env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
					env.Setenv("SUPABASE_DB_URL", db.URL("postgres"))
					env.Setenv("HELIX_SLOT", db.SlotName("script"))
					env.Setenv("HELIX_CACHE_DIR", cache)
					env.Setenv("USER_ID", user.ID)
					env.Setenv("HELIX_HTTP", "off") // the default port is one for all
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"sql": func(ts *testscript.TestScript, neg bool, args []string) {
						conn := conns["-admin"]
						if len(args) == 2 {
							conn, args = conns[args[0]], args[1:]
						}
						if len(args) != 1 || conn == nil {
							ts.Fatalf("usage: sql [-admin|-user|-anon|-service] statement")
						}
						rows, err := query(conn, args[0])
						if neg {
							if err == nil {
								ts.Fatalf("it did not fail")
							}
							fmt.Fprintln(ts.Stderr(), err)
							return
						}
						ts.Check(err)
						fmt.Fprint(ts.Stdout(), rows)
					},
					"eventually": func(ts *testscript.TestScript, neg bool, args []string) {
						if len(args) != 1 || neg {
							ts.Fatalf("usage: eventually 'select …'")
						}
						deadline := time.Now().Add(patience)
						tick := time.NewTicker(10 * time.Millisecond)
						defer tick.Stop()
						for {
							var is bool
							err := conns["-admin"].QueryRow(context.Background(), args[0]).Scan(&is)
							if err == nil && is {
								return
							}
							if time.Now().After(deadline) {
								ts.Fatalf("waited %s; it is %v, %v", patience, is, err)
							}
							<-tick.C
						}
					},
				},
			})
		})
	}
}

// query gives a statement's rows as text, a line each.
func query(conn *pgx.Conn, sql string) (string, error) {
	results, err := conn.PgConn().Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, result := range results {
		for _, row := range result.Rows {
			for i, v := range row {
				if i > 0 {
					b.WriteByte('\t')
				}
				b.Write(v)
			}
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}
