package testenv_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv(ownerEnv) != "" {
		ownUntilKilled()
	}
	testenv.Main(m)
}

func TestNew(t *testing.T) {
	t.Run("Isolated", func(t *testing.T) {
		a, b := testenv.New(t), testenv.New(t)
		a.Exec(t, "postgres", "create table notes (id int)")
		b.Exec(t, "postgres", "create table notes (id int)")
		if a.SlotName("x") == b.SlotName("x") {
			t.Errorf("both databases would use slot %s", a.SlotName("x"))
		}
	})
	t.Run("DroppedWithItsSlots", func(t *testing.T) {
		other := testenv.New(t)
		var name, slot string
		t.Run("inner", func(t *testing.T) {
			db := testenv.New(t)
			name, slot = db.Name(), db.SlotName("main")
			db.Exec(t, "postgres", "select pg_create_logical_replication_slot($1, 'pgoutput')", slot)
			// Streams from the slot, and holds it, until it is ended.
			config, err := pgconn.ParseConfig(db.URL("postgres") + "&replication=database")
			if err != nil {
				t.Fatal(err)
			}
			conn, err := pgconn.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close(context.Background()) })
			db.Exec(t, "postgres", "create publication p")
			conn.Frontend().SendQuery(&pgproto3.Query{String: startReplication(slot)})
			if err := conn.Frontend().Flush(); err != nil {
				t.Fatal(err)
			}
			if _, err := conn.ReceiveMessage(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
		var left int
		err := other.Connect(t, "postgres").QueryRow(t.Context(), `
			select (select count(*) from pg_database where datname = $1) +
				(select count(*) from pg_replication_slots where slot_name = $2)`, name, slot).Scan(&left)
		if err != nil || left != 0 {
			t.Errorf("left behind: %d, %v", left, err)
		}
	})
	t.Run("SlotNamesAreValid", func(t *testing.T) {
		db := testenv.New(t)
		for _, suffix := range []string{"main", "With-Capitals", strings.Repeat("long", 40)} {
			db.Exec(t, "postgres", "select pg_create_logical_replication_slot($1, 'pgoutput')", db.SlotName(suffix))
		}
	})
	t.Run("Parallel", func(t *testing.T) {
		for _, name := range []string{"a", "b", "c", "d"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				testenv.New(t).Exec(t, "postgres", "create table notes (id int)")
			})
		}
	})
}

