package synthesis_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/synthesis"
)

// TestCacheOfSomeEmbeddings: memories without an embedding are no reason to read
// and cluster all the others again.
func TestCacheOfSomeEmbeddings(t *testing.T) {
	b := newBench(t)
	s := synthesis.NewService(config(), b.Pool, zerolog.Nop())
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	once := func(user uuid.UUID) {
		t.Helper()
		if _, _, err := s.Once(t.Context(), user, synthesis.Overrides{}, false); err != nil {
			t.Fatal(err)
		}
	}
	some := ofIntents(t, threeIntents(t)[0])
	user := b.User(t)
	b.remember(t, user, some[:20])
	b.Exec(t, `insert into memories (user_id, content, embedding) select $1, 'a walk', case when n > 5 then array_fill(0::real, '{1536}')::vector end
		from generate_series(1, 10) n`, user)
	once(user)
	b.remember(t, user, some[20:21])
	once(user)
	if n := s.Moved(user); n != 1 {
		t.Errorf("%d rows moved, wanted the one that came", n)
	}
	// One of them gets its embedding.
	b.Exec(t, "update memories set embedding = array_fill(0.5::real, '{1536}')::vector where id = (select id from memories where embedding is null limit 1)")
	once(user)
	if n := s.Moved(user); n != 2 {
		t.Errorf("%d rows moved, wanted two", n)
	}
	// Who has no embeddings is kept, too, and counts.
	before, other := s.Cached(), b.User(t)
	b.Exec(t, "insert into memories (user_id, content) values ($1, 'a walk')", other)
	once(other)
	if s.Moved(other) != 0 || s.Cached() <= before {
		t.Errorf("%d bytes are kept, were %d", s.Cached(), before)
	}
}
