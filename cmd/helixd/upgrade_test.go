package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

// TestUpgrade: a project that an older release migrated, with data and results in
// it, has all of them after helixd migrate and helixd run of this one, and what
// was not done yet is done.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	for _, old := range []struct{ name, last, triggers string }{
		{"FromSync", "20261120000550", "20261120000950"},
		{"FromMemory", "20261121000820", "20261121001800"},
	} {
		t.Run(old.name, func(t *testing.T) {
			t.Parallel()
			db := testenv.New(t)
			admin := db.Connect(t, "postgres")
			older(t, admin, old.last, old.triggers)
			user := db.NewUser(t)
			app := db.AsUser(t, user.ID)
			for _, sql := range []string{
				`insert into memories (type, content, created_at) select 'episodic', 'memory ' || n, now() - n * interval '1 day' from generate_series(1, 20) as n`,
				`insert into skills (name, kind, source) values ('hello', 'javascript', 'export default () => "hello"')`,
				`insert into skill_runs (skill_id, input) select id, '{"n": 1}' from skills`,
				`insert into voice_recordings (audio_data, mime_type) values ('\x01', 'audio/webm')`,
				`insert into sync_policies (entity_type, strategy) values ('note', 'merge')`,
				`insert into sync_state (entity_type, entity_id, device_id, data, vector_clock, last_modified) values
					('note', '0d4ee0b1-4b0c-4a1f-9d4c-3f6ac4d1c0de', 'phone', '{"title": "a"}', '{"phone": 1}', now()),
					('note', '0d4ee0b1-4b0c-4a1f-9d4c-3f6ac4d1c0de', 'laptop', '{"text": "b"}', '{"laptop": 1}', now())`,
			} {
				if _, err := app.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			// What the older release had done.
			for _, sql := range []string{
				`update voice_recordings set status = 'done', transcript = 'it rained', processed_at = now()`,
				`insert into skill_runs (user_id, skill_id, input, status, output, finished_at) select user_id, id, '{"n": 2}', 'succeeded', '"done before"', now() from skills`,
				`insert into memory_synthesis (user_id, pattern_type, memory_ids, synthesis_content, confidence_score, fingerprint)
					select user_id, 'temporal_session', array_agg(id), 'kept', 0.9, 'old' from memories group by user_id`,
			} {
				if _, err := admin.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			const stays = `select jsonb_build_object(
				'memories', (select jsonb_agg(jsonb_build_array(id, user_id, type, content, embedding, created_at, last_accessed) order by id) from memories),
				'skills', (select jsonb_agg(jsonb_build_array(id, name, source, enabled)) from skills),
				'runs', (select jsonb_agg(to_jsonb(r) order by id) from skill_runs r where status = 'succeeded' and output = '"done before"'),
				'recordings', (select jsonb_agg(jsonb_build_array(id, audio_data, status, transcript, processed_at)) from voice_recordings),
				'policies', (select jsonb_agg(to_jsonb(p)) from sync_policies p),
				'devices', (select jsonb_agg(jsonb_build_array(id, device_id, data, vector_clock, last_modified) order by id) from sync_state))::text`
			before := get[string](t, admin, stays)

			migrate := start(t, db.URL("postgres"), nil, "migrate")
			if status := migrate.wait(t); status != 0 {
				t.Fatalf("migrate: exit status %d", status)
			}
			if strings.Contains(migrate.log.String(), old.last) {
				t.Errorf("it applied again what was there: %s", migrate.log)
			}
			if after := get[string](t, admin, stays); after != before {
				t.Errorf("migrate has changed rows:\n%s\n%s", before, after)
			}
			p := startOf(t, plainBinary, db.URL("postgres"), []string{"HELIX_SYNTHESIS_DELAY=10ms"}, "run", "--slot", db.SlotName("upgrade"))
			for what, sql := range map[string]string{
				"the note to be merged":          `select coalesce((select data = '{"title": "a", "text": "b"}' from sync_entities), false)`,
				"the skill to be ready":          `select bool_and(status = 'ready') from skills`,
				"the queued run to succeed":      `select count(*) = 1 from skill_runs where status = 'succeeded' and output = '"hello"'`,
				"each memory to have retention":  `select count(*) = 20 from memory_retention`,
				"the old pattern to be replaced": `select not exists (select from memory_synthesis where fingerprint = 'old')`,
			} {
				until(t, what, func() bool { return get[bool](t, admin, sql) })
			}
			if after := get[string](t, admin, stays); after != before {
				t.Errorf("run has changed rows:\n%s\n%s", before, after)
			}
			// And it streams.
			if _, err := app.Exec(t.Context(), `insert into skill_runs (skill_id) select id from skills`); err != nil {
				t.Fatal(err)
			}
			until(t, "a new run to succeed", func() bool {
				return get[bool](t, admin, `select count(*) = 2 from skill_runs where status = 'succeeded' and output = '"hello"'`)
			})
			p.stop(t)
			if n := get[int](t, admin, "select count(*) from helix.dead_letters"); n != 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

// older brings a database to the state of a release: its migrations up to last,
// and its triggers, of testdata/upgrade.
func older(t *testing.T, conn *pgx.Conn, last, triggers string) {
	t.Helper()
	apply := func(sql string) {
		t.Helper()
		if _, err := conn.PgConn().Exec(t.Context(), "begin; "+sql+"; commit").ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range migrations.All() {
		if m.Version <= last && m.Name != "helix_triggers" {
			apply(m.SQL)
		}
	}
	sql, err := os.ReadFile(filepath.Join("testdata", "upgrade", triggers+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	apply(string(sql) + "; insert into helix.migrations (version, name) values ('" + triggers + "', 'helix_triggers')")
}
