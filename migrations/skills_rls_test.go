package migrations_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestSkillsOfNobodyInParticular: what is built in everybody may read; of a
// public skill others see what it is, and not what is in it. Nobody but
// service_role changes either.
func TestSkillsOfNobodyInParticular(t *testing.T) {
	for name, older := range map[string]string{"AsMigrated": "", "WithAnOlderPermissivePolicy": olderPolicies} {
		t.Run(name, func(t *testing.T) {
			db, admin := migrated(t)
			alice, bob := db.NewUser(t).ID, db.NewUser(t).ID
			seedAll(t, admin, bob)
			run(t, admin, "insert into skills (user_id, name, kind, source) values (null, 'x', 'javascript', '1')")
			if older != "" {
				run(t, admin, fmt.Sprintf(older, "skills"))
			}
			user, anon := db.AsUser(t, alice), db.AsAnon(t)
			for _, tt := range []struct {
				name, sql string
				want      int
			}{
				{"SelectBuiltIn", "select from skills where user_id is null", 1},
				{"SelectAll", "select from skills", 1},
				{"UpdateBuiltIn", "update skills set name = name where user_id is null", 0},
				{"DeleteBuiltIn", "delete from skills where user_id is null", 0},
				{"TakeBuiltIn", "update skills set user_id = auth.uid() where user_id is null", 0},
				{"RunBuiltIn", "insert into skill_runs (skill_id) select id from skills where user_id is null", 1},
				{"RunAnothersPrivate", fmt.Sprintf("insert into skill_runs (skill_id) values ('%s')", bob), refused},
				{"SeeAnothersPrivate", "select from public_skills", 0},
			} {
				t.Run(tt.name, func(t *testing.T) {
					if got := attempt(t, user, tt.sql); got != tt.want {
						t.Errorf("%d rows, want %d (%d is a refusal)", got, tt.want, refused)
					}
				})
			}
			run(t, admin, "update skills set visibility = 'public' where user_id is not null")
			t.Run("SeeAnothersPublic", func(t *testing.T) {
				if got := attempt(t, user, "select from public_skills"); got != 1 {
					t.Errorf("%d rows, want 1", got)
				}
				if got := attempt(t, user, fmt.Sprintf("select from skills where id = '%s'", bob)); got != 0 {
					t.Errorf("%d rows of the table, want none", got)
				}
				if got := attempt(t, user, fmt.Sprintf("insert into skill_runs (skill_id) values ('%s')", bob)); got != 1 {
					t.Errorf("%d runs, want 1", got)
				}
				for _, c := range catalogColumns(t, admin, "public.public_skills") {
					if slices.Contains([]string{"source", "wasm_bytecode", "steps"}, c.Name) {
						t.Errorf("the view shows %s", c.Name)
					}
				}
			})
			t.Run("Anon", func(t *testing.T) {
				if got := attempt(t, anon, "select from skills"); got != refused {
					t.Errorf("%d rows, want a refusal", got)
				}
			})
		})
	}
}