// Role postgres has the rights that a hosted project gives it, and no more.
func TestPostgresRole(t *testing.T) {
	db := testenv.New(t)
	conn := db.Connect(t, "postgres")

	t.Run("Attributes", func(t *testing.T) {
		var got struct{ super, repl, bypass, createRole, createDB bool }
		err := conn.QueryRow(t.Context(), `select rolsuper, rolreplication, rolbypassrls, rolcreaterole, rolcreatedb
			from pg_roles where rolname = current_user`).
			Scan(&got.super, &got.repl, &got.bypass, &got.createRole, &got.createDB)
		if err != nil {
			t.Fatal(err)
		}
		if got.super || !got.repl || !got.bypass || !got.createRole || !got.createDB {
			t.Errorf("attributes: %+v", got)
		}
	})
	for name, sql := range map[string]string{
		"Table":                 "create table notes (id uuid primary key, user_id uuid references auth.users (id) on delete cascade)",
		"Schema":                "create schema helix",
		"Vector":                "create table vectors (v vector(3)); create index on vectors using hnsw (v vector_cosine_ops)",
		"ExtensionThatExists":   "create extension if not exists vector",
		"Publication":           "create table published (id int, body text); create publication p for table published (id) where (id > 1)",
		"SupabasePublication":   "create table live (id int); alter publication supabase_realtime add table live",
		"Slot":                  "select pg_create_logical_replication_slot('" + db.SlotName("ok") + "', 'pgoutput')",
		"LogicalMessage":        "select pg_logical_emit_message(true, 'helix', 'x')",
		"ReadUsers":             "select id from auth.users",
		"TriggerOnUsers":        "create function f() returns trigger language plpgsql as 'begin return new; end'; create trigger t after insert on auth.users for each row execute function f()",
		"PolicyOnMessages":      "create policy p on realtime.messages for select to authenticated using (realtime.topic() = auth.uid()::text)",
		"PolicyOnObjects":       "create policy p on storage.objects for select to authenticated using (owner_id = auth.uid()::text)",
		"PgcryptoUnqualified":   "select gen_random_bytes(4), digest('x', 'sha256'), uuid_generate_v4()",
		"SeesAllSessions":       "select pg_stat_get_activity(null)",
		"BecomesAuthenticated":  "begin; set local role authenticated; commit",
		"StorageFunctions":      "do $$ begin assert storage.foldername('a/b/c.txt') = '{a,b}'; assert storage.filename('a/b/c.txt') = 'c.txt'; assert storage.extension('a/b/c.tar.gz') = 'gz'; end $$",
		"RealtimeSendAnyClient": "do $$ begin assert has_function_privilege('authenticated', 'realtime.send(jsonb, text, text, boolean)', 'execute'); end $$",
	} {
		t.Run("May"+name, func(t *testing.T) { db.Exec(t, "postgres", sql) })
	}
	for name, sql := range map[string]string{
		"PublishAllTables":  "create publication everything for all tables",
		"PublishSchema":     "create publication everything for tables in schema public",
		"ReplicationOrigin": "select pg_replication_origin_create('x')",
		"ListWAL":           "select pg_ls_waldir()",
		"AlterSystem":       "alter system set work_mem = '1MB'",
		"CreateInAuth":      "create table auth.mine (id int)",
		"CreateInRealtime":  "create table realtime.mine (id int)",
		"AlterUsers":        "alter table auth.users add column x int",
		"DeleteObjects":     "delete from storage.objects",
	} {
		t.Run("MayNot"+name, func(t *testing.T) {
			_, err := conn.Exec(t.Context(), sql)
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != "42501" {
				t.Errorf("error = %v, want insufficient privilege", err)
			}
		})
	}
	t.Run("MayNotPolicyOnceDenied", func(t *testing.T) {
		db, other := testenv.New(t), testenv.New(t)
		db.DenyRealtimePolicies(t)
		const policy = "create policy p on realtime.messages for select to authenticated using (true)"
		if _, err := db.Connect(t, "postgres").Exec(t.Context(), policy); err == nil {
			t.Error("the policy was made")
		}
		other.Exec(t, "postgres", policy) // one database only
		db.Exec(t, "postgres", `select realtime.send('{}', 'e', 't')`)
	})
}

