package series

import (
	"cmp"
	"math"
	"slices"
)

const (
	level    = 0.01 // in what share of series without a period one is found, at most
	turns    = 4    // how often a period must come round
	begun    = 6    // how often the user must begin to write
	shortest = 36   // hours, of periods other than the day
	fastest  = 2000 // frequencies on the grid, at most: the longest periods
	others   = 3    // periods beside day and week, at most
)

// rhythm is when the user is active: in each hour from start to end, 1 in which they
// begin to write, else 0. An hour that continues the hour before is no
// beginning, so that a long session counts once, and a thousand memories of one
// import as well.
type rhythm struct {
	times []float64
	hours []float64 // the first time in each active hour
	activity
}

func newRhythm(times []float64, start, end float64) *rhythm {
	r := &rhythm{times: times, activity: activity{bins: math.Floor((end-start)/hour) + 1}}
	last := math.Inf(-1)
	for _, t := range times {
		bin := math.Floor((t - start) / hour)
		if bin > last {
			r.hours = append(r.hours, t)
		}
		if bin > last+1 {
			r.active = append(r.active, bin)
		}
		last = bin
	}
	return r
}

// tone is a frequency (cycles an hour) with its power and its false-alarm
// probability.
type tone struct{ frequency, power, alarm float64 }

// tones gives the frequencies that stand out, the slowest first.
func (r *rhythm) tones() []tone {
	if len(r.active) < begun {
		return nil
	}
	var found []tone
	for _, f := range []float64{hour / week, hour / day} {
		if r.bins*f < turns {
			continue
		}
		if t := r.tone(f, true); t.alarm <= level {
			found = append(found, t)
		}
	}
	found = append(found, r.search()...)
	slices.SortFunc(found, func(a, b tone) int { return cmp.Compare(a.frequency, b.frequency) })
	return found
}

// search looks on a grid of half the resolution's width for peaks. A habit that is
// kept to the hour has as much power at the multiples of its frequency: of peaks with
// at least half of the highest power, the slowest stand for their multiples.
func (r *rhythm) search() []tone {
	step := 1 / (2 * r.bins)
	first := turns / r.bins
	count := min(int((r.highest()-first)/step)+1, fastest)
	if count < 3 {
		return nil
	}
	powers := r.powers(first, step, count)
	most := slices.Max(powers)
	var found []tone
	for i := 0; i < count && len(found) < others; i++ {
		f := first + float64(i)*step
		if r.alarm(powers[i], false) > level || powers[i] < most/2 || powers[i] < slices.Max(powers[max(i-2, 0):min(i+3, count)]) ||
			r.within(f, hour/week) || slices.ContainsFunc(found, func(t tone) bool { return r.within(f, t.frequency) }) {
			continue
		}
		fine := r.powers(f-step, step/10, 21)
		for j, power := range fine {
			if power > fine[10] {
				fine[10], f = power, first+(float64(i)+float64(j-10)/10)*step
			}
		}
		if t := r.tone(f, false); t.alarm <= level {
			found = append(found, t)
		}
	}
	return found
}

// highest is the fastest frequency on the grid.
func (r *rhythm) highest() float64 {
	return min(1./shortest, (turns+fastest/2)/r.bins)
}

// within is whether f is a multiple of the other frequency, to within what
// can be told apart.
func (r *rhythm) within(f, of float64) bool {
	multiple := math.Round(f / of)
	return multiple >= 1 && math.Abs(f-multiple*of) < 2/r.bins
}

// tone measures a frequency; planned says that it was not searched for. Where the
// periodogram around it is above 1, as holidays and moods make it, that is the noise:
// the median of ten independent frequencies on each side.
func (r *rhythm) tone(f float64, planned bool) tone {
	const reach = 11
	if len(r.active) == 0 {
		return tone{f, 0, 1}
	}
	powers := r.powers(f-reach/r.bins, 1/r.bins, 2*reach+1)
	t := tone{frequency: f, power: powers[reach]}
	var beside []float64
	for i, power := range powers {
		if away := i - reach; (away < -1 || away > 1) && f+float64(away)/r.bins > 0.5/r.bins {
			beside = append(beside, power)
		}
	}
	slices.Sort(beside)
	t.power /= max(beside[len(beside)/2]/math.Ln2, 1) // the median of an exponential distribution is ln 2
	t.alarm = r.alarm(t.power, planned)
	return t
}

// alarm is three times the probability that a power is reached where there is no
// period: at one planned frequency, or anywhere on the grid (Baluev's bound,
// "Assessing the statistical significance of periodogram peaks", 2008, for a known
// variance).
func (r *rhythm) alarm(power float64, planned bool) float64 {
	once := math.Exp(-power)
	if planned {
		return min(3*once, 1)
	}
	width := (r.highest() - turns/r.bins) * r.bins * math.Sqrt(math.Pi/3) // of the band, in units of the resolution
	return min(-3*math.Expm1(math.Log1p(-once)-width*once*math.Sqrt(power)), 1)
}
