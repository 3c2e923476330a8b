package cluster

import (
	"cmp"
	"slices"
)

// Noise is the label of a row that belongs to no cluster.
const Noise = -1

// Labels give the cluster of each row: 0..k-1 by descending size, or Noise.
type Labels []int32

// Clusters is how many there are, k.
func (l Labels) Clusters() int {
	most := int32(Noise)
	for _, c := range l {
		most = max(most, c)
	}
	return int(most) + 1
}

// Members gives each cluster's rows, ascending.
func (l Labels) Members() [][]int32 {
	sizes := make([]int, l.Clusters())
	clustered := 0
	for _, c := range l {
		if c != Noise {
			sizes[c]++
			clustered++
		}
	}
	members, room := make([][]int32, len(sizes)), make([]int32, clustered)
	for c, size := range sizes {
		members[c], room = room[:0:size], room[size:]
	}
	for i, c := range l {
		if c != Noise {
			members[c] = append(members[c], int32(i))
		}
	}
	return members
}

// number renames the clusters, in place: those of least rows and more to 0..k-1 by
// descending size, equal sizes by their first row, and smaller ones to Noise.
func (l Labels) number(least int) {
	members := l.Members()
	order := make([]int, len(members))
	for c := range order {
		order[c] = c
	}
	slices.SortFunc(order, func(a, b int) int {
		if d := cmp.Compare(len(members[b]), len(members[a])); d != 0 || len(members[a]) == 0 {
			return d
		}
		return cmp.Compare(members[a][0], members[b][0])
	})
	for c, old := range order {
		if len(members[old]) < max(least, 1) {
			c = Noise
		}
		for _, i := range members[old] {
			l[i] = int32(c)
		}
	}
}

// Clustering is what Graph finds.
type Clustering struct {
	Labels     Labels
	Confidence []float64 // of each cluster: bootstrap probability that it recurs (Jaccard ≥ .5)
	Similarity []float32 // of each row: mean cosine to its own cluster's nearest five; 0 for noise
	Resolution float64   // of the modularity, as picked; 0 where there is no structure
	Bound      float32   // of Similarity, below which a row is noise
}
