package cluster_test

import (
	"slices"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"pgregory.net/rapid"
)

// drawNetwork draws nodes and links between them, some of which are of weight 0: none.
func drawNetwork(t *rapid.T) *cluster.Network {
	nodes := rapid.IntRange(0, 24).Draw(t, "nodes")
	var edges [][3]float64
	for a := range nodes {
		for b := range a {
			if w := rapid.SampledFrom([]float64{0, 0, 0, 0, 0.5, 1, 2}).Draw(t, "weight"); w > 0 {
				edges = append(edges, [3]float64{float64(a), float64(b), w})
			}
		}
	}
	return network(nodes, edges)
}

// connected reports whether the nodes are, by links among them.
func connected(g *cluster.Network, nodes []int32) bool {
	seen, next := []int32{nodes[0]}, []int32{nodes[0]}
	for len(next) > 0 {
		to, _ := g.Of(next[0])
		next = next[1:]
		for _, j := range to {
			if slices.Contains(nodes, j) && !slices.Contains(seen, j) {
				seen, next = append(seen, j), append(next, j)
			}
		}
	}
	return len(seen) == len(nodes)
}

// Of the guarantees of Traag et al., table 1: communities are connected, and, as the last
// iteration has changed nothing, no node gains by moving.
func TestLeidenProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawNetwork(t)
		o := cluster.LeidenOptions{
			Resolution: rapid.Float64Range(0.1, 4).Draw(t, "resolution"),
			Seed:       rapid.Uint64().Draw(t, "seed"),
			Iterations: 50,
		}
		of := cluster.Leiden(g, o)
		if len(of) != g.Nodes() {
			t.Fatalf("%d labels for %d nodes", len(of), g.Nodes())
		}
		members := of.Members()
		for c, nodes := range members {
			if len(nodes) == 0 || c > 0 && len(nodes) > len(members[c-1]) {
				t.Fatalf("sizes of communities do not descend: %v", members)
			}
			if !connected(g, nodes) {
				t.Fatalf("community %v is not connected", nodes)
			}
		}
		best := cluster.Modularity(g, of, o.Resolution)
		for i := range of {
			for c := range int32(len(members) + 1) {
				moved := slices.Clone(of)
				moved[i] = c
				if q := cluster.Modularity(g, moved, o.Resolution); q > best+1e-6 {
					t.Fatalf("node %d gains %g by moving from %d to %d of %v", i, q-best, of[i], c, of)
				}
			}
		}
		if !slices.Equal(of, cluster.Leiden(g, o)) {
			t.Fatal("the same options give other communities")
		}
	})
}
