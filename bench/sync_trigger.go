package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/helixd/helixd/testenv"
)

// triggerSQL is the peer of sync: the same merge in plpgsql.
//
//go:embed sync_trigger.sql
var triggerSQL string

// enableTrigger has the merge run in the transaction of whoever writes.
const enableTrigger = "create trigger bench_sync after insert or update on public.sync_state for each row execute function public.bench_sync()"

const (
	insertTime = 5 * time.Second // of a device, a side and a run
	hardDeltas = 2000
)

// syncTrigger measures the merge in the daemon beside one in a trigger: how fast
// each works off a backlog, and what an app's insert takes with the one, with the
// other and with neither.
func syncTrigger(ctx context.Context, b *bench) error {
	if err := b.sameAsTrigger(ctx); err != nil {
		return err
	}
	if err := b.triggerBacklog(ctx); err != nil {
		return err
	}
	return b.triggerInserts(ctx)
}

// sameAsTrigger makes sure that the peer does the same, with versions that were
// made to clash: in the order in which they committed, one by one.
func (b *bench) sameAsTrigger(ctx context.Context) error {
	b.say("  %d versions that clash, by both", hardDeltas)
	_, err := b.backlog(ctx, "trigger_hard", hardDeltas, func(db *testenv.Database, conn *pgx.Conn) error {
		if err := installTrigger(ctx, db, true); err != nil {
			return err
		}
		_, err := conn.PgConn().Exec(ctx, fmt.Sprintf(`do $$ begin
			perform setseed(0.5);
			for i in 1..%d loop
				insert into sync_state (user_id, entity_type, entity_id, device_id, data, vector_clock, last_modified, deleted)
				select %s, 'note', %s, device, to_jsonb((random() * 2)::int),
					jsonb_build_object('a', (random() * 3)::int, 'b', (random() * 3)::int, 'c', (random() * 2)::int),
					timestamptz '2026-01-01 00:00Z' + make_interval(secs => (random() * 5)::int), random() < 0.2
				from (select (array['a', 'b', 'c'])[1 + floor(random() * 3)::int] as device, (random() * %d)::int as n) r
				on conflict (user_id, entity_type, entity_id, device_id) do update set data = excluded.data,
					vector_clock = excluded.vector_clock, last_modified = excluded.last_modified, deleted = excluded.deleted;
				commit;
			end loop; end $$`, hardDeltas, userID(fmt.Sprint("n % ", users)), entityID("0", "n"), hardDeltas/10)).ReadAll()
		return err
	}, func(conn *pgx.Conn) error { return sameResults(ctx, conn, 50) })
	return err
}

// triggerBacklog times both on the same rows: the peer in one session and one
// transaction, so that commits and round trips cost it nothing.
func (b *bench) triggerBacklog(ctx context.Context) error {
	deltas := b.rows / 10 / (2 * writers) * (2 * writers)
	var own, peer []float64
	for n := range min(b.runs, maxSlowRuns) {
		r, err := b.backlog(ctx, fmt.Sprintf("trigger_%d", n), deltas, func(db *testenv.Database, _ *pgx.Conn) error {
			if err := installTrigger(ctx, db, false); err != nil {
				return err
			}
			if err := loadDeltas(ctx, db, deltas, users); err != nil {
				return err
			}
			if err := settle(ctx, db); err != nil {
				return err
			}
			took, err := mergeAll(ctx, db, deltas)
			peer = append(peer, float64(deltas)/took.Seconds())
			return err
		}, func(conn *pgx.Conn) error {
			return errors.Join(verify(ctx, deltas/2)(conn), sameResults(ctx, conn, deltas/2/writers/100*writers))
		})
		if err != nil {
			return err
		}
		own = append(own, r.rate)
		b.say("  run %d  %s deltas/s, the trigger's merge %s", n+1, number(r.rate), number(peer[n]))
	}
	b.report.add(newFigure("sync, beside a trigger", number(float64(deltas))+" deltas from a backlog", "deltas/s", own...).
		beside("plpgsql, in one transaction", peer...))
	return nil
}

