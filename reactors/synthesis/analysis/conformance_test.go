package analysis_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/synthesis/analysis"
	"github.com/helixd/helixd/testenv"
)

func TestConformance(t *testing.T) {
	reactortest.Run(t, reactortest.Suite{Reactor: analysis.Reactor{}, Write: func(t *testing.T, db *testenv.Database, app *pgx.Conn) {
		other := db.AsUser(t, db.NewUser(t).ID)
		for _, sql := range []string{
			"insert into memory_synthesis_jobs (synthesis_type) select 'prospective_self' from generate_series(1, 5)",
			"insert into memory_synthesis_jobs (id, synthesis_type, conversations) values (gen_random_uuid(), 'narrative_themes', '[]')",
			"delete from memory_synthesis_jobs where synthesis_type = 'narrative_themes'",
			"insert into privacy_settings (opt_out) values ('{memories.content}')",
			"update privacy_settings set redact_names = '{Ada}'",
			"insert into memory_synthesis_jobs (synthesis_type) values ('full_synthesis')",
			"delete from privacy_settings",
		} {
			for _, conn := range []*pgx.Conn{app, other} {
				if _, err := conn.Exec(t.Context(), sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
		}
	}})
}
