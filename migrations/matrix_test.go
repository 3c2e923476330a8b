package migrations_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// outcomes is the contract of every table: what an operation comes to for each of
// the columns, by who asks and whose row it is after. 1 and 0 are rows, - is a
// refusal. A user whom the table's own rights (relation.may) do not let is refused
// in all columns but service's.
//
//	anon      the publishable key
//	own       a signed-in user, and their own row
//	other     a signed-in user, and another's row
//	unsigned  authenticated without a sub, or with a sub of null, and anybody's row
//	odd       authenticated with a sub that is no uuid: empty, a word, a number
//	gone      authenticated with the sub of a deleted account, and another's row
//	haunted   the same, and rows that would be its own
//	service   the secret key, and anybody's row
const outcomes = `
operation        needs          anon own other unsigned odd gone haunted service
Select           select         -    1   0     0        -   0    0       1
SelectForUpdate  select+update  -    1   0     0        -   0    0       1
CopyTo           select         -    1   0     0        -   0    0       1
CopyFrom         copy           -    -   -     -        -   -    -       0
Insert           insert         -    1   -     -        -   -    -       1
InsertReturning  insert+select  -    1   -     -        -   -    -       1
UpdateClient     update         -    1   0     0        -   0    0       1
UpdateKey        update         -    -   0     0        -   0    0       1
UpdateResult     update         -    -   0     0        -   0    0       1
UpdateUser       update         -    -   0     0        -   0    0       1
UpsertHosted     insert+update  -    1   -     -        -   -    -       1
UpsertLite       insert+update  -    1   -     -        -   -    -       1
Delete           delete         -    1   0     0        -   0    0       1
Truncate         truncate       -    -   -     -        -   -    -       0
References       references     -    -   -     -        -   -    -       0
Trigger          trigger        -    -   -     -        -   -    -       0
`

// reads is the contract of views and functions: how many of the rows that are
// $1's they give. Nobody writes through a view.
const reads = `
of                       needs  anon own other unsigned odd gone haunted service
memories_with_retention  -      -    1   0     0        -   0    0       1
public_skills            -      -    0   1     0        0   1    0       1
helix_status             -      -    1   1     1        1   1    1       1
match_memories           -      -    1   0     0        -   0    0       0
search_transcripts       -      -    1   0     0        -   0    0       0
clone_skill              -      -    1   -     -        -   -    -       -
`

// readSQL are the statements of reads; another's skill is public where it is read
// through the view.
var readSQL = map[string]string{
	"memories_with_retention": "select from memories_with_retention where user_id = $1",
	"public_skills":           "select from public_skills where id = $1",
	"helix_status":            "select from helix_status",
	"match_memories":          "select from match_memories(array_fill(.25, array[1536])::vector) where id = $1",
	"search_transcripts":      "select from search_transcripts('river') where id = $1",
	"clone_skill":             "select clone_skill($1)",
}

// asker is a session, and the users whose rows it is after.
type asker struct {
	column string
	conn   *pgx.Conn
	role   string
	user   string
	also   []string // SQLSTATEs that are refusals of it, too
}

// claiming opens a session of authenticated with these claims of a JWT.
func claiming(t *testing.T, db *testenv.Database, claims string) *pgx.Conn {
	t.Helper()
	conn := db.AsUser(t, "")
	if _, err := conn.Exec(t.Context(), "select set_config('request.jwt.claims', $1, false)", claims); err != nil {
		t.Fatal(err)
	}
	return conn
}

// unsigned and odd are claims that name nobody.
var (
	unsigned = []string{``, `{}`, `{"role": "authenticated"}`, `{"sub": null, "role": "authenticated"}`}
	odd      = []string{`{"sub": ""}`, `{"sub": "alice"}`, `{"sub": 42}`, `{"sub": ["x"]}`}
)

const notAUUID, noSuchUser, noSkill = "22P02", "23503", "P0002"

