package skills_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/testenv"
)

func TestConformance(t *testing.T) {
	reactortest.Run(t, reactortest.Suite{Reactor: skills.Reactor{}, Write: func(t *testing.T, _ *testenv.Database, app *pgx.Conn) {
		for _, sql := range []string{
			"insert into skills (name, kind, source, schedule) select 'a' || n, 'javascript', 'x', '*/5 * * * *' from generate_series(1, 20) n",
			"insert into skill_runs (skill_id) select id from skills",
			"update skill_runs set cancel_requested = true where id in (select id from skill_runs limit 3)",
			"update skills set source = 'y', schedule = 'nonsense' where name = 'a1'",
			"update skills set enabled = false where name = 'a2'",
			"insert into skill_grants (skill_id, sha256, capability) select id, repeat('a', 64), 'kv' from skills",
			"delete from skill_grants where skill_id in (select id from skills where name = 'a4')",
			"delete from skills where name = 'a3'",
			`insert into skill_runs (definition) values ('{"kind": "javascript", "source": "x"}')`,
		} {
			if _, err := app.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}})
}
