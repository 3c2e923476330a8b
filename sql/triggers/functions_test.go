package triggers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

// unit is an embedding at an angle to the first axis.
const unit = "array_cat(array[cosd(%s), sind(%[1]s)], array_fill(0::float8, array[1534]))::vector"

func at(degrees string) string {
	return strings.ReplaceAll(strings.Replace(unit, "%s", degrees, 1), "%[1]s", degrees)
}

func TestMatchMemories(t *testing.T) {
	db, admin, _, app := migrated(t)
	other := db.AsUser(t, db.NewUser(t).ID)
	exec(t, app, "insert into memories (content, type, embedding) values ('near', 'semantic', "+at("10")+"), ('far', 'episodic', "+at("80")+
		"), ('opposite', 'semantic', "+at("180")+"), ('none', 'semantic', null), ('zero', 'semantic', array_fill(0, array[1536])::vector)")
	// Many of another user are nearer: the index must look further.
	exec(t, other, "insert into memories (content, embedding) select 'foreign', "+at("n / 1000.0")+" from generate_series(1, 500) n")
	exec(t, admin, "analyze memories")
	ask := func(args string) string {
		return get[string](t, app, "select coalesce(string_agg(content, ' '), '') from match_memories("+at("0")+args+")")
	}
	for _, force := range []string{"", "set enable_seqscan = off; set enable_sort = off; set enable_bitmapscan = off"} {
		if _, err := app.PgConn().Exec(t.Context(), force).ReadAll(); err != nil {
			t.Fatal(err)
		}
		for args, want := range map[string]string{
			"":                                   "near far",
			", match_count => 1":                 "near",
			", match_count => 0":                 "",
			", match_count => -1":                "",
			", min_similarity => 0.5":            "near",
			", min_similarity => -1":             "near far opposite",
			", types => '{episodic}'":            "far",
			", 10, 0, '{semantic}', 0":           "near",
			", match_count => null":              "near far",
			", weight_retention => 0.0":          "near far",
			", weight_retention => 0.000001":     "near far",
			", types => null":                    "near far",
			", types => '{}', match_count => 10": "",
		} {
			if got := ask(args); got != want {
				t.Errorf("%s(%s) finds %q, want %q", force, args, got, want)
			}
		}
	}
	exec(t, admin, "insert into memory_retention select id, user_id, 1, 5, now() - interval '10 years', 1 from memories where content = 'near'")
	if got := ask(", weight_retention => 0.9"); got != "far near" {
		t.Errorf("weighted by retention: %s", got)
	}
	if got := get[int](t, db.AsAnon(t), "select has_function_privilege('anon', (select oid from pg_proc where proname = 'match_memories'), 'execute')::int"); got != 0 {
		t.Error("anon may run it")
	}
}

func TestSearchTranscripts(t *testing.T) {
	db, admin, user, app := migrated(t)
	exec(t, admin, `insert into voice_recordings (user_id, storage_path, transcript) select $1, 'a/b', v from (values ('A walk by the sea, and the sea again'), ('the sea once, far away <script>'), (null), (''),
		((select string_agg(md5(n::text), ' ') from generate_series(1, 100000) n))) t (v)`, user.ID)
	exec(t, admin, `insert into voice_recordings (user_id, storage_path, transcript) values ($1, 'a/b', 'sea sea sea')`, db.NewUser(t).ID)
	for query, want := range map[string]int{"sea": 2, `"by the sea"`: 1, "sea -walk": 1, "SEA": 2, "mountain": 0, "": 0, "sea or walk": 2, "'; drop": 0} {
		if got := get[int](t, app, "select count(*) from search_transcripts($1)", query); got != want {
			t.Errorf("%q finds %d, want %d", query, got, want)
		}
	}
	if got := get[string](t, app, "select highlights from search_transcripts('sea', 1)"); !strings.Contains(got, "the <b>sea</b>") {
		t.Errorf("highlights %s", got)
	}
	if got := get[int](t, app, "select count(*) from search_transcripts('sea', -1)"); got != 0 {
		t.Errorf("%d rows of a negative count", got)
	}
}

