package cluster

// Modularity is that of Reichardt and Bornholdt (2006) with a resolution γ:
// 1/2m Σ_ij (w_ij - γ k_i k_j / 2m) over the pairs of one community, where k is a
// node's sum of weights and 2m the sum of these; Newman's where γ is 1. A row of Noise is
// alone. 0 for a network without links.
func Modularity(g *Network, of Labels, resolution float64) float64 {
	var inside, all, expected float64
	mass := make([]float64, of.Clusters())
	for i, c := range of {
		to, weight := g.Of(int32(i))
		var strength float64
		for x, j := range to {
			strength += float64(weight[x])
			if c != Noise && of[j] == c {
				inside += float64(weight[x])
			}
		}
		all += strength
		if c == Noise {
			expected += strength * strength
		} else {
			mass[c] += strength
		}
	}
	if all == 0 {
		return 0
	}
	for _, m := range mass {
		expected += m * m
	}
	return inside/all - resolution*expected/(all*all)
}
