package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/decay"
	"github.com/helixd/helixd/testenv"
)

const (
	// maxTick is what of a full UPDATE's time a tick may take.
	maxTick = 0.35
	// maxSingle bounds the layers that are updated one by one.
	maxSingle = 100_000
	// pipelined is how many of those statements are sent at a time, and committed together.
	pipelined = 1000
)

// decayTicks measures a tick an hour after the last one over layers that have been
// kept for long, beside the least that an UPDATE of all of them in one statement takes. They
// take turns, each on a table of its own, since the UPDATE would leave no layer near
// the tolerance for the tick to find. A client that updates layer by layer, as a naive
// port does, has a table of its own as well.
func decayTicks(ctx context.Context, b *bench) error {
	type side struct {
		db   *testenv.Database
		conn *pgx.Conn
	}
	var sides [3]side
	began := time.Now().UTC().Truncate(time.Microsecond)
	for i, name := range []string{"decay_tick", "decay_update", "decay_single"} {
		db, conn, drop, err := b.project(ctx, name)
		if err != nil {
			return err
		}
		defer drop()
		sides[i] = side{db, conn}
		rows := b.rows
		if i == 2 {
			rows = min(rows, maxSingle)
		}
		if err := loadLayers(ctx, db, began, rows); err != nil {
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
	var ticks, updates, shares, rates, singles []float64
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
		if len(singles) == maxSlowRuns {
			continue
		}
		rate, err := layerByLayer(ctx, sides[2].conn, at)
		if err != nil {
			return err
		}
		b.say("         layer by layer %s layers/s", number(rate))
		rates, singles = append(rates, float64(done.Rows)/done.Took.Seconds()), append(singles, rate)
	}
	f := newFigure("decay, an hourly tick", number(float64(b.rows))+" layers, reinforced within 30 days", "s", ticks...).beside("one UPDATE of all", updates...)
	b.report.add(f.aim(fmt.Sprintf("≤ %.2g× the peer", maxTick), f.Ratio <= maxTick),
		newFigure("decay, an hourly tick", "  rows that it writes", "%", shares...),
		newFigure("decay, an hourly tick", "  layers brought up to date", "layers/s", rates...).
			beside(fmt.Sprintf("a statement a layer, %s at a time", number(pipelined)), singles...))
	return nil
}

// layerByLayer gives how many layers a second a client brings up to date that reads
// them and updates each in a statement of its own. It waits neither for each answer
// nor for the disk, as the tick does not.
func layerByLayer(ctx context.Context, conn *pgx.Conn, at time.Time) (float64, error) {
	if _, err := conn.Exec(ctx, "set synchronous_commit = off"); err != nil {
		return 0, err
	}
	began := time.Now()
	type layer struct {
		ID                         [16]byte
		Number                     int
		Model, Params              *string
		Strength, HoursSinceAnchor float64
	}
	rows, err := conn.Query(ctx, `select id, layer_number, decay_model, decay_params::text, initial_strength,
		extract(epoch from $1::timestamptz - last_reinforced)::float8 / 3600 from public.psychology_layers`, at)
	if err != nil {
		return 0, err
	}
	layers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[layer])
	if err != nil {
		return 0, err
	}
	for part := range slices.Chunk(layers, pipelined) {
		batch := &pgx.Batch{}
		for _, l := range part {
			var model decay.Model
			var params []byte
			if l.Model != nil {
				model = decay.Model(*l.Model)
			}
			if l.Params != nil {
				params = []byte(*l.Params)
			}
			batch.Queue("update public.psychology_layers set decay_rate = $2, last_updated = $3 where id = $1",
				l.ID, decay.LayerCurve(l.Number, model, params).Retention(l.Strength, l.HoursSinceAnchor), at)
		}
		if err := conn.SendBatch(ctx, batch).Close(); err != nil {
			return 0, err
		}
	}
	took := time.Since(began)
	var off int
	err = conn.QueryRow(ctx, `select count(*) from public.psychology_layers where last_updated is distinct from $1::timestamptz or abs(decay_rate -
		helix.layer_retention(layer_number, decay_model, decay_params, initial_strength, extract(epoch from $1::timestamptz - last_reinforced)::float8 / 3600)) > 1e-9`,
		at).Scan(&off)
	if err == nil && off > 0 {
		err = fmt.Errorf("layer by layer: %d layers are not up to date", off)
	}
	return float64(len(layers)) / took.Seconds(), err
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
