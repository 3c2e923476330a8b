package cluster

import (
	"cmp"
	"math"
	"slices"
)

// link is a node of a single linkage tree over a chain of rows: the rows
// [from, to) of it, which two parts, its children, make at a distance. Negative
// children are single rows.
type link struct {
	from, to    int32
	left, right int32
	distance    float64
}

// linkage makes the single linkage tree of a chain of rows, each of which is
// reach away from those before it; the root is the last. Equal distances, of which
// mutual reachability has many, are joined from the chain's beginning on. (To
// scikit-learn they are in the order of numpy's sort, which is another one on each
// kind of processor.)
func linkage(reach []float32) []link {
	n := len(reach)
	ascending := make([]int32, 0, n)
	for i := 1; i < n; i++ {
		ascending = append(ascending, int32(i))
	}
	slices.SortStableFunc(ascending, func(a, b int32) int { return cmp.Compare(reach[a], reach[b]) })
	links := make([]link, 0, n)
	// Of each part, its link: known at its first and its last row.
	at := make([]int32, n)
	for i := range at {
		at[i] = -1
	}
	for _, i := range ascending {
		l := link{from: i - 1, to: i + 1, left: at[i-1], right: at[i], distance: float64(reach[i])}
		if l.left >= 0 {
			l.from = links[l.left].from
		}
		if l.right >= 0 {
			l.to = links[l.right].to
		}
		at[l.from], at[l.to-1] = int32(len(links)), int32(len(links))
		links = append(links, l)
	}
	return links
}

// condensed is a cluster of the condensed tree: rows that stay together, while the
// density λ = 1/distance rises, until they fall apart into two clusters or leave
// one by one.
type condensed struct {
	parent    int32
	birth     float64 // λ
	stability float64 // Σ of rows, (λ at which it leaves - birth)
	below     float64 // Σ of its parts' stabilities, each its own or that of its parts
}

// condense gives the clusters of at least least rows that a single linkage tree
// over a chain of n rows contains, the root first and parents before their parts,
// and the last one that each place in the chain was in (Campello, Moulavi and
// Sander 2013).
func condense(links []link, n, least int) (clusters []condensed, last []int32) {
	clusters, last = []condensed{{parent: -1}}, make([]int32, n)
	type part struct{ link, cluster int32 }
	for queue := []part{{int32(len(links) - 1), 0}}; len(queue) > 0; queue = queue[1:] {
		link, cluster := links[queue[0].link], queue[0].cluster
		lambda := math.Inf(1)
		if link.distance > 0 {
			lambda = 1 / link.distance
		}
		middle := link.from + 1
		if link.left >= 0 {
			middle = links[link.left].to
		}
		sides := [2]struct{ child, from, to int32 }{{link.left, link.from, middle}, {link.right, middle, link.to}}
		splits := int(middle-link.from) >= least && int(link.to-middle) >= least
		for _, s := range sides {
			rows := s.to - s.from
			into := cluster
			switch {
			case splits:
				into = int32(len(clusters))
				clusters = append(clusters, condensed{parent: cluster, birth: lambda})
				fallthrough
			case int(rows) < least:
				if left := lambda - clusters[cluster].birth; left > 0 { // not of copies, at infinity
					clusters[cluster].stability += left * float64(rows)
				}
			}
			if int(rows) >= least {
				queue = append(queue, part{s.child, into})
				continue
			}
			for i := s.from; i < s.to; i++ {
				last[i] = into
			}
		}
	}
	return clusters, last
}

// selectClusters gives the label of each cluster of a condensed tree: those whose
// stability is not less than their parts' together ("excess of mass") are chosen, and
// what is in them has their label; the root is never.
func selectClusters(clusters []condensed) []int32 {
	chosen := make([]bool, len(clusters))
	for c := len(clusters) - 1; c > 0; c-- {
		own := &clusters[c]
		chosen[c] = !(own.below > own.stability)
		clusters[own.parent].below += max(own.stability, own.below)
	}
	labels := make([]int32, len(clusters))
	labels[0] = Noise
	for c := 1; c < len(clusters); c++ {
		labels[c] = labels[clusters[c].parent]
		if labels[c] == Noise && chosen[c] {
			labels[c] = int32(c)
		}
	}
	return labels
}
