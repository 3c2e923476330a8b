package decay_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/decay"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/testenv"
)

func TestConformance(t *testing.T) {
	reactortest.Run(t, reactortest.Suite{Reactor: decay.Reactor{}, Write: func(t *testing.T, db *testenv.Database, app *pgx.Conn) {
		other := db.AsUser(t, db.NewUser(t).ID)
		for _, sql := range []string{
			"insert into memories (content, created_at) select 'm' || n, now() - n * interval '1 day' from generate_series(1, 20) n",
			"update memories set last_accessed = now() - interval '12 hours' where content in ('m5', 'm6', 'm7', 'm8')",
			"update memories set last_accessed = now() where content in ('m5', 'm6')",
			"update memories set last_accessed = now() - interval '1 hour' where content = 'm5'", // earlier than the last
			"update memories set last_accessed = '2100-01-01' where content in ('m7', 'm9')",     // ahead of every clock
			"update memories set last_accessed = '2101-01-01', content = 'again' where content = 'm9'",
			"update memories set last_accessed = 'epoch' where content = 'm10'", // before it was made
			"insert into memories (content, created_at, last_accessed) values ('old', '1900-01-01', '1950-01-01'), ('to come', '2100-01-01', null)",
			"begin; update memories set last_accessed = now() + interval '1 minute' where content = 'm11'; " +
				"update memories set last_accessed = now() + interval '2 minutes' where content = 'm11'; commit",
			"update memories set content = 'unread' where content = 'm12'",
			"delete from memories where content in ('m1', 'm2', 'm8')",
			"insert into psychology_layers (layer_number, data) values (3, '{}')",
			"update psychology_layers set data = '{\"a\": 1}'",
			"delete from psychology_layers",
		} {
			if _, err := app.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
		// One who has layers only, and none any more.
		for _, sql := range []string{"insert into psychology_layers (layer_number, data) values (1, '{}')", "delete from psychology_layers"} {
			if _, err := other.Exec(t.Context(), sql); err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
		}
	}})
}