// askers are all who may come to a project of two users.
func askers(t *testing.T, db *testenv.Database, alice, bob string) []asker {
	t.Helper()
	user := db.AsUser(t, alice)
	all := []asker{
		{column: "anon", conn: db.AsAnon(t), role: "anon", user: alice},
		{column: "own", conn: user, role: "authenticated", user: alice},
		{column: "other", conn: user, role: "authenticated", user: bob},
	}
	for _, claims := range unsigned {
		all = append(all, asker{column: "unsigned", conn: claiming(t, db, claims), role: "authenticated", user: alice})
	}
	for _, claims := range odd {
		all = append(all, asker{column: "odd", conn: claiming(t, db, claims), role: "authenticated", user: alice, also: []string{notAUUID}})
	}
	ghost := db.NewUser(t).ID
	gone := db.AsUser(t, ghost)
	db.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", ghost)
	return append(all,
		asker{column: "gone", conn: gone, role: "authenticated", user: bob},
		asker{column: "haunted", conn: gone, role: "authenticated", user: ghost, also: []string{noSuchUser}},
		asker{column: "service", conn: db.AsService(t), role: "service_role", user: bob})
}

// statements gives each operation of outcomes on a row of the asker's, without
// those that need a kind of column which the relation does not have.
func statements(rel relation, r row, cols []column, who asker, another string) map[string]string {
	keys, unique := strings.Fields(rel.keys), strings.Fields(rel.keys)
	if len(keys) == 0 {
		keys, unique = append(strings.Fields(rel.fixed), "id"), []string{"id"}
		if !slices.Contains(r.names, "id") {
			keys, unique = r.names[:1], r.names[:1]
		}
	}
	client := strings.Fields(rel.client)
	where := " where user_id = $1"
	all := map[string]string{
		"Select":          "select from " + r.table + where,
		"SelectForUpdate": "select from " + r.table + where + " for update",
		"CopyTo":          "copy (select 1 from " + r.table + where + ") to stdout",
		"CopyFrom":        "copy " + r.table + " from stdin",
		"Insert":          r.insert(),
		"InsertReturning": r.insert() + " returning " + quoted(r.names)[0],
		"UpsertHosted":    r.upsert(unique, true),
		"UpsertLite":      r.upsert(unique, false),
		"Delete":          "delete from " + r.table + where,
		"Truncate":        "truncate " + r.table + " cascade",
		"References":      "create table theirs.its (id uuid references " + r.table + ")",
		"Trigger": "create trigger its before update on " + r.table +
			" for each row execute function pg_catalog.suppress_redundant_updates_trigger()",
	}
	update := func(kind string, is func(column) bool) {
		i := slices.IndexFunc(cols, is)
		if i < 0 {
			return
		}
		name := quoted([]string{cols[i].Name})[0]
		value := otherSQL(cols[i])
		switch {
		case who.column == "service" || kind == "UpdateClient":
			value = name // what values it may have, other tests show
		case kind == "UpdateUser":
			value = "'" + another + "'"
		}
		all[kind] = fmt.Sprintf("update %s set %s = %s%s", r.table, name, value, where)
	}
	update("UpdateClient", func(c column) bool { return len(client) > 0 && c.Name == client[len(client)-1] })
	update("UpdateKey", func(c column) bool { return c.Name != "user_id" && slices.Contains(keys, c.Name) })
	update("UpdateResult", func(c column) bool { return !rel.isClients(c.Name) })
	update("UpdateUser", func(c column) bool { return c.Name == "user_id" })
	return all
}

// cells gives the head of a contract and its lines: operation, what it needs, and
// what it comes to by column.
func cells(t *testing.T, contract string) (columns []string, lines [][]string) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(contract)) {
		fields := strings.Fields(line)
		if columns == nil {
			columns = fields
		} else if len(fields) != len(columns) {
			t.Fatalf("not a line of the contract: %q", line)
		} else {
			lines = append(lines, fields)
		}
	}
	return columns, lines
}

// wanted is what a cell comes to for a relation with its own rights.
func wanted(rel relation, needs, column, cell string) string {
	if column == "service" {
		return cell
	}
	for _, right := range strings.Split(needs, "+") {
		if !rel.lets(right) {
			return "-"
		}
	}
	return cell
}
