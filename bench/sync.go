package main

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/helixd/helixd/testenv"
)

// syncBacklog measures the daemon on one-row transactions. First each entity is
// written by one device, then by another, which has seen the first version but
// for one time in a hundred: hardly any batch has an entity twice, which is the
// hard case.
func syncBacklog(ctx context.Context, b *bench) error {
	deltas := b.rows / 5 / (2 * writers) * (2 * writers)
	var rates, peaks, gaps []float64
	for n := range min(b.runs, maxSlowRuns) {
		r, err := b.backlog(ctx, fmt.Sprintf("sync_%d", n), deltas, func(db *testenv.Database, _ *pgx.Conn) error {
			return loadDeltas(ctx, db, deltas, users)
		}, verify(ctx, deltas/2))
		if err != nil {
			return err
		}
		rates, peaks, gaps = append(rates, r.rate), append(peaks, r.peakMB), append(gaps, r.gap.Seconds())
		b.say("  run %d  %s deltas/s, peak %s MB, %s s without a checkpoint at most", n+1,
			number(r.rate), number(r.peakMB), number(r.gap.Seconds()))
	}
	what := fmt.Sprintf("%s one-row transactions of %d users", number(float64(deltas)), users)
	b.report.add(
		newFigure("sync, durable, from a backlog", what, "deltas/s", rates...).atLeast(20_000),
		newFigure("sync, durable, from a backlog", "  longest without a checkpoint", "s", gaps...).below(1),
		newFigure("sync, durable, from a backlog", "  peak RSS", "MB", peaks...).below(maxPeak),
	)
	return nil
}

// syncLarge measures the daemon on one transaction, of new entities only.
func syncLarge(ctx context.Context, b *bench) error {
	rows := b.rows / 4 // its memory is flat long before
	r, err := b.backlog(ctx, "sync_large", rows, func(_ *testenv.Database, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, fmt.Sprintf(`insert into sync_state (user_id, entity_type, entity_id, device_id, data, vector_clock)
			select %s, 'note', %s, 'phone', %s, '{"phone": 1}' from generate_series(1, %d) i`,
			userID(fmt.Sprint("i % ", users)), entityID("0", "i"), entityData("i"), rows))
		return err
	}, verify(ctx, rows))
	if err != nil {
		return err
	}
	what := number(float64(rows)) + " rows in one transaction"
	b.report.add(
		newFigure("sync, durable, from a backlog", what, "deltas/s", r.rate),
		newFigure("sync, durable, from a backlog", "  peak RSS", "MB", r.peakMB).below(maxPeak),
	)
	return nil
}

// entityID and entityData are SQL; the arguments are too.
func entityID(writer, i string) string {
	return fmt.Sprintf("('00000000-0000-4000-8%s00-' || lpad((%s)::text, 12, '0'))::uuid", writer, i)
}

func entityData(i string) string {
	return fmt.Sprintf("jsonb_build_object('title', 'note ' || %s, 'text', repeat('words of it ', 6), 'done', false)", i)
}

// loadDeltas writes with several sessions at once. Their commits are not waited
// for: it is helixd whose commits are measured.
func loadDeltas(ctx context.Context, db *testenv.Database, deltas, users int) error {
	group, ctx := errgroup.WithContext(ctx)
	for w := range writers {
		group.Go(func() error {
			// The loop is one statement; PostgREST's may take 8 seconds.
			conn, err := signedIn(ctx, db, url.Values{"synchronous_commit": {"off"}, "statement_timeout": {"0"}})
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
			entity := entityID(fmt.Sprint(w), "i")
			user := setUser(fmt.Sprintf("(%d + i * %d) %% %d", w, writers, users))
			_, err = conn.PgConn().Exec(ctx, fmt.Sprintf(`do $$ begin
				for i in 1..%[1]d loop
					perform %[2]s;
					insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
					values ('note', %[3]s, 'phone', %[4]s, '{"phone": 1}');
					commit;
				end loop;
				for i in 1..%[1]d loop
					perform %[2]s;
					insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
					values ('note', %[3]s, 'laptop', %[4]s,
						case i %% 100 when 0 then '{"laptop": 1}' else '{"phone": 1, "laptop": 1}' end::jsonb);
					commit;
				end loop;
			end $$`, deltas/2/writers, user, entity, entityData("i"))).ReadAll()
			return err
		})
	}
	return group.Wait()
}

// backlogResult is what one backlog gave.
type backlogResult struct {
	rate, peakMB float64
	gap          time.Duration // the longest time in which nothing became durable
}

// backlog starts the daemon once, so that its slot is there, loads while it is
// away, starts it again and measures until all is durable and acknowledged, and right.
func (b *bench) backlog(ctx context.Context, name string, deltas int, load func(*testenv.Database, *pgx.Conn) error, right func(*pgx.Conn) error) (r backlogResult, err error) {
	db, conn, drop, err := b.project(ctx, name)
	if err != nil {
		return r, err
	}
	defer drop()
	d, err := b.start(ctx, db.URL("postgres"))
	if err != nil {
		return r, err
	}
	if err := d.streaming(ctx); err != nil {
		return r, err
	}
	if _, err := d.stop(); err != nil {
		return r, err
	}
	b.say("  load %s deltas", number(float64(deltas)))
	before, err := applied(ctx, conn)
	if err != nil {
		return r, err
	}
	if err := load(db, conn); err != nil {
		return r, fmt.Errorf("load: %w", err)
	}
	if err := settle(ctx, db); err != nil {
		return r, err
	}
	b.say("  drain")
	began := time.Now()
	if d, err = b.start(ctx, db.URL("postgres")); err != nil {
		return r, err
	}
	told, moved, last := began, began, before.changes
	err = d.until(ctx, 50*time.Millisecond, func() (bool, error) {
		now, err := applied(ctx, conn)
		if r.gap = max(r.gap, time.Since(moved)); now.changes > last {
			moved, last = time.Now(), now.changes
		}
		if time.Since(told) > 10*time.Second {
			told = time.Now()
			b.say("  … %s of %s are durable", number(float64(last-before.changes)), number(float64(deltas)))
		}
		return last-before.changes >= int64(deltas) && now.acknowledged, err
	})
	took := time.Since(began)
	if err != nil {
		return r, err
	}
	if r.peakMB, err = d.stop(); err != nil {
		return r, err
	}
	r.rate = float64(deltas) / took.Seconds()
	return r, right(conn)
}

// progress is how far the daemon is.
type progress struct {
	changes      int64
	acknowledged bool // the slot is where the checkpoint is
}

func applied(ctx context.Context, conn *pgx.Conn) (p progress, err error) {
	err = conn.QueryRow(ctx, `select c.changes, s.confirmed_flush_lsn >= c.lsn from helix.checkpoints c
		join pg_replication_slots s on s.slot_name = c.slot where c.slot = $1`, daemonSlot).Scan(&p.changes, &p.acknowledged)
	return p, err
}

// verify makes sure that what was measured is right.
func verify(ctx context.Context, entities int) func(*pgx.Conn) error {
	return func(conn *pgx.Conn) error {
		var got, dead int
		err := conn.QueryRow(ctx, "select (select count(*) from sync_entities), (select count(*) from helix.dead_letters)").Scan(&got, &dead)
		if err == nil && (got != entities || dead > 0) {
			err = fmt.Errorf("%d entities and %d dead letters, want %d and none", got, dead, entities)
		}
		return err
	}
}
