package migrations_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What a user learns of others' rows without seeing them. Every uuid of a seeded
// row is its user's id, so that a row is known by it wherever it appears.

// failure is what a client is told of a statement, "" when it passes. The
// statement is undone.
func failure(t *testing.T, conn *pgx.Conn, sql string) (code, told string) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // undoing is all it does
	_, err = tx.Exec(t.Context(), sql)
	if err == nil {
		return "", ""
	}
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		t.Fatalf("%s: %v", sql, err)
	}
	return pgErr.Code, strings.Join([]string{pgErr.Message, pgErr.Detail, pgErr.Hint, pgErr.Where}, " | ")
}

// TestErrorsTellNothing: what is another's and what is not there fail alike.
func TestErrorsTellNothing(t *testing.T) {
	db, admin := migrated(t)
	alice, bob := db.NewUser(t).ID, db.NewUser(t).ID
	rows := seedAll(t, admin, alice, bob)
	user := db.AsUser(t, alice)
	of := func(sql, id string) string { return strings.ReplaceAll(sql, "$1", "'"+id+"'") }
	for _, rel := range contract {
		r := rows[rel.name].with("id", "gen_random_uuid()")
		if rel.name == "memory_retention" {
			r = rows[rel.name]
		}
		// An account, and all that could be its.
		t.Run(rel.name+"/AnothersAccount", func(t *testing.T) {
			code, told := failure(t, user, of(r.insert(), bob))
			nobody := uuid.NewString()
			noCode, noTold := failure(t, user, of(r.insert(), nobody))
			if code == "" || code != noCode || strings.ReplaceAll(told, bob, nobody) != noTold {
				t.Errorf("a row for another user: %s %s\nfor nobody: %s %s", code, told, noCode, noTold)
			}
		})
		for _, c := range catalogColumns(t, admin, "public."+rel.name) {
			if c.Type != "uuid" || c.Name == "id" || c.Name == "user_id" || !rel.isClients(c.Name) {
				continue
			}
			t.Run(rel.name+"/References/"+c.Name, func(t *testing.T) {
				nobodys := uuid.NewString()
				code, told := failure(t, user, of(r.with(c.Name, "'"+bob+"'").insert(), alice))
				noCode, noTold := failure(t, user, of(r.with(c.Name, "'"+nobodys+"'").insert(), alice))
				if code != noCode || strings.ReplaceAll(told, bob, nobodys) != noTold {
					t.Errorf("another's: %s %s\nnobody's: %s %s", code, told, noCode, noTold)
				}
			})
		}
		if !rel.lets("insert") {
			continue
		}
		// A primary key is the same for all: that an id is taken, who knows the id may
		// learn, and nothing else of the row.
		t.Run(rel.name+"/TakenId", func(t *testing.T) {
			taken := rows[rel.name].with("id", "'"+bob+"'")
			run(t, admin, fmt.Sprintf("delete from public.%s where user_id = '%s'", rel.name, alice))
			if code, told := failure(t, user, of(taken.insert(), alice)); code == "" || strings.Contains(told, bob) || code == "23505" && strings.Contains(told, "Key (") {
				t.Errorf("%s %s", code, told)
			}
			if _, err := admin.Exec(t.Context(), of(rows[rel.name].insert(), alice)); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestConditionsSeeOwnRows: a function in a condition, as cheap as it says to be,
// is asked about no row that the user does not see; nor does a plan show one.
func TestConditionsSeeOwnRows(t *testing.T) {
	db, admin := migrated(t)
	alice, bob := db.NewUser(t).ID, db.NewUser(t).ID
	seedAll(t, admin, alice, bob)
	run(t, admin, "analyze")
	cfg, err := pgx.ParseConfig(db.URL("authenticator"))
	if err != nil {
		t.Fatal(err)
	}
	var asked strings.Builder
	cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { asked.WriteString(n.Message + "\n") }
	user, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close(t.Context())
	for _, sql := range []string{
		fmt.Sprintf(`select set_config('role', 'authenticated', false), set_config('request.jwt.claims', '{"sub": "%s"}', false)`, alice),
		`create function pg_temp.sees(seen text) returns boolean language plpgsql cost 0.0000001 as $$ begin raise notice '%', seen; return true; end $$`,
	} {
		run(t, user, sql)
	}
	relations := []string{"memories_with_retention", "public_skills"}
	for _, rel := range contract {
		relations = append(relations, rel.name)
	}
	for _, name := range relations {
		t.Run(name, func(t *testing.T) {
			asked.Reset()
			run(t, user, "select * from public."+name+" r where pg_temp.sees(r::text)")
			if strings.Contains(asked.String(), bob) {
				t.Errorf("a condition was asked about another's row:\n%s", &asked)
			}
			if own := strings.Contains(asked.String(), alice); own != (name != "public_skills") { // where both are private
				t.Errorf("it was asked about the user's own row: %v", own)
			}
			rows, err := user.Query(t.Context(), "explain (analyze, verbose) select * from public."+name+" r where pg_temp.sees(r::text)")
			if err != nil {
				t.Fatal(err)
			}
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); strings.Contains(text, bob) || !strings.Contains(text, "sees") {
				t.Errorf("the plan:\n%s", text)
			}
			if n := get[int](t, user, "select count(*) from pg_stats where schemaname = 'public' and tablename = $1", name); n != 0 {
				t.Errorf("pg_stats shows values of %d columns", n)
			}
		})
	}
	if n := get[int](t, admin, "select count(*) from pg_stats where schemaname = 'public' and tablename = 'memories'"); n == 0 {
		t.Error("there are no statistics that could be shown")
	}
}
