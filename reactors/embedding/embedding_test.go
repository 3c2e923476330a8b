package embedding_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/redact"
)

// TestEmbedding: whoever inserts or changes a memory gets its embedding, and the
// app's own stay.
func TestEmbedding(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, &process{})
	alice := b.User(t)
	app := b.DB.AsUser(t, alice.String())
	id := get[uuid.UUID](t, app, "insert into memories (content) values ('a walk by the sea') returning id")
	b.embedded(t, id, "a walk by the sea")

	t.Run("MatchFindsIt", func(t *testing.T) {
		const match = "select coalesce((select id::text from match_memories($1::float4[]::vector, 1)), '')"
		if got := get[string](t, app, match, llmtest.Vector("the sea", dimensions)); got != id.String() {
			t.Errorf("found %q", got)
		}
		bob := b.DB.AsUser(t, b.User(t).String())
		if got := get[string](t, bob, match, llmtest.Vector("the sea", dimensions)); got != "" {
			t.Errorf("another user found %q", got)
		}
	})
	t.Run("OtherReactorsSeeIt", func(t *testing.T) {
		rev := get[int64](t, app, "select content_rev from memories where id = $1", id)
		if rev != 1 { // as the embedding was written; an insert has 0
			t.Errorf("content_rev is %d", rev)
		}
	})
	t.Run("ContentChanges", func(t *testing.T) {
		if _, err := app.Exec(t.Context(), "update memories set content = 'a day in the hills' where id = $1", id); err != nil {
			t.Fatal(err)
		}
		b.embedded(t, id, "a day in the hills")
	})
	t.Run("TheAppsOwn", func(t *testing.T) {
		before := b.server.Count()
		own := get[uuid.UUID](t, app, "insert into memories (content, embedding) values ('mine', array_fill(.5, '{1536}')::vector) returning id")
		both := get[uuid.UUID](t, app, "insert into memories (content, embedding) values ('before', array_fill(.5, '{1536}')::vector) returning id")
		if _, err := app.Exec(t.Context(), "update memories set content = 'after', embedding = array_fill(.25, '{1536}')::vector where id = $1", both); err != nil {
			t.Fatal(err)
		}
		b.embedded(t, get[uuid.UUID](t, app, "insert into memories (content) values ('later') returning id"), "later")
		if n := b.server.Count() - before; n != 1 || b.sent("mine")+b.sent("before")+b.sent("after") != 0 {
			t.Errorf("%d requests", n)
		}
		if !get[bool](t, app, "select embedding = array_fill(.5, '{1536}')::vector from memories where id = $1", own) {
			t.Error("it was replaced")
		}
	})
	t.Run("NothingToEmbed", func(t *testing.T) {
		for _, content := range []any{nil, "", " \n\t", "\u200b\u0007"} {
			get[uuid.UUID](t, app, "insert into memories (content) values ($1) returning id", content)
		}
		b.until(t, "no work", "select not exists (select from helix.embedding_work)")
		if p := b.server.Problems(); len(p) > 0 {
			t.Errorf("problems: %v", p)
		}
	})
	t.Run("LongAndOdd", func(t *testing.T) {
		long := get[uuid.UUID](t, app, "insert into memories (content) values (repeat('word ', 200000)) returning id")
		b.embedded(t, long, strings.TrimSpace(strings.Repeat("word ", 23997/5)))
		odd := "😀 שלום 中文" + strings.Repeat("中", 20000)
		id := b.remember(t, alice, odd)
		b.until(t, "the embedding of Chinese", "select embedding is not null from memories where id = $1", id)
		if sent := b.server.Last().Texts[0]; len(sent) > 24_000 || len(sent) < 23_000 || !strings.HasPrefix(odd, sent) {
			t.Errorf("%d bytes were sent", len(sent))
		}
	})
	t.Run("TheSameAskedOnce", func(t *testing.T) {
		before := b.server.Count()
		b.Exec(t, "insert into memories (user_id, content) select $1, 'the same' from generate_series(1, 30)", alice)
		b.until(t, "all of them", "select count(*) = 30 from memories where content = 'the same' and embedding is not null")
		if n := b.sent("the same"); n > b.server.Count()-before || n > 3 {
			t.Errorf("it was sent %d times in %d requests", n, b.server.Count()-before)
		}
	})
	t.Run("WhoAsks", func(t *testing.T) {
		for _, r := range b.server.Requests() {
			if r.User == "" || strings.Contains(string(r.Body), alice.String()) || r.Key == "" {
				t.Fatalf("user %q, key %q", r.User, r.Key)
			}
		}
		if got := get[int64](t, b.Admin, "select sum(requests)::bigint from helix.usage where user_id = $1 and purpose = 'embedding' and input_tokens > 0 and held_tokens = 0", alice); got != int64(b.server.Count()) {
			t.Errorf("the ledger has %d of %d requests", got, b.server.Count())
		}
	})
}

