// Package bootstrap measures how sure a pattern is: how often it recurs when the
// memories had been somewhat different ones (Hennig 2007, cluster-wise assessment
// of cluster stability).
package bootstrap

import (
	"math/rand/v2"
	"slices"
)

// Recurs is the Jaccard similarity from which on a pattern counts as found again.
const Recurs = 0.5

// Recurrence gives, for each group of members (numbers below n, ascending), in
// which share of runs it recurs: find is given a sample of the numbers, ascending,
// each drawn with a chance of share, and gives the groups that it finds there, of
// the same numbers. Seeded, the result depends on nothing else.
func Recurrence(groups [][]int32, n, runs int, share float64, seed uint64, find func(sample []int32) [][]int32) []float64 {
	found := make([]float64, len(groups))
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	drawn := make([]bool, n)
	for range runs {
		var sample []int32
		for i := range drawn {
			if drawn[i] = random.Float64() < share; drawn[i] {
				sample = append(sample, int32(i))
			}
		}
		again := find(sample)
		of := make([]int32, n) // the group found of each number, and one more
		for g, members := range again {
			for _, m := range members {
				of[m] = int32(g) + 1
			}
		}
		for g, members := range groups {
			rest, shared := 0, map[int32]int{}
			for _, m := range members {
				if drawn[m] {
					rest++
					shared[of[m]]++
				}
			}
			delete(shared, 0)
			for other, both := range shared {
				if float64(both) >= Recurs*float64(rest+len(again[other-1])-both) {
					found[g]++
					break
				}
			}
		}
	}
	for g := range found {
		found[g] /= float64(max(runs, 1))
	}
	return found
}

// Jaccard is |a∩b| / |a∪b| of two ascending lists, 0 of two empty ones.
func Jaccard(a, b []int32) float64 {
	both := 0
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); ok {
			both++
		}
	}
	if len(a)+len(b) == 0 {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
