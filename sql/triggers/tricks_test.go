package triggers_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What a signed-in user might try with raw SQL, which the Data API does not
// even give them.

func TestTricksAreRefused(t *testing.T) {
	db, _, user, app := migrated(t)
	exec(t, app, "insert into sync_state (entity_type, entity_id, device_id) values ('note', $1, 'phone')", note)
	// A session that never was more than authenticated; PostgREST's is the authenticator's.
	bare := db.Connect(t, "supabase_admin")
	exec(t, bare, "select set_config('request.jwt.claims', jsonb_build_object('sub', $1::text, 'role', 'authenticated')::text, false)", user.ID)
	exec(t, bare, "set session authorization authenticated")

	for _, tt := range []struct {
		name string
		conn *pgx.Conn
		sql  string
	}{
		{"SetRoleService", bare, "set role service_role"},
		{"SetRoleOwner", app, "set role postgres"},
		{"SetRoleSuperuser", app, "set role supabase_admin"},
		{"SetConfigRoleService", bare, "select set_config('role', 'service_role', false)"},
		{"SetConfigRoleOwner", app, "select set_config('role', 'postgres', true)"},
		{"SetSessionAuthorization", app, "set session authorization postgres"},
		{"SkipTriggers", app, "set session_replication_role = replica"},
		{"DisableTrigger", app, "alter table sync_state disable trigger a_helix_guard"},
		{"DropTrigger", app, "drop trigger a_helix_guard on sync_state"},
		{"ReplaceTrigger", app, "create or replace trigger a_helix_guard before insert on sync_state for each row execute function suppress_redundant_updates_trigger()"},
		{"EarlierTrigger", app, "create trigger a before insert on sync_state for each row execute function suppress_redundant_updates_trigger()"},
		{"DisableRowSecurity", app, "alter table sync_state disable row level security"},
		{"DropPolicy", app, "drop policy helix_isolation on sync_state"},
		{"CreatePolicy", app, "create policy mine on sync_state using (true)"},
		{"CallGuard", app, "select helix.guard_sync_state()"},
		{"CallInbox", app, "select helix.write_inbox()"},
		{"UseInboxInATrigger", app, "create temp table t (entity_type text); create trigger t after delete on t execute function helix.write_inbox()"},
		{"CallProtect", app, "call helix.protect('sync_state', '')"},
		{"CallInstallGuard", app, "call helix.install_guard('sync_state', '{}', '{}', '{}')"},
		{"CallDecay", app, "select helix.fsrs(1, 1, 1)"},
		{"ReplaceFunction", app, "create or replace function helix.write_inbox() returns trigger language sql as ''"},
		{"CreateInHelix", app, "create table helix.mine ()"},
		{"CreateInPublic", app, "create table public.helix ()"},
		{"CreateSchema", app, "create schema helix_too"},
		{"ReadSecret", app, "select secret from helix.instance"},
		{"WriteInbox", app, "insert into helix.inbox (table_name, op, key) values ('sync_state', 'DELETE', '{}')"},
		{"InheritFromIt", app, "create temp table heir () inherits (sync_state)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.conn.PgConn().Exec(t.Context(), tt.sql).ReadAll()
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != denied {
				t.Errorf("error %v, want SQLSTATE %s", err, denied)
			}
		})
	}
}

// TestTricksAreHarmless: the SECURITY DEFINER function writes the inbox and
// nothing else, whatever the caller has put before it.
func TestTricksAreHarmless(t *testing.T) {
	db, admin, user, app := migrated(t)
	other := db.NewUser(t)
	exec(t, app, "insert into sync_state (entity_type, entity_id, device_id) values ('note', $1, 'phone'), ('note', $1, 'laptop')", note)
	for _, sql := range []string{
		"create temp table inbox (table_name text, op text, key jsonb, user_id uuid)",
		"create temp table gone (entity_type text, entity_id uuid, device_id text, user_id uuid)",
		"insert into gone values ('note', '" + note + "', 'forged', '" + other.ID + "')",
		"create temp table sync_state (like public.sync_state)",
		"create function pg_temp.jsonb_build_object(variadic text[]) returns jsonb language sql as 'select ''{}''::jsonb'",
		"create function pg_temp.uid() returns uuid language sql as 'select ''" + other.ID + "''::uuid'",
		"create function pg_temp.pg_has_role(name, text, text) returns bool language sql as 'select true'",
		"set search_path = pg_temp, public, helix",
	} {
		exec(t, app, sql)
	}
	t.Run("Delete", func(t *testing.T) {
		exec(t, app, "delete from public.sync_state where device_id = 'phone'")
		got := get[string](t, admin, "select string_agg(table_name || ' ' || op || ' ' || (key->>'device_id') || ' ' || user_id, ', ') from helix.inbox")
		if want := "sync_state DELETE phone " + user.ID; got != want {
			t.Errorf("inbox %s, want %s", got, want)
		}
		if n := get[int](t, app, "select count(*) from pg_temp.inbox"); n != 0 {
			t.Errorf("%d rows went to the caller's own table", n)
		}
	})
	t.Run("Guard", func(t *testing.T) {
		refuses(t, app, denied, "sync_state.device_id ", "update public.sync_state set device_id = 'x'")
		refuses(t, app, check, "vector_clock", `update public.sync_state set vector_clock = '{"phone": -1}'`)
	})
	t.Run("Settings", func(t *testing.T) {
		for _, name := range []string{"helix.bypass", "helix.guard", "app.settings.service_role", "request.jwt.claim.role", "role.name"} {
			exec(t, app, "select set_config($1, 'service_role', false)", name)
		}
		refuses(t, app, denied, "sync_state.device_id ", "update public.sync_state set device_id = 'x'")
	})
	t.Run("ClaimsOfTheService", func(t *testing.T) {
		exec(t, app, "select set_config('request.jwt.claims', jsonb_build_object('sub', $1::text, 'role', 'service_role')::text, false)", user.ID)
		refuses(t, app, denied, "sync_state.device_id ", "update public.sync_state set device_id = 'x'")
	})
	t.Run("ForeignDeleteTellsNothing", func(t *testing.T) {
		exec(t, admin, "truncate helix.inbox")
		exec(t, db.AsUser(t, other.ID), "delete from public.sync_state")
		if n := get[int](t, admin, "select count(*) from helix.inbox"); n != 0 {
			t.Errorf("%d inbox rows of another user's rows", n)
		}
	})
}

