// Package migrations brings a project's schema to the state that this helixd
// needs. The files have the Supabase CLI's names, so that `helixd migrate` and
// `supabase db push` (after `helixd migrate --export`) apply the same ones; each
// file may run again, and records itself in helix.migrations.
//
// The triggers and functions of sql/triggers come after them, as one last file
// that is applied at every migrate.
package migrations

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/sql/triggers"
)

//go:generate go run gen_river.go

//go:embed *.sql
var files embed.FS

// Migration is one file.
type Migration struct {
	Version string // 14 digits, as the Supabase CLI orders by
	Name    string
	SQL     string // with the statement that records it
}

// File gives the file's name, "20261120000000_helix.sql".
func (m Migration) File() string { return m.Version + "_" + m.Name + ".sql" }

// All gives the migrations in the order they are applied, the triggers last.
func All() []Migration {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var all []Migration
	for _, file := range names { // Glob sorts
		sql, err := files.ReadFile(file)
		if err != nil {
			panic(err) // embedded
		}
		version, name, _ := strings.Cut(strings.TrimSuffix(file, ".sql"), "_")
		all = append(all, recorded(version, name, string(sql)))
	}
	return append(all, recorded(triggers.Version, "helix_triggers", triggers.SQL()))
}

func recorded(version, name, sql string) Migration {
	return Migration{Version: version, Name: name, SQL: fmt.Sprintf(
		"%s\ninsert into helix.migrations (version, name) values ('%s', '%s') on conflict (version) do nothing;\n",
		strings.TrimSpace(sql), version, name)}
}

// NewerError says that the schema is of a later release: a migration is recorded
// which comes after all that this helixd knows.
type NewerError struct{ File string }

func (e *NewerError) Error() string { return "the schema is newer than this helixd: it has " + e.File }

// Pending gives the migrations that are not recorded in the database. Where that
// is of a later release the error is a *NewerError.
func Pending(ctx context.Context, conn *pgx.Conn) ([]Migration, error) {
	all := All()
	var exists bool
	if err := conn.QueryRow(ctx, "select to_regclass('helix.migrations') is not null").Scan(&exists); err != nil {
		return nil, fmt.Errorf("look for helix.migrations: %w", err)
	}
	if !exists {
		return all, nil
	}
	rows, err := conn.Query(ctx, "select version, name from helix.migrations order by version")
	if err != nil {
		return nil, fmt.Errorf("read helix.migrations: %w", err)
	}
	applied, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Version, Name string }])
	if err != nil {
		return nil, fmt.Errorf("read helix.migrations: %w", err)
	}
	// Versions in between are those of triggers that older releases had.
	newest := slices.MaxFunc(all, func(a, b Migration) int { return strings.Compare(a.Version, b.Version) })
	done := map[string]bool{}
	for _, m := range applied {
		if m.Version > newest.Version {
			return nil, &NewerError{Migration{Version: m.Version, Name: m.Name}.File()}
		}
		done[m.Version] = true
	}
	return slices.DeleteFunc(all, func(m Migration) bool { return done[m.Version] }), nil
}

// lockKey keeps two migrates apart; the number is "helix" in ASCII.
const lockKey = 0x68656c6978

// Up applies what is pending, each file in a transaction of its own, and the
// triggers always. say is told each file before it is applied. Where a lock
// cannot be had within the file's lock_timeout, or two wait for each other, it
// tries again, for a minute. The
// error says what to run where the project has something that cannot be adopted.
// It never puts older triggers on the schema of a later release.
func Up(ctx context.Context, conn *pgx.Conn, say func(Migration)) error {
	if _, err := conn.Exec(ctx, "set statement_timeout = 0"); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", lockKey); err != nil {
		return fmt.Errorf("wait for another migrate: %w", err)
	}
	defer conn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", lockKey) //nolint:errcheck // ends with the session
	pending, err := Pending(ctx, conn)
	if err != nil {
		return err
	}
	all := All()
	if last := all[len(all)-1]; len(pending) == 0 || pending[len(pending)-1].Version != last.Version {
		pending = append(pending, last)
	}
	for _, m := range pending {
		say(m)
		if err := apply(ctx, conn, m); err != nil {
			var pgErr *pgconn.PgError
			if errors.As(err, &pgErr) && pgErr.Hint != "" {
				return fmt.Errorf("apply %s: %w\n%s", m.File(), err, pgErr.Hint)
			}
			return fmt.Errorf("apply %s: %w", m.File(), err)
		}
	}
	return nil
}

func apply(ctx context.Context, conn *pgx.Conn, m Migration) error {
	const lockNotAvailable, deadlockDetected = "55P03", "40P01"
	for deadline := time.Now().Add(time.Minute); ; {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			_, err := tx.Conn().PgConn().Exec(ctx, m.SQL).ReadAll()
			return err
		})
		var pgErr *pgconn.PgError
		if !errors.As(err, &pgErr) || pgErr.Code != lockNotAvailable && pgErr.Code != deadlockDetected || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// Export writes the files into a folder, supabase/migrations as a rule, and
// gives the paths of those that were not there in the same form.
func Export(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var written []string
	for _, m := range All() {
		path := filepath.Join(dir, m.File())
		if old, err := os.ReadFile(path); err == nil && string(old) == m.SQL {
			continue
		}
		if err := os.WriteFile(path, []byte(m.SQL), 0o644); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}
