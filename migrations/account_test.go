package migrations_test

import (
	"fmt"
	"strings"
	"testing"
)

// rowOf gives columns and values of a row of user $1, for tables that need more
// than a user_id.
var rowOf = map[string]string{
	"public.memories":                  "(user_id, content) values ($1, 'x')",
	"public.memory_retention":          "(memory_id, user_id, stability_hours, difficulty, last_reinforced) select id, user_id, 1, 5, now() from memories",
	"public.memory_synthesis_jobs":     "(user_id, synthesis_type) values ($1, 'full_synthesis')",
	"public.memory_patterns":           "(user_id, job_id, pattern_type, description, confidence) select $1, id, 'goal', '', 1 from memory_synthesis_jobs",
	"public.synthesis_recommendations": "(user_id, job_id, pattern_id, recommendation) select $1, job_id, id, '' from memory_patterns",
	"public.psychology_layers":         "(user_id, layer_number, data) values ($1, 1, '{}')",
	"public.skills":                    "(user_id, name) values ($1, 'x')",
	"public.skill_versions":            "(user_id, skill_id, sha256, definition) select $1, id, repeat('a', 64), '{}' from skills",
	"public.skill_grants":              "(user_id, skill_id, sha256, capability) select $1, id, repeat('a', 64), 'kv' from skills",
	"public.skill_runs":                "(user_id, skill_id) select $1, id from skills",
	"public.voice_recordings":          `(user_id, audio_data) values ($1, '\x00')`,
	"public.voice_commands":            "(user_id, phrase, skill_id) select $1, 'x', id from skills",
	"helix.synthesis_work":             "(user_id, due) values ($1, true)",
	"helix.embedding_work":             "(memory_id, user_id) select id, user_id from memories",
	"helix.usage":                      "(user_id, day, purpose, provider, requests) values ($1, current_date, 'analysis', 'x', 1)",
	"helix.usage_holds":                "(id, user_id, day, purpose, provider, tokens, made_at) values (gen_random_uuid(), $1, current_date, 'analysis', 'x', 1, now())",
	"helix.analysis_work":              "(job_id, user_id) select id, $1 from memory_synthesis_jobs",
	"helix.analysis_cache":             "(user_id, key, job_id, answer) values ($1, '', $1, '{}')",
	"helix.voice_work":                 "(recording_id, user_id, content_rev) select id, $1, 0 from voice_recordings",
	"helix.voice_answers":              "(recording_id, key, user_id, answer) select id, '', $1, '{}' from voice_recordings",
	"public.sync_state":                "(user_id, entity_type, entity_id, device_id) values ($1, 'note', $1, 'phone')",
	"public.sync_entities": `(user_id, entity_type, entity_id, vector_clock, last_modified, resolution, revision, updated_at, device_id, content_hash)
		values ($1, 'note', $1, '{}', now(), 'none', 1, now(), 'phone', '')`,
	"public.sync_conflicts": "(user_id, entity_type, entity_id, versions, strategy, kind) values ($1, 'note', $1, '[]', 'manual', 'concurrent')",
	"public.sync_policies":  "(user_id, entity_type) values ($1, 'note')",
	"helix.sync_versions":   "values ($1, 'note', $1, 'v', 'phone', '{}', 1, '', now(), false, 1, 1, 0, false, '[]')",
	"helix.sync_roots":      "values ($1, 'note', $1, '{}', 1, 0, 1, true, false, '[]')",
	"helix.sync_siblings":   "values ($1, 'note', $1, 'v', 'phone', '{}', '', now(), false)",
	"helix.secrets":         "(user_id, name, ciphertext) values ($1, 'x', '')",
	"helix.skill_claims":    "(run_id, user_id, job_id, attempt, holder, permit) values (gen_random_uuid(), $1, 1, 1, '', true)",
	"helix.skill_kv":        "(user_id, skill_id, key, value) select $1, id, 'x', '1' from skills",
	"helix.audit":           "(user_id, seq, at, event, prev_hash, hash) values ($1, 1, now(), '{}', '', '')",
	"helix.audit_heads":     "(user_id, seq, hash) values ($1, 1, '')",
	"helix.dead_letters":    "(slot, reactor, table_name, op, key, user_id, lsn, ordinal, error, committed_at) values ('helix', 'sync', 'x', 'INSERT', '{}', $1, '0/1', hashtext($1), '', now())",
}

