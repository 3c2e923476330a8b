package migrations_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/testenv"
)

// What a statement comes to: the number of rows that it sees or writes, or
const refused = -1

// refusals are the SQLSTATEs of a refusal: insufficient_privilege, what a view
// answers that takes no writes, and COPY FROM into a table with row-level security.
var refusals = []string{"42501", "55000", "42809", "0A000"}

// attempt runs a statement and undoes it.
func attempt(t *testing.T, conn *pgx.Conn, sql string, args ...any) int {
	t.Helper()
	n, _ := try(t, conn, nil, sql, args...)
	return n
}

// try runs a statement and undoes it, and what came before it. It gives the
// message of a refusal.
func try(t *testing.T, conn *pgx.Conn, before []string, sql string, args ...any) (int, string) {
	t.Helper()
	return tryAs(t, conn, refusals, before, sql, args...)
}

// tryAs is try, of one whose refusals have other SQLSTATEs.
func tryAs(t *testing.T, conn *pgx.Conn, refusals, before []string, sql string, args ...any) (int, string) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // undoing is all it does
	for _, sql := range before {
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	var tag pgconn.CommandTag
	switch {
	case !strings.HasPrefix(sql, "copy "):
		tag, err = tx.Exec(t.Context(), sql, args...)
	case strings.HasSuffix(sql, " to stdout"):
		tag, err = conn.PgConn().CopyTo(t.Context(), io.Discard, sql)
	default:
		tag, err = conn.PgConn().CopyFrom(t.Context(), strings.NewReader(""), sql)
	}
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && slices.Contains(refusals, pgErr.Code) {
		return refused, pgErr.Message
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return int(tag.RowsAffected()), ""
}

// without removes a user's row as service_role, for a role to make it anew.
func without(table, user, role string) []string {
	return []string{"set local role service_role",
		fmt.Sprintf("delete from public.%s where user_id = '%s'", table, user), "set local role " + role}
}

// olderPolicies are what a project may have had, on every table: a permissive
// policy adds to those of the migrations.
const olderPolicies = `create policy everyone on public.%[1]s for all using (true) with check (true);
	create policy signed_in on public.%[1]s for all to anon, authenticated using (true) with check (true);`

// projects are the ones that are held against the contract.
var projects = map[string]func(t *testing.T) (*testenv.Database, *pgx.Conn){
	"AsMigrated": func(t *testing.T) (*testenv.Database, *pgx.Conn) { return migrated(t) },
	"WithAnOlderPermissivePolicy": func(t *testing.T) (*testenv.Database, *pgx.Conn) {
		db, admin := migrated(t)
		for _, rel := range contract {
			run(t, admin, fmt.Sprintf(olderPolicies, rel.name))
		}
		return db, admin
	},
	// Its tables, their policies and rights for all were there before helixd, and rows of which some move aside.
	"Adopted": func(t *testing.T) (*testenv.Database, *pgx.Conn) {
		db := testenv.New(t)
		admin := db.Connect(t, "postgres")
		run(t, admin, existing)
		for _, name := range existingTables {
			run(t, admin, fmt.Sprintf("alter table %[1]s enable row level security; grant all on %[1]s to anon, authenticated, public;"+olderPolicies, name))
		}
		run(t, admin, strings.ReplaceAll(fill, "$1", "'"+db.NewUser(t).ID+"'"))
		up(t, admin)
		return db, admin
	},
}

// TestIsolation holds every table of schema public, as the catalog has them,
// against outcomes. With -v it prints what each operation came to.
func TestIsolation(t *testing.T) {
	columns, lines := cells(t, outcomes)
	for name, project := range projects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, admin := project(t)
			run(t, admin, "create schema theirs; grant all on schema theirs to public")
			alice, bob := db.NewUser(t).ID, db.NewUser(t).ID
			rows := seedAll(t, admin, alice, bob)
			all := askers(t, db, alice, bob)
			var matrix strings.Builder
			for _, table := range list(t, admin, "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'm', 'f')") {
				rel, r, heir := relationOf(t, table, rows)
				cols := slices.DeleteFunc(catalogColumns(t, admin, "public."+table), func(c column) bool { return c.Name == "mood" }) // the project's own
				fmt.Fprintf(&matrix, "%s\n", table)
				for _, line := range lines {
					came := map[string]string{}
					for _, who := range all {
						another := bob
						if who.user == bob {
							another = alice
						}
						sql, has := statements(rel, r, cols, who, another)[line[0]]
						if !has || heir && strings.HasPrefix(line[0], "Upsert") { // it has no key
							continue
						}
						want := wanted(rel, line[1], who.column, line[slices.Index(columns, who.column)])
						if heir {
							want = "-" // not even service_role: its rows are reached through their table
						}
						var before []string
						if strings.HasPrefix(sql, "insert") && line[0] != "UpsertHosted" && line[0] != "UpsertLite" {
							before = without(strings.TrimSuffix(table, "_adopted"), who.user, who.role)
						}
						sql = strings.ReplaceAll(sql, "$1", "'"+who.user+"'")
						n, said := tryAs(t, who.conn, slices.Concat(refusals, who.also), before, sql)
						got := strings.Replace(strconv.Itoa(n), strconv.Itoa(refused), "-", 1)
						came[who.column] = got
						if got != want {
							t.Errorf("%s, %s, %s: %s, want %s\n%s\n%s", table, line[0], who.column, got, want, sql, said)
						}
					}
					fmt.Fprintf(&matrix, "  %-16s", line[0])
					for _, column := range columns[2:] {
						fmt.Fprintf(&matrix, " %*s", len(column), cmp.Or(came[column], "."))
					}
					matrix.WriteByte('\n')
				}
				if n := attempt(t, all[1].conn, "select from "+r.table+" where user_id is not null"); n != 1 && rel.lets("select") {
					t.Errorf("a user sees %d rows of %s in all, want their own", n, table)
				}
			}
			t.Logf("\n%18s %s\n%s", "", strings.Join(columns[2:], " "), &matrix)
		})
	}
}

