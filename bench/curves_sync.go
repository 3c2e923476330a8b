package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// syncCurve measures the daemon on a backlog of one-row transactions over the
// number of users who wrote them, in turn: a user's broadcasts are coalesced.
func syncCurve(ctx context.Context, b *bench) error {
	c := &curve{Name: "curve-sync", Title: "Sync, durable, from a backlog", X: "users", Y: "deltas/s"}
	least := b.rows / 40 / (2 * writers) * (2 * writers)
	deltas := func(users int) int { return max(least, 2*users/(2*writers)*(2*writers)) } // each user writes an entity twice
	var peaks []float64
	err := b.overSizes(c, b.sizes(10, 1, 10, 100, 1000, 10_000, 100_000), deltas, func(size int) error {
		var rates []float64
		for n := range b.curveRuns() {
			r, err := b.backlog(ctx, fmt.Sprintf("curve_sync_%d_%d", size, n), deltas(size), func(db *testenv.Database, _ *pgx.Conn) error {
				if err := makeUsers(ctx, db, users, max(size, users)); err != nil {
					return err
				}
				return loadDeltas(ctx, db, deltas(size), size)
			}, verify(ctx, deltas(size)/2))
			if err != nil {
				return err
			}
			b.say("    %s users: %s deltas/s, peak %s MB", number(float64(size)), number(r.rate), number(r.peakMB))
			rates, peaks = append(rates, r.rate), append(peaks, r.peakMB)
		}
		c.at(nameHelixd, float64(size), rates...)
		return nil
	})
	if err != nil {
		return err
	}
	b.report.add(newFigure("sync over users", "the most RSS of any run", "MB", slices.Max(peaks)).below(maxPeak))
	return nil
}
