package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
)

// BenchmarkGraph times the clustering without the search of neighbours.
func BenchmarkGraph(b *testing.B) {
	for _, n := range []int{5000, 20000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rows, _ := mixture(rand.New(rand.NewPCG(1, 1)), n, 80, 1536, 1.5, 0.1)
			x := index(b, rows)
			rows = nil
			for b.Loop() {
				graph(b, x, cluster.GraphOptions{})
			}
		})
	}
}

// BenchmarkUpdateGraph times one inserted row of 20,000, its search included.
func BenchmarkUpdateGraph(b *testing.B) {
	rows, _ := mixture(rand.New(rand.NewPCG(1, 1)), 20001, 80, 1536, 1.5, 0.1)
	last := rows[20000]
	x := index(b, rows[:20000])
	rows = nil
	c := graph(b, x, cluster.GraphOptions{})
	x.Changed()
	for b.Loop() {
		x.Insert(last)
		c.Labels = append(c.Labels, cluster.Noise)
		if _, err := cluster.UpdateGraph(context.Background(), x, c, x.Changed(), cluster.GraphOptions{}); err != nil {
			b.Fatal(err)
		}
		c.Labels = c.Labels[:20000]
		x.Remove(20000)
		x.Changed()
	}
}
