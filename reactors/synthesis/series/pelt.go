package series

import (
	"math"
	"slices"
)

// PELT gives the changes of mean in y that cost least: the sum of squared distances
// to each segment's mean, and penalty for each change, with segments of least values
// and more (Killick, Fearnhead and Eckley 2012, pruned exact linear time). A change is
// the position of a segment's first value.
//
// A start is pruned least positions after it has lost: only from there on is the
// segment that beat it long enough to stand.
func PELT(y []float64, penalty float64, least int) []int {
	least = max(least, 1)
	n := len(y)
	if n < 2*least {
		return nil
	}
	sums := newSums(y)
	costs := make([]float64, n+1) // of the best segments up to each position
	last := make([]int, n+1)      // where the last of them starts
	costs[0] = -penalty
	type start struct {
		at, until int
		cost      float64 // with this start, up to the position at hand
	}
	starts := []start{{0, math.MaxInt, 0}}
	for t := least; t <= n; t++ {
		if s := t - least; s >= least {
			starts = append(starts, start{s, math.MaxInt, 0})
		}
		best := math.Inf(1)
		kept := starts[:0]
		for _, s := range starts {
			if s.until <= t {
				continue
			}
			s.cost = costs[s.at] + sums.cost(s.at, t)
			kept = append(kept, s)
			if s.cost+penalty < best {
				best, last[t] = s.cost+penalty, s.at
			}
		}
		starts, costs[t] = kept, best
		for i := range starts {
			if s := &starts[i]; s.until == math.MaxInt && s.cost >= best {
				s.until = t + least
			}
		}
	}
	var changes []int
	for t := last[n]; t > 0; t = last[t] {
		changes = append(changes, t)
	}
	slices.Reverse(changes)
	return changes
}

// sums are running sums of values and of their squares.
type sums struct{ first, second []float64 }

func newSums(y []float64) sums {
	s := sums{make([]float64, len(y)+1), make([]float64, len(y)+1)}
	for i, v := range y {
		s.first[i+1], s.second[i+1] = s.first[i]+v, s.second[i]+v*v
	}
	return s
}

// mean is that of the values [from, to).
func (s sums) mean(from, to int) float64 {
	return (s.first[to] - s.first[from]) / float64(to-from)
}

// cost is the sum of squared distances to the mean, of the values [from, to).
func (s sums) cost(from, to int) float64 {
	sum := s.first[to] - s.first[from]
	return max(s.second[to]-s.second[from]-sum*sum/float64(to-from), 0)
}
