package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/decay"
	"github.com/helixd/helixd/testenv"
)

// maxTick is what of a full UPDATE's time a tick may take.
const maxTick = 0.35

// decayTicks measures a tick an hour after the last one over layers that have been
// kept for long, beside the least that an UPDATE of all of them in one statement takes. They
// take turns, each on a table of its own, since the UPDATE would leave no layer near
// the tolerance for the tick to find.
func decayTicks(ctx context.Context, b *bench) error {
	type side struct {
		db   *testenv.Database
		conn *pgx.Conn
	}
	var sides [2]side
	began := time.Now().UTC().Truncate(time.Microsecond)
	for i, name := range []string{"decay_tick", "decay_update"} {
		db, conn, drop, err := b.project(ctx, name)
		if err != nil {
			return err
		}
		defer drop()
		sides[i] = side{db, conn}
		if err := loadLayers(ctx, db, began, b.rows); err != nil {
			return err
		}
	}
	pool, err := pgxpool.New(ctx, sides[0].db.URL("postgres"))
	if err != nil {
		return err
	}
	defer pool.Close()
	ticker, err := decay.NewTicker(ctx, pool)
	if err != nil {
		return err
	}
	var ticks, updates, shares []float64
	for n := range b.runs + 2 { // the first two let the layers come to rest
		at := began.Add(time.Duration(n+1) * time.Hour)
		for _, s := range sides {
			if err := tidy(ctx, s.db); err != nil {
				return err
			}
		}
		done, err := ticker.Tick(ctx, at, time.Hour, func(decay.Progress) {})
		if err != nil {
			return err
		}
		took := time.Now()
		_, err = sides[1].conn.Exec(ctx, "update public.psychology_layers set last_updated = $1, decay_rate = decay_rate * 0.999", at)
		if err != nil {
			return err
		}
		full := time.Since(took)
		share := float64(done.Written) / float64(done.Rows)
		b.say("  run %d  tick %s s, %.1f%% of the rows written; full UPDATE %s s", n-1, number(done.Took.Seconds()), 100*share, number(full.Seconds()))
		if n < 2 {
			continue
		}
		ticks, updates, shares = append(ticks, done.Took.Seconds()), append(updates, full.Seconds()), append(shares, 100*share)
	}
	f := newFigure("decay, an hourly tick", number(float64(b.rows))+" layers, reinforced within 30 days", "s", ticks...).beside("one UPDATE of all", updates...)
	b.report.add(f.aim(fmt.Sprintf("≤ %.2g× the peer", maxTick), f.Ratio <= maxTick),
		newFigure("decay, an hourly tick", "  rows that it writes", "%", shares...))
	return nil
}

// loadLayers makes the seven layers of as many users as it takes. decay_rate is as
// ticks would have left it: anything up to the tolerance above the exact value.
func loadLayers(ctx context.Context, db *testenv.Database, at time.Time, rows int) error {
	conn, err := pgx.Connect(ctx, db.URL("supabase_admin"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	batch := &pgx.Batch{}
	batch.Queue("select setseed(0.5)")
	batch.Queue("insert into auth.users (id, aud, role) select gen_random_uuid(), 'authenticated', 'authenticated' from generate_series(1, ($1::int + 6) / 7)", rows)
	batch.Queue("alter table public.psychology_layers disable trigger user")
	batch.Queue(`insert into public.psychology_layers (user_id, layer_number, data, last_reinforced, last_updated, decay_rate)
		select id, n, jsonb_build_object('summary', repeat('what it is about ', 5)), anchor, $2::timestamptz, least(1,
			helix.layer_retention(n, null, null, 1, extract(epoch from $2::timestamptz - anchor)::float8 / 3600) + random() * 0.009)
		from (select id, n, $2::timestamptz - random() * interval '30 days' as anchor from auth.users, generate_series(1, 7) n limit $1) l`, rows, at)
	batch.Queue("alter table public.psychology_layers enable trigger user")
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("load layers: %w", err)
	}
	return nil
}

// tidy removes what the last run left dead, as autovacuum would in an hour.
func tidy(ctx context.Context, db *testenv.Database) error {
	conn, err := pgx.Connect(ctx, db.URL("supabase_admin"))
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	if _, err := conn.Exec(ctx, "vacuum analyze public.psychology_layers"); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "checkpoint")
	return err
}
