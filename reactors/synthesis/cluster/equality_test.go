package cluster_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

//go:embed testdata/sklearn.json
var golden []byte

// equal is the least agreement with scikit-learn (adjusted Rand index): one row in
// two thousand may have another label, where distances are equal.
const equal = 0.999

func TestLabelsOfScikitLearn(t *testing.T) {
	var file struct {
		Cases []struct {
			Input, Method  string
			MinClusterSize int `json:"min_cluster_size"`
			MinSamples     int `json:"min_samples"`
			Eps            float64
			K              int
			Init           string
			Labels         cluster.Labels
		}
	}
	if err := json.Unmarshal(golden, &file); err != nil {
		t.Fatal(err)
	}
	made := map[string]*vector.Matrix{}
	for _, c := range file.Cases {
		if made[c.Input] == nil {
			made[c.Input] = inputs[c.Input](t)
		}
		m := made[c.Input]
		run := map[string]func() (cluster.Labels, error){
			"hdbscan": func() (cluster.Labels, error) {
				return cluster.HDBSCAN(context.Background(), m, cluster.HDBSCANOptions{MinClusterSize: c.MinClusterSize, MinSamples: c.MinSamples})
			},
			"dbscan": func() (cluster.Labels, error) {
				return cluster.DBSCAN(context.Background(), m, cluster.DBSCANOptions{Eps: c.Eps, MinSamples: c.MinSamples})
			},
			"kmeans": func() (cluster.Labels, error) {
				return cluster.KMeans(context.Background(), m, cluster.KMeansOptions{Init: centres(m, c.K, c.Init)})
			},
		}[c.Method]
		t.Run(fmt.Sprintf("%s/%s/%d,%d,%g,%d%s", c.Input, c.Method, c.MinClusterSize, c.MinSamples, c.Eps, c.K, c.Init), func(t *testing.T) {
			got, err := run()
			if err != nil {
				t.Fatal(err)
			}
			if agreement := cluster.ARI(got, c.Labels); agreement < equal {
				t.Errorf("the adjusted Rand index is %.5f; %d rows are noise, of scikit-learn's %d", agreement, noise(got), noise(c.Labels))
			}
		})
	}
}

func noise(labels cluster.Labels) (n int) {
	for _, l := range labels {
		if l == cluster.Noise {
			n++
		}
	}
	return n
}

// centres are the first ones of testdata/sklearn.py: rows spread over the input, or
// all but one of them where no row is.
func centres(m *vector.Matrix, k int, how string) [][]float32 {
	centres := make([][]float32, k)
	for c := range centres {
		centres[c] = m.Row(c * m.Rows() / k)
		if how == "far" && c > 0 {
			sums := make([]float64, m.Dim())
			for i := range m.Rows() {
				for x, v := range m.Row(i) {
					sums[x] += float64(v)
				}
			}
			centres[c] = make([]float32, m.Dim())
			for x, v := range sums {
				centres[c][x] = float32(-3 * v / float64(m.Rows()))
			}
		}
	}
	return centres
}
