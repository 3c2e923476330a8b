package migrations_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

// refusal migrates a project that cannot be adopted. It gives the error's lines
// on columns and tables, and checks that nothing was changed.
func refusal(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	const public = `select coalesce(string_agg(concat_ws(' ', c.oid::regclass, relkind, relrowsecurity, attname, format_type(atttypid, atttypmod),
			attidentity, attgenerated, pg_get_expr(adbin, adrelid)), E'\n' order by c.relname, attnum), '')
		from pg_class c left join pg_attribute on attrelid = c.oid and attnum > 0
		left join pg_attrdef on adrelid = c.oid and adnum = attnum where relnamespace = 'public'::regnamespace`
	before := get[string](t, conn, public)
	err := migrations.Up(t.Context(), conn, func(migrations.Migration) {})
	if err == nil {
		t.Fatal("adopted")
	}
	same(t, before, get[string](t, conn, public))
	if !strings.Contains(err.Error(), "has changed nothing") {
		t.Fatal(err)
	}
	lines := strings.Split(err.Error(), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return !strings.Contains(line, "Run: ") })
}

// follow runs the SQL that lines of a refusal name.
func follow(t *testing.T, conn *pgx.Conn, lines []string) {
	t.Helper()
	for _, line := range lines {
		_, sql, _ := strings.Cut(line, "Run: ")
		run(t, conn, sql[:strings.LastIndex(sql, ";")])
	}
}

// TestAdoptionOfEveryColumn: every column of the adopted tables is known with its
// type, so that none of another type is taken.
func TestAdoptionOfEveryColumn(t *testing.T) {
	_, made := migrated(t)
	db := testenv.New(t)
	conn := db.Connect(t, "postgres")
	want := 0
	for _, tab := range existingTables {
		columns := []string{"id uuid primary key", "user_id uuid not null"}
		for _, c := range catalogColumns(t, made, tab) {
			if c.Name != "id" && c.Name != "user_id" {
				columns = append(columns, c.Name+" point")
				want++
			}
		}
		run(t, conn, fmt.Sprintf("create table %s (%s)", tab, strings.Join(columns, ", ")))
	}
	lines := refusal(t, conn)
	if len(lines) != want {
		t.Errorf("%d columns are refused, want %d:\n%s", len(lines), want, strings.Join(lines, "\n"))
	}
	for _, tab := range existingTables {
		for _, c := range catalogColumns(t, made, tab) {
			need := strings.Replace(c.Type, "vector", "vector(1536)", 1)
			prefix := fmt.Sprintf("%s.%s is point, and helixd needs %s. Run: ", tab, c.Name, need)
			if c.Name != "id" && c.Name != "user_id" && !slices.ContainsFunc(lines, func(l string) bool {
				return strings.HasPrefix(strings.NewReplacer("public.", "", "extensions.", "", "timestamptz", "timestamp with time zone").Replace(l), prefix)
			}) {
				t.Errorf("no line %q", prefix)
			}
		}
	}
	follow(t, conn, lines)
	up(t, conn)
}

