package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What a statement comes to: the number of rows that it sees or writes, or
const refused = -1

// refusals are the SQLSTATEs of a refusal: insufficient_privilege, and what a
// view answers that takes no writes.
var refusals = []string{"42501", "55000", "42809"}

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
	tag, err := tx.Exec(t.Context(), sql, args...)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && slices.Contains(refusals, pgErr.Code) {
		return refused, pgErr.Message
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return int(tag.RowsAffected()), ""
}

// operation is a statement about the row of the user $1, and the rights that
// let its owner run it.
type operation struct {
	name, sql string
	needs     []string
	removes   bool // the row is removed first: the statement makes it
	noUser    bool // without $1
	foreign   int  // what it comes to with another's row, for one who has the rights
}

func operations(rel relation, r row) []operation {
	keys := strings.Fields(rel.keys)
	if len(keys) == 0 {
		keys = []string{"id"}
		if !slices.Contains(r.names, "id") {
			keys = r.names[:1]
		}
	}
	// An update that changes nothing: which column may change is TestColumns'.
	change := "user_id = user_id"
	if c := strings.Fields(rel.client); len(c) > 0 {
		change = fmt.Sprintf("%[1]s = %[1]s", c[len(c)-1])
	}
	return []operation{
		{name: "Select", sql: "select from " + r.table + " where user_id = $1", needs: []string{"select"}},
		{name: "Insert", sql: r.insert(), needs: []string{"insert"}, removes: true, foreign: refused},
		{name: "Update", sql: "update " + r.table + " set " + change + " where user_id = $1", needs: []string{"update"}},
		{name: "Delete", sql: "delete from " + r.table + " where user_id = $1", needs: []string{"delete"}},
		{name: "Truncate", sql: "truncate " + r.table + " cascade", needs: []string{"truncate"}, noUser: true, foreign: refused},
		{name: "UpsertOfHostedPostgREST", sql: r.upsert(keys, true), needs: []string{"insert", "update"}, foreign: refused},
		{name: "UpsertOfSupabaseLite", sql: r.upsert(keys, false), needs: []string{"insert", "update"}, foreign: refused},
	}
}

// actor is a role of the Data API, and one of the users whose row it is after.
type actor struct {
	name string
	conn *pgx.Conn
	role string
	user string
	may  func(relation, operation) int
}

func actors(alice, bob string, user, anon, service *pgx.Conn) []actor {
	lets := func(rel relation, op operation) bool {
		return !slices.ContainsFunc(op.needs, func(right string) bool { return !rel.lets(right) })
	}
	return []actor{
		{"Anon", anon, "anon", alice, func(relation, operation) int { return refused }},
		{"Own", user, "authenticated", alice, func(rel relation, op operation) int {
			if lets(rel, op) {
				return 1
			}
			return refused
		}},
		{"Others", user, "authenticated", bob, func(rel relation, op operation) int {
			if lets(rel, op) {
				return op.foreign
			}
			return refused
		}},
		{"Service", service, "service_role", bob, func(_ relation, op operation) int {
			if op.noUser {
				return 0
			}
			return 1
		}},
	}
}

// without removes a user's row as service_role, for a role to make it anew.
func without(rel relation, user, role string) []string {
	return []string{"set local role service_role",
		fmt.Sprintf("delete from public.%s where user_id = '%s'", rel.name, user), "set local role " + role}
}

// olderPolicies are what a project may have had, on every table: a permissive
// policy adds to those of the migrations.
var olderPolicies = map[string]string{
	"AsMigrated": "",
	"WithAnOlderPermissivePolicy": `create policy everyone on public.%[1]s for all using (true) with check (true);
		create policy signed_in on public.%[1]s for all to anon, authenticated using (true) with check (true)`,
}

// TestIsolation: every table, every role, every operation.
func TestIsolation(t *testing.T) {
	for name, older := range olderPolicies {
		t.Run(name, func(t *testing.T) {
			db, admin := migrated(t)
			alice, bob := db.NewUser(t).ID, db.NewUser(t).ID
			rows := seedAll(t, admin, alice, bob)
			if older != "" {
				for _, rel := range tables() {
					run(t, admin, fmt.Sprintf(older, rel.name))
				}
			}
			user := db.AsUser(t, alice)
			all := actors(alice, bob, user, db.AsAnon(t), db.AsService(t))
			for _, rel := range tables() {
				for _, op := range operations(rel, rows[rel.name]) {
					for _, who := range all {
						t.Run(rel.name+"/"+op.name+"/"+who.name, func(t *testing.T) {
							var before []string
							if op.removes {
								before = without(rel, who.user, who.role)
							}
							var args []any
							if !op.noUser {
								args = append(args, who.user)
							}
							if got, said := try(t, who.conn, before, op.sql, args...); got != who.may(rel, op) {
								t.Errorf("%s\n%d rows, want %d (%d is a refusal) %s", op.sql, got, who.may(rel, op), refused, said)
							}
						})
					}
				}
				t.Run(rel.name+"/SelectAllIsSelectOwn", func(t *testing.T) {
					if got := attempt(t, user, "select from "+rel.name); got != 1 {
						t.Errorf("%d rows, want 1", got)
					}
				})
			}
		})
	}
}

