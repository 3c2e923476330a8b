package series_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/series"
)

// partition is optimal partitioning (Jackson et al. 2005) by trying every start of
// every last segment, with plain sums.
func partition(y []float64, penalty float64, least int) (changes []int, cost float64) {
	costs, last := make([]float64, len(y)+1), make([]int, len(y)+1)
	costs[0] = -penalty
	for t := 1; t <= len(y); t++ {
		costs[t] = math.Inf(1)
		for s := 0; s <= t-least; s++ {
			if c := costs[s] + segment(y[s:t]) + penalty; c < costs[t] {
				costs[t], last[t] = c, s
			}
		}
	}
	for t := last[len(y)]; t > 0; t = last[t] {
		changes = append(changes, t)
	}
	slices.Reverse(changes)
	return changes, costs[len(y)]
}

func segment(y []float64) float64 {
	mean, cost := 0., 0.
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		cost += (v - mean) * (v - mean)
	}
	return cost
}

func TestPELTEqualsOptimalPartitioning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := source(rapid.Uint64().Draw(t, "seed"))
		y := make([]float64, rapid.IntRange(0, 120).Draw(t, "n"))
		stays := rapid.Float64Range(0.7, 1).Draw(t, "stays")
		coarse := rapid.Bool().Draw(t, "coarse")
		mean := 0.
		for i := range y {
			if random.Float64() > stays {
				mean = 2*random.Float64() - 1
			}
			y[i] = mean + 0.3*random.NormFloat64()
			if coarse { // with many equal values, and many partitions of equal cost
				y[i] = math.Round(2*y[i]) / 2
			}
		}
		penalty := rapid.OneOf(rapid.Just(0.), rapid.Float64Range(0, 0.5), rapid.Float64Range(0, 10)).Draw(t, "penalty")
		least := rapid.IntRange(1, 8).Draw(t, "least")
		changes := series.PELT(y, penalty, least)
		cost, from := penalty*float64(len(changes)), 0
		for _, to := range append(slices.Clone(changes), len(y)) {
			if to-from < least && len(changes) > 0 {
				t.Fatalf("changes %v: a segment of %d", changes, to-from)
			}
			cost += segment(y[from:to])
			from = to
		}
		want, optimum := partition(y, penalty, least)
		if len(y) < least {
			want, optimum = nil, segment(y)
		}
		if !near(cost, optimum, 1e-9*(1+optimum)) {
			t.Fatalf("changes %v cost %.12g; %v cost %.12g", changes, cost, want, optimum)
		}
		if penalty > 0 && !coarse && !slices.Equal(changes, want) {
			t.Fatalf("changes %v, want %v", changes, want)
		}
	})
}

func hours(n int) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = monday + float64(i)*hour
	}
	return times
}

func TestShifts(t *testing.T) {
	for _, n := range []int{60, 300, 1200} {
		for seed := range uint64(4) {
			random := source(seed)
			values := slices.Concat(white(random, n/3, .4, .2), white(random, n/3, -.3, .2), white(random, n/3, .2, .2))
			found := series.Shifts(hours(n), values, 1)
			if len(found) != 2 {
				t.Errorf("%d values, seed %d: %d shifts, want 2", n, seed, len(found))
				continue
			}
			for i, s := range found {
				if at := (i + 1) * n / 3; !near(float64(s.Index), float64(at), 5) || s.At != monday+float64(s.Index)*hour {
					t.Errorf("%d values, seed %d: shift at %d, want %d", n, seed, s.Index, at)
				}
				if before, after := []float64{.4, -.3}[i], []float64{-.3, .2}[i]; !near(s.Before, before, .12) || !near(s.After, after, .12) {
					t.Errorf("%d values, seed %d: from %g to %g", n, seed, s.Before, s.After)
				}
				if s.Confidence < 0.85 || !slices.Contains(s.Members(), int32(s.Index)) || !slices.Contains(s.Members(), int32(s.Index-1)) {
					t.Errorf("%d values, seed %d: %+v", n, seed, s)
				}
			}
		}
	}
}

