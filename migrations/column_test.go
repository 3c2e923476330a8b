package migrations_test

import (
	"fmt"
	"regexp"
	"testing"
)

// TestColumns: a client writes the columns that are its own, and is told the
// name of any other.
func TestColumns(t *testing.T) {
	db, admin := migrated(t)
	alice := db.NewUser(t).ID
	rows := seedAll(t, admin, alice)
	user := db.AsUser(t, alice)
	for _, rel := range contract {
		if !rel.lets("update") {
			continue
		}
		for _, c := range catalogColumns(t, admin, "public."+rel.name) {
			update := fmt.Sprintf("update public.%s set %s where user_id = $1", rel.name, quoted([]string{c.Name})[0]+" = "+otherSQL(c))
			names := regexp.MustCompile(`\b` + c.Name + `\b`)
			if !rel.isClients(c.Name) || rel.isFixed(c.Name) {
				t.Run(rel.name+"/Update/"+c.Name, func(t *testing.T) {
					if got, said := try(t, user, nil, update, alice); got != refused || !names.MatchString(said) {
						t.Errorf("%s\n%d rows, %q: want a refusal that names the column", update, got, said)
					}
				})
			}
			if rel.lets("insert") && !rel.isClients(c.Name) {
				t.Run(rel.name+"/Insert/"+c.Name, func(t *testing.T) {
					// The value that the row would have by itself is allowed: this one differs from it.
					value := fmt.Sprintf("(select %s from public.%s where user_id = $1)", otherSQL(c), rel.name)
					insert := rows[rel.name].with(c.Name, value).with("id", "gen_random_uuid()").insert()
					if got, said := try(t, user, nil, insert, alice); got != refused || !names.MatchString(said) {
						t.Errorf("%s\n%d rows, %q: want a refusal that names the column", insert, got, said)
					}
				})
			}
			if rel.isClients(c.Name) && !rel.isFixed(c.Name) {
				t.Run(rel.name+"/Same/"+c.Name, func(t *testing.T) {
					same := fmt.Sprintf("update public.%s set %[2]s = %[2]s where user_id = $1", rel.name, quoted([]string{c.Name})[0])
					if got, said := try(t, user, nil, same, alice); got != 1 {
						t.Errorf("%s\n%d rows, want 1: %s", same, got, said)
					}
				})
			}
		}
	}
}

// TestNullsInABulkInsert: supabase-js sends null for a column that another row
// of the same insert has; the column's default counts.
func TestNullsInABulkInsert(t *testing.T) {
	db, admin := migrated(t)
	alice := db.NewUser(t).ID
	rows := seedAll(t, admin, alice)
	user := db.AsUser(t, alice)
	for _, rel := range contract {
		if !rel.lets("insert") {
			continue
		}
		t.Run(rel.name, func(t *testing.T) {
			r := rows[rel.name]
			for _, c := range catalogColumns(t, admin, "public."+rel.name) {
				if hasDefault := get[bool](t, admin, `select atthasdef from pg_attribute where attrelid = ('public.' || $1)::regclass and attname = $2`,
					rel.name, c.Name); hasDefault {
					r = r.with(c.Name, "null")
				}
			}
			insert := r.insert()
			if got, said := try(t, user, without(rel.name, alice, "authenticated"), insert+" returning $1::uuid", alice); got != 1 {
				t.Errorf("%s\n%d rows, want 1: %s", insert, got, said)
			}
		})
	}
}