// TestViews: users see their own rows through them, and write nothing.
func TestViews(t *testing.T) {
	db, admin := migrated(t)
	alice, bob := db.NewUser(t).ID, db.NewUser(t).ID
	seedAll(t, admin, alice, bob)
	user, anon, service := db.AsUser(t, alice), db.AsAnon(t), db.AsService(t)
	for _, v := range views {
		if !isYet(v.name) {
			continue
		}
		first := catalogColumns(t, admin, "public."+v.name)[0].Name
		for name, sql := range map[string]string{
			"Insert": "insert into %[1]s (%[2]s) select %[2]s from %[1]s", "Update": "update %[1]s set %[2]s = %[2]s",
			"Delete": "delete from %[1]s", "Truncate": "truncate %[1]s",
		} {
			for who, conn := range map[string]*pgx.Conn{"Anon": anon, "Authenticated": user} {
				t.Run(v.name+"/"+name+"/"+who, func(t *testing.T) {
					if got := attempt(t, conn, fmt.Sprintf(sql, v.name, first)); got != refused {
						t.Errorf("%d rows, want a refusal", got)
					}
				})
			}
		}
		t.Run(v.name+"/Select/Anon", func(t *testing.T) {
			if got := attempt(t, anon, "select from "+v.name); got != refused {
				t.Errorf("%d rows, want a refusal", got)
			}
		})
		t.Run(v.name+"/Select/Authenticated", func(t *testing.T) {
			if got := attempt(t, user, "select from "+v.name); got == refused || v.rows && got != 1 {
				t.Errorf("%d rows, want 1", got)
			}
		})
		t.Run(v.name+"/Select/Service", func(t *testing.T) {
			if got := attempt(t, service, "select from "+v.name); got == refused || v.rows && got != 2 {
				t.Errorf("%d rows, want 2", got)
			}
		})
	}
}

// TestSchemaHelixIsClosed: every table in it, to every role of the Data API.
func TestSchemaHelixIsClosed(t *testing.T) {
	db, admin := migrated(t)
	user := db.NewUser(t)
	names := list(t, admin, `select oid::regclass::text from pg_class where relnamespace = 'helix'::regnamespace and relkind in ('r', 'p', 'v')`)
	for who, conn := range map[string]*pgx.Conn{"Anon": db.AsAnon(t), "Authenticated": db.AsUser(t, user.ID), "Service": db.AsService(t)} {
		for _, name := range names {
			column := pgx.Identifier{catalogColumns(t, admin, name)[0].Name}.Sanitize()
			for op, sql := range map[string]string{
				"Select": "select %[2]s from %[1]s", "Insert": "insert into %[1]s default values",
				"Update": "update %[1]s set %[2]s = %[2]s", "Delete": "delete from %[1]s", "Truncate": "truncate %[1]s cascade",
			} {
				t.Run(name+"/"+op+"/"+who, func(t *testing.T) {
					if got := attempt(t, conn, fmt.Sprintf(sql, name, column)); got != refused {
						t.Errorf("%d rows, want a refusal", got)
					}
				})
			}
		}
	}
}

// TestDeletedAccount leaves nothing behind, in any table that knows of users.
func TestDeletedAccount(t *testing.T) {
	db, admin := migrated(t)
	user := db.NewUser(t).ID
	seedAll(t, admin, user)
	// The inbox tells helixd of the deleted rows, and forgets them with that.
	kept := []string{"helix.inbox"}
	names := list(t, admin, `select c.oid::regclass::text from pg_class c join pg_attribute on attrelid = c.oid
		where relnamespace in ('public'::regnamespace, 'helix'::regnamespace) and relkind in ('r', 'p') and attname = 'user_id'`)
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(kept, name) })
	for _, name := range names {
		if strings.HasPrefix(name, "helix.") {
			r := minimalRow(catalogColumns(t, admin, name), name, nil, nil)
			if _, err := admin.Exec(t.Context(), r.insert(), user); err != nil {
				t.Fatalf("%s: %v", r.insert(), err)
			}
		}
		if n := get[int](t, admin, "select count(*) from "+name+" where user_id = $1", user); n == 0 {
			t.Errorf("%s has no row before", name)
		}
	}
	db.Exec(t, "supabase_auth_admin", "delete from auth.users")
	for _, name := range names {
		if n := get[int](t, admin, "select count(*) from "+name); n != 0 {
			t.Errorf("%d rows of %s are left", n, name)
		}
	}
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
