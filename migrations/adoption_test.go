package migrations_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/testenv"
)

// existing is what a project may have (CONTRACT, Existing schema), with columns,
// triggers and rights of its own, and two tables that become skills.
const existing = `
	create table memories (id uuid primary key, user_id uuid not null,
		type text check (type in ('episodic','semantic','procedural')), content text, embedding vector(1536),
		emotional_valence float, created_at timestamp, last_accessed timestamp, mood text default 'fine');
	create table memory_synthesis (id uuid primary key, user_id uuid not null, pattern_type text,
		memory_ids uuid[], synthesis_content text, confidence_score float, created_at timestamp);
	create table psychology_layers (id uuid primary key, user_id uuid not null, layer_number int, layer_name text,
		data jsonb, decay_rate float, last_updated timestamptz);
	create table skills (id uuid primary key, user_id uuid, name text, wasm_bytecode bytea);
	create table voice_recordings (id uuid primary key, user_id uuid not null, transcript text, audio_data bytea,
		created_at timestamptz);
	create table sync_state (id uuid primary key, user_id uuid not null, entity_type text, entity_id uuid,
		device_id text, data jsonb, vector_clock jsonb, last_modified timestamptz);`

// copied are the tables whose rows become skills.
const copied = `
	create table custom_tools (id uuid primary key, user_id uuid, name text, description text, code text, parameters jsonb,
		is_active boolean, created_at timestamp);
	create table composite_skills (id uuid primary key default gen_random_uuid(), user_id uuid, name text, steps jsonb, tags text[], version int);`

var existingTables = []string{"memories", "memory_synthesis", "psychology_layers", "skills", "voice_recordings", "sync_state"}

// own is what a project may have put on each table: a trigger that stamps rows
// and one that refuses deletes, a permissive policy, rights for all.
const own = `
	alter table %[1]s enable row level security;
	create policy everyone on %[1]s for all using (true) with check (true);
	grant all on %[1]s to anon, authenticated, public;
	create trigger z_stamp before update on %[1]s for each row execute function stamp();
	create trigger z_keep before delete on %[1]s for each row execute function keep();
	alter table %[1]s enable always trigger z_keep;`

const ownFunctions = `
	create function stamp() returns trigger language plpgsql as $$ begin
		raise exception 'a row of % was updated', tg_table_name; end $$;
	create function keep() returns trigger language plpgsql as $$ begin
		raise exception 'a row of % was deleted', tg_table_name; end $$;`

// fill puts rows of $1 into every table: ordinary ones, nulls in every column,
// values that today's guards refuse, several rows under one key.
const fill = `
	insert into memories (id, user_id, type, content, embedding, emotional_valence, created_at, last_accessed, mood) values
		(gen_random_uuid(), $1, 'episodic', 'by the sea', array_fill(.5, array[1536])::vector, .5, '2024-03-31 02:30:00', '2024-05-01', 'calm'),
		(gen_random_uuid(), $1, null, null, null, null, null, null, null),
		(gen_random_uuid(), $1, 'semantic', repeat('x', 2000000), null, 'NaN', 'infinity', '-infinity', ''),
		(gen_random_uuid(), $1, 'semantic', '', null, -17, '0044-03-15 BC', null, '');
	insert into memory_synthesis values
		(gen_random_uuid(), $1, 'my_own', array[gen_random_uuid()], 'text', 1.5, now()),
		(gen_random_uuid(), $1, null, null, null, null, null), (gen_random_uuid(), $1, null, null, null, null, null);
	insert into psychology_layers values
		(gen_random_uuid(), $1, 1, 'Story', '{"a": 1}', .3, '2024-01-01'),
		(gen_random_uuid(), $1, 1, 'Story again', '{"a": 2}', 7, '2024-01-02'),
		(gen_random_uuid(), $1, 1, 'Undated', null, null, null),
		(gen_random_uuid(), $1, 99, null, '1e100', 'infinity', 'infinity'),
		(gen_random_uuid(), $1, null, null, null, null, null), (gen_random_uuid(), $1, null, null, null, null, null);
	insert into skills values
		(gen_random_uuid(), $1, 'mine', '\x0061736d01000000'), (gen_random_uuid(), $1, null, null), (gen_random_uuid(), $1, '', ''),
		(gen_random_uuid(), null, 'for all', '\x00'), (gen_random_uuid(), null, null, null);
	insert into voice_recordings values
		(gen_random_uuid(), $1, 'spoken words', '\x00', now()), (gen_random_uuid(), $1, '', '\x01', now()),
		(gen_random_uuid(), $1, null, null, null), (gen_random_uuid(), $1, repeat('wörter ', 200000), null, 'infinity');
	insert into sync_state values
		(gen_random_uuid(), $1, 'note', $1, 'phone', '{"n": 1}', '{"phone": 1}', '2024-01-01'),
		(gen_random_uuid(), $1, 'note', $1, 'phone', '{"n": 3}', '{"phone": 3}', '2024-01-03'),
		(gen_random_uuid(), $1, 'note', $1, 'phone', '{"n": 2}', '{"phone": 2}', '2024-01-02'),
		(gen_random_uuid(), $1, 'note', $1, 'phone', null, null, null),
		(gen_random_uuid(), $1, 'note', $1, 'laptop', '1e100', '[-1]', 'infinity'),
		(gen_random_uuid(), $1, '', $1, repeat('d', 2000), null, '"?"', null),
		(gen_random_uuid(), $1, null, null, null, null, null, null), (gen_random_uuid(), $1, null, null, null, null, null, null);`

