package migrations_test

import (
	"slices"
	"strings"
	"testing"
)

// TestCatalogIsTheContract: what is in schema public is what the contract
// names, so no table goes untested.
func TestCatalogIsTheContract(t *testing.T) {
	_, conn := migrated(t)
	var want []string
	for _, r := range contract {
		want = append(want, "table "+r.name)
	}
	for _, v := range views {
		want = append(want, "view "+v.name)
	}
	for name := range rpcs {
		want = append(want, "function "+name)
	}
	for _, name := range notYet {
		if !slices.ContainsFunc(want, func(w string) bool { return strings.HasSuffix(w, " "+name) }) {
			t.Errorf("notYet has %s, which is not in the contract", name)
		}
	}
	want = slices.DeleteFunc(want, func(w string) bool { return !isYet(w[strings.IndexByte(w, ' ')+1:]) })
	got := list(t, conn, `select case relkind when 'v' then 'view ' else 'table ' end || relname
			from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
		union select 'function ' || proname from pg_proc where pronamespace = 'public'::regnamespace`)
	same(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

// acl gives a line for each object of schemas helix and public: who has which
// rights; "all" is what an owner has.
const acl = `
	with object (name, kind, owner, acl) as (
		select 'schema ' || nspname, 'n', nspowner, nspacl from pg_namespace where nspname = 'helix'
		union all select case relkind when 'S' then 'sequence ' when 'v' then 'view ' else 'table ' end ||
				relnamespace::regnamespace || '.' || relname, case relkind when 'S' then 's' else 'r' end, relowner, relacl
			from pg_class where relnamespace in ('helix'::regnamespace, 'public'::regnamespace) and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
		union all select 'function ' || pronamespace::regnamespace || '.' || proname, 'f', proowner, proacl
			from pg_proc where pronamespace in ('helix'::regnamespace, 'public'::regnamespace)
		union all select 'type ' || typnamespace::regnamespace || '.' || typname, 'T', typowner, typacl
			from pg_type where typnamespace in ('helix'::regnamespace, 'public'::regnamespace) and typacl is not null
		union all select 'column ' || attrelid::regclass || '.' || attname, 'c', relowner, attacl
			from pg_attribute join pg_class c on c.oid = attrelid
			where attacl is not null and relnamespace in ('helix'::regnamespace, 'public'::regnamespace)),
	granted as (
		select name, coalesce(nullif(grantee, 0)::regrole::text, 'PUBLIC') as grantee,
			array_agg(distinct privilege_type || case when is_grantable and grantee <> owner then '*' else '' end) as rights,
			array(select privilege_type from aclexplode(acldefault(kind::"char", owner)) d where d.grantee = owner order by 1) as everything
		from object, aclexplode(coalesce(acl, acldefault(kind::"char", owner)))
		group by name, kind, owner, aclexplode.grantee)
	select name || ': ' || string_agg(grantee || '=' || case when rights = everything then 'all'
		else lower(array_to_string(rights, '+')) end, ', ' order by grantee) from granted group by name`

// helixRights are the objects of schema helix that others than helixd may use.
// The schema itself is closed: they are reached through a view of schema public.
var helixRights = map[string]string{
	"function helix.status":   everyUser, // helix_status
	"function helix.fsrs":     everyUser, // memories_with_retention, and what it calls
	"function helix.passed":   everyUser,
	"function helix.decayed":  everyUser,
	"function helix.constant": everyUser,
	"function helix.utc":      everyUser,
	"table helix.skill_kv":    "postgres=all, service_role=truncate", // goes along with skills
	// along with voice_recordings
	"table helix.voice_work":          "postgres=all, service_role=truncate",
	"table helix.voice_answers":       "postgres=all, service_role=truncate",
	"function helix.find_transcripts": everyUser, // search_transcripts
}

func TestRights(t *testing.T) {
	_, conn := migrated(t)
	var want []string
	for _, r := range tables() {
		rights := strings.Fields(r.may)
		slices.Sort(rights)
		want = append(want, "table public."+r.name+": authenticated="+strings.Join(rights, "+")+", postgres=all, service_role=all")
	}
	for _, v := range views {
		if isYet(v.name) {
			want = append(want, "view public."+v.name+": authenticated=select, postgres=all, service_role=select")
		}
	}
	for name, rights := range rpcs {
		if isYet(name) {
			want = append(want, "function public."+name+": "+rights)
		}
	}
	var got []string
	for _, line := range list(t, conn, acl) {
		name, rights, _ := strings.Cut(line, ": ")
		if !strings.Contains(name, " helix") {
			got = append(got, line)
			continue
		}
		others := "postgres=all"
		if opened, ok := helixRights[name]; ok {
			others = opened
		}
		if rights != others {
			t.Errorf("%s, want %s", line, others)
		}
	}
	same(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

// TestPolicies: every table has row-level security, and a policy that no other
// can widen.
func TestPolicies(t *testing.T) {
	_, conn := migrated(t)
	for _, r := range tables() {
		t.Run(r.name, func(t *testing.T) {
			if !get[bool](t, conn, "select relrowsecurity from pg_class where oid = ('public.' || $1)::regclass", r.name) {
				t.Error("has no row-level security")
			}
			const restrictive = `select count(*) from pg_policies where schemaname = 'public' and tablename = $1 and permissive = 'RESTRICTIVE'
				and cmd = 'ALL' and (roles @> '{anon,authenticated}' or roles = '{public}')
				and qual like '%user_id%auth.uid()%' and with_check like '%user_id%auth.uid()%'`
			if n := get[int](t, conn, restrictive, r.name); n == 0 {
				t.Error("has no restrictive policy for all operations of anon and authenticated that compares user_id with auth.uid()")
			}
		})
	}
	for _, v := range views {
		if !isYet(v.name) {
			continue
		}
		want := "security_invoker=true"
		if v.owners {
			want = "security_barrier=true" // or a function in a condition could show the rows that it leaves out
		}
		if !get[bool](t, conn, "select coalesce($1 = any (reloptions), false) from pg_class where oid = ('public.' || $2)::regclass", want, v.name) {
			t.Errorf("view %s needs %s", v.name, want)
		}
	}
}

// definers are the functions that may run with their owner's rights, and why.
var definers = []string{
	"helix.write_inbox",      // writes helix.inbox
	"helix.status",           // reads helix.checkpoints and helix.leaders, and gives numbers
	"helix.require_runnable", // looks for a skill that is public or built in
	"public.clone_skill",     // copies one
	"helix.forget_secret",    // deletes from vault.secrets what goes with an account
	"helix.find_transcripts", // uses an index of which row-level security keeps a caller's condition
}

// TestFunctions: no caller's search_path reaches into helixd's functions, and
// only those that must run with their owner's rights.
func TestFunctions(t *testing.T) {
	_, conn := migrated(t)
	const ours = ` from pg_proc where pronamespace in ('helix'::regnamespace, 'public'::regnamespace) and proname not like 'river\_%'`
	// A body in standard SQL is bound to what its names meant when it was made.
	for _, name := range list(t, conn, `select oid::regprocedure::text`+ours+` and prosqlbody is null
		and not coalesce('search_path=""' = any (proconfig), false)`) {
		t.Errorf("%s looks names up where its caller says: it needs set search_path = ''", name)
	}
	for _, name := range list(t, conn, `select pronamespace::regnamespace || '.' || proname`+ours+` and prosecdef`) {
		if !slices.Contains(definers, name) {
			t.Errorf("%s runs with its owner's rights: why is for definers to say", name)
		}
	}
}
