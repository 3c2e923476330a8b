package series

import (
	"fmt"
	"math"
	"slices"
)

// Burst is a run of memories that come much faster than the user's usual.
type Burst struct {
	From, To   int     // members: [From, To) of the times
	Start, End float64 // seconds since 1970
	Level      int     // the highest state inside: about 2^Level times the usual rate
	Weight     float64 // the logarithm of how much likelier the burst is than the usual rate
	Rate       float64 // memories a day inside it
	Baseline   float64 // memories a day altogether
	Confidence float64
}

// Bursts gives the maximal bursts of least members and more that Kleinberg's
// automaton finds with s = 2 and γ = 1 (see States), each without the fringe that adds
// less than a twentieth to its weight; nested bursts count in Level. The automaton pays ln n to enter a burst, which noise reaches about once in n gaps:
// only bursts of half as much weight again are given.
func Bursts(times []float64, least int, seed uint64) []Burst {
	clean, offset := ordered(times)
	from, to := stretch(clean)
	clean, offset = clean[from:to], offset+from
	found := bursts(clean, max(least, 2), 1)
	for i, c := range recurrence(found, clean, seed, func(sample []float64) []Burst { return bursts(sample, max(scaled(least), 2), share) }) {
		found[i].Confidence = c
		found[i].From += offset
		found[i].To += offset
	}
	return found
}

// bursts takes times that are a share of all: what a burst must weigh is less in
// proportion.
func bursts(times []float64, least int, share float64) []Burst {
	n := len(times)
	if n < 3 || times[n-1] == times[0] {
		return nil
	}
	g := gaps(times)
	usual := 1 / mean(g)
	fastest := g[0]
	for _, gap := range g {
		fastest = min(fastest, gap)
	}
	levels := min(int(math.Ceil(math.Log2(1/(usual*fastest))))+2, 32) // no higher state can be cheaper
	states := States(g, 2, share, levels)
	weights := make([]float64, len(g)+1) // running sum of each gap's
	for i, gap := range g {
		state := float64(states[i])
		weights[i+1] = weights[i] + state*math.Ln2 - (math.Exp2(state)-1)*usual*gap
	}
	enough := 1.5 * share * math.Log(float64(len(g)))
	var found []Burst
	for _, whole := range above(states, 0, len(g), 1) {
		from, to := heart(states, weights, whole[0], whole[1])
		b := Burst{
			From: from, To: to + 1, Start: times[from], End: times[to], Weight: weights[to] - weights[from],
			Level:    int(slices.Max(states[from:to])),
			Rate:     float64(to-from) / max(times[to]-times[from], minute) * day,
			Baseline: float64(n-1) / max(times[n-1]-times[0], minute) * day,
		}
		if b.To-b.From >= least && b.Weight >= enough {
			found = append(found, b)
		}
	}
	return found
}

// above gives the maximal runs in [from, to) of states of at least level.
func above(states []uint8, from, to int, level uint8) (runs [][2]int) {
	for i := from; i < to; i++ {
		if states[i] < level {
			continue
		}
		start := i
		for i < to && states[i] >= level {
			i++
		}
		runs = append(runs, [2]int{start, i})
	}
	return runs
}

// heart gives the innermost burst with 19 of 20 parts of the weight of the burst
// [from, to): on the way up to a high state the automaton takes in for free what
// happens to lie near.
func heart(states []uint8, weights []float64, from, to int) (int, int) {
	most := 0.95 * (weights[to] - weights[from])
	for level := uint8(2); level <= slices.Max(states[from:to]); level++ {
		nested := above(states, from, to, level)
		i := slices.IndexFunc(nested, func(b [2]int) bool { return weights[b[1]]-weights[b[0]] >= most })
		if i < 0 {
			break
		}
		from, to = nested[i][0], nested[i][1]
	}
	return from, to
}

// Members lists the positions of the burst's memories.
func (b Burst) Members() []int32 { return numbers(b.span()) }

func (b Burst) span() (from, to int) { return b.From, b.To }

// Details explains the burst: when, how many, its level and weight, and its rate
// beside the user's usual one.
func (b Burst) Details() map[string]any {
	return map[string]any{
		"start": stamp(b.Start), "end": stamp(b.End), "count": b.To - b.From, "level": b.Level, "weight": rounded(b.Weight, 2),
		"rate_per_day": rounded(b.Rate, 2), "baseline_per_day": rounded(b.Baseline, 4),
	}
}

// Sentence says it in words.
func (b Burst) Sentence() string {
	return fmt.Sprintf("%d memories %s, %s times as often as usual",
		b.To-b.From, between(b.Start, b.End), times(b.Rate/b.Baseline))
}

func times(ratio float64) string {
	if ratio < 10 {
		return fmt.Sprintf("%.1f", ratio)
	}
	return fmt.Sprintf("%.0f", ratio)
}