const fillCopied = `
	insert into custom_tools values
		(gen_random_uuid(), $1, 'shout', 'in capitals', 'return input.toUpperCase()', '{"type": "string"}', false, '2024-03-31 02:30:00'),
		(gen_random_uuid(), $1, null, null, null, null, null, null);
	insert into composite_skills (user_id, name, steps, tags, version) values
		($1, 'both', '[{"stepId": "a"}]', '{x,y}', 2), ($1, null, null, null, null);`

// project is a database with the tables and rows of a project that never met
// helixd; gone is a user whose rows stayed.
func project(t *testing.T, ddl string, tables ...string) (db *testenv.Database, conn *pgx.Conn, alice testenv.User, gone string) {
	t.Helper()
	db = testenv.New(t)
	conn = db.Connect(t, "postgres")
	run(t, conn, ownFunctions+ddl)
	for _, tab := range tables {
		run(t, conn, fmt.Sprintf(own, tab))
	}
	alice = db.NewUser(t)
	return db, conn, alice, "99999999-9999-4999-8999-999999999999"
}

// rowsOf gives a table's rows as the columns that it has now show them.
func rowsOf(t *testing.T, conn *pgx.Conn, columns, tab string) string {
	t.Helper()
	return get[string](t, conn, fmt.Sprintf(`select coalesce(string_agg(md5(r::text), E'\n' order by r::text collate "C"), '') from (select %s from %s) r`, columns, tab))
}

func columnsOf(t *testing.T, conn *pgx.Conn, tab string) string {
	t.Helper()
	return get[string](t, conn, `select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
		where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`, tab)
}

