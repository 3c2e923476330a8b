package skills_test

import (
	"testing"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/skills"
)

// TestAdoptedSkills: what a project had in columns of the same names, null too, is
// run, and stays as it is.
func TestAdoptedSkills(t *testing.T) {
	b := &bench{Project: reactortest.EmptyProject(t)}
	user := b.User(t)
	b.Exec(t, "create table public.skills (id uuid primary key, user_id uuid, name text, wasm_bytecode bytea, enabled boolean, visibility text, created_at timestamp)")
	b.Exec(t, "insert into skills (id, user_id, name, wasm_bytecode) values (gen_random_uuid(), $1, 'old', $2)", user, echoModule())
	b.Exec(t, "insert into skills (id, user_id, name, wasm_bytecode, enabled, visibility) values (gen_random_uuid(), $1, null, $2, true, 'private')", user, echoModule())
	b.Migrate(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, boxes(t))
	b.Exec(t, "insert into skill_runs (user_id, skill_id) select $1, id from skills", user)
	b.until(t, "all runs", "select count(*) = 2 from skill_runs where status = 'succeeded'")
	if !get[bool](t, b.Admin, "select enabled is null and visibility is null from skills where name = 'old'") {
		t.Error("a column of before was changed")
	}
}

// TestUpgrade: skills and runs of before skills were run are checked, run and
// scheduled once they are.
func TestUpgrade(t *testing.T) {
	b := &bench{Project: reactortest.EmptyProject(t)}
	for _, m := range migrations.All() {
		if m.Version < "20261121" {
			if _, err := b.Admin.PgConn().Exec(t.Context(), m.SQL).ReadAll(); err != nil {
				t.Fatalf("%s: %v", m.File(), err)
			}
		}
	}
	user := b.User(t)
	b.Exec(t, "insert into skills (user_id, name, wasm_bytecode, schedule) values ($1, 'old', $2, '0 0 1 1 *')", user, echoModule())
	b.Exec(t, "insert into skill_runs (user_id, skill_id) select $1, id from skills", user)
	b.Migrate(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, boxes(t))
	b.until(t, "the run", "select bool_and(status = 'succeeded') from skill_runs")
	b.until(t, "the schedule", "select exists (select from helix.river_job where kind = 'skill_schedule' and state = 'scheduled')")
}
