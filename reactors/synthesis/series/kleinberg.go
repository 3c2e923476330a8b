package series

import "math"

// States is the least costly sequence of states of Kleinberg's burst automaton
// ("Bursty and hierarchical structure in streams", 2002): in state i, gaps are
// exponential with scale^i times the mean rate; a step up by one costs gamma·ln n,
// down is free, and it starts in state 0. All gaps are positive, levels at most
// 256; it costs O(n·levels).
func States(gaps []float64, scale, gamma float64, levels int) []uint8 {
	n := len(gaps)
	if n == 0 {
		return nil
	}
	usual := mean(gaps)
	rates, logs := make([]float64, levels), make([]float64, levels)
	for i := range rates {
		rates[i] = math.Pow(scale, float64(i)) / usual
		logs[i] = math.Log(rates[i])
	}
	step := gamma * math.Log(float64(n))
	costs := make([]float64, levels) // of the best way to each state
	for i := range costs {
		costs[i] = float64(i) * step
	}
	came := make([]uint8, n*levels) // from where it comes to each
	up, upFrom := make([]float64, levels), make([]uint8, levels)
	for t, gap := range gaps {
		for i, cost := range costs { // from below or as it is
			up[i], upFrom[i] = cost, uint8(i)
			if i > 0 && up[i-1]+step < cost {
				up[i], upFrom[i] = up[i-1]+step, upFrom[i-1]
			}
		}
		above, aboveFrom := math.Inf(1), uint8(0)
		for i := levels - 1; i >= 0; i-- { // or from above
			best, from := up[i], upFrom[i]
			if above < best {
				best, from = above, aboveFrom
			}
			if costs[i] <= above {
				above, aboveFrom = costs[i], uint8(i)
			}
			came[t*levels+i] = from
			costs[i] = best + rates[i]*gap - logs[i] // −ln of an exponential gap's density
		}
	}
	states := make([]uint8, n)
	for i, cost := range costs {
		if cost < costs[states[n-1]] {
			states[n-1] = uint8(i)
		}
	}
	for t := n - 1; t > 0; t-- {
		states[t-1] = came[t*levels+int(states[t])]
	}
	return states
}

func mean(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
