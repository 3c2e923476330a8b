package synthesis_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/synthesis"
)

// ofIntents are the sentences of some intents.
func ofIntents(t *testing.T, labels ...string) (some []sentence) {
	t.Helper()
	for _, s := range mustIntents(t) {
		for _, label := range labels {
			if s.label == label {
				some = append(some, s)
			}
		}
	}
	if len(some) < 10*len(labels) {
		t.Fatalf("%d sentences of %v", len(some), labels)
	}
	return some
}

// TestIdentity: what persists keeps its row, and is not written again; what is gone
// is deleted; rows without a fingerprint are the app's.
func TestIdentity(t *testing.T) {
	b := newBench(t)
	c := config()
	b.work(t, c)
	b.stream(t, c)
	user := b.User(t)
	b.Exec(t, "insert into memory_synthesis (user_id, pattern_type, memory_ids, synthesis_content) values ($1, 'semantic_cluster', '{}', 'the app''s')", user)
	labels := threeIntents(t)
	first := ofIntents(t, labels...)
	ids := b.remember(t, user, first)
	b.settled(t)
	before := b.semantic(t, user)
	if len(before) != 3 {
		t.Fatalf("three intents made %d patterns: %+v", len(before), before)
	}
	for i := range before {
		if before[i].Print == "" || before[i].Content == "" || before[i].Confidence < 0.7 {
			t.Errorf("a pattern is not whole: %+v", before[i])
		}
	}

	// Once more, with nothing new: an access of a memory is no change.
	b.Exec(t, "update memories set last_accessed = now() where user_id = $1", user)
	b.settled(t)
	same(t, before, b.semantic(t, user))

	// One more memory of one intent changes one pattern.
	more := first[0]
	more.text += " please"
	added := b.remember(t, user, []sentence{more})
	b.settled(t)
	after := b.semantic(t, user)
	changed := 0
	for i := range after {
		if before[i].ID != after[i].ID || before[i].Print != after[i].Print {
			t.Errorf("a pattern got another row: %+v, was %+v", after[i], before[i])
		}
		if !after[i].Updated.Equal(before[i].Updated) {
			changed++
			if !contains(after[i].Members, added[0]) || !contains(after[i].Members, ids[0]) {
				t.Errorf("the pattern that changed is not the new memory's")
			}
		}
	}
	if changed != 1 {
		t.Errorf("%d patterns were written for one memory", changed)
	}

	// The memories of one intent are deleted, and its pattern with them.
	for i, s := range first {
		if s.label == labels[0] {
			b.Exec(t, "delete from memories where id = $1", ids[i])
		}
	}
	b.Exec(t, "delete from memories where id = $1", added[0])
	b.settled(t)
	if left := b.semantic(t, user); len(left) != 2 {
		t.Errorf("%d patterns of two intents", len(left))
	}
	b.Exec(t, "delete from memories where user_id = $1", user)
	b.settled(t)
	if all := b.patterns(t, user); len(all) != 1 || all[0].Content != "the app's" {
		t.Errorf("no memory is left, but %+v", all)
	}
}

// semantic gives a user's clusters that helixd wrote.
func (b *bench) semantic(t *testing.T, user uuid.UUID) (found []pattern) {
	t.Helper()
	for _, p := range b.patterns(t, user) {
		if p.Type == synthesis.SemanticCluster && p.Print != "" {
			found = append(found, p)
		}
	}
	return found
}

// threeIntents are labels of many sentences each.
func threeIntents(t *testing.T) []string {
	t.Helper()
	n := map[string]int{}
	var labels []string
	for _, s := range mustIntents(t) {
		if n[s.label]++; n[s.label] == 30 && s.label != "oos" && len(labels) < 3 {
			labels = append(labels, s.label)
		}
	}
	if len(labels) < 3 {
		t.Fatalf("labels %v", labels)
	}
	return labels
}

func contains(ids []uuid.UUID, id uuid.UUID) bool {
	for _, i := range ids {
		if i == id {
			return true
		}
	}
	return false
}

func same(t *testing.T, before, after []pattern) {
	t.Helper()
	if len(before) != len(after) {
		t.Fatalf("%d patterns, were %d", len(after), len(before))
	}
	for i := range after {
		if before[i].ID != after[i].ID || !before[i].Updated.Equal(after[i].Updated) {
			t.Errorf("a pattern was written again: %+v, was %+v", after[i], before[i])
		}
	}
}

