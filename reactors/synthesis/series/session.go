package series

import (
	"fmt"
	"math"
	"slices"
)

// Session is a run of memories that no gap of the user's own length parts.
type Session struct {
	From, To   int     // members: [From, To) of the times
	Start, End float64 // seconds since 1970
	Gap        float64 // seconds: a longer gap parts sessions; 0 where none stands out
	Confidence float64
}

// Sessions splits at the user's own gap, which is where the sorted logarithms of
// the gaps lie furthest apart (compare Halfaker et al. 2015), and gives the groups of
// least members and more. How far apart is measured in what a Poisson process of
// equal count would show at that place, so that neither a single absence of a year
// nor two memories of one second decide. Where no gap stands out at a level of 5%,
// all memories are one session if they lie within a day and there are none if not.
func Sessions(times []float64, least int, seed uint64) []Session {
	clean, offset := ordered(times)
	found := sessions(clean, max(least, 1), 1)
	for i, c := range recurrence(found, clean, seed, func(sample []float64) []Session { return sessions(sample, scaled(least), share) }) {
		found[i].Confidence = c
		found[i].From += offset
		found[i].To += offset
	}
	return found
}

// sessions takes times that are a share of all.
func sessions(times []float64, least int, share float64) []Session {
	n := len(times)
	if n < 2 || times[n-1] == times[0] {
		return nil
	}
	gap := ownGap(times, share)
	if gap == 0 && times[n-1]-times[0] > day {
		return nil
	}
	var found []Session
	from := 0
	for i := 1; i <= n; i++ {
		if i == n || gap > 0 && times[i]-times[i-1] > gap {
			if i-from >= least {
				found = append(found, Session{From: from, To: i, Start: times[from], End: times[i-1], Gap: gap})
			}
			from = i
		}
	}
	return found
}

// ownGap is the gap, in seconds, above which gaps part sessions, and 0 where no gap
// stands out. Among n gaps of a Poisson process, n·f(x)·Δ of the distance Δ between
// the k-th and the next logarithm, with the density f there, is about exponential
// (Rényi 1953, spacings), with f = −(1−p)·ln(1−p) for p = k/n. As it grows with n, a
// sample's limit is lower in proportion.
func ownGap(times []float64, share float64) float64 {
	g := gaps(times)
	slices.Sort(g)
	n := float64(len(g))
	widest, own := share*math.Log(n/0.05), 0.
	for k := 1; k < len(g); k++ {
		rest := 1 - float64(k)/n
		width := -n * rest * math.Log(rest) * math.Log(g[k]/g[k-1])
		if width > widest {
			widest, own = width, math.Sqrt(g[k]*g[k-1])
		}
	}
	return own
}

// Members lists the positions of the session's memories.
func (s Session) Members() []int32 { return numbers(s.span()) }

func (s Session) span() (from, to int) { return s.From, s.To }

// Details explains the session: when, how many, and the gap that ends one, in hours.
func (s Session) Details() map[string]any {
	return map[string]any{
		"start": stamp(s.Start), "end": stamp(s.End), "count": s.To - s.From, "gap_hours": rounded(s.Gap/hour, 2),
	}
}

// Sentence says it in words.
func (s Session) Sentence() string {
	return fmt.Sprintf("%d memories %s", s.To-s.From, between(s.Start, s.End))
}
