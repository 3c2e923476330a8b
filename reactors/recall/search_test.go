package recall_test

import (
	"testing"

	"github.com/helixd/helixd/reactors/recall"
)

const large = 2 << 30

// TestNearest: everybody gets their own nearest memories, whoever's else are
// nearer; and the index that it takes is made anew when little is left in it.
func TestNearest(t *testing.T) {
	const dimensions = 64
	var few, some, many, foreign string
	b := adopted(t, dimensions, func(b *bench) {
		few, some, many, foreign = b.user(t), b.user(t), b.user(t), b.user(t)
		b.fill(t, few, 50, dimensions, 0)
		b.fill(t, some, 5_500, dimensions, 0)
		b.fill(t, many, 9_000, dimensions, 3)
		b.fill(t, foreign, 23_000, dimensions, 20)
	})
	s := b.service(t, large)
	stages := func(stage string, wantIndex bool) {
		t.Run(stage, func(t *testing.T) {
			for _, u := range []struct {
				name, id string
				asked    bool // the index
				least    float64
			}{{"Few", few, false, 1}, {"Some", some, true, 1}, {"Many", many, true, .95}} {
				t.Run(u.name, func(t *testing.T) {
					app := b.DB.AsUser(t, u.id)
					const queries = 5
					sum := 0.0
					for range queries {
						sum += b.recalled(t, app, u.id, b.randomVector(t, dimensions, 20), 10)
					}
					t.Logf("recall@10 %.3f", sum/queries)
					if sum/queries < u.least {
						t.Errorf("recall@10 is %.3f, want %.2f", sum/queries, u.least)
					}
					if wantIndex {
						before := b.scans(t, app)
						b.recalled(t, app, u.id, b.randomVector(t, dimensions, 20), 10)
						if asked := b.scans(t, app) > before; asked != u.asked {
							t.Errorf("the index was asked: %t, want %t", asked, u.asked)
						}
					}
				})
			}
		})
	}
	stages("WithoutIndex", false)
	b.tend(t, s)
	if !get[bool](t, b.Admin, ready) {
		t.Fatal("there is no index")
	}
	stages("Unanalyzed", true)
	b.Exec(t, "analyze memories")
	stages("Analyzed", true)
	t.Run("Types", func(t *testing.T) {
		// A filter that leaves few of many.
		b.Exec(t, "update memories set type = 'procedural' where id in (select id from memories where user_id = $1 limit 30)", many)
		app := b.DB.AsUser(t, many)
		if n := get[int](t, app, "select count(*) from match_memories($1::text::vector, 40, -1, '{procedural}') where type = 'procedural'", b.randomVector(t, dimensions, 20)); n != 30 {
			t.Errorf("%d of 30", n)
		}
	})
	t.Run("BytesPerVector", func(t *testing.T) { sized(t, b, dimensions) })
	t.Run("Bloat", func(t *testing.T) {
		b.Exec(t, "delete from memories where user_id <> $1", some)
		get[string](t, b.Admin, "select pg_stat_force_next_flush()::text")
		before := get[int64](t, b.Admin, "select pg_relation_size('memories_recall_idx')")
		b.maintain(t, s)
		after := get[int64](t, b.Admin, "select pg_relation_size('memories_recall_idx')")
		if want := 2 * 5_500 * recall.BytesPerVector(dimensions); after > want || !get[bool](t, b.Admin, ready) {
			t.Errorf("the index has %d of %d bytes, want %d at the most", after, before, want)
		}
		if !get[bool](t, b.Admin, "select last_vacuum is not null from pg_stat_user_tables where relid = 'memories'::regclass") {
			t.Error("no vacuum of a table that is mostly dead")
		}
	})
}

// sized compares the index's size with what its vectors should take.
func sized(t *testing.T, b *bench, dimensions int64) {
	t.Helper()
	bytes := get[float64](t, b.Admin, "select pg_relation_size('memories_recall_idx')::float8 / count(*) from memories where embedding_indexed")
	if want := float64(recall.BytesPerVector(dimensions)); bytes < .9*want || bytes > 1.1*want {
		t.Errorf("%.0f bytes a vector, want %.0f", bytes, want)
	}
}

// TestRecall: of memories of some topics the index finds nearly all that comparing
// with everything finds; and huge components are no overflow.
func TestRecall(t *testing.T) {
	const dimensions = 256
	var user string
	b := adopted(t, dimensions, func(b *bench) {
		user = b.user(t)
		b.Exec(t, "create table topics as select t, array_agg(random() + random() + random() - 1.5)::vector as centre from generate_series(0, 59) t, generate_series(1, 256) group by t")
		b.Exec(t, `insert into memories (user_id, embedding) select $1, centre + noise from topics join (
			select n, array_agg(random() + random() + random() - 1.5)::vector as noise from generate_series(1, 6000) n, generate_series(1, 256) group by n) m on t = n % 60`, user)
		b.Exec(t, "insert into memories (user_id, embedding) select $1, array_agg(random() * 1e9)::vector from generate_series(1, 5) n, generate_series(1, 256) group by n", user)
		b.Exec(t, "insert into memories (user_id, embedding) select $1, array_fill(x, array[256])::vector from unnest(array[0, 1e-10, 1e5, -1e15, 7e4]::float8[]) x", user)
	})
	b.tend(t, b.service(t, large))
	app := b.DB.AsUser(t, user)
	const queries = 20
	sum := 0.0
	for range queries {
		query := get[string](t, b.Admin, `select (centre + noise)::text from topics,
			(select array_agg(random() + random() + random() - 1.5)::vector as noise from generate_series(1, 256)) n order by random() limit 1`)
		sum += b.recalled(t, app, user, query, 10)
	}
	if n := b.scans(t, app); n < queries {
		t.Errorf("the index was asked %d times for %d queries", n, queries)
	}
	t.Logf("recall@10 %.3f", sum/queries)
	if sum/queries < .95 {
		t.Errorf("recall@10 is %.3f", sum/queries)
	}
	sized(t, b, dimensions)
}

// TestWithoutHalfvec: a pgvector without half precision has no vector index, and
// everything is found.
func TestWithoutHalfvec(t *testing.T) {
	var user string
	b := adopted(t, 16, func(b *bench) {
		user = b.user(t)
		b.fill(t, user, 2_000, 16, 0)
		b.DB.Exec(t, "supabase_admin", "alter extension vector drop function extensions.l2_normalize(extensions.vector)")
		b.DB.Exec(t, "supabase_admin", "alter function extensions.l2_normalize(extensions.vector) rename to no_such_function")
	})
	s := b.service(t, large)
	b.maintain(t, s)
	if n := get[int](t, b.Admin, "select count(*) from pg_indexes where tablename = 'memories' and indexdef like '%hnsw%'"); n != 0 {
		t.Errorf("%d vector indexes", n)
	}
	if got := b.recalled(t, b.DB.AsUser(t, user), user, b.randomVector(t, 16, 0), 10); got != 1 {
		t.Errorf("recall %f", got)
	}
	if _, details := s.Details(); details["healthy"] != true || details["reason"] == nil {
		t.Errorf("status %v", details)
	}
}
