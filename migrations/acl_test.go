package migrations_test

import "testing"

// rights is who may do what with all that the migrations make, and with schema
// public: "all" is what an owner has. A new object is listed here, or the test
// fails.
const rights = `function helix.guard_sync_conflicts(): postgres=all
function helix.guard_sync_state(): postgres=all
function helix.inbox_sync_state(): postgres=all
function helix.river_job_state_in_bitmask(bitmask bit, state helix.river_job_state): postgres=all
schema helix: postgres=all
sequence helix.dead_letters_id_seq: postgres=all
sequence helix.inbox_id_seq: postgres=all
sequence helix.river_job_id_seq: postgres=all
sequence helix.river_notification_id_seq: postgres=all
table helix.checkpoints: postgres=all
table helix.dead_letters: postgres=all
table helix.inbox: postgres=all
table helix.instance: postgres=all
table helix.leaders: postgres=all
table helix.migrations: postgres=all
table helix.river_job: postgres=all
table helix.river_leader: postgres=all
table helix.river_migration: postgres=all
table helix.river_notification: postgres=all
table helix.river_queue: postgres=all
table helix.sync_siblings: postgres=all
table public.sync_conflicts: authenticated=select+update, postgres=all, service_role=all
table public.sync_entities: authenticated=select, postgres=all, service_role=all
table public.sync_state: authenticated=delete+insert+select+update, postgres=all, service_role=all`

func TestRights(t *testing.T) {
	_, conn := migrated(t)
	got := get[string](t, conn, `
		with object (name, kind, owner, acl) as (
			select 'schema ' || nspname, 'n', nspowner, nspacl from pg_namespace where nspname = 'helix'
			union all select case relkind when 'S' then 'sequence ' when 'v' then 'view ' else 'table ' end ||
					relnamespace::regnamespace || '.' || relname, case relkind when 'S' then 's' else 'r' end, relowner, relacl
				from pg_class where relnamespace in ('helix'::regnamespace, 'public'::regnamespace) and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
			union all select 'function ' || pronamespace::regnamespace || '.' || proname || '(' || pg_get_function_identity_arguments(oid) || ')',
					'f', proowner, proacl
				from pg_proc where pronamespace in ('helix'::regnamespace, 'public'::regnamespace)
			union all select 'column ' || attrelid::regclass || '.' || attname, 'c', relowner, attacl
				from pg_attribute join pg_class c on c.oid = attrelid
				where attacl is not null and relnamespace in ('helix'::regnamespace, 'public'::regnamespace)),
		granted as (
			select name, coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC') as grantee,
				array_agg(privilege_type || case when is_grantable and grantee <> owner then '*' else '' end order by privilege_type) as rights,
				array(select privilege_type from aclexplode(acldefault(kind::"char", owner)) d where d.grantee = owner order by 1) as everything
			from object, aclexplode(coalesce(acl, acldefault(kind::"char", owner)))
			group by name, kind, owner, aclexplode.grantee)
		select string_agg(line, E'\n' order by line) from (
			select name || ': ' || string_agg(grantee || '=' || case when rights = everything then 'all'
				else lower(array_to_string(rights, '+')) end, ', ' order by grantee) as line
			from granted group by name) lines`)
	same(t, rights, got)
}

// TestFunctions: no caller's search_path reaches into helixd's functions, and
// only those that write schema helix run with their owner's rights.
func TestFunctions(t *testing.T) {
	_, conn := migrated(t)
	got := get[string](t, conn, `select string_agg(format('%s definer=%s %s', proname, prosecdef, proconfig), E'\n' order by proname)
		from pg_proc where pronamespace = 'helix'::regnamespace and proname not like 'river_%'`)
	same(t, `guard_sync_conflicts definer=f {"search_path=\"\""}
guard_sync_state definer=f {"search_path=\"\""}
inbox_sync_state definer=t {"search_path=\"\""}`, got)
}
