package synthesis

import (
	"context"
	"fmt"

	"github.com/helixd/helixd/reactors/synthesis/bootstrap"
	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

const (
	share     = 0.632 // of the memories in a resample, as a bootstrap has them: 1 - 1/e
	mostRuns  = 20
	leastRuns = 5
	resampled = 20_000 // memories in all resamples together, about
)

// labels clusters rows by a method other than Graph.
func labels(ctx context.Context, method Method, m *vector.Matrix, least int) (cluster.Labels, error) {
	switch method {
	case HDBSCAN:
		return cluster.HDBSCAN(ctx, m, cluster.HDBSCANOptions{MinClusterSize: least})
	case DBSCAN:
		return cluster.DBSCAN(ctx, m, cluster.DBSCANOptions{MinSamples: least})
	case KMeans:
		return cluster.KMeans(ctx, m, cluster.KMeansOptions{Seed: seed})
	}
	return nil, fmt.Errorf("no method %q", method)
}

// clusterBy clusters rows by such a method, and again among some of them to measure
// how sure each cluster is; Graph does so by itself.
func clusterBy(ctx context.Context, method Method, m *vector.Matrix, least int) (*cluster.Clustering, error) {
	c := &cluster.Clustering{Similarity: make([]float32, m.Rows())}
	var err error
	if c.Labels, err = labels(ctx, method, m, least); err != nil {
		return nil, err
	}
	runs := max(leastRuns, min(mostRuns, resampled/max(m.Rows(), 1)))
	c.Confidence = bootstrap.Recurrence(c.Labels.Members(), m.Rows(), runs, share, seed, func(sample []int32) [][]int32 {
		some := vector.NewMatrix(len(sample), m.Dim())
		for _, row := range sample {
			some.Append(m.Row(int(row)))
		}
		found, e := labels(ctx, method, some, max(2, int(share*float64(least))))
		if e != nil {
			err = e
			return nil
		}
		groups := found.Members()
		for _, members := range groups {
			for i, row := range members {
				members[i] = sample[row]
			}
		}
		return groups
	})
	return c, err
}