// TestTypesOfTheCallersAreNotUsed: temporary types come before all others where
// the search_path does not say otherwise, and a domain's check is code.
func TestTypesOfTheCallersAreNotUsed(t *testing.T) {
	_, admin, _, app := migrated(t)
	exec(t, admin, "create table public.loot (who pg_catalog.text, type pg_catalog.text, sql pg_catalog.text)")
	exec(t, admin, "grant insert on public.loot to authenticated")
	exec(t, app, `create function pg_temp.run(type pg_catalog.text) returns pg_catalog.bool language plpgsql as 'begin insert into public.loot values (current_user, type, current_query()); return true; end'`)
	for _, name := range []string{"text", "jsonb", "name", "timestamptz", "bytea", "int4", "int8", "float8", "bool", "numeric",
		"uuid", "regconfig", "regclass", "tsquery", "tsvector", "xid8", "pg_lsn", "oid", "interval", "float4"} {
		exec(t, app, "create domain pg_temp."+name+" as pg_catalog."+name+" check (pg_temp.run('"+name+"'))")
	}
	for _, sql := range []string{
		"insert into public.memories (content) values ('a')",
		"update public.memories set content = 'b'",
		"delete from public.memories",
		`insert into public.psychology_layers (layer_number, data) values (1, '{}')`,
		`update public.psychology_layers set data = '{"a": 1}'`,
		"delete from public.psychology_layers",
		"insert into public.synthesis_settings (memory_limit) values (10)",
		"update public.synthesis_settings set memory_limit = 11",
		"delete from public.synthesis_settings",
		"insert into public.privacy_settings (opt_out, redact_names) values ('{memories.content}', '{Ada}')",
		"update public.privacy_settings set opt_out = '{skill_runs.llm}', redact_names = '{Bob}'",
		"delete from public.privacy_settings",
		`insert into public.sync_state (entity_type, entity_id, device_id, data) values ('note', '` + note + `', 'phone', '{}')`,
		"delete from public.sync_state",
		`insert into public.voice_recordings (storage_path) values ('a/b')`,
		"update public.voice_recordings set storage_path = 'a/c'",
		"select * from public.search_transcripts('sea')",
		"select * from public.search_transcripts('海')",
		"delete from public.voice_recordings",
		"insert into public.skills (name, kind, source) values ('a', 'javascript', 'b')",
		"select public.clone_skill(id) from public.skills",
		"insert into public.skill_runs (skill_id) select id from public.skills",
		"insert into public.skill_grants (skill_id, sha256, capability) select id, repeat('a', 64), 'kv' from public.skills",
		"insert into public.voice_commands (phrase, skill_id, arguments) select 'sing', id, '{\"a\": \"b\"}' from public.skills",
		"delete from public.skills",
		"select * from public.helix_status",
	} {
		exec(t, app, sql)
	}
	if got := get[string](t, admin, "select coalesce(string_agg(distinct format('%s: %s as %s', sql, type, who), E'\n'), '') from public.loot where who <> 'authenticated'"); got != "" {
		t.Errorf("the caller's code ran with other rights:\n%s", got)
	}
}

// TestAccountDeletionReachesTheInbox: the owner of each deleted row is known,
// and the inbox does not keep the account alive.
func TestAccountDeletionReachesTheInbox(t *testing.T) {
	db, admin, user, app := migrated(t)
	exec(t, app, "insert into sync_state (entity_type, entity_id, device_id) values ('note', $1, 'phone')", note)
	db.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", user.ID)
	if got := get[string](t, admin, "select user_id::text from helix.inbox"); got != user.ID {
		t.Errorf("inbox row of %s, want %s", got, user.ID)
	}
}
