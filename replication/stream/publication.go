package stream

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/replication"
)

// Querier is an SQL connection or pool.
type Querier interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// publish are the operations that helixd's publication carries. Deletes come
// through the inbox, with their owner: the stream would give a primary key only.
const publish = "insert, update"

// EnsurePublication makes the publication carry exactly these tables and
// columns, and reports whether it did not: then changes may have passed that
// were not streamed. Before it alters anything it calls gap, which makes that
// known to whoever comes after a crash: it drops the slot. Columns of the replica identity are added, since Postgres
// refuses every UPDATE of a published table that hides one; a table with
// REPLICA IDENTITY FULL is published whole for the same reason.
func EnsurePublication(ctx context.Context, db Querier, name string, tables map[string][]string, gap func() error) (changed bool, err error) {
	var targets []string
	want := map[string]string{}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		columns, err := publishedColumns(ctx, db, table, tables[table])
		if err != nil {
			return false, err
		}
		target := quoteTable(table)
		if columns != nil {
			quoted := make([]string, len(columns))
			for i, c := range columns {
				quoted[i] = pgx.Identifier{c}.Sanitize()
			}
			target += " (" + strings.Join(quoted, ", ") + ")"
		}
		targets = append(targets, target)
		want[table] = strings.Join(columns, ",")
	}
	have, exists, err := readPublication(ctx, db, name)
	if err != nil {
		return false, fmt.Errorf("read publication %q: %w", name, err)
	}
	if exists && maps.Equal(have, want) {
		return false, nil
	}
	if err := gap(); err != nil {
		return false, err
	}
	quoted := pgx.Identifier{name}.Sanitize()
	statements := []string{fmt.Sprintf("create publication %s for table %s with (publish = '%s')", quoted, strings.Join(targets, ", "), publish)}
	if exists {
		statements = []string{
			fmt.Sprintf("alter publication %s set table %s", quoted, strings.Join(targets, ", ")),
			fmt.Sprintf("alter publication %s set (publish = '%s', publish_via_partition_root = false)", quoted, publish),
		}
	}
	for _, sql := range statements {
		if _, err := db.Exec(ctx, sql); err != nil {
			var pgErr *pgconn.PgError
			if errors.As(err, &pgErr) && pgErr.Code == "42501" {
				return false, &SetupError{"helixd may not make its publication",
					"Run as an administrator: " + strings.Join(statements, "; ") + ";", err}
			}
			return false, fmt.Errorf("make publication %q: %w", name, err)
		}
	}
	return true, nil
}

// publishedColumns gives a table's column list, in the table's order; nil for
// the whole table.
func publishedColumns(ctx context.Context, db Querier, table string, watched []string) ([]string, error) {
	rows, err := db.Query(ctx, `select a.attname, c.relreplident::text,
			coalesce(a.attnum = any(i.indkey::smallint[]), false)
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		left join pg_index i on i.indrelid = c.oid and case c.relreplident when 'i' then i.indisreplident else i.indisprimary end
		where c.oid = to_regclass($1) order by a.attnum`, quoteTable(table))
	if err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	var columns []string
	var column, identity string
	var key bool
	missing := map[string]bool{}
	for _, w := range watched {
		missing[w] = true
	}
	found := 0
	_, err = pgx.ForEachRow(rows, []any{&column, &identity, &key}, func() error {
		found++
		if missing[column] || key {
			columns = append(columns, column)
		}
		delete(missing, column)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	if found == 0 {
		return nil, &SetupError{"table " + table + " is not there", "Run: helixd migrate", nil}
	}
	if len(missing) > 0 {
		return nil, &SetupError{fmt.Sprintf("table %s has no column %s", table, strings.Join(slices.Sorted(maps.Keys(missing)), ", ")),
			"Run: helixd migrate", nil}
	}
	if replication.ReplicaIdentity(identity[0]) == replication.IdentityFull {
		return nil, nil
	}
	return columns, nil
}

// readPublication gives each published table's column list, "" where the whole
// table is published. What is not as helixd makes it reads as a table "?".
func readPublication(ctx context.Context, db Querier, name string) (map[string]string, bool, error) {
	rows, err := db.Query(ctx, `select p.pubinsert and p.pubupdate and not (p.pubdelete or p.pubtruncate or p.puballtables or p.pubviaroot)
				and not exists (select from pg_publication_namespace n where n.pnpubid = p.oid),
			coalesce(n.nspname || '.' || c.relname, ''), r.prqual is null,
			coalesce((select string_agg(a.attname, ',' order by a.attnum) from pg_attribute a
				where a.attrelid = c.oid and a.attnum = any(r.prattrs::smallint[])), '')
		from pg_publication p
		left join pg_publication_rel r on r.prpubid = p.oid
		left join pg_class c on c.oid = r.prrelid left join pg_namespace n on n.oid = c.relnamespace
		where p.pubname = $1`, name)
	if err != nil {
		return nil, false, err
	}
	have := map[string]string{}
	exists := false
	var asMade, unfiltered bool
	var table, columns string
	_, err = pgx.ForEachRow(rows, []any{&asMade, &table, &unfiltered, &columns}, func() error {
		exists = true
		if !asMade || !unfiltered {
			have["?"] = ""
		}
		if table != "" {
			have[table] = columns
		}
		return nil
	})
	return have, exists, err
}

func quoteTable(table string) string {
	schema, name, _ := strings.Cut(table, ".")
	return pgx.Identifier{schema, name}.Sanitize()
}