// installTrigger makes the peer's tables and functions, and lets it merge on each write.
func installTrigger(ctx context.Context, db *testenv.Database, enable bool) error {
	conn, err := pgx.Connect(ctx, db.URL("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	sql := triggerSQL
	if enable {
		sql += enableTrigger
	}
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("sync_trigger.sql: %w", err)
	}
	return nil
}

// mergeAll has the peer merge all that is in sync_state, in the order of commits.
func mergeAll(ctx context.Context, db *testenv.Database, deltas int) (time.Duration, error) {
	conn, err := pgx.Connect(ctx, db.URL("supabase_admin"))
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	began := time.Now()
	var merged int
	err = conn.QueryRow(ctx, `select count(*) from (select bench_merge(s) from
		(select s from sync_state s order by s.created_at offset 0) ordered offset 0) m`).Scan(&merged)
	if err == nil && merged != deltas {
		err = fmt.Errorf("the trigger's merge took %d of %d deltas", merged, deltas)
	}
	return time.Since(began), err
}

// sameResults compares what both have come to: each entity's row, and the versions that
// lost, of which there must be some.
func sameResults(ctx context.Context, conn *pgx.Conn, losers int) error {
	for _, t := range []struct {
		name, own, peer string
		atLeast         int
	}{
		{"entities", `select user_id, entity_type, entity_id, data, vector_clock, last_modified, deleted, resolution, revision,
				device_id, coalesce(version_clock, vector_clock), content_hash, seen from sync_entities`,
			`select user_id, entity_type, entity_id, data, vector_clock, last_modified, deleted, resolution, revision,
				device_id, clock, content_hash, seen from bench_entities`, 1},
		{"conflicts", `select user_id, entity_type, entity_id, kind, l -> 'vector_clock', l ->> 'device_id',
				(l ->> 'last_modified')::timestamptz, (l -> 'deleted')::boolean, nullif(l -> 'data', 'null')
			from sync_conflicts, lateral (select versions -> 1 as l) l`,
			`select user_id, entity_type, entity_id, kind, clock, device_id, last_modified, deleted, nullif(data, 'null') from bench_conflicts`, losers},
	} {
		var same, more, fewer int
		var example *string
		err := conn.QueryRow(ctx, fmt.Sprintf(`with own as (%s), peer as (%s), more as (table own except all table peer),
				fewer as (table peer except all table own)
			select (select count(*) from own), (select count(*) from more), (select count(*) from fewer),
				(select string_agg(r::text, E'\n' order by r::text) from (select r from (
					select 'helixd ' || more::text as r from more union all select 'trigger ' || fewer::text from fewer) d limit 4) d)`,
			t.own, t.peer)).Scan(&same, &more, &fewer, &example)
		if err != nil {
			return err
		}
		if more > 0 || fewer > 0 {
			return fmt.Errorf("%s: %d only of helixd, %d only of the trigger:\n%s", t.name, more, fewer, *example)
		}
		if same < t.atLeast {
			return fmt.Errorf("%s: there are %d, too few to show that both do the same", t.name, same)
		}
	}
	return nil
}

// triggerInserts times an app's own statement, at the same rate on each side: the
// daemon works beside it, the trigger in it.
func (b *bench) triggerInserts(ctx context.Context) error {
	sides := []*insertSide{{name: "helixd"}, {name: "trigger"}, {name: "neither"}}
	for _, s := range sides {
		db, conn, drop, err := b.project(ctx, "inserts_"+s.name)
		if err != nil {
			return err
		}
		defer drop()
		s.db, s.conn = db, conn
	}
	if err := installTrigger(ctx, sides[1].db, true); err != nil {
		return err
	}
	for n := range min(b.runs, maxSlowRuns) {
		for _, s := range sides {
			if err := b.inserts(ctx, s, n); err != nil {
				return err
			}
		}
	}
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		figure := func() *figure {
			return newFigure("sync, beside a trigger", fmt.Sprintf("an app's insert, %d a second, %s", rate, q.name), "ms", quantile(sides[0].times, q.at))
		}
		b.report.add(figure().beside("with the trigger", quantile(sides[1].times, q.at)),
			figure().beside("with neither", quantile(sides[2].times, q.at)))
	}
	return nil
}

// insertSide is one of those compared.
type insertSide struct {
	name  string
	db    *testenv.Database
	conn  *pgx.Conn
	times []float64 // ms
}

// inserts writes new entities as one device and then again as another, which has
// seen the first version.
func (b *bench) inserts(ctx context.Context, s *insertSide, run int) error {
	if err := settle(ctx, s.db); err != nil {
		return err
	}
	var d *daemon
	if s.name == "helixd" {
		var err error
		if d, err = b.start(ctx, s.db.URL("postgres")); err != nil {
			return err
		}
		if err := d.streaming(ctx); err != nil {
			return err
		}
	}
	n := rate * int(insertTime.Seconds())
	for _, device := range []struct{ name, clock string }{{"phone", `{"phone": 1}`}, {"laptop", `{"phone": 1, "laptop": 1}`}} {
		b.say("  run %d  %s: %d inserts of a %s", run+1, s.name, n, device.name)
		times, err := timedInserts(ctx, s.db, n, run*n, device.name, device.clock)
		if err != nil {
			return err
		}
		s.times = append(s.times, times...)
	}
	if d == nil {
		return nil
	}
	want := (run + 1) * n
	err := d.until(ctx, 100*time.Millisecond, func() (done bool, err error) {
		err = s.conn.QueryRow(ctx, "select count(*) >= $1 from sync_entities where device_id = 'laptop'", want).Scan(&done)
		return done, err
	})
	if err != nil {
		return err
	}
	_, err = d.stop()
	return err
}

// timedInserts gives how long each of n statements took, in ms, at the rate.
func timedInserts(ctx context.Context, db *testenv.Database, n, from int, device, clock string) ([]float64, error) {
	times := make([]float64, n)
	group, groupCtx := errgroup.WithContext(ctx)
	turns := make(chan int, n)
	for session := range sessions {
		conn, err := signedIn(ctx, db, nil)
		if err != nil {
			close(turns)
			return nil, errors.Join(err, group.Wait())
		}
		group.Go(func() error {
			defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
			if _, err := conn.Exec(groupCtx, "select "+setUser("0")); err != nil {
				return fmt.Errorf("session %d: %w", session, err)
			}
			for i := range turns {
				began := time.Now()
				_, err := conn.Exec(groupCtx, "insert into sync_state (entity_type, entity_id, device_id, data, vector_clock) values ('note', "+
					entityID("0", "$1::int")+", $2, "+entityData("$1::int")+", $3)", from+i, device, clock)
				if err != nil {
					return err
				}
				times[i] = float64(time.Since(began)) / float64(time.Millisecond)
			}
			return nil
		})
	}
	began := time.Now()
	for i := range n {
		select {
		case <-time.After(time.Until(began.Add(time.Duration(i) * time.Second / rate))):
		case <-groupCtx.Done():
			close(turns)
			return nil, group.Wait()
		}
		turns <- i
	}
	close(turns)
	return times, group.Wait()
}
