package migrations_test

import (
	"slices"
	"strings"

	"github.com/helixd/helixd/migrations"
)

// relation is what tests know of a table of the contract with apps beside what
// migrations.Tables says of it.
type relation struct {
	name string

	// client are the columns that a client may write, beside id and user_id of a
	// row that it inserts; the keys and what is fixed no update changes. All other
	// columns are helixd's.
	client, keys, fixed string
	created             bool // created_at is the client's: everywhere but in result tables
	closed              bool // nobody may do anything: rows that an adoption has set aside

	seed map[string]string // SQL of a column, where anySQL will not do; $1 is the user's id
}

// view is one that users select from.
type view struct {
	name string

	// owners: it has its owner's rights, to show what row-level security hides.
	owners bool
}

// contract lists every table in the order in which rows can be made. A table
// that the migrations make and that is not here fails the tests.
var contract = []relation{
	{name: "memories", created: true,
		client: "type content embedding emotional_valence last_accessed",
		seed:   map[string]string{"type": "'episodic'", "content": "'x'", "embedding": "array_fill(.25, array[1536])::vector"}},
	{name: "skills", created: true,
		client: `name description kind wasm_bytecode source steps parameters capabilities limits version
			enabled visibility tags active_sha256 schedule`,
		seed: map[string]string{"name": "'x'", "kind": "'javascript'", "source": "'1'"}},
	{name: "skill_versions", seed: map[string]string{"sha256": "repeat('0', 64)"}},
	{name: "skill_grants", created: true,
		client: "skill_id sha256 capability", keys: "user_id skill_id sha256 capability",
		seed: map[string]string{"sha256": "repeat('0', 64)"}},
	{name: "skill_runs", created: true,
		client: "skill_id definition input dry_run cancel_requested", fixed: "skill_id definition input dry_run",
		seed: map[string]string{"skill_id": "$1::uuid"}},
	{name: "voice_recordings", created: true,
		client: "audio_data storage_path mime_type language keep_audio memo",
		seed:   map[string]string{"audio_data": `'\x00'`}},
	{name: "voice_commands", created: true,
		client: "phrase skill_id arguments enabled",
		seed:   map[string]string{"phrase": "'say {what}'", "skill_id": "$1::uuid"}},
	{name: "sync_state", created: true,
		client: "entity_type entity_id device_id data vector_clock last_modified deleted base_revision",
		keys:   "user_id entity_type entity_id device_id"},

	{name: "memory_synthesis", seed: map[string]string{"pattern_type": "'temporal_burst'", "fingerprint": "'x'"}},
	{name: "synthesis_settings", created: true,
		client: "memory_limit min_confidence min_cluster_size enabled", keys: "user_id"},
	{name: "privacy_settings", created: true,
		client: "opt_out redact_names", keys: "user_id",
		seed: map[string]string{"opt_out": "'{memories.content}'"}},
	{name: "memory_retention"},
	{name: "psychology_layers", created: true,
		client: "layer_number data", keys: "user_id layer_number"},
	{name: "sync_entities", seed: map[string]string{"resolution": "'none'"}},
	{name: "sync_conflicts", client: "resolution",
		seed: map[string]string{"strategy": "'manual'", "kind": "'concurrent'"}},
	{name: "sync_policies", created: true,
		client: "entity_type strategy options", keys: "user_id entity_type",
		seed: map[string]string{"strategy": "'merge'"}},
	{name: "memory_synthesis_jobs", created: true,
		client: "synthesis_type conversations time_range",
		seed:   map[string]string{"synthesis_type": "'emotional_patterns'"}},
	{name: "memory_patterns", seed: map[string]string{"pattern_type": "'trigger'"}},
	{name: "synthesis_recommendations"},
}

var views = []view{
	{name: "memories_with_retention"},
	{name: "public_skills", owners: true}, // others' skills, without what is in them
	{name: "helix_status"},
}

// isClients reports whether a client that inserts a row may set the column.
func (r relation) isClients(column string) bool {
	return column == "id" || column == "user_id" || column == "created_at" && r.created ||
		slices.Contains(strings.Fields(r.client), column)
}

// isFixed reports whether the column stays as it is for the life of the row.
func (r relation) isFixed(column string) bool {
	return column == "id" || column == "user_id" || slices.Contains(strings.Fields(r.keys+" "+r.fixed), column)
}

// may is what a signed-in user may do with their own rows.
func (r relation) may() string {
	i := slices.IndexFunc(migrations.Tables, func(t migrations.Table) bool { return t.Name == r.name })
	if i < 0 || r.closed {
		return ""
	}
	return migrations.Tables[i].May
}

func (r relation) lets(operation string) bool {
	return slices.Contains(strings.Fields(r.may()), operation)
}
