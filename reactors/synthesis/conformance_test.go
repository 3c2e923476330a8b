package synthesis_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/synthesis"
	"github.com/helixd/helixd/testenv"
)

func TestConformance(t *testing.T) {
	reactortest.Run(t, reactortest.Suite{Reactor: synthesis.Reactor{}, Write: func(t *testing.T, db *testenv.Database, app *pgx.Conn) {
		other := db.AsUser(t, db.NewUser(t).ID)
		for _, sql := range []string{
			"insert into memories (content) select 'memory ' || n from generate_series(1, 20) n",
			"update memories set content = 'changed' where content = 'memory 3'",
			"delete from memories where content = 'memory 4'",
			"insert into synthesis_settings (memory_limit) values (50)",
			"update synthesis_settings set enabled = false",
			"delete from memories",
		} {
			for _, conn := range []*pgx.Conn{app, other} {
				if _, err := conn.Exec(t.Context(), sql); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
		}
	}})
}
