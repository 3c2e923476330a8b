package cluster

import (
	"context"

	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// HDBSCANOptions with zero values give scikit-learn's defaults.
type HDBSCANOptions struct {
	MinClusterSize int // 5; at least 2
	MinSamples     int // whose distance is a row's core distance, itself counted; MinClusterSize
}

// HDBSCAN finds clusters of any density (Campello, Moulavi and Sander 2013), by
// cosine distance and as scikit-learn does with metric "precomputed" and "eom":
// rows that are no denser than their surroundings, and whatever makes up one single
// cluster, are Noise. It takes n²·dim products and 4 n² bytes. It ends early with
// ctx's error.
func HDBSCAN(ctx context.Context, m *vector.Matrix, o HDBSCANOptions) (Labels, error) {
	n := m.Rows()
	if o.MinClusterSize == 0 {
		o.MinClusterSize = 5
	}
	o.MinClusterSize = max(o.MinClusterSize, 2)
	if o.MinSamples == 0 {
		o.MinSamples = o.MinClusterSize
	}
	labels := make(Labels, n)
	for i := range labels {
		labels[i] = Noise
	}
	if n < 2*o.MinClusterSize { // two are the least
		return labels, nil
	}
	d, err := newDistances(ctx, m)
	if err != nil {
		return nil, err
	}
	core := d.core(min(max(o.MinSamples, 1), n))
	chain, reach, err := d.spanning(ctx, core)
	if err != nil {
		return nil, err
	}
	clusters, last := condense(linkage(reach), n, o.MinClusterSize)
	label := selectClusters(clusters)
	for i, row := range chain {
		labels[row] = label[last[i]]
	}
	labels.number(1)
	return labels, nil
}
