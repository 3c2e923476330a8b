package migrations_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// schema describes all that the migrations make: a line each table, column,
// constraint, index, policy, trigger, function, type, published table and right.
func schema(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	return get[string](t, conn, `
		with ours as (select c.oid::regclass::text as name, c.* from pg_class c
			where relnamespace in ('helix'::regnamespace, 'public'::regnamespace))
		select string_agg(line, E'\n' order by line) from (
		select format('class %s %s rls=%s %s %s', name, relkind, relrowsecurity, reloptions, relacl) as line from ours
		union all select format('column %s.%s %s null=%s default=%s identity=%s acl=%s %s', o.name, attname,
				format_type(atttypid, atttypmod), not attnotnull, pg_get_expr(adbin, adrelid), attidentity, attacl,
				col_description(o.oid, attnum))
			from ours o join pg_attribute a on attrelid = o.oid and attnum > 0 and not attisdropped
			left join pg_attrdef d on adrelid = o.oid and adnum = attnum where o.relkind = 'r'
		union all select format('constraint %s %s %s', o.name, conname, pg_get_constraintdef(k.oid)) from pg_constraint k join ours o on o.oid = k.conrelid
		union all select 'index ' || pg_get_indexdef(oid) from ours where relkind = 'i'
		union all select format('policy %s %s %s %s %s %s', o.name, polname, polpermissive, polcmd, polroles::regrole[],
				pg_get_expr(polqual, polrelid) || ' / ' || pg_get_expr(polwithcheck, polrelid)) from pg_policy join ours o on o.oid = polrelid
		union all select 'trigger ' || pg_get_triggerdef(g.oid) from pg_trigger g join ours o on o.oid = tgrelid where not tgisinternal
		union all select format('function %s %s %s', oid::regprocedure, proacl, pg_get_functiondef(oid)) from pg_proc
			where pronamespace in ('helix'::regnamespace, 'public'::regnamespace) and prokind in ('f', 'p')
		union all select format('view %s %s', name, pg_get_viewdef(oid)) from ours where relkind = 'v'
		union all select format('type %s %s', pg_type.oid::regtype, (select string_agg(enumlabel, ',' order by enumsortorder) from pg_enum where enumtypid = pg_type.oid))
			from pg_type where typnamespace = 'helix'::regnamespace and typtype = 'e'
		union all select 'schema helix ' || nspacl::text from pg_namespace where nspname = 'helix'
		union all select format('published %s %s.%s', pubname, schemaname, tablename) from pg_publication_tables
		union all select format('default rights %s %s', defaclobjtype, defaclacl) from pg_default_acl where defaclnamespace = 'helix'::regnamespace
		) s`)
}

// same compares descriptions line by line.
func same(t *testing.T, want, got string) {
	t.Helper()
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, line := range wants {
		if !slices.Contains(gots, line) {
			t.Errorf("missing: %s", line)
		}
	}
	for _, line := range gots {
		if !slices.Contains(wants, line) {
			t.Errorf("too many: %s", line)
		}
	}
}
