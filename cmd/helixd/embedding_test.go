package main_test

import (
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/testenv"
)

// TestEmbeddings: helixd run embeds what an app inserts, also after it was killed
// between the answer and the write; what was there before is bought by hand.
func TestEmbeddings(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	before := db.Connect(t, "postgres")
	user := db.NewUser(t).ID
	exec1(t, before, "create table memories (id uuid primary key default gen_random_uuid(), user_id uuid not null, content text, embedding vector(1536), created_at timestamp default now())")
	exec1(t, before, "insert into memories (user_id, content) select $1, 'old ' || n from generate_series(1, 5) n", user)
	admin := migrated(t, db)
	s := llmtest.New(t)
	env := []string{"EMBEDDINGS_URL=" + s.URL, "EMBEDDINGS_API_KEY=" + llmtest.Key}
	slot := db.SlotName("embeddings")
	p := startOf(t, plainBinary, db.URL("postgres"), append(env, "HELIX_FAILPOINT=embedding-answered"), "run", "--slot", slot)
	until(t, "embedding to be online", func() bool {
		return get[bool](t, admin, "select exists (select from helix_status where reactor = 'embedding' and running and healthy)")
	})
	app := db.AsUser(t, user)
	id := get[string](t, app, "insert into memories (content) values ('a walk by the sea') returning id::text")
	p.wait(t) // it is killed
	p = startOf(t, plainBinary, db.URL("postgres"), env, "run", "--slot", slot)
	until(t, "match_memories to find it", func() bool {
		return get[string](t, app, "select coalesce((select id::text from match_memories($1::float4[]::vector, 1)), '')", llmtest.Vector("the sea", 1536)) == id
	})
	if n := s.Count(); n != 2 {
		t.Errorf("%d requests", n)
	}
	if n := get[int](t, admin, "select count(*)::int from memories where content like 'old%' and embedding is not null"); n != 0 {
		t.Errorf("%d old memories were bought unasked", n)
	}
	run := func(args ...string) (string, string, int) {
		return command(t, db.URL("postgres"), "", []string{"HELIX_EMBEDDINGS_PRICE=openai=0.02"}, append([]string{"backfill", "embeddings"}, args...)...)
	}
	if out, errs, status := run("--dry-run"); status != 0 || errs != "" || !strings.Contains(out, "5 memories lack an embedding; 0 more wait") || !strings.Contains(out, "USD at 0.02 a million") {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	if out, errs, status := run("--max", "2"); status != 0 || errs != "" || !strings.Contains(out, "2 memories were let wait") {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	bought := func(want int) {
		t.Helper()
		until(t, "old memories to be embedded", func() bool {
			return get[int](t, admin, "select count(*)::int from memories where content like 'old%' and embedding is not null") == want
		})
	}
	bought(2)
	if out, errs, status := run("--user", user, "--rate", "6000"); status != 0 || !strings.Contains(out, "3 memories were let wait") {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	bought(5)
	if out, errs, status := run(); status != 0 || !strings.Contains(out, "0 memories lack an embedding; 0 more wait") {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	for _, test := range [][]string{{"--max", "0"}, {"--rate", "-1"}, {"--user", "ada"}} {
		if out, errs, status := run(test...); status != 2 {
			t.Errorf("%v: exit status %d: %s%s", test, status, out, errs)
		}
	} // What is written while it is off is embedded once it is on.
	p.stop(t)
	p = startOf(t, plainBinary, db.URL("postgres"), append(env, "HELIX_EMBEDDINGS=off"), "run", "--slot", slot)
	until(t, "the stream", func() bool { return p.says(`"streaming"`) })
	exec1(t, app, "insert into memories (content) values ('while it was off')")
	p.stop(t)
	startOf(t, plainBinary, db.URL("postgres"), env, "run", "--slot", slot)
	until(t, "it to be embedded", func() bool {
		return get[bool](t, admin, "select embedding is not null from memories where content = 'while it was off'")
	})
}

// TestBackfillBesideTheOptedOut: what waits since its user has opted out keeps no
// other user's memories from it.
func TestBackfillBesideTheOptedOut(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	before := db.Connect(t, "postgres")
	one, two := db.NewUser(t).ID, db.NewUser(t).ID
	exec1(t, before, "create table memories (id uuid primary key default gen_random_uuid(), user_id uuid not null, content text, embedding vector(16), created_at timestamp default now())")
	exec1(t, before, "insert into memories (user_id, content) select $1, 'old ' || n from generate_series(1, 1500) n", one)
	admin := migrated(t, db)
	s := llmtest.New(t)
	startOf(t, plainBinary, db.URL("postgres"), []string{"EMBEDDINGS_URL=" + s.URL, "EMBEDDINGS_API_KEY=" + llmtest.Key}, "run", "--slot", db.SlotName("opted-out"))
	until(t, "embedding to be online", func() bool {
		return get[bool](t, admin, "select exists (select from helix_status where reactor = 'embedding' and running and healthy)")
	})
	exec1(t, admin, "insert into privacy_settings (user_id, opt_out) values ($1, '{memories.content}')", two)
	exec1(t, admin, "insert into memories (user_id, content) select $1, 'private ' || n from generate_series(1, 1000) n", two)
	until(t, "the private ones to wait", func() bool {
		return get[bool](t, admin, "select count(*) = 1000 from helix.embedding_work") &&
			get[bool](t, admin, "select exists (select from helix.embedding_queues where reason ->> 'code' = 'opted_out')")
	})
	out, errs, status := command(t, db.URL("postgres"), "", nil, "backfill", "embeddings")
	if status != 0 || !strings.Contains(out, "1500 memories were let wait") {
		t.Errorf("exit status %d: %s%s", status, out, errs)
	}
	until(t, "the old ones", func() bool {
		return get[bool](t, admin, "select count(*) = 1500 from memories where embedding is not null")
	})
}