func TestAdoption(t *testing.T) {
	all := append(existingTables[:len(existingTables):len(existingTables)], "custom_tools", "composite_skills")
	db, conn, alice, gone := project(t, existing+copied, existingTables...)
	bob := db.NewUser(t)
	for _, user := range []string{alice.ID, bob.ID, gone} {
		run(t, conn, strings.ReplaceAll(fill+fillCopied, "$1", "'"+user+"'"))
	}
	run(t, conn, `insert into custom_tools (id, name, code) values (gen_random_uuid(), 'for all', '1')`)
	run(t, conn, "set timezone = 'Pacific/Auckland'")
	columns, before, identity := map[string]string{}, map[string]string{}, map[string]string{}
	replica := func(tab string) string {
		return get[string](t, conn, "select relreplident::text from pg_class where oid = to_regclass($1)", tab)
	}
	for _, tab := range all {
		columns[tab] = columnsOf(t, conn, tab)
		before[tab] = rowsOf(t, conn, columns[tab], tab)
		identity[tab] = replica(tab)
	}
	skillsBefore := get[int](t, conn, "select count(*) from skills")

	up(t, conn)
	check := func(t *testing.T) {
		for _, tab := range all {
			where := tab
			if tab == "skills" {
				where = "skills where id not in (select id from custom_tools) and id not in (select id from composite_skills)"
			}
			if got := rowsOf(t, conn, columns[tab], where); got != before[tab] {
				t.Errorf("rows of %s are not what they were: %d, were %d", tab, strings.Count(got, "\n")+1, strings.Count(before[tab], "\n")+1)
			}
			if got := replica(tab); got != identity[tab] {
				t.Errorf("%s has replica identity %s, had %s", tab, got, identity[tab])
			}
		}
		if n := get[int](t, conn, "select count(*) from pg_trigger where tgname = 'z_stamp' and tgenabled <> 'O' or tgname = 'z_keep' and tgenabled <> 'A'"); n != 0 {
			t.Errorf("%d of the project's triggers are not enabled as they were", n)
		}
	}
	t.Run("EveryValueIsKept", check)
	t.Run("TwiceIsOnce", func(t *testing.T) {
		full := map[string]string{}
		for _, tab := range all {
			full[tab] = rowsOf(t, conn, "*", tab)
		}
		want := schema(t, conn)
		for _, m := range migrations.All() {
			for range 2 {
				if err := pgx.BeginFunc(t.Context(), conn, func(pgx.Tx) error {
					_, err := conn.PgConn().Exec(t.Context(), m.SQL).ReadAll()
					return err
				}); err != nil {
					t.Fatalf("%s: %v", m.File(), err)
				}
			}
		}
		check(t)
		same(t, want, schema(t, conn))
		for _, tab := range all {
			if rowsOf(t, conn, "*", tab) != full[tab] {
				t.Errorf("rows of %s have changed", tab)
			}
		}
	})
	t.Run("TwinsMove", func(t *testing.T) {
		for _, tt := range []struct {
			tab   string
			moved int
			kept  string
		}{
			{"sync_state", 3, "select string_agg(distinct data->>'n', ' ') from only sync_state where device_id = 'phone'"},
			{"psychology_layers", 2, "select string_agg(distinct data->>'a', ' ') from only psychology_layers where layer_number = 1"},
		} {
			if n := get[int](t, conn, "select count(*) from "+tt.tab+"_adopted"); n != 3*tt.moved {
				t.Errorf("%d rows of %s have moved, want %d", n, tt.tab, 3*tt.moved)
			}
			if got, want := get[string](t, conn, tt.kept), map[string]string{"sync_state": "3", "psychology_layers": "2"}[tt.tab]; got != want {
				t.Errorf("%s kept %s, want the newest, %s", tt.tab, got, want)
			}
		}
		if n := get[int](t, conn, "select count(*) from pg_publication_tables where tablename ~ '_adopted$'"); n != 0 {
			t.Errorf("%d of the inheriting tables are published", n)
		}
		app := db.AsUser(t, alice.ID)
		if got := attempt(t, app, "select from sync_state_adopted"); got != refused {
			t.Errorf("a client reads %d rows of the inheriting table itself", got)
		}
		if got := get[int](t, app, "select count(*) from sync_state"); got != 8 {
			t.Errorf("a client sees %d rows, want its 8", got)
		}
		run(t, conn, "grant all on sync_state_adopted to authenticated")
		if got := get[int](t, app, "select count(*) from sync_state_adopted where user_id <> '"+alice.ID+"'"); got != 0 {
			t.Errorf("with rights on it a client reads %d rows of others", got)
		}
		run(t, conn, "revoke all on sync_state_adopted from authenticated")
		if got := attempt(t, app, "update sync_state set device_id = 'x' where data->>'n' = '1'"); got != refused {
			t.Errorf("a moved row has no guard: %d rows", got)
		}
	})
	t.Run("Voice", func(t *testing.T) {
		const want = `done done failed predates_helixd true failed predates_helixd true`
		if got := get[string](t, conn, `select string_agg(concat_ws(' ', status, error->>'code', error->>'retryable'), ' ' order by status, error) from voice_recordings where user_id = $1`, alice.ID); got != want {
			t.Errorf("old recordings are %s, want %s", got, want)
		}
		app := db.AsUser(t, alice.ID)
		run(t, conn, "alter table voice_recordings disable trigger z_stamp")
		run(t, app, "update voice_recordings set status = 'pending' where status = 'failed'")
		run(t, app, `insert into voice_recordings (audio_data) values ('\x00')`)
		if got := get[string](t, app, `select string_agg(status || coalesce(error::text, ''), ' ') from voice_recordings where status <> 'done'`); got != "pending pending pending" {
			t.Errorf("retried and new recordings are %s", got)
		}
	})
	t.Run("Skills", func(t *testing.T) {
		// Of alice, bob and nobody; the rows of who is gone are skipped.
		if got := get[int](t, conn, "select count(*) from skills") - skillsBefore; got != 2*(2+2)+1 {
			t.Errorf("%d skills were copied", got)
		}
		const want = `both composite "" [{"stepId": "a"}] "" 2 t {x,y} shout javascript return input.toUpperCase() "" {"type": "string"} "" f {} `
		got := get[string](t, conn, `select string_agg(concat_ws(' ', name, kind, coalesce(source, '""'), coalesce(steps::text, '""'), coalesce(parameters::text, '""'),
			coalesce(version, '""'), enabled, tags, ''), '' order by name) from skills where user_id = $1 and name in ('shout', 'both')`, alice.ID)
		if got != want {
			t.Errorf("copied %s, want %s", got, want)
		}
		if got := get[string](t, conn, `select (created_at at time zone 'utc')::text from skills where user_id = $1 and name = 'shout'`, alice.ID); got != "2024-03-31 02:30:00" {
			t.Errorf("made at %s", got)
		}
		run(t, conn, "delete from custom_tools where false; alter table skills disable trigger z_keep; delete from skills where name = 'shout'")
		run(t, conn, migrations.All()[indexOf(t, "20261120000430_skills.sql")].SQL)
		if got := get[int](t, conn, "select count(*) from skills where name = 'shout'"); got != 0 {
			t.Errorf("%d deleted skills came back", got)
		}
		if got := get[int](t, db.AsUser(t, alice.ID), "select count(*) from skills where user_id is null"); got != 2*3+1 {
			t.Errorf("a user sees %d built-in skills", got)
		}
	})
	t.Run("ClientsWrite", func(t *testing.T) {
		app := db.AsUser(t, alice.ID)
		for _, tab := range existingTables {
			run(t, conn, "alter table "+tab+" disable trigger z_stamp; alter table "+tab+" disable trigger z_keep")
		}
		for _, sql := range []string{
			`insert into sync_state (user_id, entity_type, entity_id, device_id, data) values (auth.uid(), 'note', auth.uid(), 'phone', '{"n": 9}')
				on conflict (user_id, entity_type, entity_id, device_id) do update set user_id = excluded.user_id, data = excluded.data`,
			`insert into psychology_layers (user_id, layer_number, data) values (auth.uid(), 1, '{"a": 9}')
				on conflict (user_id, layer_number) do update set data = excluded.data`,
			`insert into memories (type, content, mood) values ('episodic', 'new', null)`,
			`update memories set content = 'changed' where emotional_valence = -17`, // odd elsewhere
			`insert into skills (name, source, kind) values ('new', '1', 'javascript')`,
			`update skills set description = 'odd elsewhere' where name is null`,
		} {
			run(t, app, sql)
		}
		if got := attempt(t, app, "insert into memories (emotional_valence) select 0 where true; ") + attempt(t, app, "delete from sync_state where device_id = 'laptop'"); got != 2 {
			t.Errorf("%d rows", got)
		}
		if !get[bool](t, app, "select created_at = (now() at time zone 'utc') or created_at > (now() at time zone 'utc') - interval '1 minute' from memories where content = 'new'") {
			t.Error("a new memory's timestamp is not UTC")
		}
		if !get[bool](t, app, "select mood is null from memories where content = 'new'") {
			t.Error("a null in the app's own column was replaced")
		}
	})
	t.Run("HelixdWritesOnOddRows", func(t *testing.T) {
		for _, sql := range []string{
			`update skills set status = 'invalid'`, `update voice_recordings set status = 'processing'`,
			`update psychology_layers set decay_rate = .5`, `update sync_state set base_revision = 1`,
			`update memories set last_accessed = now()`, `select count(*) from memories_with_retention`,
		} {
			run(t, conn, sql)
		}
	})
	t.Run("AccountsTakeTheirRows", func(t *testing.T) {
		db.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", alice.ID)
		for _, tab := range existingTables {
			if n := get[int](t, conn, "select count(*) from "+tab+" where user_id = $1", alice.ID); n != 0 {
				t.Errorf("%d rows of %s are left", n, tab)
			}
			if n := get[int](t, conn, "select count(*) from "+tab+" where user_id = $1", gone); n == 0 {
				t.Errorf("the rows of who was gone left %s", tab)
			}
		}
	})
}