// TestAdoptionOfOtherTypes: a type that would fail later is refused, and the SQL
// that is named keeps the values and the default.
func TestAdoptionOfOtherTypes(t *testing.T) {
	for i, tt := range []struct{ tab, column, definition, value, want string }{
		{"sync_state", "entity_id", "text", "'11111111-1111-4111-8111-111111111111'", "is text, and helixd needs uuid. Run: alter table public.sync_state alter column entity_id type uuid using entity_id::uuid;"},
		{"sync_state", "vector_clock", "text default '{}'", `'{"phone": 1}'`, "is text, and helixd needs jsonb. Run: alter table public.sync_state alter column vector_clock drop default, " +
			"alter column vector_clock type jsonb using vector_clock::jsonb, alter column vector_clock set default ('{}'::text)::jsonb;"},
		{"sync_state", "data", "json", "'{}'", "is json, and helixd needs jsonb."},
		{"sync_state", "data", "jsonb[]", "null", "is jsonb[], and helixd needs jsonb. Run: alter table public.sync_state rename column data to data_old;"},
		{"sync_state", "last_modified", "bigint", "1", "is bigint, and helixd needs timestamp with time zone. Run: alter table public.sync_state rename column last_modified to last_modified_old;"},
		{"sync_state", "last_modified", "timestamp", "now()", "is timestamp without time zone, and helixd needs timestamp with time zone. Run: alter table public.sync_state " +
			"alter column last_modified type timestamp with time zone using last_modified at time zone 'utc';"},
		{"sync_state", "deleted", "integer", "1", "is integer, and helixd needs boolean."},
		{"sync_state", "deleted", "boolean generated always as (false) stored", "", "is generated, and helixd needs to write it. Run: alter table public.sync_state alter column deleted drop expression;"},
		{"sync_state", "entity_id", "text generated always as ('x') stored", "", "is generated, and helixd needs uuid. Run: alter table public.sync_state rename column entity_id to entity_id_old;"},
		{"psychology_layers", "layer_number", "integer generated always as identity", "", "is an identity column, and helixd needs to write it. Run: alter table public.psychology_layers alter column layer_number drop identity;"},
		{"psychology_layers", "layer_number", "bigint", "1", "is bigint, and helixd needs integer."},
		{"memories", "type", "mood default 'episodic'", "'episodic'", "is public.mood, and helixd needs text."},
		{"memories", "content", "words", "'x'", "is public.words, and helixd needs text."},
		{"memories", "embedding", "double precision[]", "array_fill(1, array[1536])", "is double precision[], and helixd needs extensions.vector(1536). Run: alter table public.memories alter column embedding type extensions.vector(1536)"},
		{"voice_recordings", "transcript", "varchar(255)", "'x'", "is character varying(255), and helixd needs text."},
		{"memory_synthesis", "memory_ids", "text[]", "'{11111111-1111-4111-8111-111111111111}'", "is text[], and helixd needs uuid[]."},
		{"skills", "tags", "jsonb", "null", "is jsonb, and helixd needs text[]. Run: alter table public.skills rename column tags to tags_old;"},
	} {
		t.Run(fmt.Sprint(tt.column, i), func(t *testing.T) {
			_, conn, alice, _ := project(t, fmt.Sprintf(`create type mood as enum ('episodic', 'semantic', 'procedural'); create domain words as text;
				create table %s (id uuid primary key default gen_random_uuid(), user_id uuid not null, %s %s)`, tt.tab, tt.column, tt.definition))
			if tt.value != "" {
				run(t, conn, fmt.Sprintf("insert into %s (user_id, %s) values ('%s', %s)", tt.tab, tt.column, alice.ID, tt.value))
			}
			lines := refusal(t, conn)
			if len(lines) != 1 || !strings.HasPrefix(lines[0][strings.Index(lines[0], "public."):], "public."+tt.tab+"."+tt.column+" "+tt.want) {
				t.Fatalf("refused with\n%s\nwant %s", strings.Join(lines, "\n"), tt.want)
			}
			follow(t, conn, lines)
			up(t, conn)
		})
	}
}

// TestAdoptionOfTypesThatDo: clients write them, and helixd's functions read them.
func TestAdoptionOfTypesThatDo(t *testing.T) {
	db, conn, alice, _ := project(t, `
		create table memories (id uuid primary key, user_id uuid not null, type varchar(20), content varchar, emotional_valence numeric(3, 2),
			embedding vector(768), created_at timestamp, content_rev integer not null default 0);
		create table psychology_layers (id uuid primary key, user_id uuid not null, layer_number int, decay_rate real, initial_strength numeric default 1);
		create table voice_recordings (id uuid primary key, user_id uuid not null, transcript varchar, duration_ms int);
		create table sync_state (id uuid primary key, user_id uuid not null, entity_type varchar(50), entity_id uuid, device_id varchar, data jsonb,
			vector_clock jsonb, last_modified timestamptz, base_revision int);`)
	up(t, conn)
	app := db.AsUser(t, alice.ID)
	run(t, app, `insert into memories (type, content, emotional_valence, embedding) values ('episodic', 'x', .5, array_fill(1, array[768])::vector);
		update memories set embedding = array_fill(2, array[768])::vector;
		insert into psychology_layers (layer_number, data) values (1, '{}');
		insert into voice_recordings (storage_path) values ('b/x');
		insert into sync_state (entity_type, entity_id, device_id, base_revision) values ('note', gen_random_uuid(), 'phone', 1)`)
	if got := get[int](t, app, "select count(*) from match_memories((select embedding from memories), types => '{episodic}') where emotional_valence = .5"); got != 1 {
		t.Errorf("%d matches", got)
	}
	if got := get[int](t, app, "select count(*) from memories_with_retention where retention > .99"); got != 1 {
		t.Errorf("%d memories with retention", got)
	}
	if got := get[int](t, conn, "select count(*) from psychology_layers where helix.layer_retention(layer_number, decay_model, decay_params, initial_strength, 0) = 1"); got != 1 {
		t.Errorf("%d layers", got)
	}
	_, err := app.Exec(t.Context(), "insert into sync_state (entity_type, entity_id, device_id) values ('note', gen_random_uuid(), '')")
	if err == nil || !strings.Contains(err.Error(), "device_id has 0 characters; it must have 1 to 200") {
		t.Errorf("an empty varchar: error %v", err)
	}
}
