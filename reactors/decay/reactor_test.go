package decay_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/decay"
)

// kept is a row of memory_retention.
type kept struct {
	Stability, Difficulty float64
	Reinforced            time.Time
	Times                 int
}

func (p *project) kept(t *testing.T, content string) kept {
	t.Helper()
	rows, err := p.admin.Query(t.Context(), `select stability_hours, difficulty, last_reinforced, reinforcements
		from memory_retention join memories m on m.id = memory_id where content = $1`, content)
	if err != nil {
		t.Fatal(err)
	}
	k, err := pgx.CollectOneRow(rows, pgx.RowToStructByPos[kept])
	if err != nil {
		t.Fatalf("retention of %s: %v", content, err)
	}
	return k
}

func TestReinforcement(t *testing.T) {
	p := newProject(t)
	app := p.db.AsUser(t, p.db.NewUser(t).ID)
	p.stream(t)
	written := func(times int) {
		t.Helper()
		p.until(t, "the retention", "select coalesce(bool_and(reinforcements = $1), false) from memory_retention", times)
	}
	same := func(content string, m decay.Memory, times int, reinforced string) {
		t.Helper()
		k := p.kept(t, content)
		if k.Stability != m.Stability || k.Difficulty != m.Difficulty || k.Times != times {
			t.Errorf("%s: %+v, want %+v, %d times", content, k, m, times)
		}
		if !get[bool](t, p.admin, "select $1 = "+reinforced+" from memories where content = $2", k.Reinforced, content) {
			t.Errorf("%s was reinforced at %s, want %s", content, k.Reinforced, reinforced)
		}
	}
	exec(t, app, "insert into memories (content, created_at) values ('one', '2024-03-01'), ('two', '2024-03-01'), ('three', '2024-03-01')")
	written(1)
	m := decay.NewMemory()
	if math.Abs(m.Stability-55.356) > 1e-9 {
		t.Errorf("a new memory is stable for %g h; memories_with_retention says 55.356", m.Stability)
	}
	same("one", m, 1, "created_at")

	// One access an update, three accesses in a transaction, and one that stands for
	// itself in any order.
	exec(t, app, "update memories set last_accessed = '2024-03-11 06:00Z' where content = 'one'")
	exec(t, app, `begin; update memories set last_accessed = '2024-03-01 12:00Z' where content = 'two';
		update memories set last_accessed = '2024-03-05' where content = 'two'; update memories set last_accessed = '2024-03-04' where content = 'two'; commit`)
	exec(t, app, "update memories set last_accessed = '2024-03-02' where content = 'three'")
	p.until(t, "all accesses", "select count(*) = 3 from memory_retention where reinforcements > 1")
	same("one", m.Recalled(246), 2, "last_accessed")
	same("two", m.Recalled(12).Recalled(84), 3, "timestamptz '2024-03-05'")
	same("three", m.Recalled(24), 2, "last_accessed")

	// Clocks that are wrong.
	exec(t, app, `begin; update memories set last_accessed = '1900-01-01' where content = 'one';
		update memories set last_accessed = '2123-01-01' where content = 'two'; insert into memories (content, created_at) values ('far', '2123-01-01'), ('long ago', '1900-01-01'); commit`)
	p.until(t, "the new ones", "select count(*) = 5 from memory_retention")
	same("one", m.Recalled(246), 2, "timestamptz '2024-03-11 06:00Z'")
	for content, from := range map[string]int{"two": 4, "far": 1} {
		k := p.kept(t, content)
		if k.Times != from || math.Abs(time.Since(k.Reinforced).Minutes()) > 10 {
			t.Errorf("%s: %+v, which its clock had in 2123; want about now", content, k)
		}
	}
	same("long ago", m, 1, "created_at")
	exec(t, app, "update memories set last_accessed = now() where content = 'long ago'")
	p.until(t, "a memory of 1900 to be reinforced", "select reinforcements = 2 and stability_hours > 1000 from memory_retention join memories m on m.id = memory_id where content = 'long ago'")
	exec(t, app, "delete from memories")
	if n := get[int](t, p.admin, "select count(*) from memory_retention"); n != 0 {
		t.Errorf("%d retentions of deleted memories", n)
	}
}

