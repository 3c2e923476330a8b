package cluster_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
)

// sentences reads the sentences' embeddings, padded to 1,536, and their labels, out of
// scope as Noise.
func sentences(t testing.TB) ([][]float32, cluster.Labels) {
	t.Helper()
	text, err := os.Open("../testdata/intents/intents.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	number := map[string]int32{"oos": cluster.Noise}
	var labels cluster.Labels
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		var row struct{ Label string }
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if _, known := number[row.Label]; !known {
			number[row.Label] = int32(len(number) - 1)
		}
		labels = append(labels, number[row.Label])
	}
	raw, err := os.ReadFile("../testdata/intents/intents.f32")
	if err != nil {
		t.Fatal(err)
	}
	const dim = 512
	if lines.Err() != nil || len(raw) != len(labels)*dim*4 {
		t.Fatalf("%d labels, %d bytes of embeddings, %v", len(labels), len(raw), lines.Err())
	}
	rows := make([][]float32, len(labels))
	for i := range rows {
		rows[i] = make([]float32, 1536)
		for x := range dim {
			rows[i][x] = math.Float32frombits(binary.LittleEndian.Uint32(raw[(i*dim+x)*4:]))
		}
	}
	return rows, labels
}

// quality is what a clustering is worth where only sure clusters are written.
type quality struct {
	ari, nmi  float64 // of the labelled rows, those not written alone
	left      float64 // share of the labelled rows that is not written
	noiseLeft float64 // share of the rows out of scope that is not written
	sure      int     // clusters written
}

func judge(c *cluster.Clustering, truth cluster.Labels) quality {
	const minConfidence = 0.7 // synthesis_settings' default
	var q quality
	for _, p := range c.Confidence {
		if p >= minConfidence {
			q.sure++
		}
	}
	var want, got cluster.Labels
	noise := 0
	alone := int32(len(truth))
	for i, label := range c.Labels {
		written := label != cluster.Noise && c.Confidence[label] >= minConfidence
		switch {
		case truth[i] == cluster.Noise:
			noise++
			if !written {
				q.noiseLeft++
			}
			continue
		case !written:
			q.left++
			label, alone = alone, alone+1
		}
		want, got = append(want, truth[i]), append(got, label)
	}
	q.ari, q.nmi = cluster.ARI(want, got), cluster.NMI(want, got)
	q.left /= float64(max(1, len(want)))
	q.noiseLeft /= float64(max(1, noise))
	return q
}

// pick takes the rows of some numbers.
func pick(rows [][]float32, labels cluster.Labels, numbers []int) ([][]float32, cluster.Labels) {
	some, of := make([][]float32, len(numbers)), make(cluster.Labels, len(numbers))
	for x, i := range numbers {
		some[x], of[x] = rows[i], labels[i]
	}
	return some, of
}

// fewer is less with the race detector, which takes ten times as long; make test runs
// these tests without it, too.
func fewer(all, some int) int {
	if raceEnabled {
		return some
	}
	return all
}

func TestGraphIntents(t *testing.T) {
	rows, truth := sentences(t)
	t.Run("All", func(t *testing.T) {
		for seed := range uint64(fewer(3, 1)) {
			q := judge(graph(t, index(t, rows), cluster.GraphOptions{Seed: seed}), truth)
			t.Logf("seed %d: %+.3v", seed, q)
			if q.ari < 0.75 || q.nmi < 0.9 || q.left > 0.15 || q.noiseLeft < 0.5 {
				t.Errorf("seed %d: %+.3v", seed, q)
			}
		}
	})
	t.Run("Parts", func(t *testing.T) {
		var sum quality
		const parts = 8
		for seed := range uint64(parts) {
			random := rand.New(rand.NewPCG(seed, 0))
			labels, share, noise := 10+random.IntN(30), 0.6+0.4*random.Float64(), random.Float64()
			chosen := random.Perm(40)[:labels]
			var numbers []int
			for i, label := range truth {
				if label == cluster.Noise && random.Float64() < noise ||
					slices.Contains(chosen, int(label)) && random.Float64() < share {
					numbers = append(numbers, i)
				}
			}
			some, of := pick(rows, truth, numbers)
			q := judge(graph(t, index(t, some), cluster.GraphOptions{Seed: seed}), of)
			t.Logf("%d rows of %d labels: %+.3v", len(some), labels, q)
			if q.ari < 0.65 || q.nmi < 0.85 || q.left > 0.25 || q.noiseLeft < 1./3 {
				t.Errorf("%d rows of %d labels: %+.3v", len(some), labels, q)
			}
			sum.ari += q.ari / parts
			sum.nmi += q.nmi / parts
		}
		if sum.ari < 0.75 || sum.nmi < 0.9 {
			t.Errorf("on average %+.3v", sum)
		}
	})
	// Embeddings of some models have a direction in common: OpenAI's a median cosine of .835.
	t.Run("CommonDirection", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 1))
		common := make([]float32, 1536)
		for x := range common {
			common[x] = float32(2 * random.NormFloat64() / math.Sqrt(1536))
		}
		moved := make([][]float32, len(rows))
		for i, row := range rows {
			moved[i] = slices.Clone(row)
			for x, v := range common {
				moved[i][x] += v
			}
		}
		q := judge(graph(t, index(t, moved), cluster.GraphOptions{}), truth)
		t.Logf("%+.3v", q)
		if q.ari < 0.7 || q.nmi < 0.88 || q.left > 0.25 || q.noiseLeft < 1./3 {
			t.Errorf("%+.3v", q)
		}
	})
}