func indexOf(t *testing.T, file string) int {
	t.Helper()
	for i, m := range migrations.All() {
		if m.File() == file {
			return i
		}
	}
	t.Fatalf("no %s", file)
	return 0
}

// TestAdoptionOfEach: any one of the tables, empty, gives what a new project has
// but for what an adoption leaves.
func TestAdoptionOfEach(t *testing.T) {
	for i, statement := range strings.SplitAfter(strings.TrimSpace(existing), ";\n") {
		t.Run(existingTables[i], func(t *testing.T) {
			db, conn, alice, _ := project(t, statement, existingTables[i])
			up(t, conn)
			up(t, conn)
			app := db.AsUser(t, alice.ID)
			run(t, app, `insert into memories (content) values ('x'); insert into voice_recordings (storage_path) values ('b/x');
				insert into skills (name) values ('x'); insert into psychology_layers (layer_number) values (1);
				insert into sync_state (entity_type, entity_id, device_id) values ('note', gen_random_uuid(), 'phone')`)
		})
	}
}

// TestAdoptionOfEmbeddings: pgvector is where the project has it, and the column
// has any dimensions.
func TestAdoptionOfEmbeddings(t *testing.T) {
	for name, tt := range map[string]struct {
		column  string
		indexed bool
	}{
		"InPublic":        {"", true},
		"SmallerInPublic": {"embedding public.vector(3)", true},
		"NoDimensions":    {"embedding public.vector", false},
	} {
		t.Run(name, func(t *testing.T) {
			db := testenv.New(t)
			db.Exec(t, "supabase_admin", "drop extension vector; create extension vector schema public")
			conn := db.Connect(t, "postgres")
			if tt.column != "" {
				run(t, conn, "create table memories (id uuid primary key, user_id uuid not null, "+tt.column+")")
			}
			up(t, conn)
			up(t, conn)
			if got := get[bool](t, conn, "select exists (select from pg_indexes where tablename = 'memories' and indexdef like '%hnsw%')"); got != tt.indexed {
				t.Errorf("indexed %t, want %t", got, tt.indexed)
			}
			app := db.AsUser(t, db.NewUser(t).ID)
			run(t, app, "insert into memories (content, embedding) values ('x', case when "+fmt.Sprint(tt.column == "")+" then array_fill(1, array[1536]) else '{1,2,3}' end::vector)")
			if got := get[int](t, app, "select count(*) from memories, match_memories(embedding)"); got != 1 {
				t.Errorf("%d matches", got)
			}
		})
	}
}