// Few memories show a shift that is plain to see.
func TestShiftsOfFew(t *testing.T) {
	for _, tt := range []struct{ each, deviation float64 }{{6, 0}, {6, .1}, {10, 0}, {10, .1}, {20, .25}} {
		missed := 0
		for seed := range uint64(20) {
			random := source(seed)
			values := append(white(random, int(tt.each), .6, tt.deviation), white(random, int(tt.each), -.5, tt.deviation)...)
			found := series.Shifts(hours(len(values)), values, 1)
			if len(found) != 1 || !near(float64(found[0].Index), tt.each, 1) || found[0].Confidence < 0.7 {
				missed++
			}
		}
		if tt.deviation == 0 && missed > 0 || missed > 4 {
			t.Errorf("%g memories on each side with a deviation of %g: %d of 20 missed", tt.each, tt.deviation, missed)
		}
		t.Logf("%g memories on each side with a deviation of %g: %d of 20 missed", tt.each, tt.deviation, missed)
	}
}

// Memories without a valence lie between, and count for nothing.
func TestShiftsSkipWhatHasNoValue(t *testing.T) {
	random := source(1)
	values := slices.Concat(white(random, 40, .5, .1), white(random, 40, -.5, .1))
	var sparse []float64
	for _, v := range values {
		sparse = append(sparse, math.NaN(), v, math.Inf(-1))
	}
	found := series.Shifts(hours(len(sparse)), sparse, 1)
	if len(found) != 1 || found[0].Index != 40*3+1 || found[0].At != monday+121*hour {
		t.Fatalf("shifts %+v", found)
	}
	for _, m := range found[0].Members() {
		if m%3 != 1 {
			t.Errorf("member %d has no valence", m)
		}
	}
	if len(found[0].Members()) != 50 {
		t.Errorf("%d members, want 50", len(found[0].Members()))
	}
}

func TestShiftsOfNoiseAreFew(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values func(*rand.Rand) []float64
		share  float64
	}{
		{"Normal", func(r *rand.Rand) []float64 { return white(r, 10+r.IntN(500), .2, .3) }, 0.03},
		{"Uniform", func(r *rand.Rand) []float64 {
			values := make([]float64, 10+r.IntN(500))
			for i := range values {
				values[i] = 2*r.Float64() - 1
			}
			return values
		}, 0.03},
		{"MoodsThatLast", func(r *rand.Rand) []float64 {
			values, mood := make([]float64, 10+r.IntN(500)), 0.
			for i := range values {
				mood = .5*mood + .25*r.NormFloat64()
				values[i] = .1 + mood
			}
			return values
		}, 0.06},
		{"TwoValues", func(r *rand.Rand) []float64 {
			values := make([]float64, 10+r.IntN(500))
			for i := range values {
				values[i] = float64(2*r.IntN(2)-1) * .6
			}
			return values
		}, 0.05},
		{"MostlyNeutral", func(r *rand.Rand) []float64 {
			values := make([]float64, 10+r.IntN(500))
			for i := range values {
				if r.IntN(5) == 0 {
					values[i] = float64(2*r.IntN(2)-1) * .8
				}
			}
			return values
		}, 0.05},
	} {
		t.Run(tt.name, func(t *testing.T) {
			some, sure, runs := 0, 0, 120
			for seed := range uint64(runs) {
				values := tt.values(source(seed))
				found := series.Shifts(hours(len(values)), values, 1)
				some += min(len(found), 1)
				sure += min(confident(found, func(s series.Shift) float64 { return s.Confidence }), 1)
			}
			t.Logf("with a shift: %d of %d", some, runs)
			atMost(t, "series with a confident shift", sure, runs, tt.share)
		})
	}
}

func TestShiftSentence(t *testing.T) {
	s := series.Shift{At: monday, Before: .35, After: -.41}
	if got, want := s.Sentence(), "memories are more negative from 2 Nov 2026 on: a valence of -0.41 after +0.35"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if d := s.Details(); d["at"] != "2026-11-02T00:00:00Z" || d["before"] != .35 || d["after"] != -.41 || d["change"] != -.76 {
		t.Errorf("details %v", d)
	}
}
