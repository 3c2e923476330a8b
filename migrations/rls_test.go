package migrations_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What a statement comes to: the number of rows that it sees or writes, or
const refused = -1 // with SQLSTATE 42501

// attempt runs a statement and undoes it.
func attempt(t *testing.T, conn *pgx.Conn, sql string, args ...any) int {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // undoing is all it does
	tag, err := tx.Exec(t.Context(), sql, args...)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == "42501" {
		return refused
	}
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return int(tag.RowsAffected())
}

// operation is a statement about the row of the user $1. The key columns of an
// upsert are in SET where PostgREST is a hosted project's, and not where it is
// supabase-lite's.
type operation struct{ name, sql string }

// table has one row of each of two users.
type table struct {
	name       string
	seed       string // the row of user $1
	operations []operation
	own, other map[string]int // what a signed-in user may do
}

var tables = []table{
	{
		name: "sync_state",
		seed: `insert into sync_state (user_id, entity_type, entity_id, device_id) values ($1, 'note', $1, 'phone')`,
		operations: []operation{
			{"Select", `select from sync_state where user_id = $1`},
			{"Insert", `insert into sync_state (user_id, entity_type, entity_id, device_id) values ($1, 'note', $1, 'laptop')`},
			{"Update", `update sync_state set data = '{}' where user_id = $1`},
			{"Delete", `delete from sync_state where user_id = $1`},
			{"Truncate", `truncate sync_state`},
			{"UpsertWithKeys", `insert into sync_state (user_id, entity_type, entity_id, device_id, data) values ($1, 'note', $1, 'phone', '{}')
				on conflict (user_id, entity_type, entity_id, device_id) do update set user_id = excluded.user_id,
				entity_type = excluded.entity_type, entity_id = excluded.entity_id, device_id = excluded.device_id, data = excluded.data`},
			{"UpsertWithoutKeys", `insert into sync_state (user_id, entity_type, entity_id, device_id, data) values ($1, 'note', $1, 'phone', '{}')
				on conflict (user_id, entity_type, entity_id, device_id) do update set data = excluded.data`},
		},
		own: map[string]int{"Select": 1, "Insert": 1, "Update": 1, "Delete": 1, "Truncate": refused, "UpsertWithKeys": 1, "UpsertWithoutKeys": 1},
		other: map[string]int{"Select": 0, "Insert": refused, "Update": 0, "Delete": 0, "Truncate": refused,
			"UpsertWithKeys": refused, "UpsertWithoutKeys": refused},
	},
	{
		name: "sync_entities",
		seed: `insert into sync_entities (user_id, entity_type, entity_id, vector_clock, last_modified, resolution, revision, updated_at, device_id, content_hash)
			values ($1, 'note', $1, '{}', now(), 'none', 1, now(), 'phone', '')`,
		operations: []operation{
			{"Select", `select from sync_entities where user_id = $1`},
			{"Insert", `insert into sync_entities (user_id, entity_type, entity_id, vector_clock, last_modified, resolution, revision, updated_at, device_id, content_hash)
				values ($1, 'other', $1, '{}', now(), 'none', 1, now(), 'phone', '')`},
			{"Update", `update sync_entities set data = '{}' where user_id = $1`},
			{"Delete", `delete from sync_entities where user_id = $1`},
			{"Truncate", `truncate sync_entities`},
			{"UpsertWithKeys", `insert into sync_entities (user_id, entity_type, entity_id, vector_clock, last_modified, resolution, revision, updated_at, device_id, content_hash)
				values ($1, 'note', $1, '{}', now(), 'none', 1, now(), 'phone', '')
				on conflict (user_id, entity_type, entity_id) do update set user_id = excluded.user_id, entity_type = excluded.entity_type,
				entity_id = excluded.entity_id, revision = excluded.revision`},
			{"UpsertWithoutKeys", `insert into sync_entities (user_id, entity_type, entity_id, vector_clock, last_modified, resolution, revision, updated_at, device_id, content_hash)
				values ($1, 'note', $1, '{}', now(), 'none', 1, now(), 'phone', '')
				on conflict (user_id, entity_type, entity_id) do update set revision = excluded.revision`},
		},
		own: map[string]int{"Select": 1, "Insert": refused, "Update": refused, "Delete": refused, "Truncate": refused,
			"UpsertWithKeys": refused, "UpsertWithoutKeys": refused},
		other: map[string]int{"Select": 0, "Insert": refused, "Update": refused, "Delete": refused, "Truncate": refused,
			"UpsertWithKeys": refused, "UpsertWithoutKeys": refused},
	},
	{
		name: "sync_conflicts",
		seed: `insert into sync_conflicts (id, user_id, entity_type, entity_id, versions, strategy, kind) values ($1, $1, 'note', $1, '[]', 'manual', 'concurrent')`,
		operations: []operation{
			{"Select", `select from sync_conflicts where user_id = $1`},
			{"Insert", `insert into sync_conflicts (user_id, entity_type, entity_id, versions, strategy, kind) values ($1, 'note', $1, '[]', 'manual', 'concurrent')`},
			{"Update", `update sync_conflicts set resolution = '{}' where user_id = $1`},
			{"Delete", `delete from sync_conflicts where user_id = $1`},
			{"Truncate", `truncate sync_conflicts`},
			{"UpsertWithKeys", `insert into sync_conflicts (id, user_id, entity_type, entity_id, versions, strategy, kind, resolution)
				values ($1, $1, 'note', $1, '[]', 'manual', 'concurrent', '{}') on conflict (id) do update set id = excluded.id, resolution = excluded.resolution`},
			{"UpsertWithoutKeys", `insert into sync_conflicts (id, user_id, entity_type, entity_id, versions, strategy, kind, resolution)
				values ($1, $1, 'note', $1, '[]', 'manual', 'concurrent', '{}') on conflict (id) do update set resolution = excluded.resolution`},
		},
		own: map[string]int{"Select": 1, "Insert": refused, "Update": 1, "Delete": refused, "Truncate": refused,
			"UpsertWithKeys": refused, "UpsertWithoutKeys": refused},
		other: map[string]int{"Select": 0, "Insert": refused, "Update": 0, "Delete": refused, "Truncate": refused,
			"UpsertWithKeys": refused, "UpsertWithoutKeys": refused},
	},
}

