package embedding_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/embedding"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/testenv"
)

func TestConformance(t *testing.T) {
	reactortest.Run(t, reactortest.Suite{Reactor: embedding.Reactor{}, Write: func(t *testing.T, db *testenv.Database, app *pgx.Conn) {
		other := db.AsUser(t, db.NewUser(t).ID)
		for _, sql := range []string{
			"insert into memories (content) select 'memory ' || n from generate_series(1, 20) n",
			"insert into memories (content, embedding) select 'mine ' || n, array_fill(n, '{1536}')::vector from generate_series(1, 5) n",
			"insert into memories (content) values (null), (''), ('gone')",
			"update memories set content = 'changed' where content in ('memory 3', 'mine 1')",
			"update memories set content = 'both changed', embedding = array_fill(.5, '{1536}')::vector where content in ('memory 4', 'mine 2')",
			"update memories set embedding = array_fill(.25, '{1536}')::vector where content = 'memory 5'",
			"update memories set embedding = null where content = 'mine 3'",
			"update memories set content = null where content = 'memory 6'",
			"update memories set last_accessed = now()",
			"delete from memories where content = 'gone'",
			"insert into privacy_settings (opt_out) values ('{memories.content}')",
			"update privacy_settings set opt_out = '{}'",
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
