package cluster_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// mixture draws n rows around so many directions, each with a share of its own, and a share of
// noise in all directions, which has the label Noise. spread is the length of a row's part
// that is its own, beside a direction of length 1.
func mixture(random *rand.Rand, n, clusters, dim int, spread, noise float64) ([][]float32, cluster.Labels) {
	direction := func(length float64) []float32 {
		v := make([]float32, dim)
		var sum float64
		for i := range v {
			x := random.NormFloat64()
			v[i] = float32(x)
			sum += x * x
		}
		for i := range v {
			v[i] *= float32(length / math.Sqrt(sum))
		}
		return v
	}
	centres, shares, all := make([][]float32, clusters), make([]float64, clusters), 0.0
	for c := range centres {
		centres[c] = direction(1)
		shares[c] = 0.3 + random.ExpFloat64()
		all += shares[c]
	}
	rows, labels := make([][]float32, n), make(cluster.Labels, n)
	for i := range rows {
		if random.Float64() < noise {
			rows[i], labels[i] = direction(1), cluster.Noise
			continue
		}
		at, c := random.Float64()*all, 0
		for ; c < clusters-1 && at >= shares[c]; c++ {
			at -= shares[c]
		}
		rows[i], labels[i] = direction(spread), int32(c)
		for x, v := range centres[c] {
			rows[i][x] += v
		}
	}
	return rows, labels
}

func index(t testing.TB, rows [][]float32) *vector.Index {
	t.Helper()
	dim := 4
	if len(rows) > 0 {
		dim = len(rows[0])
	}
	m := vector.NewMatrix(len(rows), dim)
	for i, row := range rows {
		if !m.Append(row) {
			t.Fatalf("row %d has no direction", i)
		}
	}
	x, err := vector.NewIndex(context.Background(), m, cluster.Neighbours)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func graph(t testing.TB, x *vector.Index, o cluster.GraphOptions) *cluster.Clustering {
	t.Helper()
	c, err := cluster.Graph(context.Background(), x, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