func TestIdentity(t *testing.T) {
	db := testenv.New(t)
	db.Exec(t, "postgres", `
		create table notes (user_id uuid not null default auth.uid() references auth.users (id) on delete cascade, body text);
		alter table notes enable row level security;
		create policy own on notes to authenticated using (user_id = auth.uid()) with check (user_id = auth.uid());`)
	alice, bob := db.NewUser(t), db.NewUser(t)

	t.Run("UserSeesOwnRows", func(t *testing.T) {
		for _, u := range []testenv.User{alice, bob} {
			conn := db.AsUser(t, u.ID)
			var uid, role, body string
			err := conn.QueryRow(t.Context(), "select auth.uid()::text, auth.role()").Scan(&uid, &role)
			if err != nil || uid != u.ID || role != "authenticated" {
				t.Errorf("auth.uid() = %s, auth.role() = %s, %v; want %s", uid, role, err, u.ID)
			}
			if _, err := conn.Exec(t.Context(), "insert into notes (body) values ($1)", u.ID); err != nil {
				t.Fatal(err)
			}
			if err := conn.QueryRow(t.Context(), "select string_agg(body, ',') from notes").Scan(&body); err != nil || body != u.ID {
				t.Errorf("sees %q, %v; want its own row only", body, err)
			}
		}
	})
	t.Run("UserCannotWriteForAnother", func(t *testing.T) {
		_, err := db.AsUser(t, alice.ID).Exec(t.Context(), "insert into notes (user_id) values ($1)", bob.ID)
		if err == nil {
			t.Error("the row was written")
		}
	})
	for name, c := range map[string]struct {
		conn func(testing.TB) *pgx.Conn
		want int
	}{"AnonSeesNothing": {db.AsAnon, 0}, "ServiceSeesAll": {db.AsService, 2}} {
		t.Run(name, func(t *testing.T) {
			var n int
			if err := c.conn(t).QueryRow(t.Context(), "select count(*) from notes").Scan(&n); err != nil || n != c.want {
				t.Errorf("sees %d rows, %v; want %d", n, err, c.want)
			}
		})
	}
	t.Run("DeletedAccountLeavesNothing", func(t *testing.T) {
		db.Exec(t, "supabase_admin", "delete from auth.users where id = $1", alice.ID)
		var n int
		err := db.Connect(t, "postgres").QueryRow(t.Context(), "select count(*) from notes").Scan(&n)
		if err != nil || n != 1 {
			t.Errorf("%d rows left, %v; want bob's", n, err)
		}
	})
}

func TestRealtimeSend(t *testing.T) {
	db := testenv.New(t)
	config, err := pgx.ParseConfig(db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	var warnings []string
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { warnings = append(warnings, n.Severity+": "+n.Message) }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())

	t.Run("WritesARow", func(t *testing.T) {
		var event, topic, op string
		var private, hasID bool
		_, err := conn.Exec(t.Context(), `select realtime.send('{"op": "INSERT"}', 'memories', 'helix:1')`)
		if err != nil {
			t.Fatal(err)
		}
		err = conn.QueryRow(t.Context(), `select event, topic, payload ->> 'op', private, payload ->> 'id' = id::text from realtime.messages`).
			Scan(&event, &topic, &op, &private, &hasID)
		if err != nil || event != "memories" || topic != "helix:1" || op != "INSERT" || !private || !hasID {
			t.Errorf("row = %s %s %s %v %v, %v", event, topic, op, private, hasID, err)
		}
	})
	t.Run("ErrorIsAWarning", func(t *testing.T) {
		_, err := conn.Exec(t.Context(), `select realtime.send('{}', 'memories', null)`)
		if err != nil {
			t.Fatal(err)
		}
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "WARNING: WarnSendingBroadcastMessage") {
			t.Errorf("warnings = %q", warnings)
		}
	})
}

func TestRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of its own")
	}
	cluster := testenv.StartCluster(t, testenv.Options{Fsync: true, Settings: map[string]string{"work_mem": "5MB"}})
	db := testenv.NewOn(t, cluster)
	db.Exec(t, "postgres", "create table notes (id int)")
	port := cluster.Port()
	for i, mode := range []testenv.RestartMode{testenv.Immediate, testenv.Killed, testenv.Fast} {
		conn := db.Connect(t, "postgres")
		if _, err := conn.Exec(t.Context(), "insert into notes values ($1)", i); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := cluster.Restart(t.Context(), mode); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s restart: %v", mode, time.Since(begun))
		if err := conn.Ping(t.Context()); err == nil {
			t.Errorf("%s restart: a session survived", mode)
		}
		var n int
		var fsync, workMem string
		err := db.Connect(t, "postgres").QueryRow(t.Context(), "select count(*), current_setting('fsync'), current_setting('work_mem') from notes").
			Scan(&n, &fsync, &workMem)
		if err != nil || n != i+1 || fsync != "on" || workMem != "5MB" {
			t.Errorf("%s restart: %d rows, fsync %s, work_mem %s, %v", mode, n, fsync, workMem, err)
		}
	}
	if cluster.Port() != port {
		t.Errorf("port changed from %d to %d", port, cluster.Port())
	}
}
