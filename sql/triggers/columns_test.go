package triggers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// What a signed-in user may do with a column.
type right string

const (
	write right = "write" // on insert and update
	fix   right = "fix"   // on insert only
	never right = "never"
	flag  right = "flag" // on update only
)

// clientTable says, as CONTRACT.md does, what of a table is a client's to write;
// all else is helixd's.
type clientTable struct {
	insert  string // columns and values of a row of $1, with what a row needs
	write   string // columns beside created_at
	fix     string // columns beside id and user_id
	flag    string
	never   string
	another map[string]string // another value of a column, where the type's own will not do
}

var clientTables = map[string]clientTable{
	"memories": {
		insert: "(content, embedding) values ('x', array_fill(.25, array[1536])::vector)", // without one embedding_stale is true
		write:  "type content embedding emotional_valence last_accessed",
		never:  "content_rev embedding_indexed embedding_stale",
		another: map[string]string{"type": "'semantic'", "embedding": "array_fill(.5, array[1536])::vector",
			"emotional_valence": "-.5", "embedding_indexed": "false"},
	},
	"synthesis_settings": {
		insert:  "default values",
		write:   "memory_limit min_confidence min_cluster_size enabled",
		another: map[string]string{"enabled": "false", "min_confidence": ".5"},
	},
	"privacy_settings": {
		insert:  "default values",
		write:   "opt_out redact_names",
		another: map[string]string{"opt_out": "'{skill_runs.llm}'", "redact_names": "'{Ada}'"},
	},
	"memory_synthesis_jobs": {
		insert: "(synthesis_type) values ('full_synthesis')",
		fix:    "synthesis_type conversations time_range",
		never:  "status progress analysis summary layer provider input_tokens output_tokens execution_time_ms error finished_at",
		another: map[string]string{"synthesis_type": "'narrative_themes'", "conversations": "'[]'", "time_range": "'[2024-01-01,2024-02-01)'",
			"status": "'done'", "progress": ".5"},
	},
	"psychology_layers": {
		insert:  "(layer_number) values (1)",
		write:   "data",
		fix:     "layer_number",
		never:   "layer_name decay_rate last_updated initial_strength last_reinforced decay_model decay_params",
		another: map[string]string{"decay_model": "'power'", "initial_strength": ".5", "decay_rate": ".5"},
	},
	"skills": {
		insert: "(name) values ('x')",
		write:  "name description kind wasm_bytecode source steps parameters capabilities limits version enabled visibility tags schedule active_sha256",
		never:  "status error checks sha256 checked_at usage_count content_rev",
		another: map[string]string{"kind": "'composite'", "enabled": "false", "visibility": "'public'", "status": "'ready'",
			"active_sha256": "null"}, // any other must be a version of the skill: TestSkillVersions
	},
	"skill_grants": {
		insert:  "(skill_id, sha256, capability) values ((select id from skills where name = 'seed'), repeat('a', 64), 'kv')",
		fix:     "skill_id sha256 capability",
		another: map[string]string{"skill_id": "(select id from skills where name = 'seed two')", "sha256": "repeat('b', 64)"},
	},
	"skill_runs": {
		insert: "(skill_id) values ((select id from skills where name = 'seed'))",
		fix:    "skill_id definition input dry_run",
		flag:   "cancel_requested",
		never: "status output error step_results steps_completed total_steps execution_context audit_log logs execution_time_ms cpu_ms " +
			"peak_memory_bytes retries_used started_at finished_at",
		another: map[string]string{"skill_id": "(select id from skills where name = 'seed two')", "status": "'cancelled'"},
	},
	"voice_recordings": {
		insert: `(audio_data) values ('\x01')`,
		write:  "audio_data storage_path mime_type language keep_audio memo",
		never: "status transcript transcript_confidence words detected_language duration_ms processed_audio provider error actions attempts " +
			"processed_at content_rev",
		another: map[string]string{"status": "'done'", "storage_path": "'a/b'"},
	},
	"voice_commands": {
		insert:  "(phrase, skill_id) values ('say {what}', (select id from skills where name = 'seed'))",
		write:   "phrase skill_id arguments enabled",
		another: map[string]string{"skill_id": "(select id from skills where name = 'seed two')", "enabled": "false"},
	},
	"sync_state": {
		insert: "(entity_type, entity_id, device_id) values ('note', '" + note + "', 'phone')",
		write:  "data vector_clock last_modified deleted base_revision",
		fix:    "entity_type entity_id device_id",
	},
}

