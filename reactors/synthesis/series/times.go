package series

import (
	"fmt"
	"math"
	"time"

	"github.com/helixd/helixd/reactors/synthesis/bootstrap"
)

const (
	share  = 1 - 1/math.E // of the memories that a sample keeps: what Efron's bootstrap draws at least once
	minute = 60.
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day

	furthest = 1e11 // seconds, the year 5138: what time.Time still prints, far beyond any clock's fault
)

// runs is how many samples of n memories a confidence rests on: fewer of many, so
// that the cost is bounded.
func runs(n, most int) int { return min(max(1_000_000/max(n, 1), 20), most) }

// scaled is the least size of a group in a sample, where it was least of all.
func scaled(least int) int { return max(int(float64(least)*share), 1) }

// ordered gives the times [from, to) without what is not finite at either end, all
// of them finite and ascending.
func ordered(times []float64) (clean []float64, from int) {
	to := len(times)
	for from < to && !finite(times[from]) {
		from++
	}
	for from < to && !finite(times[to-1]) {
		to--
	}
	clean = make([]float64, to-from)
	last := -furthest
	for i := range clean {
		if t := times[from+i]; finite(t) {
			last = max(last, min(t, furthest))
		}
		clean[i] = last
	}
	return clean, from
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// stretch gives the [from, to) of ascending times in which the user wrote, without
// stray times at either end (a clock set to 1900): a twentieth of the times at most,
// behind a gap longer than all the rest.
func stretch(times []float64) (from, to int) {
	to = len(times)
	strays := to / 20
	if to >= 5 {
		strays = max(strays, 1)
	}
	for to-from >= 3 {
		at := from + 1
		for i := from + 1; i < to; i++ {
			if times[i]-times[i-1] > times[at]-times[at-1] {
				at = i
			}
		}
		before, after := at-from, to-at
		switch gap := times[at] - times[at-1]; {
		case 2*gap <= times[to-1]-times[from] || min(before, after) > strays:
			return from, to
		case before <= after:
			from = at
			strays -= before
		default:
			to = at
			strays -= after
		}
	}
	return from, to
}

// gaps gives the times from each event to the next, a minute at least: what one
// person writes within a minute, or an import within a transaction, is one act.
func gaps(times []float64) []float64 {
	g := make([]float64, max(len(times)-1, 0))
	for i := range g {
		g[i] = max(times[i+1]-times[i], minute)
	}
	return g
}

// numbers lists [from, to).
func numbers(from, to int) []int32 {
	list := make([]int32, to-from)
	for i := range list {
		list[i] = int32(from + i)
	}
	return list
}

// recurrence is how likely each run of times is found again among a share of them.
func recurrence[R interface{ span() (from, to int) }](found []R, times []float64, seed uint64, find func(sample []float64) []R) []float64 {
	if len(found) == 0 {
		return nil
	}
	groups := make([][]int32, len(found))
	for i, r := range found {
		groups[i] = numbers(r.span())
	}
	return bootstrap.Recurrence(groups, len(times), runs(len(times), 100), share, seed, func(sample []int32) [][]int32 {
		var groups [][]int32
		for _, r := range find(pick(times, sample)) {
			from, to := r.span()
			groups = append(groups, sample[from:to])
		}
		return groups
	})
}

// pick gives those of all that the sample numbers.
func pick(all []float64, sample []int32) []float64 {
	some := make([]float64, len(sample))
	for i, m := range sample {
		some[i] = all[m]
	}
	return some
}

func at(seconds float64) time.Time { return time.Unix(int64(math.Floor(seconds)), 0).UTC() }

func stamp(seconds float64) string { return at(seconds).Format(time.RFC3339) }

// between says in words from when to when.
func between(start, end float64) string {
	a, b := at(start), at(end)
	switch {
	case a.Truncate(time.Minute).Equal(b.Truncate(time.Minute)):
		return fmt.Sprintf("on %s at %s UTC", a.Format("2 Jan 2006"), a.Format("15:04"))
	case a.Format(time.DateOnly) == b.Format(time.DateOnly):
		return fmt.Sprintf("on %s between %s and %s UTC", a.Format("2 Jan 2006"), a.Format("15:04"), b.Format("15:04"))
	}
	return fmt.Sprintf("between %s and %s UTC", a.Format("2 Jan 2006 15:04"), b.Format("2 Jan 2006 15:04"))
}

// rounded keeps what a reader can use of a figure.
func rounded(x float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(x*unit) / unit
}
