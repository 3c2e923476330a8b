package series

import (
	"fmt"
	"math"
	"slices"

	"github.com/helixd/helixd/reactors/synthesis/bootstrap"
)

const (
	leastSegment = 5    // memories between two shifts
	around       = 25   // memories on each side that show a shift
	mostPoints   = 1000 // that PELT looks at: it is quadratic where nothing changes
)

// Shift is a lasting change of mood.
type Shift struct {
	Index         int     // position of the first memory after it
	At            float64 // its time, seconds since 1970
	Before, After float64 // mean valence between this shift and its neighbours
	Confidence    float64
	members       []int32
}

// Shifts gives the changes of mean valence that PELT finds, with a penalty of
// 2·σ²·ln n (Schwarz's criterion), where σ² is the long-run variance: a mood that
// lasts for some memories is no shift. Changes of less than 0.1 are left out.
//
// The members are the 25 nearest memories with a valence on each side, of a segment
// between two shifts half at most: by their Jaccard similarity a shift recurs when one
// is found within about a third of that distance.
//
// Of more than 1,000 valences, equal numbers are averaged to fewer, and the changes
// among these moved to the best place nearby.
func Shifts(times, values []float64, seed uint64) []Shift {
	clean, offset := ordered(times)
	var with []int32
	var all []float64
	for i := range min(len(clean), max(len(values)-offset, 0)) {
		if v := values[offset+i]; finite(v) {
			with, all = append(with, int32(i)), append(all, clamp(v))
		}
	}
	if len(all) < 2*leastSegment {
		return nil
	}
	variance := noise(all)
	changes := shifts(all, variance, leastSegment)
	if len(changes) == 0 {
		return nil
	}
	groups := windows(changes, len(all), around)
	found := make([]Shift, len(changes))
	sums := newSums(all)
	for i, c := range changes {
		before, after := 0, len(all)
		if i > 0 {
			before = changes[i-1]
		}
		if i+1 < len(changes) {
			after = changes[i+1]
		}
		found[i] = Shift{Index: offset + int(with[c]), At: clean[with[c]], Before: sums.mean(before, c), After: sums.mean(c, after)}
		for _, m := range groups[i] {
			found[i].members = append(found[i].members, int32(offset)+with[m])
		}
	}
	again := func(sample []int32) [][]int32 {
		groups := windows(shifts(pick(all, sample), variance, scaled(leastSegment)), len(sample), scaled(around))
		for _, members := range groups {
			for i, m := range members {
				members[i] = sample[m]
			}
		}
		return groups
	}
	for i, c := range bootstrap.Recurrence(groups, len(all), runs(len(all), 100), share, seed, again) {
		found[i].Confidence = c
	}
	return slices.DeleteFunc(found, func(s Shift) bool { return math.Abs(s.After-s.Before) < valenceNoise })
}

// shifts gives the changes of mean, as PELT does, in noise of a variance.
func shifts(y []float64, variance float64, least int) []int {
	n := len(y)
	if n < 2*least {
		return nil
	}
	penalty := 2 * variance * math.Log(float64(n))
	block := (n + mostPoints - 1) / mostPoints
	if block == 1 {
		return PELT(y, penalty, least)
	}
	sums := newSums(y)
	means := make([]float64, n/block) // the rest, less than a block, goes with the last one
	for i := range means {
		means[i] = sums.mean(i*block, (i+1)*block)
	}
	// A mean's squared distances count block times.
	changes := PELT(means, penalty/float64(block), (least+block-1)/block)
	for i := range changes {
		changes[i] *= block
	}
	for i, c := range changes {
		from, to := 0, n
		if i > 0 {
			from = changes[i-1]
		}
		if i+1 < len(changes) {
			to = changes[i+1]
		}
		lowest := math.Inf(1)
		for at := max(c-block, from+least); at <= min(c+block, to-least); at++ {
			if cost := sums.cost(from, at) + sums.cost(at, to); cost < lowest {
				lowest, changes[i] = cost, at
			}
		}
	}
	return changes
}

// noise is the long-run variance around a mean that changes now and then, of moods
// that may last for some memories (autoregressive, of first order), 0.01 at least:
// with an autocorrelation of r, the differences of neighbours have a variance of
// 2σ²(1−r), and those two apart 2σ²(1−r²).
func noise(y []float64) float64 {
	near, far := usual(y, 1), usual(y, 2)
	if near == 0 { // most are equal, but not all of them need be
		near, far = mean(differences(y, 1)), 0
	}
	if near == 0 {
		return valenceNoise * valenceNoise
	}
	r := max(0, min(far/near-1, 0.8))
	return max(near/2*(1+r)/((1-r)*(1-r)), valenceNoise*valenceNoise)
}

// usual is the variance of the differences between values so far apart, from the
// four fifths that are smallest, as changes of the mean make large ones.
func usual(y []float64, apart int) float64 {
	d := differences(y, apart)
	slices.Sort(d)
	return mean(d[:len(d)*4/5]) / 0.4377 // what a normal distribution has there, of its variance
}

// differences squares those between values so far apart.
func differences(y []float64, apart int) []float64 {
	d := make([]float64, len(y)-apart)
	for i := range d {
		d[i] = (y[i+apart] - y[i]) * (y[i+apart] - y[i])
	}
	return d
}

// windows numbers the values around each change, of n: side on each side at most,
// and of what lies between two changes half at most.
func windows(changes []int, n, side int) [][]int32 {
	groups := make([][]int32, len(changes))
	for i, c := range changes {
		from, to := 0, n
		if i > 0 {
			from = (changes[i-1] + c + 1) / 2
		}
		if i+1 < len(changes) {
			to = (c + changes[i+1] + 1) / 2
		}
		groups[i] = numbers(max(from, c-side), min(to, c+side))
	}
	return groups
}

// Members lists the positions of the memories around the shift.
func (s Shift) Members() []int32 { return s.members }

// Details explains the shift: when, and the mean valence before and after.
func (s Shift) Details() map[string]any {
	return map[string]any{
		"at": stamp(s.At), "before": rounded(s.Before, 3), "after": rounded(s.After, 3), "change": rounded(s.After-s.Before, 3),
		"count": len(s.members),
	}
}

// Sentence says it in words.
func (s Shift) Sentence() string {
	kind := "negative"
	if s.After > s.Before {
		kind = "positive"
	}
	return fmt.Sprintf("memories are more %s from %s on: a valence of %+.2f after %+.2f", kind, at(s.At).Format("2 Jan 2006"), s.After, s.Before)
}
