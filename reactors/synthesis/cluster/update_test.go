package cluster_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

func update(t testing.TB, x *vector.Index, previous *cluster.Clustering) *cluster.Clustering {
	t.Helper()
	c, err := cluster.UpdateGraph(context.Background(), x, previous, x.Changed(), cluster.GraphOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// alone gives each row of noise a label of its own.
func alone(of cluster.Labels) cluster.Labels {
	of = slices.Clone(of)
	next := int32(of.Clusters())
	for i, label := range of {
		if label == cluster.Noise {
			of[i], next = next, next+1
		}
	}
	return of
}

// TestUpdateGraphInserts adds a twentieth of the rows one by one and compares with a
// clustering of all.
func TestUpdateGraphInserts(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	texts, truth := sentences(t)
	random.Shuffle(len(texts), func(i, j int) {
		texts[i], texts[j] = texts[j], texts[i]
		truth[i], truth[j] = truth[j], truth[i]
	})
	mixed, of := mixture(random, 1000, 15, 128, 1.5, 0.1)
	for _, tt := range []struct {
		name  string
		rows  [][]float32
		truth cluster.Labels
	}{{"Intents", texts, truth}, {"Mixture", mixed, of}} {
		from := len(tt.rows) * 95 / 100
		x := index(t, tt.rows[:from])
		c := graph(t, x, cluster.GraphOptions{})
		x.Changed()
		for _, row := range tt.rows[from:] {
			x.Insert(row)
			c.Labels = append(c.Labels, cluster.Noise)
			c = update(t, x, c)
		}
		again := graph(t, index(t, tt.rows), cluster.GraphOptions{})
		if ari := cluster.ARI(alone(c.Labels), alone(again.Labels)); ari < 0.9 {
			t.Errorf("%s: ARI %.3f between updates and a clustering of all", tt.name, ari)
		}
		was, is := judge(again, tt.truth), judge(c, tt.truth)
		t.Logf("%s: %+.3v, of all at once %+.3v", tt.name, is, was)
		if is.ari < was.ari-0.1 || is.left > was.left+0.1 || is.noiseLeft < was.noiseLeft-0.15 {
			t.Errorf("%s: %+.3v, of all at once %+.3v", tt.name, is, was)
		}
	}
}

// TestUpdateGraphNothing has no change to follow: all stays, the measured confidence too.
func TestUpdateGraphNothing(t *testing.T) {
	rows, _ := mixture(rand.New(rand.NewPCG(8, 8)), 600, 10, 64, 1.2, 0.1)
	x := index(t, rows)
	c := graph(t, x, cluster.GraphOptions{})
	again := update(t, x, c)
	if ari := cluster.ARI(alone(c.Labels), alone(again.Labels)); ari < 0.99 {
		t.Errorf("ARI %.3f without a change", ari)
	}
	for x, p := range again.Confidence {
		if len(again.Confidence) != len(c.Confidence) || p < c.Confidence[x]-0.05 {
			t.Errorf("confidence %v, before %v", again.Confidence, c.Confidence)
			break
		}
	}
}

// TestUpdateGraphRemoves takes rows out, the last of which take their numbers.
func TestUpdateGraphRemoves(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	rows, _ := mixture(random, 500, 8, 64, 1.2, 0.1)
	x := index(t, rows)
	c := graph(t, x, cluster.GraphOptions{})
	for range 25 {
		i, last := random.IntN(len(rows)), len(rows)-1
		x.Remove(i)
		rows[i], rows = rows[last], rows[:last]
		c.Labels[i], c.Labels = c.Labels[last], c.Labels[:last]
		c = update(t, x, c)
	}
	again := graph(t, index(t, rows), cluster.GraphOptions{})
	if ari := cluster.ARI(alone(c.Labels), alone(again.Labels)); ari < 0.9 {
		t.Errorf("ARI %.3f between updates and a clustering of all", ari)
	}
}

// TestUpdateGraphFromNothing begins with no rows.
func TestUpdateGraphFromNothing(t *testing.T) {
	rows, _ := mixture(rand.New(rand.NewPCG(10, 10)), 60, 3, 4, 0.7, 0)
	x := index(t, nil)
	c := graph(t, x, cluster.GraphOptions{})
	for i, row := range rows {
		x.Insert(row)
		c.Labels = append(c.Labels, cluster.Noise)
		c = update(t, x, c)
		if len(c.Labels) != i+1 || len(c.Similarity) != i+1 || len(c.Confidence) != c.Labels.Clusters() {
			t.Fatalf("%d labels, %d similarities, %d confidences of %d clusters after %d rows",
				len(c.Labels), len(c.Similarity), len(c.Confidence), c.Labels.Clusters(), i+1)
		}
	}
}