// relationOf finds a table of the catalog in the contract. Of an adopted table one
// inherits what had the same key, and is the table's business.
func relationOf(t *testing.T, table string, rows map[string]row) (rel relation, r row, heir bool) {
	t.Helper()
	parent := strings.TrimSuffix(table, "_adopted")
	i := slices.IndexFunc(contract, func(rel relation) bool { return rel.name == parent })
	if i < 0 {
		t.Fatalf("table %s is in no contract: say in contract who may do what with it", table)
	}
	rel, r = contract[i], rows[parent]
	if table != parent {
		rel.closed, r.table, heir = true, "public."+table, true
	}
	return rel, r, heir
}

// TestReads holds every view and function of schema public against reads, and
// lets nobody write through a view.
func TestReads(t *testing.T) {
	db, admin := migrated(t)
	run(t, admin, "create schema theirs; grant all on schema theirs to public")
	alice, bob := db.NewUser(t).ID, db.NewUser(t).ID
	seedAll(t, admin, alice, bob)
	run(t, admin, "update voice_recordings set transcript = 'by the river'")
	columns, lines := cells(t, reads)
	all := askers(t, db, alice, bob)
	names := list(t, admin, `select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind = 'v'
		union select proname::text from pg_proc where pronamespace = 'public'::regnamespace`)
	for _, name := range names {
		if _, has := readSQL[name]; !has {
			t.Errorf("%s is in no contract: say in reads what it gives to whom", name)
		}
	}
	for _, line := range lines {
		for _, who := range all {
			t.Run(line[0]+"/"+who.column, func(t *testing.T) {
				var before []string
				if line[0] == "public_skills" {
					before = []string{"set local role service_role", "update skills set visibility = 'public' where id = '" + bob + "'", "set local role " + who.role}
				}
				sql := strings.ReplaceAll(readSQL[line[0]], "$1", "'"+who.user+"'")
				n, said := tryAs(t, who.conn, slices.Concat(refusals, who.also, []string{noSkill}), before, sql)
				got := strings.Replace(strconv.Itoa(n), strconv.Itoa(refused), "-", 1)
				if want := line[slices.Index(columns, who.column)]; got != want {
					t.Errorf("%s: %s, want %s: %s", sql, got, want, said)
				}
			})
		}
	}
	for _, v := range views {
		first := quoted([]string{catalogColumns(t, admin, "public."+v.name)[0].Name})[0]
		for op, sql := range map[string]string{
			"Insert": "insert into %[1]s (%[2]s) select %[2]s from %[1]s", "Update": "update %[1]s set %[2]s = %[2]s",
			"Delete": "delete from %[1]s", "Truncate": "truncate %[1]s", "SelectForUpdate": "select from %[1]s for update",
			"Upsert":   "insert into %[1]s (%[2]s) select %[2]s from %[1]s on conflict do nothing",
			"CopyFrom": "copy %[1]s from stdin", "References": "create table theirs.its (id uuid references %[1]s)",
			"Trigger": "create trigger its instead of update on %[1]s for each row execute function pg_catalog.suppress_redundant_updates_trigger()",
		} {
			for _, who := range all {
				t.Run(v.name+"/"+op+"/"+who.column, func(t *testing.T) {
					if got := attempt(t, who.conn, fmt.Sprintf(sql, v.name, first)); got != refused {
						t.Errorf("%d rows, want a refusal", got)
					}
				})
			}
		}
	}
}

