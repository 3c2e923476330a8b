package migrations_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// column is one of a table, as the catalog has it.
type column struct {
	Name, Type string
	Required   bool // not null, and without a default
}

// catalogColumns gives the columns that can be written, in their order.
func catalogColumns(t *testing.T, conn *pgx.Conn, name string) []column {
	t.Helper()
	rows, err := conn.Query(t.Context(), `select attname, format_type(atttypid, null), attnotnull and not atthasdef
		from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attidentity = '' order by attnum`, name)
	if err != nil {
		t.Fatal(err)
	}
	cols, err := pgx.CollectRows(rows, pgx.RowToStructByPos[column])
	if err != nil || len(cols) == 0 {
		t.Fatalf("columns of %s: %v, %v", name, cols, err)
	}
	return cols
}

// row is one that belongs to the user $1. Its id is that user's too, and so is
// everything else that is a uuid: a reference finds the row of the same user.
type row struct {
	table         string
	names, values []string
}

// minimalRow gives the row of a table: its id, its user_id, its keys, what the table
// cannot be without, and what seed has.
func minimalRow(cols []column, table string, keys []string, seed map[string]string) row {
	r := row{table: table}
	for _, c := range cols {
		sql, seeded := seed[c.Name]
		if !seeded && !c.Required && c.Name != "id" && c.Name != "user_id" && !slices.Contains(keys, c.Name) {
			continue
		}
		if !seeded {
			sql = anySQL(c)
		}
		r.names, r.values = append(r.names, c.Name), append(r.values, sql)
	}
	return r
}

// anySQL is a value for a column of which nothing but its type is known.
func anySQL(c column) string {
	switch base := strings.TrimSuffix(c.Type, "[]"); {
	case base != c.Type:
		return fmt.Sprintf("'{}'::%s", c.Type)
	case base == "uuid":
		return "$1::uuid"
	case base == "jsonb" || base == "json":
		return "'{}'"
	case strings.HasPrefix(base, "timestamp") || base == "date":
		return "now()"
	case base == "boolean":
		return "false"
	case base == "bytea":
		return `'\x'`
	case base == "pg_lsn":
		return "'0/0'"
	case base == "text" || strings.HasPrefix(base, "character"):
		return "'x'"
	default:
		return "1" // a number
	}
}

// otherSQL is a value that differs from the one that the column has, or from
// null. Clients that are not let will not get so far that it must make sense.
func otherSQL(c column) string {
	name := pgx.Identifier{c.Name}.Sanitize()
	switch base := strings.TrimSuffix(c.Type, "[]"); {
	case base != c.Type && base == "uuid":
		return "array[gen_random_uuid()]"
	case base != c.Type:
		return fmt.Sprintf("array['1']::%s", c.Type)
	case base == "uuid":
		return "gen_random_uuid()"
	case base == "jsonb" || base == "json":
		return fmt.Sprintf(`'{"forged": true}'::%s`, base)
	case strings.HasPrefix(base, "timestamp") || base == "date":
		return "timestamp '2001-01-01'"
	case base == "boolean":
		return fmt.Sprintf("not coalesce(%s, false)", name)
	case base == "bytea":
		return `'\xff'::bytea`
	case base == "tsvector":
		return "'forged'::tsvector"
	case strings.Contains(base, "vector"):
		return "array_fill(1, array[1536])::real[]::extensions.vector"
	case base == "text" || strings.HasPrefix(base, "character"):
		return fmt.Sprintf("coalesce(%s, '') || 'forged'", name)
	default:
		return fmt.Sprintf("coalesce(%s, 0) + 1", name)
	}
}

// with gives the row with one more value, or another one.
func (r row) with(name, sql string) row {
	r.names, r.values = slices.Clone(r.names), slices.Clone(r.values)
	if i := slices.Index(r.names, name); i >= 0 {
		r.values[i] = sql
	} else {
		r.names, r.values = append(r.names, name), append(r.values, sql)
	}
	return r
}

func (r row) insert() string {
	return fmt.Sprintf("insert into %s (%s) values (%s)", r.table, strings.Join(quoted(r.names), ", "), strings.Join(r.values, ", "))
}

// upsert is what PostgREST makes of an upsert that names keys in onConflict. A
// hosted project's sets every column that was sent, supabase-lite's leaves the
// keys out.
func (r row) upsert(keys []string, setKeys bool) string {
	var set []string
	for _, name := range r.names {
		if setKeys || !slices.Contains(keys, name) {
			q := pgx.Identifier{name}.Sanitize()
			set = append(set, q+" = excluded."+q)
		}
	}
	then := "nothing"
	if len(set) > 0 {
		then = "update set " + strings.Join(set, ", ")
	}
	return fmt.Sprintf("%s on conflict (%s) do %s", r.insert(), strings.Join(quoted(keys), ", "), then)
}

func quoted(names []string) []string {
	var q []string
	for _, name := range names {
		q = append(q, pgx.Identifier{name}.Sanitize())
	}
	return q
}

// seedAll makes a row of each of the users in each table.
func seedAll(t *testing.T, admin *pgx.Conn, users ...string) map[string]row {
	t.Helper()
	rows := map[string]row{}
	for _, rel := range contract {
		r := minimalRow(catalogColumns(t, admin, "public."+rel.name), "public."+rel.name, strings.Fields(rel.keys), rel.seed)
		rows[rel.name] = r
		for _, user := range users {
			if _, err := admin.Exec(t.Context(), r.insert(), user); err != nil {
				t.Fatalf("%s: %v", r.insert(), err)
			}
		}
	}
	return rows
}
