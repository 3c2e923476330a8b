package cluster

import (
	"context"
	"math"

	"github.com/helixd/helixd/internal/parallel"
	"github.com/helixd/helixd/reactors/synthesis/bootstrap"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// share of the rows in a resample: what a bootstrap's draw with replacement has of
// distinct rows, 1 - 1/e.
const share = 0.632

// recurrence measures how probably each cluster recurs: communities are sought again
// among some of the rows, in the network that these induce. What is noise counts on
// neither side, and a row alone is no cluster found again.
func recurrence(ctx context.Context, g *Network, c *Clustering, seed uint64) ([]float64, error) {
	clusters := c.Labels.Members()
	all := min(100, max(20, 100_000/max(len(c.Labels), 1))) // runs: more where rows are few
	const batch = 5                                         // of them, after each other
	batches := (all + batch - 1) / batch
	found := make([][]float64, batches)
	parallel.Each(batches, func(b int) {
		runs, seed := min(batch, all-b*batch), seed+uint64(b)<<32
		found[b] = bootstrap.Recurrence(clusters, len(c.Labels), runs, share, seed, func(drawn []int32) [][]int32 {
			if ctx.Err() != nil {
				return nil
			}
			again := Leiden(g.induced(drawn), LeidenOptions{Resolution: c.Resolution, Seed: seed})
			for x, i := range drawn {
				if c.Labels[i] == Noise {
					again[x] = Noise
				}
			}
			again.number(2)
			groups := again.Members()
			for _, members := range groups {
				for x, i := range members {
					members[x] = drawn[i]
				}
			}
			return groups
		})
		for x := range found[b] {
			found[b][x] = math.Round(found[b][x] * float64(runs)) // times, again
		}
	})
	confidence := make([]float64, len(clusters))
	for x := range confidence {
		for _, times := range found {
			confidence[x] += times[x]
		}
		confidence[x] /= float64(all)
	}
	return confidence, ctx.Err()
}

// predict gives the probable recurrence of a cluster by its mean silhouette and the
// share of its weight of links that is inside of it. A logistic regression to the
// recurrence in 100 resamples of 579 clusters, of samples of CLINC150, Banking77 and StackOverflow
// (Universal Sentence Encoder lite, 150 to 4,000 rows): it is off by .10 on average, where
// their mean is off by .16, and tells those of .7 and more from others with an AUC of
// .89; with one data set left out of the fit, by .07 to .15 there, with .86 to .90. What
// the silhouette adds to the share is little.
func predict(silhouette, inside float64) float64 {
	return 1 / (1 + math.Exp(3.1-0.2*silhouette-6.7*inside))
}

// judged is how many rows a cluster's silhouette is predicted by.
const judged = 100

// predictions gives what predict says of some clusters.
func predictions(m *vector.Matrix, g *Network, of Labels, clusters []int32) []float64 {
	members := of.Members()
	var rows []int32
	for _, c := range clusters {
		for _, x := range sample(len(members[c]), judged, 0) {
			rows = append(rows, members[c][x])
		}
	}
	silhouettes := Silhouette(m, of, rows)
	out := make([]float64, len(clusters))
	for x, c := range clusters {
		some := min(judged, len(members[c]))
		out[x] = predict(mean(silhouettes[:some]), inside(g, of, members[c]))
		silhouettes = silhouettes[some:]
	}
	return out
}

// inside is the share of the members' weight of links that is among themselves.
func inside(g *Network, of Labels, members []int32) float64 {
	var within, all float64
	for _, i := range members {
		to, weight := g.Of(i)
		for x, j := range to {
			all += float64(weight[x])
			if of[j] == of[i] {
				within += float64(weight[x])
			}
		}
	}
	return within / max(all, math.SmallestNonzeroFloat64)
}

// carry gives the confidence of each cluster of c, which previous has become.
func carry(m *vector.Matrix, g *Network, previous, c *Clustering) []float64 {
	before, now := previous.Labels.Members(), c.Labels.Members()
	confidence := make([]float64, len(now))
	var other []int32
	common := make([]float64, len(now)) // Jaccard with the most similar of before
	for x, members := range now {
		both := map[int32]int{}
		for _, i := range members {
			both[previous.Labels[i]]++
		}
		delete(both, Noise)
		for y, shared := range both {
			jaccard := float64(shared) / float64(len(members)+len(before[y])-shared)
			if jaccard > common[x] || jaccard == common[x] && previous.Confidence[y] > confidence[x] {
				common[x], confidence[x] = jaccard, previous.Confidence[y]
			}
		}
		if common[x] < 1 {
			other = append(other, int32(x))
		}
	}
	if len(other) == 0 {
		return confidence
	}
	for x, predicted := range predictions(m, g, c.Labels, other) {
		y := other[x]
		confidence[y] = common[y]*confidence[y] + (1-common[y])*predicted
	}
	return confidence
}
