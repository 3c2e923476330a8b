package triggers_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const note = "11111111-1111-4111-8111-111111111111"

// migrated is a database with helixd's schema and a signed-in user.
func migrated(t *testing.T) (db *testenv.Database, admin *pgx.Conn, user testenv.User, app *pgx.Conn) {
	t.Helper()
	db = testenv.New(t)
	admin = db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	user = db.NewUser(t)
	return db, admin, user, db.AsUser(t, user.ID)
}

func exec(t *testing.T, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%.200s: %v", sql, err)
	}
}

func get[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

// The SQLSTATEs of refusals.
const (
	notNull = "23502"
	check   = "23514"
	denied  = "42501"
)

// refuses checks that a statement fails with a SQLSTATE, and names a column.
func refuses(t *testing.T, conn *pgx.Conn, code, names, sql string, args ...any) {
	t.Helper()
	_, err := conn.Exec(t.Context(), sql, args...)
	var pgErr *pgconn.PgError
	switch {
	case !errors.As(err, &pgErr) || pgErr.Code != code:
		t.Errorf("%.200s: error %v, want SQLSTATE %s", sql, err, code)
	case !strings.Contains(pgErr.Message, names):
		t.Errorf("%.200s: error %q does not name %s", sql, pgErr.Message, names)
	case code == check && pgErr.ColumnName != names:
		t.Errorf("%.200s: the error's column is %q, want %s", sql, pgErr.ColumnName, names)
	}
}

func TestSyncStateRefuses(t *testing.T) {
	_, _, _, app := migrated(t)
	const insert = "insert into sync_state (entity_type, entity_id, device_id%s) values (%s)"
	for _, tt := range []struct{ name, columns, values, code, names string }{
		{"NullEntityType", "", "null, '" + note + "', 'phone'", notNull, "entity_type"},
		{"NullEntityID", "", "'note', null, 'phone'", notNull, "entity_id"},
		{"NullDeviceID", "", "'note', '" + note + "', null", notNull, "device_id"},
		{"EmptyEntityType", "", "'', '" + note + "', 'phone'", check, "entity_type"},
		{"EmptyDeviceID", "", "'note', '" + note + "', ''", check, "device_id"},
		{"LongEntityType", "", "repeat('é', 201), '" + note + "', 'phone'", check, "entity_type"},
		{"LongDeviceID", "", "'note', '" + note + "', repeat('é', 201)", check, "device_id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refuses(t, app, tt.code, tt.names, fmt.Sprintf(insert, tt.columns, tt.values))
		})
	}
	exec(t, app, fmt.Sprintf(insert, "", "'note', '"+note+"', 'phone'"))
	for _, tt := range []struct{ name, column, value string }{
		{"ClockArray", "vector_clock", `'[{"phone": 1}]'`},
		{"ClockString", "vector_clock", `'"phone"'`},
		{"ClockNumber", "vector_clock", `'3'`},
		{"ClockJSONNull", "vector_clock", `'null'`},
		{"CounterNegative", "vector_clock", `'{"laptop": 1, "phone": -1}'`},
		{"CounterFractional", "vector_clock", `'{"phone": 1.5}'`},
		{"CounterBarelyFractional", "vector_clock", `'{"phone": 3.00000000000000000001}'`},
		{"CounterOver2To53", "vector_clock", `'{"phone": 9007199254740992}'`},
		{"CounterHuge", "vector_clock", `'{"phone": 1e400}'`},
		{"CounterString", "vector_clock", `'{"phone": "1"}'`},
		{"CounterNull", "vector_clock", `'{"phone": null}'`},
		{"CounterBoolean", "vector_clock", `'{"phone": true}'`},
		{"CounterObject", "vector_clock", `'{"phone": {}}'`},
		{"CounterArray", "vector_clock", `'{"phone": [1]}'`},
		{"CounterEmptyArray", "vector_clock", `'{"phone": []}'`},
		{"CounterAmongGoodOnes", "vector_clock", `'{"a": 1, "b": [2], "c": 3}'`},
		{"NestedNegative", "vector_clock", `'{"clocks": {"phone": -1}}'`},
		{"NestedArrayCounter", "vector_clock", `'{"clocks": {"phone": [1]}}'`},
		{"ClocksArray", "vector_clock", `'{"clocks": [{"phone": 1}]}'`},
		{"ClockOver1MB", "vector_clock", `(select jsonb_object_agg(repeat('d', 100) || n, n) from generate_series(1, 10000) n)`},
		{"DataOver16MB", "data", `jsonb_build_object('text', repeat('x', 16 * 1024 * 1024))`},
		{"LastModifiedInfinite", "last_modified", `'infinity'`},
		{"LastModifiedMinusInfinite", "last_modified", `'-infinity'`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Run("Insert", func(t *testing.T) {
				refuses(t, app, check, tt.column, fmt.Sprintf(insert, ", "+tt.column, "'note', '"+note+"', 'laptop', "+tt.value))
			})
			t.Run("Update", func(t *testing.T) {
				refuses(t, app, check, tt.column, fmt.Sprintf("update sync_state set %s = %s", tt.column, tt.value))
			})
			t.Run("Upsert", func(t *testing.T) {
				refuses(t, app, check, tt.column, fmt.Sprintf(insert, ", "+tt.column, "'note', '"+note+"', 'phone', "+tt.value)+
					fmt.Sprintf(" on conflict (user_id, entity_type, entity_id, device_id) do update set %s = excluded.%[1]s", tt.column))
			})
		})
	}
	t.Run("NothingWasWritten", func(t *testing.T) {
		if got := get[string](t, app, "select string_agg(device_id || vector_clock::text || coalesce(data::text, ''), ' ') from sync_state"); got != "phone{}" {
			t.Errorf("rows %s", got)
		}
	})
}