// TestAccountDeletion: whoever leaves, leaves nothing, in any table that has a
// user_id; the deletes are told of in the inbox, which is emptied by helixd.
func TestAccountDeletion(t *testing.T) {
	db, conn := migrated(t)
	tables := strings.Fields(get[string](t, conn, `select string_agg(c.relnamespace::regnamespace || '.' || c.relname, ' '
			order by not relname = 'memory_synthesis_jobs', relname not in ('memory_patterns', 'memories', 'skills', 'voice_recordings'), relname)
		from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id'
		where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'helix'::regnamespace) and c.oid <> 'helix.inbox'::regclass`))
	if len(tables) < 16 {
		t.Fatalf("tables %v", tables)
	}
	alice, bob := db.NewUser(t), db.NewUser(t)
	for _, user := range []string{alice.ID, bob.ID} {
		for _, tab := range tables {
			row, known := rowOf[tab]
			if !known {
				row = "(user_id) values ($1)"
			}
			row = strings.ReplaceAll(row, "$1", "'"+user+"'")
			if strings.Contains(row, " select ") {
				row += " where user_id = '" + user + "'"
			}
			run(t, conn, "insert into "+tab+" "+row)
		}
	}
	left := func(user string) map[string]int {
		rows := map[string]int{}
		for _, tab := range tables {
			rows[tab] = get[int](t, conn, fmt.Sprintf("select count(*) from %s t where t::text like '%%%s%%'", tab, user))
		}
		return rows
	}
	for tab, n := range left(alice.ID) {
		if n == 0 {
			t.Errorf("%s has no row to delete", tab)
		}
	}
	before := left(bob.ID)
	db.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", alice.ID)
	for tab, n := range left(alice.ID) {
		if n != 0 {
			t.Errorf("%d rows of %s are left", n, tab)
		}
	}
	for tab, n := range left(bob.ID) {
		if n != before[tab] {
			t.Errorf("another user has %d rows of %s, had %d", n, tab, before[tab])
		}
	}
	const told = "select string_agg(distinct table_name, ' ' order by table_name) from helix.inbox where op = 'DELETE' and user_id = $1"
	if got := get[string](t, conn, told, alice.ID); got != "memories memory_synthesis_jobs privacy_settings psychology_layers skill_grants skill_runs skills sync_policies sync_state synthesis_settings voice_recordings" {
		t.Errorf("the inbox tells of %s", got)
	}
	// Every one of them cascades from auth.users itself.
	if got := get[string](t, conn, `select coalesce(string_agg(c.oid::regclass::text, ' '), '') from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'user_id'
		where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'helix'::regnamespace) and c.oid <> 'helix.inbox'::regclass
		and not exists (select from pg_constraint where conrelid = c.oid and confrelid = 'auth.users'::regclass and confdeltype = 'c' and conkey = array[a.attnum])`); got != "" {
		t.Errorf("no foreign key to auth.users: %s", got)
	}
	// Each foreign key has an index to find its rows by.
	if got := get[string](t, conn, `select coalesce(string_agg(conrelid::regclass || ' ' || conname, ', '), '') from pg_constraint k
		where contype = 'f' and connamespace in ('public'::regnamespace, 'helix'::regnamespace)
		and conrelid::regclass::text !~ 'river' and not exists (select from pg_index i where i.indrelid = k.conrelid and i.indkey[0] = k.conkey[1] and i.indpred is null)`); got != "" {
		t.Errorf("without an index: %s", got)
	}
}