func TestSkillsOfOthers(t *testing.T) {
	db, admin, alice, app := migrated(t)
	bob := db.NewUser(t)
	exec(t, admin, `insert into skills (user_id, name, visibility, source, wasm_bytecode, steps) values
		($1, 'own', 'private', 's', null, null), ($2, 'secret', 'private', 's', null, null), ($2, 'open', 'public', 's', '\x00', '[1]')`, alice.ID, bob.ID)
	exec(t, admin, "insert into skills (user_id, name) values (null, 'built in')")
	t.Run("See", func(t *testing.T) {
		if got := get[string](t, app, "select string_agg(name, ', ' order by name) from skills"); got != "built in, own" {
			t.Errorf("sees %s", got)
		}
		if got := get[string](t, app, "select string_agg(name, ', ') from public_skills"); got != "open" {
			t.Errorf("sees %s", got)
		}
		if got := get[int](t, admin, `select count(*) from information_schema.columns where table_name = 'public_skills'
			and column_name in ('source', 'wasm_bytecode', 'steps', 'user_id', 'error', 'checks')`); got != 0 {
			t.Errorf("%d columns give away what is in it", got)
		}
	})
	t.Run("Write", func(t *testing.T) {
		exec(t, admin, "create policy everyone on skills for all using (true) with check (true)")
		for _, sql := range []string{"update skills set name = 'mine' where name = 'built in'", "delete from skills where name = 'built in'",
			"delete from skills where name = 'open'"} {
			tag, err := app.Exec(t.Context(), sql)
			if err != nil || tag.RowsAffected() != 0 {
				t.Errorf("%s: %d rows, %v", sql, tag.RowsAffected(), err)
			}
		}
		refuses(t, app, denied, "skills", "insert into skills (user_id, name) values ('"+bob.ID+"', 'x')")
	})
	id := func(name string) string {
		return get[string](t, admin, "select id::text from skills where name = $1", name)
	}
	for name, may := range map[string]bool{"own": true, "open": true, "built in": true, "secret": false} {
		for _, sql := range []string{"insert into skill_runs (skill_id) values ('" + id(name) + "')", "insert into skill_runs (skill_id, dry_run) values ('" + id(name) + "', true)",
			"insert into skill_grants (skill_id, sha256, capability) values ('" + id(name) + "', repeat('a', 64), 'kv')"} {
			if may {
				exec(t, app, sql)
			} else {
				refuses(t, app, denied, "skill_id ", sql)
			}
		}
	}
	t.Run("RunForAnother", func(t *testing.T) {
		refuses(t, db.AsService(t), denied, "skill_id ", "insert into skill_runs (user_id, skill_id) values ($1, $2)", alice.ID, id("secret"))
		refuses(t, app, denied, "skill_id ", "insert into skill_runs (skill_id) values (gen_random_uuid())")
	})
	t.Run("Clone", func(t *testing.T) {
		clone := get[string](t, app, "select clone_skill(id => $1)::text", id("open"))
		if got := get[string](t, app, "select concat_ws(' ', user_id, name, visibility, source, wasm_bytecode, steps, status) from skills where id = $1", clone); got != alice.ID+` open private s \x00 [1] pending` {
			t.Errorf("clone %s", got)
		}
		refuses(t, app, "P0002", "no public skill", "select clone_skill($1)", id("secret"))
		refuses(t, db.AsAnon(t), denied, "clone_skill", "select clone_skill(gen_random_uuid())")
	})
	t.Run("DeletedLeavesItsRuns", func(t *testing.T) {
		exec(t, app, "delete from skills where name = 'own'")
		if got := get[int](t, app, "select count(*) from skill_runs where skill_id is null and definition is null"); got != 2 {
			t.Errorf("%d runs are left, want 2", got)
		}
	})
}