func TestLayersAreMade(t *testing.T) {
	p := newProject(t)
	user := p.db.NewUser(t)
	app := p.db.AsUser(t, user.ID)
	exec(t, app, `insert into psychology_layers (layer_number, data) values (4, '{"own": 1}')`)
	own := get[string](t, app, "select id from psychology_layers")
	p.stream(t)
	seven := func(what string) {
		t.Helper()
		p.until(t, what, `select count(*) = 7 and count(distinct layer_number) = 7 and bool_and(decay_rate = 1 and initial_strength = 1
			and last_reinforced > now() - interval '1 hour') from psychology_layers where user_id = $1`, user.ID)
	}
	exec(t, app, "insert into memories (content) values ('seen')")
	seven("the layers")
	if got := get[string](t, app, `select string_agg(layer_number || ' ' || layer_name, ', ' order by layer_number) from psychology_layers`); got != "1 Narrative Core, "+
		"2 Emotional Memory, 3 Relational Memory, 4 Prospective Self, 5 Integration, 6 Transformation, 7 Purpose Engine" {
		t.Errorf("they are %s", got)
	}
	if got := get[string](t, app, "select id from psychology_layers where layer_number = 4 and data = '{\"own\": 1}'"); got != own {
		t.Errorf("the app's own layer is %s now, and was %s", got, own)
	}
	first := get[string](t, app, "select string_agg(id::text, ' ' order by layer_number) from psychology_layers where layer_number <> 4")
	exec(t, app, "delete from psychology_layers where layer_number <> 4")
	seven("layers that were deleted")
	if again := get[string](t, app, "select string_agg(id::text, ' ' order by layer_number) from psychology_layers where layer_number <> 4"); again != first {
		t.Errorf("they have other ids: %s, %s", first, again)
	}
	p.until(t, "broadcasts", `select count(*) > 0 from realtime.messages where topic = 'helix:' || $1 and event = 'psychology_layers'
		and payload -> 'key' = '{"layer_number": 2}' and payload ->> 'op' = 'INSERT' and payload -> 'record' ->> 'layer_name' = 'Emotional Memory'`, user.ID)

	// Who writes data reinforces the layer; who writes the same again, or something
	// else, does not.
	exec(t, p.admin, "update psychology_layers set decay_rate = .3, initial_strength = .8, last_reinforced = now() - interval '10 days'")
	exec(t, app, `update psychology_layers set data = '{"new": 1}' where layer_number = 2`)
	exec(t, app, `insert into psychology_layers (layer_number, data) values (4, '{"own": 1}') on conflict (user_id, layer_number) do update set data = excluded.data`)
	const reinforced = "decay_rate = 1 and initial_strength = 1 and last_reinforced > now() - interval '1 hour' and last_updated > now() - interval '1 hour'"
	if got := get[[]int](t, app, "select array_agg(layer_number) from psychology_layers where "+reinforced); !slices.Equal(got, []int{2}) {
		t.Errorf("layers %v are reinforced, want 2", got)
	}
	p.until(t, "a broadcast of the layer", `select count(*) > 0 from realtime.messages where topic = 'helix:' || $1 and event = 'psychology_layers'
		and payload -> 'key' = '{"layer_number": 2}' and payload ->> 'op' = 'UPDATE' and payload -> 'record' ->> 'decay_rate' = '1'`, user.ID)
	// What restores a layer means what it says.
	exec(t, p.admin, `update psychology_layers set data = '{"restored": 1}', last_reinforced = '2024-01-01', decay_rate = .1 where layer_number = 2`)
	if !get[bool](t, app, "select decay_rate = .1 and last_reinforced = '2024-01-01' from psychology_layers where layer_number = 2") {
		t.Error("a restored layer was reinforced")
	}
}

// existing are tables that a project had before helixd, with odd rows.
const existing = `create table memories (id uuid primary key, user_id uuid not null, type text, content text, emotional_valence float,
		created_at timestamp, last_accessed timestamp);
	create table psychology_layers (id uuid primary key, user_id uuid not null, layer_number int, layer_name text, data jsonb, decay_rate real,
		last_updated timestamp, last_reinforced timestamp, initial_strength float, decay_model text, decay_params jsonb)`

