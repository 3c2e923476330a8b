package series_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/series"
)

func TestStatesEqualAnIndependentAutomaton(t *testing.T) {
	var cases []struct {
		Name               string
		Gaps               []float64
		Scale, Gamma, Cost float64
		Levels             int
		States             []int
	}
	golden(t, "kleinberg.json", &cases)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			var got []int
			for _, state := range series.States(c.Gaps, c.Scale, c.Gamma, c.Levels) {
				got = append(got, int(state))
			}
			if !slices.Equal(got, c.States) {
				t.Errorf("states %v, want %v", got, c.States)
			}
			if cost := automaton(c.Gaps, got, c.Scale, c.Gamma); !near(cost, c.Cost, 1e-9*math.Abs(c.Cost)) {
				t.Errorf("cost %g, want %g", cost, c.Cost)
			}
		})
	}
}

// automaton is what a sequence of states costs, as Kleinberg writes it.
func automaton(gaps []float64, states []int, scale, gamma float64) float64 {
	total, n := 0., float64(len(gaps))
	for _, gap := range gaps {
		total += gap
	}
	cost, last := 0., 0
	for i, state := range states {
		rate := math.Pow(scale, float64(state)) * n / total
		cost += float64(max(state-last, 0))*gamma*math.Log(n) - math.Log(rate*math.Exp(-rate*gaps[i]))
		last = state
	}
	return cost
}

func TestStatesCostLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gaps := rapid.SliceOfN(rapid.Float64Range(0.01, 10), 1, 6).Draw(t, "gaps")
		scale, gamma := rapid.Float64Range(1.2, 4).Draw(t, "scale"), rapid.Float64Range(0, 2).Draw(t, "gamma")
		levels := rapid.IntRange(1, 4).Draw(t, "levels")
		least := math.Inf(1)
		states := make([]int, len(gaps))
		for {
			least = min(least, automaton(gaps, states, scale, gamma))
			i := 0
			for ; i < len(states) && states[i] == levels-1; i++ {
				states[i] = 0
			}
			if i == len(states) {
				break
			}
			states[i]++
		}
		for i, state := range series.States(gaps, scale, gamma, levels) {
			states[i] = int(state)
		}
		if cost := automaton(gaps, states, scale, gamma); !near(cost, least, 1e-9*(1+math.Abs(least))) {
			t.Fatalf("states %v cost %g, the least is %g", states, cost, least)
		}
	})
}

// A user who writes about daily, and thirty times in one evening.
func TestBursts(t *testing.T) {
	for seed := range uint64(20) {
		random := source(seed)
		times := poisson(random, 100, 100)
		evening := monday + 50*day + 19*hour
		for range 30 {
			times = append(times, evening+2*hour*random.Float64())
		}
		slices.Sort(times)
		found := series.Bursts(times, 3, 1)
		if len(found) == 0 {
			t.Fatalf("seed %d: no burst", seed)
		}
		slices.SortFunc(found, func(a, b series.Burst) int { return int(b.Weight - a.Weight) })
		b := found[0]
		if n := b.To - b.From; n < 28 || n > 33 || b.Start < evening-hour || b.End > evening+3*hour {
			t.Errorf("seed %d: burst of %d memories, %s", seed, n, b.Sentence())
		}
		if b.Confidence < 0.95 || b.Level < 5 || b.Rate < 100 || !near(b.Baseline, 1.3, 0.1) {
			t.Errorf("seed %d: %+v", seed, b)
		}
		if d := b.Details(); d["count"] != b.To-b.From || d["level"] != b.Level || d["baseline_per_day"].(float64) > 1.4 {
			t.Errorf("seed %d: details %v", seed, d)
		}
	}
}

func TestBurstsOfNoiseAreFew(t *testing.T) {
	some, sure, runs := 0, 0, 500
	for seed := range uint64(runs) {
		random := source(seed)
		found := series.Bursts(poisson(random, 20+random.IntN(300), 200), 3, 1)
		some += min(len(found), 1)
		sure += min(confident(found, func(b series.Burst) float64 { return b.Confidence }), 1)
	}
	atMost(t, "Poisson processes with a burst", some, runs, 0.02)
	atMost(t, "Poisson processes with a confident burst", sure, runs, 0.01)
}

func TestBurstSentence(t *testing.T) {
	b := series.Burst{From: 5, To: 35, Start: monday + 19*hour, End: monday + 21*hour, Level: 6, Weight: 130.456, Rate: 348, Baseline: 1.2}
	if got, want := b.Sentence(), "30 memories on 2 Nov 2026 between 19:00 and 21:00 UTC, 290 times as often as usual"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d := b.Details()
	if d["count"] != 30 || d["level"] != 6 || d["weight"] != 130.46 || d["rate_per_day"] != 348. || d["baseline_per_day"] != 1.2 || d["start"] != "2026-11-02T19:00:00Z" {
		t.Errorf("details %v", d)
	}
}

// Bursts go with the times between memories alone.
func TestBurstsMoveWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := moments(t)
		by := float64(rapid.Int64Range(-1e9, 1e9).Draw(t, "by"))
		a, b := series.Bursts(times, 2, 7), series.Bursts(shifted(times, by), 2, 7)
		if len(a) != len(b) {
			t.Fatalf("%d bursts, %d later", len(a), len(b))
		}
		for i := range a {
			a[i].Start += by
			a[i].End += by
			if a[i] != b[i] {
				t.Fatalf("burst %+v became %+v", a[i], b[i])
			}
		}
	})
}
