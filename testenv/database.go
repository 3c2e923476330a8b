package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Database is one database of a cluster, shaped like a Supabase project's.
type Database struct {
	cluster *Cluster
	name    string
}

// New makes a database for one test, on the cluster that the process's tests share, and drops it when the test ends.
func New(t testing.TB) *Database {
	t.Helper()
	c, err := sharedCluster()
	if err != nil {
		t.Fatal(err)
	}
	return NewOn(t, c)
}

// NewOn makes a database for one test on a cluster of its own choice; see [StartCluster].
func NewOn(t testing.TB, c *Cluster) *Database {
	t.Helper()
	keepLogOnFailure(t, c)
	// The number comes first: names are cut at 63 bytes, and end with no underscore.
	name := fmt.Sprintf("t%d_%d_%s", os.Getpid(), c.serial.Add(1), identifier(t.Name()))
	db, err := c.NewDatabase(t.Context(), strings.TrimRight(name[:min(len(name), 63)], "_"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := db.Drop(ctx); err != nil {
			t.Error(err)
		}
	})
	return db
}

// NewDatabase makes a database, or opens the one of that name on a kept cluster. The caller drops it, or leaves it to
// the cluster's end.
func (c *Cluster) NewDatabase(ctx context.Context, name string) (*Database, error) {
	if name == maintenanceDatabase || name == templateDatabase || identifier(name) != name {
		return nil, fmt.Errorf("database name %q: choose another, of lower-case letters, digits and underscores", name)
	}
	conn, err := c.connectAdmin(ctx, maintenanceDatabase)
	if err != nil {
		return nil, fmt.Errorf("make database %s: %w", name, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var exists bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", name).Scan(&exists); err != nil {
		return nil, fmt.Errorf("make database %s: %w", name, err)
	}
	if !exists {
		if _, err := conn.Exec(ctx, fmt.Sprintf("create database %s template %s owner postgres", name, templateDatabase)); err != nil {
			return nil, fmt.Errorf("make database %s: %w", name, err)
		}
	}
	return &Database{cluster: c, name: name}, nil
}

// Drop ends every session in the database and drops it, with its replication slots.
func (db *Database) Drop(ctx context.Context) error {
	if err := db.drop(ctx); err != nil {
		return fmt.Errorf("drop database %s: %w", db.name, err)
	}
	return nil
}

func (db *Database) drop(ctx context.Context) error {
	conn, err := db.cluster.connectAdmin(ctx, maintenanceDatabase)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	// Nobody comes back while the slots go.
	_, err = conn.Exec(ctx, fmt.Sprintf("alter database %s allow_connections false", db.name))
	if err != nil {
		return err
	}
	err = Poll(ctx, 20*time.Second, pollEvery, "end its sessions", func() (bool, error) {
		var sessions int
		err := conn.QueryRow(ctx, `select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = $1`, db.name).Scan(&sessions)
		return err != nil || sessions == 0, err
	})
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `select pg_drop_replication_slot(slot_name) from pg_replication_slots where database = $1`, db.name)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, fmt.Sprintf("drop database %s with (force)", db.name))
	return err
}

// Name is the database's name.
func (db *Database) Name() string { return db.name }

// Cluster is the server that the database is on.
func (db *Database) Cluster() *Cluster { return db.cluster }

// URL is how a role that can log in reaches the database: postgres, which helixd connects as and which is not a
// superuser; supabase_admin, which is; authenticator, which PostgREST connects as; supabase_auth_admin and
// supabase_storage_admin.
func (db *Database) URL(role string) string { return db.cluster.url(role, db.name) }

// SlotName is a name for a replication slot that no other test uses. Slots belong to the server, not to a database.
func (db *Database) SlotName(suffix string) string {
	suffix = "_" + identifier(suffix)
	suffix = suffix[:min(len(suffix), 24)]
	return db.name[:min(len(db.name), 63-len(suffix))] + suffix
}

// Connect opens a session, which is closed when the test ends.
func (db *Database) Connect(t testing.TB, role string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.URL(role))
	if err != nil {
		t.Fatalf("connect as %s: %v", role, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = conn.Close(ctx) // a test may have closed it, or stopped the server
	})
	return conn
}

// Pool opens as many as eight sessions, which are closed when the test ends.
func (db *Database) Pool(t testing.TB, role string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), db.URL(role)+"&pool_max_conns=8")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Get gives the one value of the one row that sql selects. It may be used in a test's clean-up, too.
func Get[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	rows, err := conn.Query(context.WithoutCancel(t.Context()), sql, args...)
	if err != nil {
		t.Fatalf("%.1000s: %v", sql, err)
	}
	v, err := pgx.CollectOneRow(rows, pgx.RowTo[T])
	if err != nil {
		t.Fatalf("%.1000s: %v", sql, err)
	}
	return v
}

// Exec runs sql in a session of its own, and fails the test when it fails. Without args, sql may be several
// statements.
func (db *Database) Exec(t testing.TB, role, sql string, args ...any) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.URL(role))
	if err != nil {
		t.Fatalf("connect as %s: %v", role, err)
	}
	_, err = conn.Exec(t.Context(), sql, args...)
	if err = errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatalf("as %s: %v", role, err)
	}
}

// DenyRealtimePolicies takes away, in this database, what role postgres usually may do on a hosted project: make
// policies on realtime.messages. A project can be without it, when its image is old or its settings were changed.
func (db *Database) DenyRealtimePolicies(t testing.TB) {
	t.Helper()
	// Roles belong to the server and other tests use them; the table's owner does not.
	db.Exec(t, "supabase_admin", "alter table realtime.messages owner to supabase_admin")
}

// identifier makes s a plain lower-case SQL identifier.
func identifier(s string) string {
	s = strings.Trim(notIdentifier.ReplaceAllString(strings.ToLower(s), "_"), "_")
	return s[:min(len(s), 63)]
}

var notIdentifier = regexp.MustCompile(`[^a-z0-9]+`)
