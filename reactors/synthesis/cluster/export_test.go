package cluster

import "github.com/helixd/helixd/reactors/synthesis/vector"

// Predictions gives the confidence that predict has for each cluster.
func Predictions(x *vector.Index, of Labels) []float64 {
	all := make([]int32, of.Clusters())
	for c := range all {
		all[c] = int32(c)
	}
	return predictions(x.Matrix(), Fuzzy(x.Neighbours()), of, all)
}
