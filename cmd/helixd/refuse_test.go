package main_test

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/helixd/helixd/testenv"
)

// refused runs helixd, which must end at once with status 1 and say both what
// is wrong and what to do.
func refused(t *testing.T, dbURL string, wants ...string) {
	t.Helper()
	p := start(t, dbURL, nil, "run")
	if status := p.wait(t); status != 1 {
		t.Errorf("exit status %d", status)
	}
	said := p.log.String()
	for _, want := range append(wants, "→") {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in:\n%s", want, said)
		}
	}
	if u, err := url.Parse(dbURL); err == nil && u.User != nil {
		if password, _ := u.User.Password(); password != "" && strings.Contains(said, password) {
			t.Errorf("the password is in:\n%s", said)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Run("NoURL", func(t *testing.T) { refused(t, "", "SUPABASE_DB_URL is not set", "dashboard") })
	t.Run("NotAURL", func(t *testing.T) {
		refused(t, "postgresql://postgres:secretword@[::1:5432/postgres", "no connection string", "postgresql://postgres:<password>@")
	})
	t.Run("PoolerPort", func(t *testing.T) {
		refused(t, "postgresql://postgres:secretword@db.example.com:6543/postgres", "db.example.com:6543 is a connection pooler", "direct connection")
	})
	t.Run("PoolerHost", func(t *testing.T) {
		refused(t, "postgresql://postgres.ref:secretword@aws-0.pooler.supabase.com:5432/postgres", "is a connection pooler", "direct connection")
	})
	t.Run("HostRefusesReplication", func(t *testing.T) {
		refused(t, "postgresql://postgres:secretword@"+pooler(t)+"/postgres?sslmode=disable", "refuses replication", "direct connection")
	})
	t.Run("Placeholder", func(t *testing.T) {
		refused(t, "postgresql://postgres:<password>@db.abc.supabase.co:5432/postgres", "placeholder", "dashboard")
	})
	t.Run("DashboardPlaceholder", func(t *testing.T) {
		refused(t, "postgresql://postgres:[YOUR-PASSWORD]@db.abc.supabase.co:5432/postgres", "[YOUR-PASSWORD]", "dashboard")
	})
	t.Run("PasswordNotEncoded", func(t *testing.T) {
		refused(t, "postgresql://postgres:se@cret/w#rd@127.0.0.1:5432/postgres", "special characters", "%40")
	})
	t.Run("NoSuchHost", func(t *testing.T) {
		refused(t, "postgresql://postgres:secretword@db.invalid:5432/postgres", "cannot be found", "IPv6")
	})
	t.Run("BrokenEnvFile", func(t *testing.T) {
		path, err := binary()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, "run")
		cmd.Dir = t.TempDir()
		if err := os.WriteFile(filepath.Join(cmd.Dir, ".env"), []byte("this is not env\nSUPABASE_DB_URL=postgres://postgres:secretword@h/d\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := cmd.CombinedOutput()
		if status := cmd.ProcessState.ExitCode(); status != 2 || strings.Contains(string(out), "secretword") || !strings.Contains(string(out), ".env") {
			t.Errorf("status %d: %s", status, out)
		}
	})
	for _, args := range [][]string{{"--slot", "Bad Slot"}, {"--publication", "my-pub"}, {"--log-level", "loud"}, {"--log-format", "xml"}, {"--role", "both"}, {"--drift-interval", "0"}, {"--nonsense"}} {
		t.Run("Usage"+args[0], func(t *testing.T) {
			p := start(t, "postgresql://h/d", nil, append([]string{"run"}, args...)...)
			if status := p.wait(t); status != 2 {
				t.Errorf("exit status %d: %s", status, p.log)
			}
		})
	}
	db := testenv.New(t)
	t.Run("NoTLS", func(t *testing.T) {
		refused(t, strings.Replace(db.URL("postgres"), "sslmode=disable", "sslmode=require", 1), "does not speak TLS", "sslmode=prefer")
	})
	t.Run("WrongPassword", func(t *testing.T) {
		u, err := url.Parse(db.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword("postgres", "secretword")
		refused(t, u.String(), "refuses the password", "percent-encoded")
	})
	t.Run("RoleMayNotReplicate", func(t *testing.T) {
		refused(t, db.URL("authenticator"), "may not replicate", "alter role")
	})
	t.Run("NoSuchDatabase", func(t *testing.T) {
		u, err := url.Parse(db.URL("postgres"))
		if err != nil {
			t.Fatal(err)
		}
		u.Path = "/nowhere"
		refused(t, u.String(), "database does not exist", "SUPABASE_DB_URL")
	})
	t.Run("NotMigrated", func(t *testing.T) {
		refused(t, db.URL("postgres"), "the schema lacks", "helixd migrate")
	})
	t.Run("MissingTable", func(t *testing.T) {
		admin := migrated(t, db)
		exec1(t, admin, "drop table sync_state")
		refused(t, db.URL("postgres"), "table public.sync_state is not there", "helixd migrate")
	})
}

// TestUnreachable has commands that wait for nothing give the same reasons and next steps.
func TestUnreachable(t *testing.T) {
	for _, c := range []struct{ url, problem, hint string }{
		{"postgresql://postgres:secretword@db.invalid:5432/postgres", "cannot be found", "IPv6"},
		{"postgresql://postgres:secretword@127.0.0.1:1/postgres", "connection refused", "Check host and port in SUPABASE_DB_URL"},
	} {
		for _, command := range []string{"status", "migrate"} {
			p := start(t, c.url, nil, command)
			if status := p.wait(t); status != 1 {
				t.Errorf("%s: exit status %d", command, status)
			}
			if said := p.log.String(); !strings.Contains(said, c.problem) || !strings.Contains(said, c.hint) || strings.Contains(said, "secretword") {
				t.Errorf("%s says:\n%s", command, said)
			}
		}
	}
}

func TestRefusedWALLevel(t *testing.T) {
	t.Parallel()
	cluster := testenv.StartCluster(t, testenv.Options{Settings: map[string]string{"wal_level": "replica"}})
	refused(t, testenv.NewOn(t, cluster).URL("postgres"), "wal_level is replica", "alter system set wal_level = logical")
}

func TestRefusedNoFreeSlot(t *testing.T) {
	t.Parallel()
	cluster := testenv.StartCluster(t, testenv.Options{Settings: map[string]string{"max_replication_slots": "1"}})
	db := testenv.NewOn(t, cluster)
	admin := migrated(t, db)
	exec1(t, admin, "select pg_create_logical_replication_slot('somebody', 'pgoutput')")
	refused(t, db.URL("postgres"), "no replication slot is free", "pg_replication_slots")
}

// pooler is a server that answers replication as PgBouncer does.
func pooler(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			backend := pgproto3.NewBackend(conn, conn)
			if _, err := backend.ReceiveStartupMessage(); err == nil {
				backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: "unsupported startup parameter: replication"})
				_ = backend.Flush()
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}