// TestSchemaHelixIsClosed: every table and function in it, to every role of the
// Data API.
func TestSchemaHelixIsClosed(t *testing.T) {
	db, admin := migrated(t)
	user := db.NewUser(t)
	names := list(t, admin, `select oid::regclass::text from pg_class where relnamespace = 'helix'::regnamespace and relkind in ('r', 'p', 'v', 'S')`)
	calls := list(t, admin, `select case prokind when 'p' then 'call ' else 'select ' end || pronamespace::regnamespace || '.' || quote_ident(proname) || '(' ||
			coalesce((select string_agg('null::' || format_type(type, null), ', ' order by n) from unnest(proargtypes::oid[]) with ordinality a (type, n)), '') || ')'
		from pg_proc where pronamespace = 'helix'::regnamespace`)
	for who, conn := range map[string]*pgx.Conn{"Anon": db.AsAnon(t), "Authenticated": db.AsUser(t, user.ID), "Service": db.AsService(t)} {
		for _, name := range names {
			column := quoted([]string{firstColumn(t, admin, name)})[0]
			for op, sql := range map[string]string{
				"Select": "select %[2]s from %[1]s", "Insert": "insert into %[1]s default values",
				"Update": "update %[1]s set %[2]s = %[2]s", "Delete": "delete from %[1]s", "Truncate": "truncate %[1]s cascade",
				"SelectForUpdate": "select %[2]s from %[1]s for update", "CopyTo": "copy (select 1 from %[1]s) to stdout", "CopyFrom": "copy %[1]s from stdin",
			} {
				t.Run(name+"/"+op+"/"+who, func(t *testing.T) {
					if got := attempt(t, conn, fmt.Sprintf(sql, name, column)); got != refused {
						t.Errorf("%d rows, want a refusal", got)
					}
				})
			}
		}
		for _, sql := range calls {
			t.Run(sql+"/"+who, func(t *testing.T) {
				if got := attempt(t, conn, sql); got != refused {
					t.Errorf("%d rows, want a refusal", got)
				}
			})
		}
	}
}

func firstColumn(t *testing.T, conn *pgx.Conn, name string) string {
	t.Helper()
	return get[string](t, conn, "select attname::text from pg_attribute where attrelid = $1::regclass and attnum = 1", name)
}

func list(t *testing.T, conn *pgx.Conn, sql string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql+" order by 1")
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return all
}
