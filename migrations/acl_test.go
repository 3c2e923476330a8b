package migrations_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/helixd/helixd/migrations"
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
	for name := range migrations.Functions {
		want = append(want, "function "+name)
	}
	got := list(t, conn, `select case relkind when 'v' then 'view ' else 'table ' end || relname
			from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
		union select 'function ' || proname from pg_proc where pronamespace = 'public'::regnamespace`)
	same(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
}

func TestRights(t *testing.T) {
	_, conn := migrated(t)
	var want []string
	for name, rights := range migrations.Rights() {
		want = append(want, name+": "+rights)
	}
	var got []string
	for _, line := range list(t, conn, migrations.ACL) {
		name, rights, _ := strings.Cut(line, ": ")
		if !strings.Contains(name, " helix") {
			got = append(got, line)
			continue
		}
		others := "postgres=all"
		if opened, ok := migrations.HelixRights[name]; ok {
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
	for _, r := range contract {
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
		and not coalesce(proconfig && '{"search_path=\"\"","search_path=pg_catalog, pg_temp"}', false)`) {
		t.Errorf("%s looks names up where its caller says: it needs set search_path = '', or pg_catalog, pg_temp", name)
	}
	for _, name := range list(t, conn, `select pronamespace::regnamespace || '.' || proname`+ours+` and prosecdef`) {
		if !slices.Contains(definers, name) {
			t.Errorf("%s runs with its owner's rights: why is for definers to say", name)
		}
	}
}