// TestManyInserts: 10,000 memories are few requests, in a project whose embeddings
// are small.
func TestManyInserts(t *testing.T) {
	b := emptyBench(t)
	b.Exec(t, "create table memories (id uuid primary key default gen_random_uuid(), user_id uuid not null, content text, embedding vector(16), created_at timestamp default now())")
	b.Migrate(t)
	b.Exec(t, "drop index memories_recall_idx") // it would take most of the time
	b.stream(t)
	b.work(t, &process{})
	user := b.User(t)
	const n = 10_000
	began := time.Now()
	for i := range 10 {
		b.Exec(t, "insert into memories (user_id, content) select $1, 'memory ' || $2 || ' of ' || n from generate_series(1, $3::int) n", user, fmt.Sprint(i), n/10)
	}
	b.until(t, "all embeddings", "select count(*) = $1 from memories where embedding is not null and not embedding_stale", n)
	b.until(t, "no work", "select not exists (select from helix.embedding_work)")
	most := n/128 + 25 // the last one of each round may be smaller
	if got := b.server.Count(); got > most {
		t.Errorf("%d requests, want at most %d", got, most)
	} else {
		t.Logf("%d requests in %s", got, time.Since(began))
	}
}

// TestOwnNames: a user's names are taken out also where the operator redacts nothing.
func TestOwnNames(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	c := config()
	c.Redact = redact.Rules{}
	b.work(t, &process{config: c})
	user := b.User(t)
	b.Exec(t, "insert into privacy_settings (user_id, redact_names) values ($1, '{Grandmother Rosa}')", user)
	id := b.remember(t, user, "Ada met Grandmother Rosa, who has ada@example.com.")
	b.until(t, "the embedding", "select embedding is not null from memories where id = $1", id)
	for _, r := range b.server.Requests() {
		if strings.Contains(string(r.Body), "Rosa") || !strings.Contains(string(r.Body), "ada@example.com") {
			t.Errorf("%s was sent", r.Body)
		}
	}
}

func TestRedaction(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	c := config()
	c.Redact = redact.Rules{Kinds: []redact.Kind{redact.Name, redact.Email, redact.Phone, redact.IP}, Names: []string{"Ada Lovelace"}}
	b.work(t, &process{config: c})
	user := b.User(t)
	b.Exec(t, "insert into privacy_settings (user_id, redact_names) values ($1, '{Grandmother Rosa}')", user)
	const text = "Ada Lovelace met Grandmother Rosa, who has ada@example.com and 192.0.2.17."
	ids := []uuid.UUID{b.remember(t, user, text), b.remember(t, user, text+" Again."), b.remember(t, user, strings.Repeat("filler ", 6900)+"ada@example.com "+strings.Repeat("x", 60_000))}
	for _, id := range ids {
		b.until(t, "the embedding", "select embedding is not null from memories where id = $1", id)
	}
	for _, r := range b.server.Requests() {
		for _, said := range []string{"Lovelace", "Rosa", "example.com", "192.0"} {
			if strings.Contains(string(r.Body), said) {
				t.Errorf("%q was sent", said)
			}
		}
		if !strings.Contains(string(r.Body), " met ") && !strings.Contains(string(r.Body), "filler") {
			t.Error("the rest was not sent")
		}
	}
}
