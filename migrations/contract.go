package migrations

import (
	"slices"
	"strings"
)

// Table is a table of the contract with apps: what a signed-in user may do with
// their own rows. With the rows of others they may do nothing, anon may do nothing
// at all, and service_role everything.
type Table struct {
	Name     string
	May      string // of select, insert, update, delete
	Readable string // which other rows may be read, in SQL as Postgres shows it; "" is none
	Realtime bool   // its changes go out by publication supabase_realtime, too
}

const (
	readWrite = "select insert update delete"
	readOnly  = "select"
)

// Tables are those of the contract, in the order in which rows can be made. The
// tests hold the schema to it, and helixd doctor a project's.
var Tables = []Table{
	{Name: "memories", May: readWrite},
	{Name: "skills", May: readWrite, Readable: "user_id IS NULL", Realtime: true},
	{Name: "skill_versions", May: readOnly, Realtime: true},
	{Name: "skill_grants", May: readWrite},
	{Name: "skill_runs", May: readWrite, Realtime: true},
	{Name: "voice_recordings", May: readWrite, Realtime: true},
	{Name: "voice_commands", May: readWrite},
	{Name: "sync_state", May: readWrite},
	{Name: "memory_synthesis", May: readOnly, Realtime: true},
	{Name: "synthesis_settings", May: readWrite},
	{Name: "privacy_settings", May: readWrite},
	{Name: "memory_retention", May: readOnly, Realtime: true},
	{Name: "psychology_layers", May: readWrite, Realtime: true},
	{Name: "sync_entities", May: readOnly, Realtime: true},
	{Name: "sync_conflicts", May: "select update", Realtime: true},
	{Name: "sync_policies", May: readWrite},
	{Name: "memory_synthesis_jobs", May: readWrite, Realtime: true},
	{Name: "memory_patterns", May: readOnly, Realtime: true},
	{Name: "synthesis_recommendations", May: readOnly, Realtime: true},
}

// Commands are the words of May as they stand in SQL: "select, insert".
func (t Table) Commands() string { return strings.Join(strings.Fields(t.May), ", ") }

// Lets reports whether a client may do this with its own rows.
func (t Table) Lets(command string) bool { return slices.Contains(strings.Fields(t.May), command) }

// Views are those of schema public, which users select from.
var Views = []string{"memories_with_retention", "public_skills", "helix_status"}

// everyUser are the rights on a function that signed-in users and the service may call.
const everyUser = "authenticated=all, postgres=all, service_role=all"

// Functions are those of schema public, and who may call them.
var Functions = map[string]string{
	"match_memories":     everyUser,
	"search_transcripts": everyUser,
	"clone_skill":        "authenticated=all, postgres=all", // into the caller's own
}

// HelixRights are the objects of schema helix that others than helixd may use.
// The schema itself is closed: they are reached through a view of schema public.
var HelixRights = map[string]string{
	"function helix.status":           everyUser, // helix_status
	"function helix.fsrs":             everyUser, // memories_with_retention, and what it calls
	"function helix.passed":           everyUser,
	"function helix.decayed":          everyUser,
	"function helix.constant":         everyUser,
	"function helix.utc":              everyUser,
	"function helix.find_transcripts": everyUser, // search_transcripts
	// These are truncated along with what they belong to: skills, voice_recordings
	// and memory_synthesis_jobs.
	"table helix.skill_kv":      "postgres=all, service_role=truncate",
	"table helix.voice_work":    "postgres=all, service_role=truncate",
	"table helix.voice_answers": "postgres=all, service_role=truncate",
	"table helix.analysis_work": "postgres=all, service_role=truncate",
}

// Rights gives, for each object of schema public that is helixd's, who has which
// rights, in the form of ReadRights.
func Rights() map[string]string {
	rights := map[string]string{}
	for _, t := range Tables {
		may := strings.Fields(t.May)
		slices.Sort(may)
		rights["table public."+t.Name] = "authenticated=" + strings.Join(may, "+") + ", postgres=all, service_role=all"
	}
	for _, v := range Views {
		rights["view public."+v] = "authenticated=select, postgres=all, service_role=select"
	}
	for name, who := range Functions {
		rights["function public."+name] = who
	}
	return rights
}

// ACL gives a line for each object of schemas helix and public, "table
// public.memories: authenticated=select, postgres=all": who has which rights; "all"
// is what an owner has. Of rights that were never touched it says what they are by default.
const ACL = `
	with object (name, kind, owner, acl) as (
		select 'schema ' || nspname, 'n', nspowner, nspacl from pg_namespace where nspname = 'helix'
		union all select case relkind when 'S' then 'sequence ' when 'v' then 'view ' else 'table ' end ||
				relnamespace::regnamespace || '.' || relname, case relkind when 'S' then 's' else 'r' end, relowner, relacl
			from pg_class where relnamespace in (to_regnamespace('helix'), 'public'::regnamespace) and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
		union all select 'function ' || pronamespace::regnamespace || '.' || proname, 'f', proowner, proacl
			from pg_proc where pronamespace in (to_regnamespace('helix'), 'public'::regnamespace)
		union all select 'type ' || typnamespace::regnamespace || '.' || typname, 'T', typowner, typacl
			from pg_type where typnamespace in (to_regnamespace('helix'), 'public'::regnamespace) and typacl is not null
		union all select 'column ' || attrelid::regclass || '.' || attname, 'c', relowner, attacl
			from pg_attribute join pg_class c on c.oid = attrelid
			where attacl is not null and relnamespace in (to_regnamespace('helix'), 'public'::regnamespace)),
	granted as (
		select name, coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC') as grantee,
			array_agg(distinct privilege_type || case when is_grantable and grantee <> owner then '*' else '' end) as rights,
			array(select privilege_type from aclexplode(acldefault(kind::"char", owner)) d where d.grantee = owner order by 1) as everything
		from object, aclexplode(coalesce(acl, acldefault(kind::"char", owner)))
		group by name, kind, owner, aclexplode.grantee)
	select name || ': ' || string_agg(grantee || '=' || case when rights = everything then 'all'
		else lower(array_to_string(rights, '+')) end, ', ' order by grantee) from granted group by name`
