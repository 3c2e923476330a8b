package reactortest

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

// Project is one that helixd has set up, for a test.
type Project struct {
	DB    *testenv.Database
	Admin *pgx.Conn
	Pool  *pgxpool.Pool
}

// NewProject makes one that ends with the test.
func NewProject(t testing.TB) Project {
	t.Helper()
	p := EmptyProject(t)
	p.Migrate(t)
	return p
}

// EmptyProject is one that helixd has not met.
func EmptyProject(t testing.TB) Project {
	t.Helper()
	db := testenv.New(t)
	return Project{DB: db, Admin: db.Connect(t, "postgres"), Pool: db.Pool(t, "postgres")}
}

// Migrate lets helixd set it up.
func (p *Project) Migrate(t testing.TB) {
	t.Helper()
	if err := migrations.Up(t.Context(), p.Admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
}

// User signs somebody up.
func (p *Project) User(t testing.TB) uuid.UUID {
	t.Helper()
	return uuid.MustParse(p.DB.NewUser(t).ID)
}

// Exec runs SQL as the project's owner.
func (p *Project) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := p.Admin.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
}
