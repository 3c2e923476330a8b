package main

import (
	"context"
	"fmt"
)

// drainCurve measures a null sink over the size of transactions, of as many rows
// each time.
func drainCurve(ctx context.Context, b *bench) error {
	c := &curve{Name: "curve-drain", Title: "Drain, null sink", X: "rows of a transaction", Y: "rows/s"}
	peers := b.nullPeers(cdcForms[:1])
	total := func(size int) int { return max(size, b.rows/5/size*size) }
	return b.overSizes(c, b.sizes(1, 1, 10, 100, 1000, 10_000, 100_000, 1_000_000), total, func(size int) error {
		rates, err := b.drainRates(ctx, peers, inTransactions(size, total(size)))
		if err != nil {
			return err
		}
		for _, p := range peers {
			c.at(p.name, float64(size), rates[p.name]...)
		}
		return nil
	})
}

// inTransactions loads rows in transactions of a size.
func inTransactions(size, rows int) workload {
	return workload{fmt.Sprintf("of_%d", size), fmt.Sprintf("%s rows, %s a transaction", number(float64(rows)), number(float64(size))), "users", usersTable,
		fmt.Sprintf(`do $$ begin for t in 1..%[1]d by %[2]d loop
			insert into users (id, name) select i, 'user number ' || i from generate_series(t, t + %[2]d - 1) i;
			commit; end loop; end $$`, rows, size), rows, rows}
}

// drainRates gives each side's rows a second; they take turns.
func (b *bench) drainRates(ctx context.Context, peers []peer, w workload) (map[string][]float64, error) {
	d := &drainage{bench: b, workload: w, peers: peers}
	var drop func()
	var err error
	if d.db, d.conn, drop, err = b.database(ctx, "curve_drain_"+w.name); err != nil {
		return nil, err
	}
	defer drop()
	if err := d.prepare(ctx); err != nil {
		return nil, err
	}
	rates := map[string][]float64{}
	for n := range b.curveRuns() {
		for i := range peers { // each begins a round in turn
			name := peers[(i+n)%len(peers)].name
			result, err := d.once(ctx, name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			rates[name] = append(rates[name], float64(w.rows)/result.Seconds)
		}
	}
	for _, p := range peers {
		b.say("    %-20s %s rows/s", p.name, number(median(rates[p.name])))
	}
	return rates, nil
}
