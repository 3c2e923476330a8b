package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/helixd/helixd/testenv"
)

const (
	rate        = 500 // transactions a second
	latencyTime = 20 * time.Second
	warmUp      = time.Second // not counted: plans are made, connections opened
	sessions    = 16
)

// latency measures from a user's commit to the result's. Both times are the
// server's own, taken as a commit begins to be written (track_commit_timestamp),
// so nothing is polled; each becomes visible one fsync after its time.
func latency(ctx context.Context, b *bench) error {
	db, conn, drop, err := b.project(ctx, "latency")
	if err != nil {
		return err
	}
	defer drop()
	if err := settle(ctx, db); err != nil {
		return err
	}
	d, err := b.start(ctx, db.URL("postgres"))
	if err != nil {
		return err
	}
	if err := d.streaming(ctx); err != nil {
		return err
	}
	b.say("  %d transactions a second for %s", rate, latencyTime)
	took, err := writeAtRate(ctx, db)
	if err != nil {
		return err
	}
	total := int(latencyTime.Seconds() * rate)
	err = d.until(ctx, 100*time.Millisecond, func() (done bool, err error) {
		err = conn.QueryRow(ctx, "select count(*) >= $1 from sync_entities", total).Scan(&done)
		return done, err
	})
	if err != nil {
		return err
	}
	peak, err := d.stop()
	if err != nil {
		return err
	}
	times, err := latencies(ctx, conn)
	if err != nil {
		return err
	}
	reached := float64(total) / took.Seconds()
	what := fmt.Sprintf("%s a second, ", number(reached))
	const section = "latency, commit to commit"
	b.report.add(
		newFigure(section, what+"p50", "ms", quantile(times, 0.5)).below(5),
		newFigure(section, what+"p95", "ms", quantile(times, 0.95)),
		newFigure(section, what+"p99", "ms", quantile(times, 0.99)).below(50),
		newFigure(section, what+"max", "ms", quantile(times, 1)),
		newFigure(section, "  peak RSS", "MB", peak).below(maxPeak),
	)
	return nil
}

// writeAtRate inserts rows as signed-in users do, each at its time, however long
// those before it take: else a slow server would be asked less.
func writeAtRate(ctx context.Context, db *testenv.Database) (time.Duration, error) {
	group, ctx := errgroup.WithContext(ctx)
	turns := make(chan int, rate*int(latencyTime.Seconds()))
	for s := range sessions {
		conn, err := signedIn(ctx, db, nil)
		if err != nil {
			return 0, err
		}
		group.Go(func() error {
			defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
			if _, err := conn.Exec(ctx, "select "+setUser(fmt.Sprint(s))); err != nil {
				return err
			}
			for i := range turns {
				_, err := conn.Exec(ctx, "insert into sync_state (entity_type, entity_id, device_id, data, vector_clock) values ('note', "+
					entityID("0", "$1::int")+", 'phone', "+entityData("$1::int")+", '{\"phone\": 1}')", i)
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	began := time.Now()
	for i := range cap(turns) {
		select {
		case <-time.After(time.Until(began.Add(time.Duration(i) * time.Second / rate))):
		case <-ctx.Done():
			close(turns)
			return 0, group.Wait()
		}
		turns <- i
	}
	close(turns)
	err := group.Wait()
	return time.Since(began), err
}

// latencies gives milliseconds from the commit of each sync_state row to that of
// its sync_entities row. Each was written once.
func latencies(ctx context.Context, conn *pgx.Conn) ([]float64, error) {
	rows, err := conn.Query(ctx, `with t as (
			select pg_xact_commit_timestamp(s.xmin) as written, pg_xact_commit_timestamp(e.xmin) as resolved
			from sync_state s join sync_entities e using (user_id, entity_type, entity_id))
		select extract(epoch from resolved - written)::float8 * 1000 from t
		where written > (select min(written) from t) + make_interval(secs => $1)`, warmUp.Seconds())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[float64])
}