func TestSyncStateAccepts(t *testing.T) {
	_, _, user, app := migrated(t)
	const upsert = `insert into sync_state (entity_type, entity_id, device_id, %s) values ('note', '` + note + `', 'phone', %s)
		on conflict (user_id, entity_type, entity_id, device_id) do update set %[1]s = excluded.%[1]s`
	for _, tt := range []struct{ name, column, value string }{
		{"FlatClock", "vector_clock", `'{"phone": 3, "laptop": 1}'`},
		{"NestedClock", "vector_clock", `'{"clocks": {"phone": 3, "laptop": 1}}'`},
		{"DeviceNamedClocks", "vector_clock", `'{"clocks": 3, "laptop": 1}'`},
		{"EmptyClock", "vector_clock", `'{}'`},
		{"ZeroCounter", "vector_clock", `'{"phone": 0}'`},
		{"LargestCounter", "vector_clock", `'{"phone": 9007199254740991}'`},
		{"WholeCounterWithScale", "vector_clock", `'{"phone": 3.0}'`},
		{"TenThousandDevices", "vector_clock", `(select jsonb_object_agg('device-' || n, n) from generate_series(1, 10000) n)`},
		{"TenMB", "data", `jsonb_build_object('text', repeat('x', 10 * 1024 * 1024))`},
		{"JSONNull", "data", `'null'`},
		{"SQLNull", "data", `null`},
		{"LongAgo", "last_modified", `'4000-01-01 BC'`},
		{"FarAhead", "last_modified", `'9999-12-31'`}, // the merge bounds it
	} {
		t.Run(tt.name, func(t *testing.T) {
			exec(t, app, fmt.Sprintf(upsert, tt.column, tt.value))
			if !get[bool](t, app, fmt.Sprintf("select %s is not distinct from %s from sync_state", tt.column, tt.value)) {
				t.Error("another value was stored")
			}
		})
	}
	t.Run("TwoHundredCharacters", func(t *testing.T) {
		exec(t, app, "insert into sync_state (entity_type, entity_id, device_id) values (repeat('é', 200), '"+note+"', repeat('é', 200))")
	})
	// supabase-js sends NULL for what a row of a bulk insert leaves out.
	t.Run("NullIsTheDefault", func(t *testing.T) {
		const sound = `select id is not null and user_id = $1 and vector_clock = '{}' and last_modified = now() and not deleted and created_at = now()
			from sync_state where device_id = 'bulk'`
		tx, err := app.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		exec(t, app, `insert into sync_state (entity_type, entity_id, device_id, id, user_id, vector_clock, last_modified, deleted, created_at)
			values ('note', $1, 'bulk', null, null, null, null, null, null)`, note)
		if !get[bool](t, app, sound, user.ID) {
			t.Error("inserted NULLs are not the defaults")
		}
		exec(t, app, `update sync_state set vector_clock = null, last_modified = null, deleted = null, created_at = null where device_id = 'bulk'`)
		if !get[bool](t, app, sound, user.ID) {
			t.Error("updated NULLs are not the defaults")
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("NullUserOfTheServiceIsNamed", func(t *testing.T) {
		db, _, _, _ := migrated(t)
		refuses(t, db.AsService(t), notNull, "user_id", "insert into sync_state (entity_type, entity_id, device_id) values ('note', $1, 'phone')", note)
	})
}

func TestSyncStateKeysStay(t *testing.T) {
	db, admin, user, app := migrated(t)
	other := db.NewUser(t)
	exec(t, app, "insert into sync_state (entity_type, entity_id, device_id) values ('note', $1, 'phone')", note)
	for column, value := range map[string]string{
		"id": "gen_random_uuid()", "user_id": "'" + other.ID + "'", "entity_type": "'task'",
		"entity_id": "gen_random_uuid()", "device_id": "'laptop'",
	} {
		t.Run(column, func(t *testing.T) {
			sql := fmt.Sprintf("update sync_state set %s = %s", column, value)
			refuses(t, app, denied, "sync_state."+column+" ", sql)
			refuses(t, app, denied, "sync_state."+column+" ", fmt.Sprintf("update sync_state set %s = null", column))
			exec(t, app, fmt.Sprintf("update sync_state set %s = %[1]s", column)) // as an upsert with its keys in SET does
			for who, conn := range map[string]*pgx.Conn{"service_role": db.AsService(t), "the owner": admin} {
				tx, err := conn.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(t.Context(), sql); err != nil {
					t.Errorf("%s: %v", who, err)
				}
				if err := tx.Rollback(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	if got := get[string](t, app, "select user_id::text from sync_state"); got != user.ID {
		t.Errorf("the row belongs to %s", got)
	}
}

func TestSyncConflictsGuard(t *testing.T) {
	db, admin, user, app := migrated(t)
	other := db.NewUser(t)
	exec(t, admin, `insert into sync_conflicts (user_id, entity_type, entity_id, versions, strategy, kind, resolved)
		select $1, 'note', gen_random_uuid(), '[]', strategy, 'concurrent', resolved
		from (values ('manual', false), ('manual', true), ('merge', false), ('last_write_wins', true)) as v (strategy, resolved)`, user.ID)
	for column, value := range map[string]string{
		"id": "gen_random_uuid()", "user_id": "'" + other.ID + "'", "entity_type": "'task'", "entity_id": "gen_random_uuid()",
		"versions": "'[1]'", "strategy": "'merge'", "kind": "'fork'", "resolved": "true", "created_at": "now() - interval '1 day'", "resolved_at": "now()",
	} {
		t.Run(column, func(t *testing.T) {
			refuses(t, app, denied, "sync_conflicts."+column+" ", fmt.Sprintf(
				"update sync_conflicts set %s = %s where strategy = 'manual' and not resolved", column, value))
			exec(t, app, fmt.Sprintf("update sync_conflicts set %s = %[1]s, resolution = resolution", column))
		})
	}
	t.Run("EveryColumnIsTested", func(t *testing.T) {
		if n := get[int](t, admin, "select count(*) from information_schema.columns where table_name = 'sync_conflicts'"); n != 11 {
			t.Errorf("%d columns; ten and resolution are tested", n)
		}
	})
	for _, tt := range []struct{ name, where string }{
		{"ResolutionOfResolved", "strategy = 'manual' and resolved"},
		{"ResolutionOfMerge", "strategy = 'merge'"},
		{"ResolutionOfLastWriteWins", "strategy = 'last_write_wins'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			refuses(t, app, denied, "sync_conflicts.resolution ", "update sync_conflicts set resolution = '{}' where "+tt.where)
		})
	}
	t.Run("ResolutionOfOpenManual", func(t *testing.T) {
		exec(t, app, `update sync_conflicts set resolution = '{"data": 1}' where strategy = 'manual' and not resolved`)
		if got := get[int](t, admin, `select count(*) from sync_conflicts where resolution = '{"data": 1}'`); got != 1 {
			t.Errorf("%d rows have the resolution, want 1", got)
		}
	})
	t.Run("ServiceMayAll", func(t *testing.T) {
		exec(t, db.AsService(t), "update sync_conflicts set resolved = true, resolved_at = now(), resolution = '{}'")
	})
}