// TestManyInserts: however many rows come, a user is synthesised a few times, and
// the last one has seen every row within the limit.
func TestManyInserts(t *testing.T) {
	b := newBench(t)
	c := config()
	c.Delay = 200 * time.Millisecond
	b.work(t, c)
	b.work(t, c) // another process
	b.stream(t, c)
	user := b.User(t)
	const transactions, each, limit = 500, 20, 700
	b.Exec(t, "insert into synthesis_settings (user_id, memory_limit) values ($1, $2)", user, limit)
	began := time.Now()
	for range transactions {
		b.Exec(t, "insert into memories (user_id, content, created_at) select $1, 'we walked along the quiet river', clock_timestamp() from generate_series(1, $2)", user, each)
	}
	b.settled(t)
	took := time.Since(began)
	if n, most := get[int](t, b.Admin, "select count(*)::int from helix.river_job where queue = 'synthesis' and args ->> 'user_id' = $1", user.String()),
		int(took/c.Delay)+2; n < 1 || n > most {
		t.Errorf("%d syntheses in %s, wanted at most %d", n, took, most)
	}
	newest := get[[]uuid.UUID](t, b.Admin, "select array(select id from memories where user_id = $1 order by created_at desc, id limit $2)", user, limit)
	seen := map[uuid.UUID]bool{}
	for _, p := range b.semantic(t, user) {
		for _, id := range p.Members {
			seen[id] = true
		}
	}
	if len(seen) != limit {
		t.Errorf("patterns have %d memories, wanted %d", len(seen), limit)
	}
	for _, id := range newest {
		if !seen[id] {
			t.Fatalf("one of the %d newest memories is in no pattern", limit)
		}
	}
}

