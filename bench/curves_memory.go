package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// memoryParts are vectors of which embeddings are put together: one of a hundred
// topics, and two that are the memory's own. Postgres adds them in no time, and
// there are a hundred million sums.
var memoryParts = fmt.Sprintf(`create unlogged table public.bench_parts as
	select n, n < 0 as topic, (select array_agg((random() + random() + random() - 1.5) * case when n < 0 then 1 else 0.42 end + 0 * (n + i))
		from generate_series(1, %d) i)::extensions.vector as v
	from generate_series(-%d, 999) n;
	alter table public.bench_parts add primary key (n);
	alter table public.bench_parts enable row level security`, vectorDim, mostTopics)

// mostTopics there are.
const mostTopics = 100

// insertMemories is the SQL that makes memories from one number to another, about
// so many topics, of a user who may depend on the number i.
func insertMemories(user string, from, to, topics int, indexed bool) string {
	return fmt.Sprintf(`insert into public.memories (user_id, type, content, embedding, embedding_indexed, created_at)
		select %[1]s, 'episodic', 'number ' || i || ' about topic ' || i %% %[5]d, t.v + a.v + b.v, %[2]t, timestamp '2020-01-01' + i * interval '7 minutes'
		from generate_series(%[3]d, %[4]d) i join public.bench_parts t on t.n = -1 - i %% %[5]d
			join public.bench_parts a on a.n = abs(hashint4(i) %% 1000) join public.bench_parts b on b.n = abs(hashint4(-i) %% 1000)`,
		userID(user), indexed, from, to, topics)
}

// memories is a project with what memories are made of.
func (b *bench) memories(ctx context.Context, name string) (db *testenv.Database, conn *pgx.Conn, drop func(), err error) {
	if db, conn, drop, err = b.project(ctx, name); err != nil {
		return nil, nil, nil, err
	}
	if _, err := conn.PgConn().Exec(ctx, "set search_path = public, extensions; select setseed(0.5);"+memoryParts).ReadAll(); err != nil {
		drop()
		return nil, nil, nil, fmt.Errorf("make what memories are made of: %w", err)
	}
	return db, conn, drop, nil
}