// TestAdoptionOfForeignKeys: one that keeps accounts, or gives their skills to
// everybody, is replaced; others stay.
func TestAdoptionOfForeignKeys(t *testing.T) {
	db, conn, alice, _ := project(t, existing+`
		create table profiles (id uuid primary key);
		alter table skills add constraint skills_owner foreign key (user_id) references auth.users (id) on delete set null,
			add constraint skills_profile foreign key (user_id) references profiles (id);
		alter table memories add foreign key (user_id) references auth.users (id);
		alter table sync_state add foreign key (user_id) references auth.users (id) on delete cascade;`)
	run(t, conn, "insert into profiles values ('"+alice.ID+"'); insert into skills values (gen_random_uuid(), '"+alice.ID+"', 'mine'); insert into memories values (gen_random_uuid(), '"+alice.ID+"')")
	up(t, conn)
	const keys = `select string_agg(conrelid::regclass || ' ' || pg_get_constraintdef(oid), E'\n' order by conrelid::regclass::text, 1) from pg_constraint
		where contype = 'f' and conrelid in ('skills'::regclass, 'memories'::regclass, 'sync_state'::regclass)`
	same(t, `memories FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE NOT VALID
skills FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE NOT VALID
skills FOREIGN KEY (user_id) REFERENCES profiles(id)
sync_state FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE`, get[string](t, conn, keys))
	db.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", alice.ID)
	if n := get[int](t, conn, "select (select count(*) from skills) + (select count(*) from memories)"); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

// TestAdoptionRefused: what cannot be adopted is named, with the SQL to run, and
// nothing is changed.
func TestAdoptionRefused(t *testing.T) {
	for name, tt := range map[string]struct{ ddl, fix string }{
		"OwnedByAnother": {strings.ReplaceAll(existing, "create table ", "create table public."),
			"alter table public.skills owner to postgres; alter table public.memories owner to postgres"},
		"View":           {"create view public.skills as select 1 as x", "alter view public.skills rename to skills_old"},
		"PolicyInTheWay": {"create table public.sync_policies (id uuid, user_id uuid); alter table sync_policies owner to postgres", "alter table public.sync_policies rename to sync_policies_old"},
		"InTheWay":       {"create table public.skill_runs (id uuid, user_id uuid); alter table skill_runs owner to postgres", "alter table public.skill_runs rename to skill_runs_old"},
		"OtherShape":     {"create table public.memories (id bigint primary key, user_id text); alter table memories owner to postgres", "alter table public.memories rename to memories_old"},
	} {
		t.Run(name, func(t *testing.T) {
			db := testenv.New(t)
			db.Exec(t, "supabase_admin", "set search_path = public, extensions; "+tt.ddl)
			conn := db.Connect(t, "postgres")
			err := migrations.Up(t.Context(), conn, func(migrations.Migration) {})
			if err == nil {
				t.Fatal("no error")
			}
			for _, sql := range strings.Split(tt.fix, "; ") {
				if !strings.Contains(err.Error(), strings.TrimSuffix(sql, ";")) {
					t.Errorf("error %v does not name: %s", err, sql)
				}
			}
			for _, line := range strings.Split(err.Error(), "\n") {
				if _, sql, found := strings.Cut(line, ": alter"); found {
					sql, _, _ = strings.Cut(sql, ";")
					db.Exec(t, "supabase_admin", "alter"+sql)
				}
			}
			up(t, conn)
		})
	}
	t.Run("TwinsThatOthersReferTo", func(t *testing.T) {
		_, conn, alice, _ := project(t, existing)
		run(t, conn, strings.ReplaceAll(fill, "$1", "'"+alice.ID+"'")+`create table attachments (state uuid references sync_state (id) on delete cascade);
			insert into attachments select id from sync_state`)
		before := rowsOf(t, conn, "*", "sync_state")
		err := migrations.Up(t.Context(), conn, func(migrations.Migration) {})
		if err == nil || !strings.Contains(err.Error(), "sync_state has several rows") || !strings.Contains(err.Error(), "having count(*) > 1") {
			t.Errorf("error %v", err)
		}
		if rowsOf(t, conn, "*", "sync_state") != before || get[int](t, conn, "select count(*) from attachments") != 8 {
			t.Error("rows have changed")
		}
	})
}

// TestAdoptionWithPsql: as psql and the SQL editor run files, a statement a
// transaction, twice.
func TestAdoptionWithPsql(t *testing.T) {
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("psql is not installed; TestExport applies the same files")
	}
	db, conn, alice, _ := project(t, existing+copied, existingTables...)
	run(t, conn, strings.ReplaceAll(fill+fillCopied, "$1", "'"+alice.ID+"'"))
	columns := columnsOf(t, conn, "sync_state")
	before := rowsOf(t, conn, columns, "sync_state")
	dir := t.TempDir()
	if _, err := migrations.Export(dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil {
		t.Fatal(err)
	}
	apply := func() string {
		for _, file := range files {
			cmd := exec.CommandContext(t.Context(), psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, db.URL("postgres"))
			cmd.Env = append(os.Environ(), "PGOPTIONS=-c client_min_messages=error")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", filepath.Base(file), err, out)
			}
		}
		return schema(t, conn)
	}
	first := apply()
	same(t, first, apply())
	if left := pending(t, conn); len(left) != 0 {
		t.Errorf("pending %v", left)
	}
	if rowsOf(t, conn, columns, "sync_state") != before {
		t.Error("rows of sync_state have changed")
	}
}