// anotherValue is of a type, and no column's default.
var anotherValue = map[string]string{
	"uuid": "gen_random_uuid()", "text": "'another'", "jsonb": `'{"another": 1}'`, "boolean": "true", "integer": "7", "bigint": "7",
	"double precision": ".25", "timestamp with time zone": "'2024-02-29 12:00Z'", "bytea": `'\x0102'`, "ARRAY": "'{a}'",
}

func TestColumns(t *testing.T) {
	db, admin, user, app := migrated(t)
	exec(t, app, "insert into skills (name) values ('seed'), ('seed two')")
	service := db.AsService(t)
	for name, tab := range clientTables {
		rights := map[string]right{"id": fix, "user_id": fix, "created_at": write}
		for r, columns := range map[right]string{write: tab.write, fix: tab.fix, flag: tab.flag, never: tab.never} {
			for _, c := range strings.Fields(columns) {
				rights[c] = r
			}
		}
		rows, err := admin.Query(t.Context(), "select column_name, data_type from information_schema.columns where table_schema = 'public' and table_name = $1", name)
		if err != nil {
			t.Fatal(err)
		}
		var column, kind string
		types := map[string]string{}
		if _, err := pgx.ForEachRow(rows, []any{&column, &kind}, func() error { types[column] = kind; return nil }); err != nil {
			t.Fatal(err)
		}
		for c := range types {
			if _, known := rights[c]; !known {
				t.Errorf("%s.%s: the contract's columns do not have it", name, c)
			}
		}
		for c, r := range rights {
			if types[c] == "" {
				t.Errorf("%s has no column %s", name, c)
				continue
			}
			value := tab.another[c]
			if value == "" {
				value = anotherValue[types[c]]
			}
			if c == "user_id" {
				value = "'" + db.NewUser(t).ID + "'"
			}
			t.Run(name+"/"+c+"/Insert", func(t *testing.T) {
				sql := "insert into " + name + " " + tab.insert
				switch {
				case strings.HasPrefix(tab.insert, "default"):
					sql = fmt.Sprintf("insert into %s (%s) values (%s)", name, c, value)
				case strings.Contains(tab.insert, "("+c+")") || strings.Contains(tab.insert, "("+c+",") || strings.Contains(tab.insert, ", "+c):
				default:
					sql = strings.Replace(strings.Replace(sql, "(", "("+c+", ", 1), "values (", "values ("+value+", ", 1)
				}
				wants := r == write || r == fix
				if name == "skill_runs" && c == "definition" || name == "voice_recordings" && c == "storage_path" {
					wants = true
					sql = fmt.Sprintf("insert into %s (%s) values (%s)", name, c, value)
				}
				checkWrite(t, app, sql, name, c, wants, c == "user_id")
			})
			t.Run(name+"/"+c+"/Update", func(t *testing.T) {
				tx, err := app.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback(t.Context()) //nolint:errcheck // undoing is all it does
				exec(t, app, "insert into "+name+" "+tab.insert)
				if c == "storage_path" {
					exec(t, app, "update "+name+" set audio_data = null") // there are never both
				}
				set := fmt.Sprintf("update %s set %s = ", name, c)
				exec(t, app, set+c) // as an upsert with all columns does
				checkWrite(t, app, set+value, name, c, r == write || r == flag, false)
			})
			if r == fix || r == never {
				t.Run(name+"/"+c+"/ServiceMay", func(t *testing.T) {
					tx, err := service.Begin(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					defer tx.Rollback(t.Context()) //nolint:errcheck // undoing is all it does
					insert := strings.Replace("insert into "+name+" "+tab.insert, "(", "(user_id, ", 1)
					insert = strings.Replace(insert, "values (", "values ('"+user.ID+"', ", 1)
					if tab.insert == "default values" {
						insert = "insert into " + name + " (user_id) values ('" + user.ID + "')"
					}
					if c == "skill_id" {
						value = strings.Replace(value, "where", "where user_id = '"+user.ID+"' and", 1)
					}
					exec(t, service, insert)
					sql := fmt.Sprintf("update %s set %s = %s where user_id = '%s'", name, c, value, user.ID)
					if c == "user_id" && strings.HasPrefix(name, "skill") {
						return // the skill is not the other user's
					}
					exec(t, service, sql)
				})
			}
		}
	}
	t.Run("EveryGuardedTable", func(t *testing.T) {
		got := get[[]string](t, admin, "select array_agg(tgrelid::regclass::text order by 1) from pg_trigger where tgname = 'a_helix_guard'")
		for _, tab := range got {
			if _, known := clientTables[tab]; !known && tab != "sync_conflicts" && tab != "sync_policies" {
				t.Errorf("%s has a guard and is not tested here", tab)
			}
		}
		for tab := range clientTables {
			if !slices.Contains(got, tab) {
				t.Errorf("%s has no guard", tab)
			}
		}
	})
	t.Run("NoGrantWithoutAGuard", func(t *testing.T) {
		got := get[string](t, admin, `select coalesce(string_agg(c.oid::regclass::text, ' '), '') from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r'
			and (has_table_privilege('authenticated', oid, 'insert') or has_table_privilege('authenticated', oid, 'update'))
			and not exists (select from pg_trigger where tgrelid = c.oid and tgname = 'a_helix_guard')`)
		if got != "" {
			t.Errorf("clients write %s unguarded", got)
		}
	})
}

// checkWrite runs a statement that writes a column, and undoes it.
func checkWrite(t *testing.T, conn *pgx.Conn, sql, table, column string, allowed, byPolicy bool) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // undoing is all it does
	switch {
	case byPolicy && (strings.HasPrefix(table, "skill_") || table == "voice_commands"): // another user may not run the skill either
		refuses(t, conn, denied, "", sql)
	case byPolicy:
		refuses(t, conn, denied, "row-level security", sql)
	case allowed:
		exec(t, conn, sql)
	default:
		refuses(t, conn, denied, table+"."+column+" ", sql)
	}
}

