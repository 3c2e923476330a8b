package cluster_test

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// reference is testdata/graph.json, which testdata/graph.py has made.
type reference struct {
	Graphs []struct {
		Name       string
		Nodes      int
		Edges      [][3]float64
		Modularity map[string]float64 // by resolution
	}
	Fuzzy struct {
		K     int
		Rows  [][]float32
		Links [][3]float64
	}
	Scores []struct {
		A, B     cluster.Labels
		ARI, NMI float64
	}
	Silhouettes struct {
		Rows       [][]float32
		Labels     cluster.Labels
		Silhouette []float64
	}
}

func readReference(t *testing.T) reference {
	t.Helper()
	text, err := os.ReadFile("testdata/graph.json")
	if err != nil {
		t.Fatal(err)
	}
	var g reference
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// network makes one of edges (from, to, weight).
func network(nodes int, edges [][3]float64) *cluster.Network {
	weight := make([][]float64, nodes)
	for i := range weight {
		weight[i] = make([]float64, nodes)
	}
	for _, e := range edges {
		weight[int(e[0])][int(e[1])], weight[int(e[1])][int(e[0])] = e[2], e[2]
	}
	g := &cluster.Network{Start: make([]int32, 1, nodes+1)}
	for _, row := range weight {
		for j, w := range row {
			if w != 0 {
				g.To, g.Weight = append(g.To, int32(j)), append(g.Weight, float32(w))
			}
		}
		g.Start = append(g.Start, int32(len(g.To)))
	}
	return g
}

// TestLeidenGolden compares with the median of twenty runs of the authors' own.
func TestLeidenGolden(t *testing.T) {
	for _, tt := range readReference(t).Graphs {
		g := network(tt.Nodes, tt.Edges)
		for at, want := range tt.Modularity {
			resolution, err := strconv.ParseFloat(at, 64)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(5) {
				of := cluster.Leiden(g, cluster.LeidenOptions{Resolution: resolution, Seed: seed, Iterations: 20})
				if got := cluster.Modularity(g, of, resolution); got < want-0.01*math.Abs(want) {
					t.Errorf("%s at %s, seed %d: modularity %.5f, want %.5f less 1%%", tt.Name, at, seed, got, want)
				}
			}
		}
	}
}

func TestFuzzyGolden(t *testing.T) {
	tt := readReference(t).Fuzzy
	m := vector.NewMatrix(len(tt.Rows), len(tt.Rows[0]))
	for _, row := range tt.Rows {
		m.Append(row)
	}
	nn, err := m.Nearest(t.Context(), tt.K)
	if err != nil {
		t.Fatal(err)
	}
	g := cluster.Fuzzy(nn)
	if g.Nodes() != len(tt.Rows) {
		t.Fatalf("%d nodes, want %d", g.Nodes(), len(tt.Rows))
	}
	want := map[[2]int32]float64{}
	for _, link := range tt.Links {
		want[[2]int32{int32(link[0]), int32(link[1])}] = link[2]
	}
	for i := range int32(g.Nodes()) {
		to, weight := g.Of(i)
		for x, j := range to {
			link := [2]int32{i, j}
			if w, ok := want[link]; !ok || math.Abs(w-float64(weight[x])) > 1e-3 {
				t.Errorf("link %v weighs %.5f, want %.5f", link, weight[x], w)
			}
			delete(want, link)
		}
	}
	for link, w := range want {
		if w > 1e-3 {
			t.Errorf("no link %v, which weighs %.5f", link, w)
		}
	}
}

func TestScoresGolden(t *testing.T) {
	for _, tt := range readReference(t).Scores {
		if got := cluster.ARI(tt.A, tt.B); math.Abs(got-tt.ARI) > 1e-12 {
			t.Errorf("ARI of %d rows is %.15f, want %.15f", len(tt.A), got, tt.ARI)
		}
		if got := cluster.NMI(tt.A, tt.B); math.Abs(got-tt.NMI) > 1e-12 {
			t.Errorf("NMI of %d rows is %.15f, want %.15f", len(tt.A), got, tt.NMI)
		}
	}
}

func TestSilhouetteGolden(t *testing.T) {
	tt := readReference(t).Silhouettes
	m := vector.NewMatrix(len(tt.Rows), len(tt.Rows[0]))
	rows := make([]int32, len(tt.Rows))
	for i, row := range tt.Rows {
		m.Append(row)
		rows[i] = int32(i)
	}
	for i, got := range cluster.Silhouette(m, tt.Labels, rows) {
		if math.Abs(got-tt.Silhouette[i]) > 1e-4 {
			t.Errorf("silhouette of row %d is %.6f, want %.6f", i, got, tt.Silhouette[i])
		}
	}
}
