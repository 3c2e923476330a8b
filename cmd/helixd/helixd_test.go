package main_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// patience is how long a test waits for what must happen; nothing waits for it
// to pass.
const patience = 60 * time.Second

// until polls a condition.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	testenv.Until(t, patience, what, cond)
}

// migrated is a database with helixd's schema.
func migrated(t testing.TB, db *testenv.Database) *pgx.Conn {
	t.Helper()
	conn := db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), conn, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	return conn
}

func get[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

func exec1(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
