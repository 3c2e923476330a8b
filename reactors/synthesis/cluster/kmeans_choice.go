package cluster

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// draw begins with k-means++ as scikit-learn does (Arthur and Vassilvitskii 2007,
// greedy): each centre is a row drawn by its squared distance from those before it,
// the best of 2 + ln k.
func (l *lloyd) draw(ctx context.Context, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, uint64(l.k)))
	nearest := make([]float64, l.n) // square of the distance to the centres so far
	for i := range nearest {
		nearest[i] = 1
	}
	trials := 1 // of the first centre: it is any row
	tried := blank(2+int(math.Log(float64(l.k))), l.m.Dim())
	for c := range l.k {
		if err := ctx.Err(); err != nil {
			return err
		}
		total := 0.0
		for _, d := range nearest {
			total += d
		}
		for t := range trials {
			copy(tried.Row(t), l.m.Row(drawn(nearest, random.Float64()*total)))
		}
		products := make([]float32, l.n*trials)
		l.m.ProductsWith(products, 0, l.n, tried, 0, trials)
		if c == 0 {
			for i := range nearest {
				nearest[i] = math.Inf(1)
			}
		}
		best, least := 0, math.Inf(1)
		for t := range trials {
			sum := 0.0
			for i, d := range nearest {
				sum += min(d, 2*float64(distance(products[i*trials+t])))
			}
			if sum < least {
				best, least = t, sum
			}
		}
		for i, d := range nearest {
			nearest[i] = min(d, 2*float64(distance(products[i*trials+best])))
		}
		copy(l.centres.Row(c), tried.Row(best))
		trials = tried.Rows()
	}
	return nil
}

// drawn is the row at which the running sum of weights goes beyond at.
func drawn(weights []float64, at float64) int {
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}

// pickK gives the number of clusters with the greatest mean silhouette, on sampled
// rows at most, among a few, or 1 where none is better than nothing.
func pickK(ctx context.Context, m *vector.Matrix, seed uint64) (int, error) {
	rows := sample(m.Rows(), sampled, seed)
	some := vector.NewMatrix(len(rows), m.Dim())
	for x, i := range rows {
		some.Append(m.Row(int(i)))
		rows[x] = int32(x)
	}
	best, k := 0.0, min(1, len(rows))
	for _, try := range [...]int{2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128} {
		if try > len(rows)/2 {
			break
		}
		l := newLloyd(some, try)
		if err := l.draw(ctx, seed); err != nil {
			return 0, err
		}
		if err := l.run(ctx); err != nil {
			return 0, err
		}
		l.labels.number(1)
		if s := mean(Silhouette(some, l.labels, rows)); s > best {
			best, k = s, try
		}
	}
	return k, nil
}
