package sync_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/sync"
	"github.com/helixd/helixd/testenv"
)

func TestConformance(t *testing.T) {
	for _, strategy := range []string{"last_write_wins", "merge", "manual"} {
		t.Run(strategy, func(t *testing.T) { conforms(t, strategy) })
	}
}

func conforms(t *testing.T, strategy string) {
	reactortest.Run(t, reactortest.Suite{Reactor: sync.Reactor{}, Write: func(t *testing.T, _ *testenv.Database, app *pgx.Conn) {
		if _, err := app.Exec(t.Context(), "insert into sync_policies (entity_type, strategy) values ('note', $1)", strategy); err != nil {
			t.Fatal(err)
		}
		const (
			note  = "11111111-1111-4111-8111-111111111111"
			other = "22222222-2222-4222-8222-222222222222"
		)
		put := func(entity, device, clock, text string, deleted bool) {
			t.Helper()
			_, err := app.Exec(t.Context(), `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock, deleted)
				values ('note', $1, $2, jsonb_build_object('text', $4::text), $3, $5)
				on conflict (user_id, entity_type, entity_id, device_id) do update set data = excluded.data,
					vector_clock = excluded.vector_clock, deleted = excluded.deleted, last_modified = now()`,
				entity, device, clock, text, deleted)
			if err != nil {
				t.Fatal(err)
			}
		}
		put(note, "phone", `{"phone": 1}`, "first", false)
		put(note, "laptop", `{"phone": 1, "laptop": 1}`, "continued", false)
		put(note, "phone", `{"phone": 2, "laptop": 1}`, "concurrent", false)
		put(note, "tablet", `{"tablet": 1, "phone": 1, "laptop": 1}`, "too", false)
		put(note, "phone", `{"phone": 2, "laptop": 1}`, "forked", false)
		put(note, "phone", `{"phone": 1}`, "restored from a backup", false)
		put(note, "laptop", `{"clocks": {"phone": 2, "laptop": 2, "tablet": 1}}`, "merged", false)
		// Long enough to be TOASTed, so that the update below does not send it.
		put(other, "phone", `{"phone": 1}`, strings.Repeat("long ", 20_000), false)
		for _, sql := range []string{
			`update sync_state set vector_clock = '{"phone": 2}', last_modified = now() where entity_id = '` + other + `'`,
			`update sync_state set deleted = true, vector_clock = '{"phone": 3}' where entity_id = '` + other + `'`,
			`insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
				select 'item', gen_random_uuid(), 'phone', jsonb_build_object('n', n), '{"phone": 1}' from generate_series(1, 50) n`,
			`delete from sync_state where device_id = 'tablet'`,
		} {
			if _, err := app.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
	}})
}