func TestIsolation(t *testing.T) {
	for name, older := range map[string]string{
		"AsMigrated": "",
		"WithAnOlderPermissivePolicy": `create policy everyone on public.%s for all using (true) with check (true);
			create policy signed_in on public.%[1]s for all to anon, authenticated using (true) with check (true)`,
	} {
		t.Run(name, func(t *testing.T) {
			db, admin := migrated(t)
			alice, bob := db.NewUser(t), db.NewUser(t)
			for _, tab := range tables {
				for _, user := range []string{alice.ID, bob.ID} {
					if _, err := admin.Exec(t.Context(), tab.seed, user); err != nil {
						t.Fatal(err)
					}
				}
				if older != "" {
					run(t, admin, fmt.Sprintf(older, tab.name))
				}
			}
			anon, user, service := db.AsAnon(t), db.AsUser(t, alice.ID), db.AsService(t)
			for _, tab := range tables {
				t.Run(tab.name, func(t *testing.T) {
					for _, op := range tab.operations {
						all := 1
						var args []any
						if op.name == "Truncate" {
							all = 0
						} else {
							args = append(args, "")
						}
						check := func(who string, conn *pgx.Conn, whose string, id string, want int) {
							t.Run(op.name+"/"+who+"/"+whose, func(t *testing.T) {
								if args != nil {
									args[0] = id
								}
								if got := attempt(t, conn, op.sql, args...); got != want {
									t.Errorf("%d rows, want %d; %d is a refusal", got, want, refused)
								}
							})
						}
						check("Anon", anon, "Any", alice.ID, refused)
						check("Authenticated", user, "Own", alice.ID, tab.own[op.name])
						check("Authenticated", user, "Others", bob.ID, tab.other[op.name])
						check("Service", service, "Any", bob.ID, all)
					}
				})
			}
			t.Run("SelectAllIsSelectOwn", func(t *testing.T) {
				for _, tab := range tables {
					if got := attempt(t, user, "select from "+tab.name); got != 1 {
						t.Errorf("%s: %d rows, want 1", tab.name, got)
					}
				}
			})
		})
	}
}

// TestSchemaHelixIsClosed: every table in it, to every role of the Data API.
func TestSchemaHelixIsClosed(t *testing.T) {
	db, admin := migrated(t)
	user := db.NewUser(t)
	rows, err := admin.Query(t.Context(), `select c.relname, (select attname from pg_attribute where attrelid = c.oid and attnum = 1)
		from pg_class c where relnamespace = 'helix'::regnamespace and relkind in ('r', 'p', 'v')`)
	if err != nil {
		t.Fatal(err)
	}
	type target struct{ Table, Column string }
	targets, err := pgx.CollectRows(rows, pgx.RowToStructByPos[target])
	if err != nil || len(targets) < 6 {
		t.Fatalf("tables %v, %v", targets, err)
	}
	for who, conn := range map[string]*pgx.Conn{"Anon": db.AsAnon(t), "Authenticated": db.AsUser(t, user.ID), "Service": db.AsService(t)} {
		for _, x := range targets {
			for op, sql := range map[string]string{
				"Select": "select %[2]s from helix.%[1]s", "Insert": "insert into helix.%[1]s default values",
				"Update": "update helix.%[1]s set %[2]s = %[2]s", "Delete": "delete from helix.%[1]s",
				"Truncate": "truncate helix.%[1]s cascade",
			} {
				t.Run(x.Table+"/"+op+"/"+who, func(t *testing.T) {
					sql := fmt.Sprintf(sql, x.Table, pgx.Identifier{x.Column}.Sanitize())
					if got := attempt(t, conn, sql); got != refused {
						t.Errorf("%s: %d rows", sql, got)
					}
				})
			}
		}
	}
}

// TestDeletedAccount leaves nothing behind, whoever deletes it.
func TestDeletedAccount(t *testing.T) {
	db, admin := migrated(t)
	user := db.NewUser(t)
	for _, tab := range tables {
		if _, err := admin.Exec(t.Context(), tab.seed, user.ID); err != nil {
			t.Fatal(err)
		}
	}
	run(t, admin, fmt.Sprintf(`insert into helix.sync_siblings (user_id, entity_type, entity_id, version, device_id, clock, content_hash, last_modified, deleted)
			values ('%[1]s', 'note', gen_random_uuid(), '', '', '{}', '', now(), false);
		insert into helix.dead_letters (slot, reactor, table_name, op, key, user_id, lsn, ordinal, error, committed_at)
			values ('', '', '', '', '{}', '%[1]s', '0/0', 0, '', now())`, user.ID))
	db.Exec(t, "supabase_auth_admin", "delete from auth.users")
	for _, name := range []string{"sync_state", "sync_entities", "sync_conflicts", "helix.sync_siblings", "helix.dead_letters"} {
		if n := get[int](t, admin, "select count(*) from "+name); n != 0 {
			t.Errorf("%d rows of %s are left", n, name)
		}
	}
}
