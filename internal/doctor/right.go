package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
)

var (
	rlsOff      = Kind{"off", Fail}
	policyWrong = Kind{"policy", Fail}

	tooMany  = Kind{"too-many", Fail}
	tooFewer = Kind{"too-few", Warn}

	guardMissing  = Kind{"missing", Fail}
	guardDisabled = Kind{"disabled", Fail}

	openDefaults = Kind{"open", Warn}
)

var rightChecks = []Check{
	{"rls", []Kind{rlsOff, policyWrong}, schema, lookAtRLS},
	{"grants", []Kind{tooMany, tooFewer}, schema, lookAtGrants},
	{"guards", []Kind{guardMissing, guardDisabled}, schema, lookAtGuards},
	{"default-privileges", []Kind{openDefaults}, schema, lookAtDefaultPrivileges},
}

// protect is the SQL that gives a table its policies and rights again.
func protect(t migrations.Table) string {
	if t.Readable != "" {
		return fmt.Sprintf("call helix.protect('%s', '%s', '%s');", t.Name, t.Commands(), strings.ToLower(t.Readable))
	}
	return fmt.Sprintf("call helix.protect('%s', '%s');", t.Name, t.Commands())
}

// Policy is one as pg_policies shows it.
type Policy struct{ Name, Permissive, Roles, Command, Using, Check string }

type tablePolicy struct {
	Table string
	Policy
}

// own is how Postgres shows the condition of all policies.
const own = "(user_id = ( SELECT auth.uid() AS uid))"

// policiesOf are what helix.protect makes.
func policiesOf(t migrations.Table) []Policy {
	var want []Policy
	for _, command := range strings.Fields(t.May) {
		p := Policy{"helix_own_" + command, "PERMISSIVE", "{authenticated}", strings.ToUpper(command), own, own}
		switch command {
		case "insert":
			p.Using = ""
		case "select", "delete":
			p.Check = ""
		}
		want = append(want, p)
	}
	isolation := Policy{"helix_isolation", "RESTRICTIVE", "{anon,authenticated}", "ALL", own, own}
	if t.Readable != "" {
		isolation.Using = "(" + own + " OR (" + t.Readable + "))"
		want = append(want, Policy{"helix_readable", "PERMISSIVE", "{authenticated}", "SELECT", "(" + t.Readable + ")", ""},
			Policy{"helix_isolation_update", "RESTRICTIVE", "{anon,authenticated}", "UPDATE", own, ""},
			Policy{"helix_isolation_delete", "RESTRICTIVE", "{anon,authenticated}", "DELETE", own, ""})
	}
	return append(want, isolation)
}

func lookAtRLS(ctx context.Context, d *Doctor) ([]Finding, error) {
	on, err := list[string](ctx, d, "select relname from pg_class where relnamespace = 'public'::regnamespace and relrowsecurity")
	if err != nil {
		return nil, err
	}
	policies, err := rowsOf[tablePolicy](ctx, d, `select tablename, policyname, permissive, roles::text, cmd, coalesce(qual, ''), coalesce(with_check, '') from pg_policies where schemaname = 'public'`)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, t := range migrations.Tables {
		if !slices.Contains(on, t.Name) {
			found = append(found, rlsOff.found("Run:", protect(t), "public.%s has no row-level security: every user reads and writes everybody's rows", t.Name))
			continue
		}
		var wrong []string
		for _, want := range policiesOf(t) {
			if !slices.Contains(policies, tablePolicy{t.Name, want}) {
				wrong = append(wrong, want.Name)
			}
		}
		if wrong != nil {
			found = append(found, policyWrong.found("Run:", protect(t), "policies of public.%s are missing or were altered: %s", t.Name, strings.Join(wrong, ", ")))
		}
	}
	if found == nil {
		return fine("row-level security is on for all %d tables, with helixd's policies", len(migrations.Tables)), nil
	}
	return found, nil
}

// clients are the roles whose rights helixd knows; others are the operator's.
var clients = []string{"PUBLIC", "anon", "authenticated", "service_role"}

// granted reads "authenticated=select+insert, postgres=all" into the rights of each
// of the clients.
func granted(line string) map[string][]string {
	rights := map[string][]string{}
	for part := range strings.SplitSeq(line, ", ") {
		who, what, _ := strings.Cut(part, "=")
		if slices.Contains(clients, who) && what != "" {
			rights[who] = strings.Split(what, "+")
		}
	}
	return rights
}

func lookAtGrants(ctx context.Context, d *Doctor) ([]Finding, error) {
	lines, err := list[string](ctx, d, migrations.ACL)
	if err != nil {
		return nil, err
	}
	want := migrations.Rights()
	var found []Finding
	for _, line := range lines {
		object, has, _ := strings.Cut(line, ": ")
		expected, ours := want[object]
		if strings.Contains(object, " helix.") || object == "schema helix" {
			expected, ours = migrations.HelixRights[object], true
		}
		if strings.HasPrefix(object, "column ") { // none of them has rights of its own
			table := object[len("column "):strings.LastIndexByte(object, '.')]
			ours = slices.Contains(tableNames(), strings.TrimPrefix(table, "public.")) || strings.HasPrefix(table, "helix.")
		}
		if !ours {
			continue
		}
		more, less := differ(granted(has), granted(expected))
		switch {
		case more != "":
			found = append(found, tooMany.found("Run:", regrant(object, granted(has), granted(expected)), "%s is open to more than it must be: %s", object, more))
		case less != "":
			found = append(found, tooFewer.found("Run:", regrant(object, granted(has), granted(expected)), "%s is closed to whom it must be open: %s lacks", object, less))
		}
	}
	if found == nil {
		return fine("clients have the rights that they must have, and no others"), nil
	}
	return found, nil
}

