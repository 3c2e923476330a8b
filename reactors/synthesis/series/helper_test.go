package series_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	minute = 60.
	hour   = 60 * minute
	day    = 24 * hour
)

// monday is 2 November 2026, 00:00 UTC.
var monday = float64(time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC).Unix())

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 6)) }

// poisson gives n times, at random over the days.
func poisson(random *rand.Rand, n int, days float64) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = monday + random.Float64()*days*day
	}
	slices.Sort(times)
	return times
}

// sitting gives the times and the lengths of sessions: minutes within, 10 hours to
// some days between.
func sitting(random *rand.Rand, sessions int) (times []float64, sizes []int) {
	t := monday
	for range sessions {
		size := 4 + random.IntN(12)
		sizes = append(sizes, size)
		for range size {
			times = append(times, t)
			t += 5 * minute * random.ExpFloat64()
		}
		t += 10*hour + 2*day*random.ExpFloat64()
	}
	return times, sizes
}

func white(random *rand.Rand, n int, mean, deviation float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = max(-1, min(mean+deviation*random.NormFloat64(), 1))
	}
	return values
}

// moments draws ascending times of all kinds: crowds, gaps of years, one instant.
func moments(t *rapid.T) []float64 {
	gap := rapid.OneOf(rapid.Just(0.), rapid.Float64Range(0, hour), rapid.Float64Range(0, 10*day), rapid.Float64Range(0, 100*365*day))
	last := 0.
	times := make([]float64, rapid.IntRange(0, 60).Draw(t, "n"))
	for i := range times {
		last += float64(int64(gap.Draw(t, "gap")))
		times[i] = last
	}
	return times
}

func near(a, b, within float64) bool { return a-b <= within && b-a <= within }

// confident counts those of at least 0.7.
func confident[T any](found []T, confidence func(T) float64) (n int) {
	for _, f := range found {
		if confidence(f) >= 0.7 {
			n++
		}
	}
	return n
}

// atMost fails where something happened in more than share of runs.
func atMost(t *testing.T, what string, happened, runs int, share float64) {
	t.Helper()
	t.Logf("%s: %d of %d", what, happened, runs)
	if float64(happened) > share*float64(runs) {
		t.Errorf("%s: %d of %d, want %g of all at most", what, happened, runs, share)
	}
}