func TestGuardRefuses(t *testing.T) {
	_, _, _, app := migrated(t)
	exec(t, app, "insert into skills (name) values ('seed')")
	const big = `'[1e131071]'`
	for _, tt := range []struct{ name, sql, code, names string }{
		{"MemoryType", "insert into memories (type) values ('other')", check, "type"},
		{"MemoryValence", "insert into memories (emotional_valence) values (1.01)", check, "emotional_valence"},
		{"MemoryValenceNaN", "insert into memories (emotional_valence) values ('NaN')", check, "emotional_valence"},
		{"MemoryContent", "insert into memories (content) values (repeat('x', 1048577))", check, "content"},
		{"MemoryCreatedAt", "insert into memories (created_at) values ('infinity')", check, "created_at"},
		{"SkillWithoutName", "insert into skills (source) values ('1')", notNull, "name"},
		{"SkillEmptyName", "insert into skills (name) values ('')", check, "name"},
		{"SkillModule", `insert into skills (name, wasm_bytecode) values ('x', decode(repeat('00', 16777217), 'hex'))`, check, "wasm_bytecode"},
		{"SkillStepsNumber", "insert into skills (name, steps) values ('x', " + big + ")", check, "steps"},
		{"SkillParametersNumber", "insert into skills (name, parameters) values ('x', " + big + ")", check, "parameters"},
		{"SkillLimitsNumber", "insert into skills (name, limits) values ('x', " + big + ")", check, "limits"},
		{"SkillTags", "insert into skills (name, tags) values ('x', array_fill('tag'::text, array[10000]))", check, "tags"},
		{"SkillForeignVersion", "insert into skills (name, active_sha256) values ('x', repeat('a', 64))", check, "active_sha256"},
		{"RunOfNothing", "insert into skill_runs (input) values ('{}')", check, "skill_id"},
		{"RunOfBoth", "insert into skill_runs (skill_id, definition) select id, '{}' from skills", check, "skill_id"},
		{"RunInputNumber", "insert into skill_runs (definition, input) values ('{}', " + big + ")", check, "input"},
		{"RunInputSize", "insert into skill_runs (definition, input) values ('{}', to_jsonb(repeat('x', 1048576)))", check, "input"},
		{"GrantHash", "insert into skill_grants (skill_id, sha256, capability) select id, 'a', 'kv' from skills", check, "sha256"},
		{"VoiceOfNothing", "insert into voice_recordings (language) values ('de')", check, "storage_path"},
		{"VoiceOfBoth", `insert into voice_recordings (audio_data, storage_path) values ('\x00', 'a/b')`, check, "storage_path"},
		{"VoiceEmpty", `insert into voice_recordings (audio_data) values ('')`, check, "audio_data"},
		{"CommandWithoutPhrase", "insert into voice_commands (skill_id) select id from skills", notNull, "phrase"},
		{"CommandWithoutSkill", "insert into voice_commands (phrase) values ('x')", check, "skill_id"},
		{"CommandLong", "insert into voice_commands (phrase, skill_id) select repeat('x', 301), id from skills", check, "phrase"},
		{"CommandArgumentsArray", "insert into voice_commands (phrase, skill_id, arguments) select 'x', id, '[]' from skills", check, "arguments"},
		{"CommandArgumentsNull", "insert into voice_commands (phrase, skill_id, arguments) select 'x', id, 'null' from skills", check, "arguments"},
		{"CommandArgumentNull", `insert into voice_commands (phrase, skill_id, arguments) select 'x', id, '{"a": null}' from skills`, check, "arguments"},
		{"CommandArgumentObject", `insert into voice_commands (phrase, skill_id, arguments) select 'x', id, '{"a": {"b": "{x}"}}' from skills`, check, "arguments"},
		{"CommandArgumentsMany", `insert into voice_commands (phrase, skill_id, arguments) select 'x', id,
			(select jsonb_object_agg(n, n) from generate_series(1, 51) n) from skills`, check, "arguments"},
		{"CommandArgumentsNumber", `insert into voice_commands (phrase, skill_id, arguments) select 'x', id, '{"a": 1e131071}' from skills`, check, "arguments"},
		{"CommandArgumentsSize", "insert into voice_commands (phrase, skill_id, arguments) select 'x', id, jsonb_build_object('a', repeat('x', 16384)) from skills", check, "arguments"},
		{"CommandOtherSlot", `insert into voice_commands (phrase, skill_id, arguments) select 'x {y}', id, '{"a": "{y} {z}"}' from skills`, check, "arguments"},
		{"JobWithoutType", "insert into memory_synthesis_jobs default values", notNull, "synthesis_type"},
		{"JobConversations", `insert into memory_synthesis_jobs (synthesis_type, conversations) values ('full_synthesis', '{}')`, check, "conversations"},
		{"JobManyConversations", `insert into memory_synthesis_jobs (synthesis_type, conversations) select 'full_synthesis', jsonb_agg(n) from generate_series(1, 1001) n`, check, "conversations"},
		{"JobType", "insert into memory_synthesis_jobs (synthesis_type) values ('other')", check, "synthesis_type"},
		{"SkillKind", "insert into skills (name, kind) values ('x', 'python')", check, "kind"},
		{"SkillVisibility", "insert into skills (name, visibility) values ('x', 'friends')", check, "visibility"},
		{"PolicyStrategy", "insert into sync_policies (entity_type, strategy) values ('note', 'newest')", check, "strategy"},
		{"MemoryLimit", "insert into synthesis_settings (memory_limit) values (0)", check, "memory_limit"},
		{"MemoryLimitHigh", "insert into synthesis_settings (memory_limit) values (100001)", check, "memory_limit"},
		{"MinConfidence", "insert into synthesis_settings (min_confidence) values ('NaN')", check, "min_confidence"},
		{"MinClusterSize", "insert into synthesis_settings (min_cluster_size) values (1)", check, "min_cluster_size"},
		{"MinClusterSizeHigh", "insert into synthesis_settings (min_cluster_size) values (1001)", check, "min_cluster_size"},
		{"OptOutUnknown", "insert into privacy_settings (opt_out) values ('{memories}')", check, "opt_out"},
		{"OptOutNull", "insert into privacy_settings (opt_out) values ('{NULL}')", check, "opt_out"},
		{"OptOutNested", "insert into privacy_settings (opt_out) values ('{{memories.content},{skill_runs.llm}}')", check, "opt_out"},
		{"OptOutMany", "insert into privacy_settings (opt_out) values (array_fill('memories.content'::text, array[5]))", check, "opt_out"},
		{"RedactManyNames", "insert into privacy_settings (redact_names) values (array_fill('Ada'::text, array[1001]))", check, "redact_names"},
		{"RedactLongName", "insert into privacy_settings (redact_names) values (array['Ada', repeat('x', 101)])", check, "redact_names"},
		{"RedactEmptyName", "insert into privacy_settings (redact_names) values ('{Ada,\" \"}')", check, "redact_names"},
		{"RedactNullName", "insert into privacy_settings (redact_names) values ('{Ada,NULL}')", check, "redact_names"},
		{"RedactNestedNames", "insert into privacy_settings (redact_names) values ('{{Ada},{Bob}}')", check, "redact_names"},
		{"LayerEight", "insert into psychology_layers (layer_number) values (8)", check, "layer_number"},
		{"LayerDataNumber", "insert into psychology_layers (layer_number, data) values (1, " + big + ")", check, "data"},
	} {
		t.Run(tt.name, func(t *testing.T) { refuses(t, app, tt.code, tt.names, tt.sql) })
	}
}