func TestSkillVersions(t *testing.T) {
	db, admin, user, app := migrated(t)
	exec(t, app, "insert into skills (name, kind, source) values ('x', 'javascript', 'a')")
	const ready = "update skills set status = 'ready', sha256 = repeat('a', 64), checked_at = now(), checks = '{}'"
	for _, sql := range []string{"kind = 'composite'", `wasm_bytecode = '\x00'`, "source = 'b'", "steps = '[]'", "parameters = '{}'", "capabilities = '{kv}'", "limits = '{}'"} {
		t.Run(sql, func(t *testing.T) {
			exec(t, admin, ready)
			rev := get[int](t, app, "select content_rev from skills")
			exec(t, app, "update skills set "+sql)
			if got := get[string](t, app, "select concat_ws(' ', status, sha256, checked_at, checks, content_rev - $1) from skills", rev); got != "pending 1" {
				t.Errorf("changed: %s", got)
			}
			exec(t, admin, ready)
			exec(t, app, "update skills set "+sql) // the same again
			if got := get[string](t, app, "select status from skills"); got != "ready" {
				t.Errorf("unchanged: %s", got)
			}
		})
	}
	exec(t, admin, ready)
	exec(t, app, "update skills set name = 'y', description = 'z', enabled = false")
	if got := get[string](t, app, "select status from skills"); got != "ready" {
		t.Errorf("a new name: %s", got)
	}
	exec(t, admin, `insert into skill_versions (user_id, skill_id, sha256, definition) select user_id, id, repeat('b', 64), '{}' from skills`)
	exec(t, app, "update skills set active_sha256 = repeat('b', 64)")
	refuses(t, app, check, "active_sha256", "update skills set active_sha256 = repeat('c', 64)")
	exec(t, app, "update skills set source = 'new'")
	if get[bool](t, app, "select active_sha256 is not null from skills") {
		t.Error("new code does not become active")
	}
	if got := get[int](t, db.AsUser(t, db.NewUser(t).ID), "select count(*) from skill_versions"); got != 0 {
		t.Errorf("another user sees %d versions of %s", got, user.ID)
	}
}

func TestContentRev(t *testing.T) {
	_, _, _, app := migrated(t)
	exec(t, app, "insert into memories (content, embedding) values ('x', "+at("0")+")")
	exec(t, app, `insert into voice_recordings (audio_data) values ('\x01')`)
	for _, tt := range []struct {
		table, set string
		bumps      int
	}{
		{"memories", "embedding = " + at("1"), 1}, {"memories", "embedding = embedding", 0}, {"memories", "embedding = null", 1},
		{"memories", "content = 'y'", 1}, {"memories", "content = 'y', last_accessed = now()", 0}, {"memories", "emotional_valence = 0.5", 1},
		{"memories", "created_at = 'epoch'", 1}, {"voice_recordings", `audio_data = '\x02'`, 1}, {"voice_recordings", "audio_data = audio_data", 0},
		{"voice_recordings", "language = 'de'", 0}, {"voice_recordings", "audio_data = null", 1}, {"voice_recordings", "storage_path = 'a/b'", 1},
		{"voice_recordings", "storage_path = storage_path", 0},
	} {
		before := get[int](t, app, "select content_rev from "+tt.table)
		exec(t, app, "update "+tt.table+" set "+tt.set)
		if got := get[int](t, app, "select content_rev from "+tt.table) - before; got != tt.bumps {
			t.Errorf("%s set %s: %d more, want %d", tt.table, tt.set, got, tt.bumps)
		}
	}
}

