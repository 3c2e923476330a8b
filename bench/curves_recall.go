package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	searches   = 30  // of a run, of which the median counts
	fewOfUser  = 100 // memories of a user who has few
	searchFor  = 10
	indexLimit = "4GB"
)

// recallCurve measures match_memories, as an app calls it, over the number of
// memories in the project, of a user who has few of them and of one who has half;
// and how long helixd makes the vector index.
func recallCurve(ctx context.Context, b *bench) error {
	c := &curve{Name: "curve-recall", Title: "match_memories, the nearest 10", X: "memories of 1,536 dimensions, in the project", Y: "ms", LogY: true}
	making := &curve{Name: "curve-recall-index", Title: "helixd maintain, making the vector index", X: c.X, Y: "s", LogY: true}
	db, conn, drop, err := b.memories(ctx, "curve_recall")
	if err != nil {
		return err
	}
	defer drop()
	app, err := signedIn(ctx, db, nil)
	if err != nil {
		return err
	}
	defer app.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	sides := []struct{ name, user string }{{fmt.Sprintf("of a user's %d", fewOfUser), "0"}, {"of a user's half of all", "1"}}
	there := 0
	err = b.overSizes(c, b.sizes(1, 1000, 3000, 10_000, 30_000, 100_000, 300_000), func(size int) int { return size }, func(size int) error {
		took, err := b.fillIndex(ctx, db.URL("postgres"), conn, there, size)
		if err != nil {
			return err
		}
		there = size
		making.at(nameHelixd, float64(size), took.Seconds())
		queries, err := searchVectors(ctx, conn)
		if err != nil {
			return err
		}
		times := make([][]float64, len(sides))
		for n := range b.curveRuns() + 1 { // the first fills caches
			for i := range sides { // they take turns
				i = (i + n) % len(sides)
				ms, err := search(ctx, app, sides[i].user, queries)
				if err != nil {
					return err
				}
				if n > 0 {
					times[i] = append(times[i], ms)
				}
			}
		}
		for i, side := range sides {
			b.say("    %s: %s ms", side.name, number(median(times[i])))
			c.at(side.name, float64(size), times[i]...)
		}
		return nil
	})
	making.Note = c.Note
	b.report.Curves = append(b.report.Curves, *making)
	return err
}

// fillIndex adds memories without the index, and gives how long helixd makes it.
func (b *bench) fillIndex(ctx context.Context, to string, conn *pgx.Conn, there, size int) (time.Duration, error) {
	if _, err := conn.Exec(ctx, "drop index if exists public.memories_recall_idx"); err != nil {
		return 0, err
	}
	user := fmt.Sprintf("case when i <= %d then 0 when i %% 2 = 1 then 1 else 2 + i / 2 %% %d end", fewOfUser, users-2)
	if _, err := conn.Exec(ctx, insertMemories(user, there+1, size, mostTopics, true)); err != nil {
		return 0, fmt.Errorf("make memories: %w", err)
	}
	cmd, log, err := b.command(ctx, to, "maintain", "--vector-index-budget", indexLimit)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("helixd maintain: %w\n%s", err, log)
	}
	took := time.Since(began)
	var made bool
	err = conn.QueryRow(ctx, "select exists (select from pg_index where indexrelid = to_regclass('public.memories_recall_idx') and indisvalid)").Scan(&made)
	if err == nil && !made {
		err = fmt.Errorf("helixd maintain has made no vector index; it said:\n%s", log)
	}
	return took, err
}

// searchVectors are like memories, and none of them.
func searchVectors(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, `select (t.v + a.v)::text from generate_series(1, $1::int) i
		join public.bench_parts t on t.n = -1 - i % $2 join public.bench_parts a on a.n = i * 31 % 1000`, searches, mostTopics)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// search gives the median of a user's searches, in ms.
func search(ctx context.Context, app *pgx.Conn, user string, queries []string) (float64, error) {
	if _, err := app.Exec(ctx, "select "+setUser(user)); err != nil {
		return 0, err
	}
	var times []float64
	for _, q := range queries {
		var found int
		began := time.Now()
		if err := app.QueryRow(ctx, "select count(*) from public.match_memories($1::text::extensions.vector, $2, -1)", q, searchFor).Scan(&found); err != nil {
			return 0, err
		}
		times = append(times, float64(time.Since(began))/float64(time.Millisecond))
		if found != searchFor {
			return 0, fmt.Errorf("match_memories gave %d, want %d", found, searchFor)
		}
	}
	return median(times), nil
}
