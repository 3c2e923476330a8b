package cluster_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
)

// TestPredictedConfidence compares the prediction with what resamples measure.
func TestPredictedConfidence(t *testing.T) {
	texts, _ := sentences(t)
	mixed, _ := mixture(rand.New(rand.NewPCG(11, 11)), 800, 12, 128, 2.2, 0.3)
	for name, rows := range map[string][][]float32{"Intents": texts, "Mixture": mixed} {
		x := index(t, rows)
		c := graph(t, x, cluster.GraphOptions{})
		var off, low, lowest float64
		lowest = 1
		for k, p := range cluster.Predictions(x, c.Labels) {
			off += math.Abs(p-c.Confidence[k]) / float64(len(c.Confidence))
			if c.Confidence[k] < lowest {
				lowest, low = c.Confidence[k], p
			}
		}
		t.Logf("%s: off by %.3f of %d clusters; the least sure has %.2f, predicted %.2f", name, off, len(c.Confidence), lowest, low)
		if off > 0.15 {
			t.Errorf("%s: predictions are off by %.3f on average", name, off)
		}
	}
}
