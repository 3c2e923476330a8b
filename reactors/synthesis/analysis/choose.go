package analysis

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/phrase"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

const (
	leastGrouped = 30  // fewer texts are not grouped
	mostGroups   = 16  // what a model is told of
	groupWidth   = 256 // of the vectors
	groupSeed    = 7
)

// grouping is texts by what they are about.
type grouping struct {
	members [][]int // of each group the texts, the most central first; the largest group first
}

// groupTexts clusters texts by their words; nil where there are too few. The same
// texts give the same groups.
func groupTexts(ctx context.Context, words []string) (*grouping, error) {
	if len(words) < leastGrouped {
		return nil, nil
	}
	vectors := phrase.Vectors(words, groupWidth)
	m := vector.NewMatrix(len(words), groupWidth)
	var rows []int // of the matrix → text; a text without words has no row
	for i, v := range vectors {
		if v != nil && m.Append(v) {
			rows = append(rows, i)
		}
	}
	k := min(mostGroups, int(math.Sqrt(float64(len(rows))/2)))
	if k < 2 {
		return nil, nil
	}
	labels, err := cluster.KMeans(ctx, m, cluster.KMeansOptions{K: k, Seed: groupSeed})
	if err != nil {
		return nil, fmt.Errorf("group texts: %w", err)
	}
	g := &grouping{}
	for _, members := range labels.Members() {
		centre := make([]float64, groupWidth)
		for _, r := range members {
			for d, x := range m.Row(int(r)) {
				centre[d] += float64(x)
			}
		}
		closeness := func(r int32) (sum float64) {
			for d, x := range m.Row(int(r)) {
				sum += float64(x) * centre[d]
			}
			return sum
		}
		slices.SortStableFunc(members, func(a, b int32) int { return cmp.Compare(closeness(b), closeness(a)) })
		texts := make([]int, len(members))
		for i, r := range members {
			texts[i] = rows[r]
		}
		g.members = append(g.members, texts)
	}
	return g, nil
}

// choose gives the texts whose costs sum up to no more than budget, in their order:
// all where they fit; else the most central one of each group, and then of each
// group the same share. Without groups the newest.
func choose(costs []int64, g *grouping, budget int64) []int {
	total := int64(0)
	for _, c := range costs {
		total += c
	}
	order := make([]int, 0, len(costs))
	switch {
	case total <= budget:
		for i := range costs {
			order = append(order, i)
		}
		return order
	case g == nil:
		for i := range costs {
			order = append(order, len(costs)-1-i)
		}
	default:
		type place struct {
			text  int
			share float64 // of the group that comes before it; the first of each come first
		}
		var places []place
		for _, members := range g.members {
			for rank, text := range members {
				places = append(places, place{text, float64(rank) / float64(len(members))})
			}
		}
		slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(a.share, b.share) })
		for _, p := range places {
			order = append(order, p.text)
		}
	}
	var chosen []int
	for _, i := range order {
		if costs[i] <= budget {
			budget -= costs[i]
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen)
	return chosen
}