func TestGraphMixtures(t *testing.T) {
	for _, tt := range []struct {
		n, clusters, dim int
		noise            float64
	}{{300, 5, 64, 0.1}, {1000, 20, 256, 0.2}, {2000, 60, 256, 0.3}, {1500, 2, 128, 0.1}, {2000, 5, 128, 0}}[:fewer(5, 2)] {
		rows, truth := mixture(rand.New(rand.NewPCG(2, 3)), tt.n, tt.clusters, tt.dim, 1.5, tt.noise)
		q := judge(graph(t, index(t, rows), cluster.GraphOptions{}), truth)
		if q.ari < 0.9 || q.nmi < 0.85 || q.left > 0.1 || tt.noise > 0 && q.noiseLeft < 0.8 {
			t.Errorf("%+v: %+.3v", tt, q)
		}
	}
}

// TestGraphNoStructure clusters rows in all directions: nothing recurs.
func TestGraphNoStructure(t *testing.T) {
	for _, n := range []int{20, 100, 500, 2000}[:fewer(4, 3)] {
		for _, dim := range []int{64, 1536} {
			rows, truth := mixture(rand.New(rand.NewPCG(4, uint64(n))), n, 1, dim, 1, 1)
			c := graph(t, index(t, rows), cluster.GraphOptions{})
			if q := judge(c, truth); q.sure > 0 {
				t.Errorf("%d rows of %d: %d sure patterns", n, dim, q.sure)
			}
		}
	}
}

func TestGraphAlike(t *testing.T) {
	one, other := []float32{1, 2, 0, 3, 0}, []float32{-2, 1, 0, 0.5, 1}
	repeat := func(n int, of ...[]float32) [][]float32 { return slices.Repeat(of, n) }
	for _, tt := range []struct {
		name     string
		rows     [][]float32
		clusters []int // sizes
	}{
		{"None", nil, nil},
		{"One", repeat(1, one), nil},
		{"Two", repeat(2, one), nil},
		{"TwoOthers", repeat(1, one, other), nil},
		{"Three", repeat(3, one), []int{3}},
		{"FewerThanNeighbours", repeat(8, one), []int{8}},
		{"Many", repeat(fewer(20000, 2000), one), []int{fewer(20000, 2000)}},
		{"TwoGroups", repeat(10, one, other), []int{10, 10}},
		{"TwoGreatGroups", repeat(1000, one, other), []int{1000, 1000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := graph(t, index(t, tt.rows), cluster.GraphOptions{})
			if len(c.Labels) != len(tt.rows) || len(c.Similarity) != len(tt.rows) {
				t.Fatalf("%d labels, %d similarities of %d rows", len(c.Labels), len(c.Similarity), len(tt.rows))
			}
			var sizes []int
			for _, members := range c.Labels.Members() {
				sizes = append(sizes, len(members))
			}
			if !slices.Equal(sizes, tt.clusters) {
				t.Errorf("clusters of %v, want %v", sizes, tt.clusters)
			}
			for x, p := range c.Confidence {
				// Three rows are not often drawn in a resample.
				if sizes[x] > 3 && p < 0.7 || math.IsNaN(p) || p < 0 || p > 1 {
					t.Errorf("confidence %v", c.Confidence)
				}
			}
			for i, s := range c.Similarity {
				if want := float64(min(1, 1+c.Labels[i])); math.Abs(float64(s)-want) > 1e-5 {
					t.Fatalf("similarity of row %d is %v, want %v", i, s, want)
				}
			}
		})
	}
}

// TestGraphSimilarity compares with all members of a row's cluster.
func TestGraphSimilarity(t *testing.T) {
	rows, _ := mixture(rand.New(rand.NewPCG(5, 5)), 400, 8, 32, 1.5, 0.2)
	x := index(t, rows)
	c := graph(t, x, cluster.GraphOptions{})
	all := make([]float32, len(rows))
	for i, label := range c.Labels {
		if label == cluster.Noise {
			continue
		}
		var own []float32
		x.Matrix().Similarities(all, i, 0, len(all))
		for j, s := range all {
			if i != j && c.Labels[j] == label {
				own = append(own, s)
			}
		}
		slices.Sort(own)
		slices.Reverse(own)
		var sum float32
		for _, s := range own[:min(5, len(own))] {
			sum += s
		}
		if want := sum / float32(min(5, len(own))); math.Abs(float64(want-c.Similarity[i])) > 1e-5 {
			t.Errorf("similarity of row %d is %.4f, want %.4f", i, c.Similarity[i], want)
		}
	}
}

func TestGraphDeterministic(t *testing.T) {
	rows, _ := mixture(rand.New(rand.NewPCG(6, 6)), 700, 12, 64, 2, 0.2)
	one, again := graph(t, index(t, rows), cluster.GraphOptions{Seed: 9}), graph(t, index(t, rows), cluster.GraphOptions{Seed: 9})
	if !slices.Equal(one.Labels, again.Labels) || !slices.Equal(one.Confidence, again.Confidence) ||
		!slices.Equal(one.Similarity, again.Similarity) || one.Resolution != again.Resolution {
		t.Error("the same rows and seed give another clustering")
	}
}

func TestGraphEnds(t *testing.T) {
	rows, _ := mixture(rand.New(rand.NewPCG(6, 6)), 300, 5, 64, 2, 0.2)
	x := index(t, rows)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := cluster.Graph(ctx, x, cluster.GraphOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Graph's error is %v", err)
	}
}