// TestInbox: each operation that the stream cannot tell of is told once a row.
func TestInbox(t *testing.T) {
	_, admin, user, app := migrated(t)
	exec(t, app, "insert into skills (name) values ('seed')")
	for _, tt := range []struct{ name, sql, want string }{
		{"MemoryInsert", "insert into memories (content) values ('x'), ('y')", ""},
		{"MemoryUpdate", "update memories set content = 'z'", ""},
		{"MemoryDelete", "delete from memories", "memories DELETE id, memories DELETE id"},
		{"SettingsInsert", "insert into synthesis_settings default values", "synthesis_settings INSERT "},
		{"SettingsUpsert", "insert into synthesis_settings (memory_limit) values (5) on conflict (user_id) do update set memory_limit = excluded.memory_limit", "synthesis_settings UPDATE "},
		{"SettingsSame", "update synthesis_settings set memory_limit = 5", ""},
		{"SettingsDelete", "delete from synthesis_settings", "synthesis_settings DELETE "},
		{"PrivacyInsert", "insert into privacy_settings default values", "privacy_settings INSERT "},
		{"PrivacyUpsert", "insert into privacy_settings (opt_out) values ('{memories.content}') on conflict (user_id) do update set opt_out = excluded.opt_out", "privacy_settings UPDATE "},
		{"PrivacySame", "update privacy_settings set opt_out = '{memories.content}'", ""},
		{"PrivacyDelete", "delete from privacy_settings", "privacy_settings DELETE "},
		{"LayerInsert", "insert into psychology_layers (layer_number) values (1)", ""},
		{"LayerInsertData", "insert into psychology_layers (layer_number, data) values (2, '{}')", "psychology_layers INSERT layer_number"},
		{"LayerData", "update psychology_layers set data = '{\"a\": 1}'", "psychology_layers UPDATE layer_number, psychology_layers UPDATE layer_number"},
		{"LayerDataSame", "update psychology_layers set data = data", ""},
		{"LayerDelete", "delete from psychology_layers where layer_number = 1", "psychology_layers DELETE layer_number"},
		{"JobInsert", "insert into memory_synthesis_jobs (synthesis_type) values ('full_synthesis')", "memory_synthesis_jobs INSERT id"},
		{"JobDelete", "delete from memory_synthesis_jobs", "memory_synthesis_jobs DELETE id"},
		{"GrantInsert", "insert into skill_grants (skill_id, sha256, capability) select id, repeat('a', 64), 'kv' from skills", "skill_grants INSERT capability+sha256+skill_id"},
		{"GrantDelete", "delete from skill_grants", "skill_grants DELETE capability+sha256+skill_id"},
		{"RunDelete", "with r as (insert into skill_runs (definition) values ('{}') returning id) select from r; delete from skill_runs", "skill_runs DELETE id"},
		{"VoiceDelete", `insert into voice_recordings (audio_data) values ('\x01'); delete from voice_recordings`, "voice_recordings DELETE id"},
		{"SkillDelete", "delete from skills", "skills DELETE id"},
		{"NothingDeleted", "delete from skills", ""},
	} {
		exec(t, admin, "truncate helix.inbox")
		if _, err := app.PgConn().Exec(t.Context(), tt.sql).ReadAll(); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got := get[string](t, admin, `select coalesce(string_agg(concat_ws(' ', table_name, op, '') ||
			(select coalesce(string_agg(k, '+' order by k), '') from jsonb_object_keys(key) k), ', '), '') from helix.inbox`)
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if n := get[int](t, admin, "select count(*) from helix.inbox where user_id is distinct from $1 or key @? '$.* ? (@ == null)'", user.ID); n != 0 {
			t.Errorf("%s: %d rows of another user or without a key", tt.name, n)
		}
	}
	exec(t, app, "insert into psychology_layers (layer_number, data) values (3, '{}')")
	exec(t, admin, "truncate helix.inbox")
	exec(t, admin, "update psychology_layers set decay_rate = 0.5, last_updated = now()")
	if n := get[int](t, admin, "select count(*) from helix.inbox"); n != 0 {
		t.Errorf("%d rows tell of helixd's own writes", n)
	}
}