// TestGuardDefaults: supabase-js sends NULL for what a row of a bulk insert
// leaves out, and an upsert sets them again.
func TestGuardDefaults(t *testing.T) {
	_, _, user, app := migrated(t)
	exec(t, app, `insert into skills (name, id, user_id, kind, capabilities, enabled, visibility, tags, created_at, status, usage_count)
		values ('x', null, null, null, null, null, null, null, null, null, null)`)
	exec(t, app, "update skills set kind = null, enabled = null, tags = null, created_at = null")
	if got := get[string](t, app, "select concat_ws(' ', user_id, kind, capabilities, enabled, visibility, tags, status, usage_count) from skills"); got != user.ID+" wasm {} t private {} pending 0" {
		t.Errorf("row %s", got)
	}
	exec(t, app, "insert into psychology_layers (layer_number, layer_name, decay_rate) values (3, null, null)")
	if got := get[string](t, app, "select layer_name || ' ' || decay_rate from psychology_layers"); got != "Relational Memory 1" {
		t.Errorf("layer %s", got)
	}
}

func TestStatusChanges(t *testing.T) {
	_, admin, _, app := migrated(t)
	exec(t, app, `insert into voice_recordings (audio_data) values ('\x00')`)
	for _, from := range []string{"pending", "processing", "done", "failed"} {
		for _, to := range []string{"pending", "processing", "done", "failed"} {
			t.Run(from+"To"+to, func(t *testing.T) {
				exec(t, admin, `update voice_recordings set status = $1, error = '{"code": "x"}'`, from)
				sql := "update voice_recordings set status = '" + to + "'"
				switch {
				case from == "failed" && to == "pending":
					exec(t, app, sql)
					if get[bool](t, app, "select error is not null from voice_recordings") {
						t.Error("the error stayed")
					}
				case from == to:
					exec(t, app, sql)
				default:
					refuses(t, app, denied, "voice_recordings.status ", sql)
				}
			})
		}
	}
	exec(t, app, "insert into skill_runs (definition) values ('{}')")
	refuses(t, app, denied, "skill_runs.cancel_requested ", "insert into skill_runs (definition, cancel_requested) values ('{}', true)")
	exec(t, app, "update skill_runs set cancel_requested = true")
	refuses(t, app, denied, "skill_runs.cancel_requested ", "update skill_runs set cancel_requested = false")
}
