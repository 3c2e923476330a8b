package decay_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// project is a project with helixd's schema.
type project struct {
	db    *testenv.Database
	admin *pgx.Conn
	pool  *pgxpool.Pool
}

func newProject(t testing.TB) *project {
	t.Helper()
	p := newUnmigrated(t)
	p.migrate(t)
	return p
}

func newUnmigrated(t testing.TB) *project {
	t.Helper()
	p := &project{db: testenv.New(t)}
	p.admin = p.db.Connect(t, "postgres")
	return p
}

func (p *project) migrate(t testing.TB) {
	t.Helper()
	if err := migrations.Up(t.Context(), p.admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	var err error
	if p.pool, err = pgxpool.New(t.Context(), p.db.URL("postgres")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.pool.Close)
}

func exec(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func get[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}
