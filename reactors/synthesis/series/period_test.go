package series_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/series"
)

// habit gives times every period, around a peak, where the user keeps to it with a
// chance, beside others at random.
func habit(random *rand.Rand, days, period, peak, deviation, kept float64, beside int) []float64 {
	times := poisson(random, beside, days)
	for t := monday + peak; t < monday+days*day; t += period {
		if random.Float64() < kept {
			times = append(times, t+deviation*random.NormFloat64())
		}
	}
	slices.Sort(times)
	return times
}

func TestPeriods(t *testing.T) {
	for _, tt := range []struct {
		name               string
		days, period, peak float64
		kept               float64
		beside             int
		want               string
	}{
		{"Evenings", 60, day, 21 * hour, 0.8, 20, "21:"},
		{"EveningsForAYear", 365, day, 21 * hour, 0.5, 100, "21:"},
		{"Tuesdays", 200, 7 * day, day + 19*hour + hour/2, 0.9, 20, "Tuesday "},
		{"Fortnightly", 400, 14 * day, 5*day + 12*hour, 0.95, 10, " 2027, "},
		{"EveryFiveDays", 200, 5 * day, 12 * hour, 0.95, 10, " 2027, "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for seed := range uint64(10) {
				times := habit(source(seed), tt.days, tt.period, tt.peak, hour/2, tt.kept, tt.beside)
				found := series.Periods(times, 3, 1)
				i := slices.IndexFunc(found, func(p series.Period) bool { return near(p.Length, tt.period, 0.01*tt.period) })
				if i < 0 {
					t.Errorf("seed %d: found %+v", seed, found)
					continue
				}
				p := found[i]
				if len(found) > 1 {
					t.Logf("seed %d: %d periods, also %s", seed, len(found), found[1-min(i, 1)].Sentence())
				}
				away := math.Abs(math.Remainder(p.Peak-monday-tt.peak, tt.period))
				if away > max(1.5*hour, tt.period/20) || !strings.Contains(p.Details()["peak"].(string), tt.want) && away > hour/2 {
					t.Errorf("seed %d: peak %s is %.1f hours away", seed, p.Details()["peak"], away/hour)
				}
				if p.FalseAlarm > 0.01 || p.Confidence < 0.7 {
					t.Errorf("seed %d: %+v", seed, p)
				}
				members := 0
				for _, m := range p.Members() {
					if math.Abs(math.Remainder(times[m]-monday-tt.peak, tt.period)) < 2*hour {
						members++
					}
				}
				if members < int(tt.kept*tt.days*day/tt.period*0.7) {
					t.Errorf("seed %d: %d members near the peak: %s", seed, members, p.Sentence())
				}
			}
		})
	}
}

// Series without a period: memories at random, in sessions at random, with a holiday
// full of memories, and all of one import.
func TestPeriodsOfNoiseAreFew(t *testing.T) {
	for _, tt := range []struct {
		name  string
		times func(*rand.Rand) []float64
		share float64
	}{
		{"Poisson", func(r *rand.Rand) []float64 { return poisson(r, 30+r.IntN(300), 60+300*r.Float64()) }, 0.015},
		{"DensePoisson", func(r *rand.Rand) []float64 { return poisson(r, 2000, 60) }, 0.015},
		{"Sessions", func(r *rand.Rand) []float64 {
			var times []float64
			for _, t := range poisson(r, 60, 200) {
				for range 3 + r.IntN(15) {
					times = append(times, t)
					t += 20 * minute * r.ExpFloat64()
				}
			}
			slices.Sort(times)
			return times
		}, 0.02},
		{"Holiday", func(r *rand.Rand) []float64 {
			times := append(poisson(r, 100, 150), shifted(poisson(r, 60, 3+7*r.Float64()), 40*day)...)
			slices.Sort(times)
			return times
		}, 0.03},
	} {
		t.Run(tt.name, func(t *testing.T) {
			some, sure, runs := 0, 0, 400
			for seed := range uint64(runs) {
				found := series.Periods(tt.times(source(seed)), 3, 1)
				some += min(len(found), 1)
				sure += min(confident(found, func(p series.Period) float64 { return p.Confidence }), 1)
			}
			t.Logf("confident: %d of %d", sure, runs)
			atMost(t, "series with a period", some, runs, tt.share)
		})
	}
}

// Days are of the clock: a series moved by whole weeks has the same periods.
func TestPeriodsMoveWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := habit(source(rapid.Uint64().Draw(t, "seed")), 70, day, 9*hour, hour, 0.8, 5)
		for i := range times {
			times[i] = math.Round(times[i])
		}
		by := 7 * day * float64(rapid.IntRange(-2000, 2000).Draw(t, "weeks"))
		a, b := series.Periods(times, 3, 7), series.Periods(shifted(times, by), 3, 7)
		if len(a) != len(b) {
			t.Fatalf("%d periods, %d later", len(a), len(b))
		}
		for i := range a {
			if a[i].Power != b[i].Power || !near(a[i].Peak+by, b[i].Peak, 1) || !slices.Equal(a[i].Members(), b[i].Members()) {
				t.Fatalf("period %+v became %+v", a[i], b[i])
			}
		}
	})
}

func TestPeriodSentence(t *testing.T) {
	p := series.Period{Length: 7 * day, Peak: monday + day + 19*hour, HalfWidth: 7 * hour, Power: 30.123, FalseAlarm: 1e-12, Of: 24}
	if got, want := p.Sentence(), "0 of 24 memories come every week around Tuesday 19:00 UTC"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for length, want := range map[float64]string{
		day:     "0 of 24 memories come around 19:00 UTC, whatever the day",
		3 * day: "0 of 24 memories come every 3.0 days around 3 Nov 2026, 19:00 UTC",
	} {
		other := p
		other.Length = length
		if got := other.Sentence(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	d := p.Details()
	if d["period_hours"] != 168. || d["peak"] != "Tuesday 19:00 UTC" || d["power"] != 30.12 || d["false_alarm"] != 1e-12 || d["half_width_hours"] != 7. {
		t.Errorf("details %v", d)
	}
}
