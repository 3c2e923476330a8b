package triggers_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestEmbeddingStale: a memory wants an embedding when it has content and no
// embedding, or one of what its content was before.
func TestEmbeddingStale(t *testing.T) {
	_, _, _, app := migrated(t)
	const one, two = "array_fill(1, '{1536}')::vector", "array_fill(2, '{1536}')::vector"
	for _, test := range []struct {
		name, insert, update string
		stale                bool
	}{
		{"Inserted without", "'x', null", "", true},
		{"Inserted with", "'x', " + one, "", false},
		{"No content", "null, null", "", false},
		{"Empty content", "'', null", "", false},
		{"Content changed", "'x', " + one, "content = 'y'", true},
		{"Content the same", "'x', " + one, "content = 'x', last_accessed = now()", false},
		{"Both changed", "'x', " + one, "content = 'y', embedding = " + two, false},
		{"Both changed, the other way round", "'x', " + one, "embedding = " + two + ", content = 'y'", false},
		{"Both sent, one changed", "'x', " + one, "content = 'y', embedding = " + one, true},
		{"Embedding given", "'x', null", "embedding = " + one, false},
		{"Embedding taken away", "'x', " + one, "embedding = null", true},
		{"Embedding and content taken away", "'x', " + one, "embedding = null, content = null", false},
		{"Something else changed", "'x', null", "emotional_valence = .5", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			id := get[string](t, app, "insert into memories (content, embedding) values ("+test.insert+") returning id::text")
			rev := get[int64](t, app, "select content_rev from memories where id = $1", id)
			if test.update != "" {
				exec(t, app, "update memories set "+test.update+" where id = $1", id)
			}
			if got := get[bool](t, app, "select embedding_stale from memories where id = $1", id); got != test.stale {
				t.Errorf("stale: %t", got)
			}
			changed := test.update != "" && test.name != "Content the same"
			if now := get[int64](t, app, "select content_rev from memories where id = $1", id); (now > rev) != changed {
				t.Errorf("content_rev went from %d to %d", rev, now)
			}
		})
	}
	t.Run("Upserted", func(t *testing.T) {
		id := get[string](t, app, "insert into memories (content, embedding) values ('x', "+one+") returning id::text")
		const upsert = "insert into memories (id, content) values ($1, $2) on conflict (id) do update set id = excluded.id, content = excluded.content"
		exec(t, app, upsert, id, "x")
		if get[bool](t, app, "select embedding_stale from memories where id = $1", id) {
			t.Error("the same content made it stale")
		}
		exec(t, app, upsert, id, "y")
		if !get[bool](t, app, "select embedding_stale from memories where id = $1", id) {
			t.Error("other content did not make it stale")
		}
	})
	t.Run("ATriggerOfTheAppsGivesOne", func(t *testing.T) {
		_, admin, _, app := migrated(t)
		exec(t, admin, "create function own() returns trigger language plpgsql as $$ begin new.embedding := "+one+"; return new; end $$;"+
			"create trigger set_embedding before insert on memories for each row execute function own()")
		if get[bool](t, app, "insert into memories (content) values ('x') returning embedding_stale") {
			t.Error("it is stale")
		}
	})
	t.Run("ATriggerOfTheAppsRenewsIt", func(t *testing.T) {
		_, admin, _, app := migrated(t)
		exec(t, admin, "create function own() returns trigger language plpgsql as $$ begin new.embedding := "+two+"; return new; end $$;"+
			"create trigger set_embedding before update of content on memories for each row execute function own()")
		id := get[string](t, app, "insert into memories (content, embedding) values ('x', "+one+") returning id::text")
		if get[bool](t, app, "update memories set content = 'y' where id = $1 returning embedding_stale", id) {
			t.Error("it is stale")
		}
	})
	t.Run("ATriggerOfTheAppsTakesItAway", func(t *testing.T) {
		_, admin, _, app := migrated(t)
		exec(t, admin, "create function own() returns trigger language plpgsql as $$ begin new.embedding := null; return new; end $$;"+
			"create trigger clear_embedding before update of content on memories for each row execute function own()")
		id := get[string](t, app, "insert into memories (content, embedding) values ('x', "+one+") returning id::text")
		if !get[bool](t, app, "update memories set content = 'y' where id = $1 returning embedding_stale", id) {
			t.Error("it wants none")
		}
	})
}

// TestEmbeddingDropped: an app may drop the column, or never have it.
func TestEmbeddingDropped(t *testing.T) {
	_, admin, _, app := migrated(t)
	exec(t, admin, "drop function match_memories")
	exec(t, admin, "alter table memories drop column embedding cascade")
	for _, sql := range []string{"insert into memories (content) values ('x')", "update memories set content = 'y'", "update memories set last_accessed = now()"} {
		if _, err := app.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