// TestAdopted: times without time zone are UTC, whatever the database's time zone;
// odd rows are no error, and stay.
func TestAdopted(t *testing.T) {
	p := newUnmigrated(t)
	user, gone := p.db.NewUser(t).ID, "deadbeef-0000-4000-8000-000000000000"
	exec(t, p.admin, "alter database "+pgx.Identifier{p.db.Name()}.Sanitize()+" set timezone = 'Europe/Berlin'")
	exec(t, p.admin, existing)
	for _, owner := range []string{user, gone} {
		exec(t, p.admin, `insert into memories (id, user_id, content, created_at, last_accessed) values
			(gen_random_uuid(), $1, 'spring', '2024-03-31 02:30:00', null), (gen_random_uuid(), $1, 'autumn', '2023-10-29 02:30:00.5', '2023-10-30 02:30:00.5'),
			(gen_random_uuid(), $1, 'undated', null, null), (gen_random_uuid(), $1, 'endless', 'infinity', 'infinity'), (gen_random_uuid(), $1, 'ever', '-infinity', '-infinity'),
			(gen_random_uuid(), $1, 'ancient', '0044-03-15 BC', '0044-03-16 BC'), (gen_random_uuid(), $1, 'future', '20000-01-01', '30000-01-01')`, owner)
		exec(t, p.admin, `insert into psychology_layers (id, user_id, layer_number, data, decay_rate, last_updated, last_reinforced, initial_strength, decay_model, decay_params) values
			(gen_random_uuid(), $1, 1, '{"a": 1}', .3, '2024-01-01', '2024-03-31 02:30', .9, null, null), (gen_random_uuid(), $1, 1, '{"a": 2}', 7, null, null, null, null, null),
			(gen_random_uuid(), $1, 99, null, 'infinity', 'infinity', 'infinity', 'nan', 'unknown', '"x"'), (gen_random_uuid(), $1, null, null, null, null, null, null, null, null),
			(gen_random_uuid(), $1, 3, null, 'nan', '-infinity', '-infinity', -1, 'power', '{"hours": "many", "exponent": 1e400}'),
			(gen_random_uuid(), $1, 4, null, null, null, '1000-01-01 BC', 1e-300, 'fsrs', '{"hours": 1e-400}')`, owner)
	}
	p.migrate(t)
	layers := "select string_agg(to_jsonb(l)::text, ' ' order by id) from psychology_layers l where id in (select id from was)"
	exec(t, p.admin, "create temp table was as select id from psychology_layers")
	before := get[string](t, p.admin, layers)
	p.stream(t)
	p.until(t, "retentions", "select count(*) = 7 from memory_retention")
	for content, want := range map[string]string{"spring": "2024-03-31 02:30+00", "autumn": "2023-10-30 02:30:00.5+00", "ancient": "0044-03-16+00 BC"} {
		if k := p.kept(t, content); !get[bool](t, p.admin, "select $1 = $2::text::timestamptz", k.Reinforced, want) {
			t.Errorf("%s was reinforced at %s, want %s", content, k.Reinforced, want)
		}
	}
	if k, m := p.kept(t, "autumn"), decay.NewMemory().Recalled(24); k.Stability != m.Stability {
		t.Errorf("24 hours, in which Berlin's clocks were set back, made it %g; want %g", k.Stability, m.Stability)
	}
	for _, content := range []string{"undated", "endless", "ever", "future"} {
		if k := p.kept(t, content); math.Abs(time.Since(k.Reinforced).Minutes()) > 10 {
			t.Errorf("%s was reinforced at %s, want about now", content, k.Reinforced)
		}
	}
	if n := get[int](t, p.admin, "select count(*) from memory_retention where user_id = $1", gone); n != 0 {
		t.Errorf("%d retentions of a user who is gone", n)
	}
	if got := get[string](t, p.admin, layers); got != before {
		t.Errorf("adopted layers have changed: %s\n%s", before, got)
	}
	if got := get[[]int](t, p.admin, "select array_agg(layer_number order by layer_number) from psychology_layers where user_id = $1 and id not in (select id from was)", user); !slices.Equal(got, []int{2, 5, 6, 7}) {
		t.Errorf("layers %v were made", got)
	}
	if !get[bool](t, p.admin, `select bool_and(abs(extract(epoch from last_reinforced at time zone 'utc' - now())) < 600 and last_updated = last_reinforced)
		from psychology_layers where user_id = $1 and layer_number in (2, 5, 6, 7)`, user) {
		t.Error("made layers do not begin now, as UTC has it")
	}

	// And a tick passes over all of that.
	at := time.Now().UTC().Truncate(time.Microsecond)
	done := p.tick(t, at, time.Hour)
	if done.Refused != 0 {
		t.Errorf("%+v", done)
	}
	p.exact(t, at, `layer_number is not null and last_reinforced is not null and tableoid = 'psychology_layers'::regclass`)
	if !get[bool](t, p.admin, `select bool_and(last_updated = $1::timestamptz at time zone 'utc') and count(*) = 3 from psychology_layers
		where user_id = $2 and layer_number in (1, 3, 4) and tableoid = 'psychology_layers'::regclass`, at, user) {
		t.Error("last_updated is not the tick's time in UTC")
	}
	if n := get[int](t, p.admin, "select count(*) from psychology_layers where layer_number is null and (decay_rate, last_updated) is null or data = '{\"a\": 2}' and decay_rate = 7"); n != 4 {
		t.Errorf("of 4 rows that are the app's own matter %d are as they were", n)
	}
}