// TestOneAtATime: who synthesises a user holds the user's lock; a worker that does
// not get it comes again.
func TestOneAtATime(t *testing.T) {
	b := newBench(t)
	c := config()
	user := b.User(t)
	holder := b.DB.Connect(t, "postgres")
	if _, err := holder.Exec(t.Context(), "select pg_advisory_lock($1::int, hashtext($2))", 0x73796e, user.String()); err != nil {
		t.Fatal(err)
	}
	b.work(t, c)
	b.work(t, c)
	b.stream(t, c)
	b.remember(t, user, ofIntents(t, threeIntents(t)...))
	b.until(t, "a worker that was refused", `select exists (select from helix.river_job where queue = 'synthesis' and args ->> 'user_id' = $1
		and metadata ? 'snoozes')`, user.String())
	if n := len(b.patterns(t, user)); n != 0 {
		t.Fatalf("%d patterns were written without the lock", n)
	}
	if _, err := holder.Exec(t.Context(), "select pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	b.until(t, "the patterns", "select exists (select from memory_synthesis where user_id = $1)", user)
}

// TestAccountDeleted: whoever leaves while it is worked on leaves nothing.
func TestAccountDeleted(t *testing.T) {
	b := newBench(t)
	c := config()
	b.work(t, c)
	b.stream(t, c)
	for range 5 {
		user := b.User(t)
		b.remember(t, user, ofIntents(t, threeIntents(t)[:1]...))
		b.DB.Exec(t, "supabase_admin", "delete from auth.users where id = '"+user.String()+"'")
	}
	b.settled(t)
	if n := get[int](t, b.Admin, `select (select count(*) from memory_synthesis)::int + (select count(*) from helix.synthesis_work where user_id not in (select id from auth.users))::int`); n != 0 {
		t.Errorf("deleted accounts left %d rows", n)
	}
}

// TestDisabled: who turns it off has no patterns, and gets them back.
func TestDisabled(t *testing.T) {
	b := newBench(t)
	c := config()
	b.work(t, c)
	b.stream(t, c)
	user := b.User(t)
	b.remember(t, user, ofIntents(t, threeIntents(t)...))
	b.settled(t)
	n := len(b.patterns(t, user))
	if n == 0 {
		t.Fatal("no patterns")
	}
	b.Exec(t, "insert into synthesis_settings (user_id, enabled) values ($1, false)", user)
	b.settled(t)
	if left := b.patterns(t, user); len(left) != 0 {
		t.Errorf("it is off, but %+v", left)
	}
	b.Exec(t, "update synthesis_settings set enabled = true where user_id = $1", user)
	b.settled(t)
	if again := len(b.patterns(t, user)); again != n {
		t.Errorf("%d patterns, were %d", again, n)
	}
}

// TestOddMemories: nothing that can stand in the table makes a synthesis fail.
func TestOddMemories(t *testing.T) {
	b := newBench(t)
	c := config()
	user := b.User(t)
	// As an adopted table may be.
	b.Exec(t, `alter table memories disable trigger user; alter table memories drop constraint if exists memories_emotional_valence_check;
		drop index if exists memories_recall_idx;
		drop trigger z_helix_embedding_insert on memories; drop trigger z_helix_embedding_update on memories;
		drop trigger z_helix_embedding_with_content on memories;
		alter table memories alter column embedding type vector, alter column created_at drop not null`)
	for name, row := range map[string]string{
		"Nothing":        "(user_id) values ($1)",
		"NoContent":      "(user_id, content, embedding) values ($1, null, array_fill(0.1::real, '{1536}')::vector)",
		"ZeroEmbedding":  "(user_id, content, embedding) values ($1, 'zero', array_fill(0::real, '{1536}')::vector)",
		"OtherDimension": "(user_id, content, embedding) select $1, 'short ' || n, array_fill(0.1::real, '{3}')::vector from generate_series(1, 4) n",
		"TinyEmbedding":  "(user_id, content, embedding) values ($1, 'tiny', array_fill(1e-38::real, '{1536}')::vector)",
		"HugeEmbedding":  "(user_id, content, embedding) values ($1, 'huge', array_fill(3e38::real, '{1536}')::vector)",
		"Valence":        "(user_id, content, emotional_valence) select $1, 'feels', v from unnest('{7,-9,NaN,Infinity,-Infinity,0.5}'::float8[]) v",
		"Times": `(user_id, content, created_at) select $1, 'long ago', t
			from unnest('{1900-01-01,2150-01-01,infinity,-infinity,4713-01-01 BC,294276-12-31,NULL}'::timestamptz[]) t`,
		"Emoji": "(user_id, content) select $1, repeat('😀👨‍👩‍👧', n) from generate_series(0, 5) n",
		"RTL":   "(user_id, content) select $1, 'שלום עולם مرحبا بالعالم ' || chr(8238) || n from generate_series(1, 5) n",
		"Marks": "(user_id, content) select $1, repeat(chr(769), 100000) || chr(7) || chr(13) from generate_series(1, 3)",
	} {
		if strings.Contains(row, "$1") {
			b.Exec(t, "insert into memories "+row, user)
		} else {
			t.Fatal(name)
		}
	}
	alone := b.User(t)
	b.Exec(t, "insert into memories (user_id, content) values ($1, 'the only one')", alone)
	b.work(t, c)
	b.stream(t, c)
	b.settled(t)
	if n := get[int](t, b.Admin, "select count(*)::int from helix.river_job where queue = 'synthesis' and errors is not null"); n != 0 {
		t.Errorf("%d syntheses failed: %s", n, get[string](t, b.Admin, "select max(errors::text) from helix.river_job where errors is not null"))
	}
	if !get[bool](t, b.Admin, "select count(*) = 2 from helix.synthesis_work where ran_at is not null and user_id in ($1, $2)", user, alone) {
		t.Error("not both users were synthesised")
	}
	for _, p := range append(b.patterns(t, user), b.patterns(t, alone)...) {
		if strings.ContainsAny(p.Content, "\u202e\u0007\r\n") || len(p.Members) < 3 {
			t.Errorf("an odd pattern: %+v", p)
		}
	}
}

// TestTheSameAgain: 20,000 memories that say the same are one pattern.
func TestTheSameAgain(t *testing.T) {
	n := 20_000
	if raceEnabled { // make test runs this without it, too
		n = 2000
	}
	b := newBench(t)
	c := config()
	b.work(t, c)
	b.stream(t, c)
	user := b.User(t)
	b.Exec(t, "insert into synthesis_settings (user_id, memory_limit) values ($1, 20000)", user)
	b.Exec(t, `drop index if exists memories_recall_idx`) // it would take most of the time
	b.Exec(t, `insert into memories (user_id, content, embedding, created_at) select $1, 'same', array_fill(0.5::real, '{1536}')::vector, 'epoch'
		from generate_series(1, $2)`, user, n)
	b.settled(t)
	all := b.patterns(t, user)
	if len(all) != 1 || len(all[0].Members) != n || all[0].Type != synthesis.SemanticCluster {
		t.Errorf("%d patterns", len(all))
		for _, p := range all {
			t.Logf("%s of %d: %s", p.Type, len(p.Members), p.Content)
		}
	}
}
