package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors/decay"
)

// decayCurve measures an hourly tick over the number of layers.
func decayCurve(ctx context.Context, b *bench) error {
	c := &curve{Name: "curve-decay", Title: "Decay, an hourly tick", X: "layers", Y: "s", LogY: true}
	return b.overSizes(c, b.sizes(1, 1000, 10_000, 100_000, 1_000_000), func(size int) int { return size }, func(size int) error {
		ticks, err := b.ticks(ctx, size)
		if err != nil {
			return err
		}
		b.say("    %s layers: %s s", number(float64(size)), number(median(ticks)))
		c.at(nameHelixd, float64(size), ticks...)
		return nil
	})
}

// ticks gives the seconds of ticks an hour apart, over layers that are at rest.
func (b *bench) ticks(ctx context.Context, layers int) (took []float64, err error) {
	db, _, drop, err := b.project(ctx, "curve_decay")
	if err != nil {
		return nil, err
	}
	defer drop()
	at := time.Now().UTC().Truncate(time.Microsecond)
	if err := loadLayers(ctx, db, at, layers); err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, db.URL("postgres"))
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	ticker, err := decay.NewTicker(ctx, pool)
	if err != nil {
		return nil, err
	}
	for n := range b.curveRuns() + 2 { // the first two let the layers come to rest
		at = at.Add(time.Hour)
		if err := tidy(ctx, db); err != nil {
			return nil, err
		}
		done, err := ticker.Tick(ctx, at, time.Hour, func(decay.Progress) {})
		if err != nil {
			return nil, err
		}
		if n >= 2 {
			took = append(took, done.Took.Seconds())
		}
	}
	return took, nil
}
