package synthesis

import (
	"math"
	"time"
)

// Where a time is no date any more, in seconds from 1970: the years 1 and 9999.
const (
	earliest = -62135596800
	farthest = 253402300799
)

// date gives a time in seconds since 1970; ok is false where it is none that
// people know.
func date(seconds float64) (t time.Time, ok bool) {
	if math.IsNaN(seconds) || seconds > farthest || seconds < earliest {
		return time.Time{}, false
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)).UTC(), true
}

// between says from when to when, for people; "" where it is not known.
func between(from, to float64) string {
	a, ok := date(from)
	b, known := date(to)
	switch {
	case !ok || !known:
		return ""
	case a.Format(time.DateOnly) == b.Format(time.DateOnly):
		return " on " + a.Format("2 January 2006")
	case a.Year() == b.Year():
		return " from " + a.Format("2 January") + " to " + b.Format("2 January 2006")
	}
	return " from " + a.Format("2 January 2006") + " to " + b.Format("2 January 2006")
}

// period is the same for details.
func period(from, to float64) map[string]any {
	p := map[string]any{"from": nil, "to": nil}
	if t, ok := date(from); ok {
		p["from"] = t.Format(time.RFC3339)
	}
	if t, ok := date(to); ok {
		p["to"] = t.Format(time.RFC3339)
	}
	return p
}
