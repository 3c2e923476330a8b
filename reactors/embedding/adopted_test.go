package embedding_test

import (
	"testing"

	"github.com/google/uuid"
)

// TestAdoptedShapes: memories of an app's own making get their embeddings, once.
func TestAdoptedShapes(t *testing.T) {
	for _, test := range []struct{ name, columns, more string }{
		{"Varchar", "content varchar(2000), embedding vector(768), created_at timestamp default now()", ""},
		{"NoDimensions", "content text, embedding vector, created_at timestamptz default now()",
			"insert into memories (user_id, content, embedding) select id, 'own', '[1,2,3,4]' from auth.users"},
		{"FullIdentity", "content text, embedding vector(16), created_at timestamptz", "alter table memories replica identity full"},
		{"ATriggerChangesContent", "content text, embedding vector(16), created_at timestamptz default now()",
			"create function own() returns trigger language plpgsql as $$ begin new.content := new.content || '.'; return new; end $$; create trigger own before update on memories for each row execute function own()"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := emptyBench(t)
			user := b.User(t)
			b.Exec(t, "create table memories (id uuid primary key default gen_random_uuid(), user_id uuid not null, "+test.columns+")")
			if test.more != "" {
				b.Exec(t, test.more)
			}
			b.Migrate(t)
			b.stream(t)
			b.work(t, &process{})
			id := get[uuid.UUID](t, b.Admin, "insert into memories (user_id, content) values ($1, 'a walk') returning id", user)
			b.until(t, "the embedding", "select embedding is not null and not embedding_stale from memories where id = $1", id)
			b.embeddedAgain(t, user)
			if n := b.sent("a walk"); n != 1 {
				t.Errorf("it was sent %d times", n)
			}
		})
	}
}

// embeddedAgain waits until nothing is left to do for what was inserted before.
func (b *bench) embeddedAgain(t *testing.T, user uuid.UUID) {
	t.Helper()
	id := get[uuid.UUID](t, b.Admin, "insert into memories (user_id, content) values ($1, 'another') returning id", user)
	b.until(t, "the other's", "select embedding is not null and not embedding_stale from memories where id = $1", id)
	b.until(t, "no work", "select not exists (select from helix.embedding_work) and not exists (select from helix.river_job where queue = 'embedding' and finalized_at is null)")
}
