package series

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"time"

	"github.com/helixd/helixd/reactors/synthesis/bootstrap"
)

// Period is a time of the day, of the week or of another period around which
// memories come.
type Period struct {
	Length     float64 // seconds
	Peak       float64 // the last peak that the user reached, seconds since 1970
	HalfWidth  float64 // seconds on each side of a peak in which the members lie
	Power      float64 // Lomb–Scargle, in units of the noise: 1 on average where there is no period
	FalseAlarm float64 // probability of such a power where there is no period, wherever it was looked for
	Of         int     // memories in the stretch of time that was looked at
	Confidence float64
	members    []int32
}

// Periods looks for a period of a day, of a week, and of any other length from 36
// hours to a quarter of the time in which the user wrote, and gives those with a
// false-alarm probability of 1% at most and at least least members. See rhythm for
// what is looked at.
//
// The probability is e^−power for the day and the week and Baluev's (2008) for the
// others, times three for the three looks. What repeats within a week is no other
// period; and of two periods with mostly the same members the longer stands: an hour
// of every Tuesday is an hour of the day as well.
//
// A peak's half-width is twice the standard deviation of the active hours around it
// (from their median absolute one), a 24th of the period at least and a quarter at
// most.
func Periods(times []float64, least int, seed uint64) []Period {
	clean, offset := ordered(times)
	from, to := stretch(clean)
	clean, offset = clean[from:to], offset+from
	if len(clean) == 0 {
		return nil
	}
	start, end := clean[0], clean[len(clean)-1]
	r := newRhythm(clean, start, end)
	var found []Period
	for _, tone := range r.tones() {
		p := r.period(tone)
		if p.members = r.members(p); len(p.members) < least || slices.ContainsFunc(found, func(longer Period) bool {
			return bootstrap.Jaccard(p.members, longer.members) >= bootstrap.Recurs
		}) {
			continue
		}
		found = append(found, p)
	}
	n := len(clean)
	for i, p := range found {
		again := func(sample []int32) [][]int32 {
			r := newRhythm(pick(clean, sample), start, end)
			planned := p.Length == day || p.Length == week
			tone := r.tone(hour/p.Length, planned)
			if r.alarm(tone.power/share, planned) > level { // fewer memories have less power, in proportion
				return nil
			}
			members := r.members(r.period(tone))
			for i, m := range members {
				members[i] = sample[m]
			}
			return [][]int32{members}
		}
		found[i].Confidence = bootstrap.Recurrence([][]int32{p.members}, n, runs(n, 100), share, seed, again)[0]
	}
	for _, p := range found {
		for i := range p.members {
			p.members[i] += int32(offset)
		}
	}
	return found
}

// period gives the tone's length, peak and width, without members and confidence.
func (r *rhythm) period(t tone) Period {
	length := hour / t.frequency
	switch t.frequency { // exactly, as 168 does not divide 1
	case hour / week:
		length = week
	case hour / day:
		length = day
	}
	phase, width := r.peak(length)
	end := r.times[len(r.times)-1]
	return Period{
		Length: length, Peak: phase + math.Floor((end-phase)/length)*length,
		HalfWidth: width, Power: t.power, FalseAlarm: t.alarm, Of: len(r.times),
	}
}

// peak gives the phase and the half-width: first the mean direction of the active
// hours, then three times the median of those nearby, which others at random move
// less.
func (r *rhythm) peak(length float64) (phase, width float64) {
	direction := complex(0, 0)
	for _, t := range r.hours {
		direction += turned(t / length)
	}
	phase, width = cmplx.Phase(direction)/(2*math.Pi)*length, length/4
	for range 3 {
		var near []float64
		for _, t := range r.hours {
			if away := remainder(t-phase, length); math.Abs(away) <= width {
				near = append(near, away)
			}
		}
		if len(near) == 0 {
			break
		}
		slices.Sort(near)
		middle := near[len(near)/2]
		for i := range near {
			near[i] = math.Abs(near[i] - middle)
		}
		slices.Sort(near)
		phase += middle
		width = min(max(2*1.4826*near[len(near)/2], length/24), length/4)
	}
	return phase, width
}

// remainder is x less the nearest multiple of length; math.Remainder, exact for any
// exponents, takes ten times as long.
func remainder(x, length float64) float64 { return x - length*math.Round(x/length) }

// members numbers the times that lie around the period's peaks.
func (r *rhythm) members(p Period) []int32 {
	var members []int32
	for i, t := range r.times {
		if math.Abs(remainder(t-p.Peak, p.Length)) <= p.HalfWidth {
			members = append(members, int32(i))
		}
	}
	return members
}

// Members lists the positions of the memories around the period's peaks.
func (p Period) Members() []int32 { return p.members }

// Details explains the period: its length and how strong it is, how likely by
// chance, where it peaks, and how many of how many memories lie there.
func (p Period) Details() map[string]any {
	return map[string]any{
		"period_hours": rounded(p.Length/hour, 2), "power": rounded(p.Power, 2), "false_alarm": p.FalseAlarm,
		"peak": p.peak(), "half_width_hours": rounded(p.HalfWidth/hour, 2), "count": len(p.members), "of": p.Of,
	}
}

// Sentence says it in words.
func (p Period) Sentence() string {
	count := fmt.Sprintf("%d of %d memories come", len(p.members), p.Of)
	switch p.Length {
	case day: // not on every day: what comes each Sunday at 19:00 may be found by its hour alone
		return fmt.Sprintf("%s around %s, whatever the day", count, p.peak())
	case week:
		return fmt.Sprintf("%s every week around %s", count, p.peak())
	}
	return fmt.Sprintf("%s every %.1f days around %s", count, p.Length/day, p.peak())
}

func (p Period) peak() string {
	when := at(p.Peak).Round(time.Minute)
	switch p.Length {
	case day:
		return when.Format("15:04 UTC")
	case week:
		return when.Format("Monday 15:04 UTC")
	}
	return when.Format("2 Jan 2006, 15:04 UTC")
}