func TestStatus(t *testing.T) {
	db, admin, _, app := migrated(t)
	const status = `select string_agg(concat_ws(' ', reactor, running, healthy, round(lag_seconds / 20) * 20, queue_depth, updated_at is not null), ', ' order by reactor) from helix_status`
	want := func(name, want string) {
		t.Helper()
		if got := get[string](t, app, status); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	want("NeverStarted", "helixd f f 0 f")
	exec(t, admin, "insert into helix.leaders (slot, epoch, holder, heartbeat_at) values ('helix', 1, 'x', now() - interval '100 seconds')")
	exec(t, admin, "insert into helix.checkpoints (slot, system_identifier, lsn, epoch) values ('helix', 'x', pg_current_wal_lsn(), 1)")
	want("Gone", "helixd f f 100 0 t")
	exec(t, admin, "update helix.leaders set heartbeat_at = now() + interval '1 hour'")
	want("NotStreaming", "helixd t f 0 0 t") // there is no slot
	exec(t, admin, "insert into helix.reactors (reactor, slot, queue) values ('sync', 'helix', null), ('voice', 'helix', 'voice')")
	exec(t, admin, `insert into helix.river_job (kind, max_attempts, queue, state, args, finalized_at) select 'k', 1, q, s::helix.river_job_state, '{}', case s when 'completed' then now() end
		from unnest(array['voice', 'voice', 'skills']) q, unnest(array['available', 'retryable', 'completed']) s`)
	exec(t, app, "insert into voice_recordings (audio_data) select '\\x00' from generate_series(1, 4)") // its jobs are lanes
	want("Queues", "sync t f 0 0 t, voice t f 0 4 t")
	exec(t, admin, "update helix.checkpoints set updated_at = now() - interval '200 seconds'")
	want("Idle", "sync t f 0 0 t, voice t f 0 4 t")
	exec(t, admin, "select pg_logical_emit_message(true, 'test', repeat('x', 65 << 20))")
	want("Behind", "sync t f 200 0 t, voice t f 200 4 t")
	pauses := func(name, insert, paused string) {
		t.Helper()
		exec(t, admin, "truncate helix.paused; insert into helix.paused (what, by, until, ended_at) values "+insert)
		if got := get[string](t, app, `select coalesce(string_agg(reactor || ' ' || (details -> 'paused' ->> 'what'), ', ' order by reactor), '')
			from helix_status where details -> 'paused' ->> 'since' is not null and not healthy`); got != paused {
			t.Errorf("%s: %q is paused, want %q", name, got, paused)
		}
	}
	pauses("OneReactor", "('voice', 'me', null, null)", "voice voice")
	pauses("All", "('stream', 'me', now() + interval '1 hour', null)", "sync stream, voice stream")
	pauses("Over", "('stream', 'me', now(), null), ('voice', 'me', null, now())", "")
	refuses(t, db.AsAnon(t), denied, "helix_status", "select from helix_status")
	refuses(t, app, denied, "helix", "select helix.status()")
}

// TestStatusOnAReplica: reads may go to a read replica, which has no slots and writes
// no WAL.
func TestStatusOnAReplica(t *testing.T) {
	cluster := testenv.StartCluster(t, testenv.Options{})
	if !cluster.Local() {
		t.Skip("the server's files are not on this machine")
	}
	db := testenv.NewOn(t, cluster)
	admin := db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	user := db.NewUser(t).ID
	exec(t, admin, "insert into helix.leaders (slot, epoch, holder, heartbeat_at) values ('helix', 1, 'x', now() + interval '1 hour')")
	exec(t, admin, "insert into helix.checkpoints (slot, system_identifier, lsn, epoch) values ('helix', 'x', pg_current_wal_lsn(), 1)")
	signal := filepath.Join(get[string](t, db.Connect(t, "supabase_admin"), "show data_directory"), "standby.signal")
	if err := os.WriteFile(signal, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(signal, 0o666); err != nil { // it is another user's server
		t.Fatal(err)
	}
	restarted := make(chan error, 1)
	go func() { restarted <- cluster.Restart(t.Context(), testenv.Fast) }() // which waits for the end of the recovery
	var replica *pgx.Conn
	testenv.Until(t, 30*time.Second, "a read replica", func() (is bool) {
		var err error
		if replica, err = pgx.Connect(t.Context(), db.URL("supabase_admin")); err != nil {
			return false
		}
		if err := replica.QueryRow(t.Context(), "select pg_is_in_recovery()").Scan(&is); err != nil || !is { // it goes down
			_ = replica.Close(t.Context())
		}
		return is
	})
	defer replica.Close(t.Context())
	if got := get[string](t, db.AsUser(t, user), "select concat_ws(' ', running, healthy, lag_seconds) from helix_status"); got != "t t 0" {
		t.Errorf("helix_status: %s", got)
	}
	exec(t, replica, "select pg_promote()") // so that the database can be dropped
	if err := <-restarted; err != nil {
		t.Fatal(err)
	}
}
