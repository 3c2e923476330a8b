package recall_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/recall"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const patience = 2 * time.Minute

// bench is a project.
type bench struct{ reactortest.Project }

// adopted is a project that has memories of so many dimensions, which setup has
// filled, before helixd comes.
func adopted(t testing.TB, dimensions int, setup func(b *bench)) *bench {
	t.Helper()
	b := &bench{reactortest.EmptyProject(t)}
	b.Exec(t, fmt.Sprintf(`create table memories (id uuid primary key default gen_random_uuid(), user_id uuid not null, type text default 'episodic',
		content text, embedding vector(%d), emotional_valence float, created_at timestamp default now(), last_accessed timestamp)`, dimensions))
	setup(b)
	b.Migrate(t)
	return b
}

func (b *bench) service(t testing.TB, budget int64) *recall.Service {
	return recall.NewService(recall.Config{Budget: budget}, b.Pool, zerolog.New(zerolog.NewTestWriter(t)))
}

func (b *bench) tend(t testing.TB, s *recall.Service) {
	t.Helper()
	if err := s.Tend(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) maintain(t testing.TB, s *recall.Service) {
	t.Helper()
	if ran, err := s.Maintain(t.Context()); err != nil || !ran {
		t.Fatalf("ran %t: %v", ran, err)
	}
}

func (b *bench) user(t testing.TB) string {
	t.Helper()
	return b.DB.NewUser(t).ID
}

// fill gives a user n memories whose embeddings are random beside first, which is
// their first component.
func (b *bench) fill(t testing.TB, user string, n, dimensions int, first float64) {
	t.Helper()
	b.Exec(t, `insert into memories (user_id, content, embedding) select $1, 'memory ' || n, (select array_agg(case i when 1 then $4::float8 else 0 end
			+ random() + random() + random() - 1.5 + 0 * n) from generate_series(1, $3::int) i)::vector from generate_series(1, $2::int) n`, user, n, dimensions, first)
}

// scans is how often the vector index was asked.
func (b *bench) scans(t testing.TB, app *pgx.Conn) int {
	t.Helper()
	get[string](t, app, "select pg_stat_force_next_flush()::text")
	return get[int](t, b.Admin, "select idx_scan from pg_stat_user_indexes where indexrelname = 'memories_recall_idx'")
}

const (
	matched = "array(select id::text from match_memories($1::text::vector, $2, -1))"
	// With + 0 the planner has no index for it, not an app's own either.
	nearest = "array(select id::text from memories where user_id = $3 and embedding is not null order by (embedding <=> $1::text::vector) + 0 limit $2)"
)

// recalled is the share of a user's k nearest memories that match_memories gives.
func (b *bench) recalled(t testing.TB, app *pgx.Conn, user, query string, k int) float64 {
	t.Helper()
	got := get[[]string](t, app, "select "+matched, query, k)
	want := get[[]string](t, b.Admin, "select "+nearest, query, k, user)
	if len(got) != len(want) {
		t.Fatalf("%d memories, want %d", len(got), len(want))
	}
	is := map[string]bool{}
	for _, id := range got {
		is[id] = true
	}
	found := 0
	for _, id := range want {
		if is[id] {
			found++
		}
	}
	return float64(found) / float64(len(want))
}

// randomVector is a query, near first on the first axis.
func (b *bench) randomVector(t testing.TB, dimensions int, first float64) string {
	t.Helper()
	return get[string](t, b.Admin, `select (array_agg(case i when 1 then $2::float8 else 0 end + random() + random() + random() - 1.5))::vector::text
		from generate_series(1, $1::int) i`, dimensions, first)
}

func get[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

// until polls a condition.
func (b *bench) until(t testing.TB, what, sql string, args ...any) {
	t.Helper()
	testenv.Until(t, patience, what, func() bool { return get[bool](t, b.Admin, sql, args...) })
}

const ready = "select exists (select from pg_index where indexrelid = to_regclass('public.memories_recall_idx') and indisvalid)"
