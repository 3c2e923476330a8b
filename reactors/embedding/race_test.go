package embedding_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/llm/llmtest"
)

// TestRaces: what happens to a memory while its embedding is asked for.
func TestRaces(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, &process{})
	// during does something while a memory with a text is asked for.
	during := func(t *testing.T, user uuid.UUID, text string, do func(id uuid.UUID)) uuid.UUID {
		t.Helper()
		hold := make(chan struct{})
		before := b.server.Count()
		b.server.Script(llmtest.Step{Hold: hold})
		id := b.remember(t, user, text)
		if err := b.server.Await(t.Context(), before+1); err != nil {
			t.Fatal(err)
		}
		do(id)
		close(hold)
		return id
	}
	t.Run("ContentChanges", func(t *testing.T) {
		id := during(t, b.User(t), "before", func(id uuid.UUID) { b.Exec(t, "update memories set content = 'after' where id = $1", id) })
		b.embedded(t, id, "after")
		if get[int64](t, b.Admin, "select content_rev from memories where id = $1", id) != 2 {
			t.Error("the old one's embedding was written")
		}
	})
	t.Run("TheAppEmbeds", func(t *testing.T) {
		id := during(t, b.User(t), "mine", func(id uuid.UUID) {
			b.Exec(t, "update memories set embedding = array_fill(.5, '{1536}')::vector where id = $1", id)
		})
		b.until(t, "no work", "select not exists (select from helix.embedding_work where memory_id = $1)", id)
		if !get[bool](t, b.Admin, "select embedding = array_fill(.5, '{1536}')::vector from memories where id = $1", id) {
			t.Error("the app's was replaced")
		}
	})
	t.Run("Deleted", func(t *testing.T) {
		user := b.User(t)
		id := during(t, user, "gone", func(id uuid.UUID) { b.Exec(t, "delete from memories where id = $1", id) })
		b.until(t, "no work", "select not exists (select from helix.embedding_work where memory_id = $1)", id)
		b.embedded(t, b.remember(t, user, "still here"), "still here")
	})
	t.Run("AccountDeleted", func(t *testing.T) {
		user := b.User(t)
		during(t, user, "leaving", func(uuid.UUID) { b.DB.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", user) })
		b.until(t, "the job's end", "select not exists (select from helix.river_job where args ->> 'user_id' = $1 and state <> 'completed')", user.String())
		for _, table := range []string{"public.memories", "helix.embedding_work", "helix.embedding_queues", "helix.usage", "helix.usage_holds"} {
			if n := get[int](t, b.Admin, "select count(*)::int from "+table+" where user_id = $1", user); n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
		}
	})
	t.Run("MoreIsInserted", func(t *testing.T) {
		user := b.User(t)
		var second uuid.UUID
		first := during(t, user, "first", func(uuid.UUID) {
			second = b.remember(t, user, "second")
			b.until(t, "its work", "select exists (select from helix.embedding_work where memory_id = $1)", second)
		})
		b.embedded(t, first, "first")
		b.embedded(t, second, "second")
	})
	if n := get[int](t, b.Admin, "select count(*)::int from helix.river_job where queue = 'embedding' and errors is not null"); n != 0 {
		t.Errorf("%d jobs failed: %s", n, get[string](t, b.Admin, "select max(errors::text) from helix.river_job where errors is not null"))
	}
}