// differ says who has more than wanted, and who less.
func differ(has, want map[string][]string) (more, less string) {
	var m, l []string
	for _, who := range clients {
		if slices.Equal(want[who], []string{"all"}) || slices.Equal(has[who], []string{"all"}) {
			switch {
			case slices.Equal(has[who], want[who]):
			case slices.Equal(has[who], []string{"all"}):
				m = append(m, who+" may everything")
			default:
				l = append(l, who+" some of all rights")
			}
			continue
		}
		if over := slices.DeleteFunc(slices.Clone(has[who]), func(r string) bool { return slices.Contains(want[who], r) }); len(over) > 0 {
			m = append(m, who+" may "+strings.Join(over, ", "))
		}
		if under := slices.DeleteFunc(slices.Clone(want[who]), func(r string) bool { return slices.Contains(has[who], r) }); len(under) > 0 {
			l = append(l, who+" "+strings.Join(under, ", "))
		}
	}
	return strings.Join(m, "; "), strings.Join(l, "; ")
}

// regrant is the SQL that gives the clients exactly what they must have.
func regrant(object string, has, want map[string][]string) string {
	kind, name, _ := strings.Cut(object, " ")
	switch kind {
	case "view":
		kind = "table"
	case "function":
		kind = "routine"
	case "column":
		at := strings.LastIndexByte(name, '.')
		var revokes []string
		for _, who := range clients {
			for _, right := range has[who] {
				revokes = append(revokes, fmt.Sprintf("revoke %s (%s) on table %s from %s;", strings.TrimSuffix(right, "*"), pgx.Identifier{name[at+1:]}.Sanitize(), name[:at], who))
			}
		}
		return strings.Join(revokes, " ")
	}
	sql := fmt.Sprintf("revoke all on %s %s from public, anon, authenticated, service_role;", kind, name)
	for _, who := range clients {
		if rights := want[who]; len(rights) > 0 {
			sql += fmt.Sprintf(" grant %s on %s %s to %s;", strings.Join(rights, ", "), kind, name, who)
		}
	}
	return sql
}

func lookAtGuards(ctx context.Context, d *Doctor) ([]Finding, error) {
	triggers, err := rowsOf[struct {
		Table, Name string
		On          bool
	}](ctx, d, `select c.relname, quote_ident(t.tgname), t.tgenabled in ('O', 'A')
		from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
		where c.relnamespace = 'public'::regnamespace and c.relname = any ($1) and p.pronamespace = to_regnamespace('helix') and not t.tgisinternal
		order by 1, 2`, tableNames())
	if err != nil {
		return nil, err
	}
	var found []Finding
	guarded := map[string]bool{}
	for _, t := range triggers {
		guarded[t.Table] = guarded[t.Table] || t.Name == "a_helix_guard"
		if !t.On {
			found = append(found, guardDisabled.found("Run:", fmt.Sprintf("alter table public.%s enable trigger %s;", t.Table, t.Name),
				"trigger %s of public.%s is disabled: clients may write what is helixd's, or changes are not seen", t.Name, t.Table))
		}
	}
	for _, t := range migrations.Tables {
		if (t.Lets("insert") || t.Lets("update")) && !guarded[t.Name] {
			found = append(found, guardMissing.found("Run: helixd migrate", "", "public.%s has no trigger a_helix_guard: clients may write what is helixd's", t.Name))
		}
	}
	if found == nil {
		return fine("%d triggers guard what clients write", len(triggers)), nil
	}
	return found, nil
}

func lookAtDefaultPrivileges(ctx context.Context, d *Doctor) ([]Finding, error) {
	defaults, err := rowsOf[struct {
		Owner, Kind string
		Everywhere  bool
		Who         string
	}](ctx, d, `select defaclrole::regrole::text, case defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' else 'functions' end, defaclnamespace = 0,
			string_agg(distinct case grantee when 0 then 'public' else grantee::regrole::text end, ', ')
		from pg_default_acl, aclexplode(defaclacl)
		where defaclnamespace in (0, to_regnamespace('helix')) and defaclobjtype in ('r', 'S', 'f')
			and (grantee = 0 and defaclobjtype <> 'f' or grantee in (to_regrole('anon'), to_regrole('authenticated')))
			and pg_has_role(defaclrole, 'usage')
		group by 1, 2, 3 order by 1, 2`)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, f := range defaults {
		in, where := " in schema helix", "schema helix"
		if f.Everywhere {
			in, where = "", "every schema"
		}
		found = append(found, openDefaults.found("Run:", fmt.Sprintf("alter default privileges for role %s%s revoke all on %s from %s;", f.Owner, in, f.Kind, f.Who),
			"new %s of role %s in %s are open to %s; helixd's migrations close what they make, and others may not", f.Kind, f.Owner, where, f.Who))
	}
	if found == nil {
		return fine("new objects of schema helix are closed to clients"), nil
	}
	return found, nil
}
