package series_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/series"
)

func TestSessionsOfASyntheticUser(t *testing.T) {
	for _, sessions := range []int{2, 3, 5, 20, 80} {
		exact, all, sure := 0, 0, 0
		for seed := range uint64(8) {
			times, sizes := sitting(source(seed), sessions)
			found := series.Sessions(times, 3, 1)
			all += len(sizes)
			from := 0
			for _, size := range sizes {
				for _, s := range found {
					if s.From == from && s.To == from+size {
						exact++
						if s.Confidence >= 0.7 {
							sure++
						}
					}
				}
				from += size
			}
			if last := found; len(last) == 0 || last[len(last)-1].To != len(times) {
				t.Errorf("%d sessions, seed %d: the last one is missing", sessions, seed)
			}
		}
		t.Logf("%d sessions: %d of %d exact, %d of them confident", sessions, exact, all, sure)
		if float64(exact) < 0.95*float64(all) || float64(sure) < 0.95*float64(exact) {
			t.Errorf("%d sessions: %d of %d exact, %d of them confident", sessions, exact, all, sure)
		}
	}
}

func TestSessions(t *testing.T) {
	evening := monday + 19*hour
	for _, tt := range []struct {
		name  string
		times []float64
		want  [][2]int
	}{
		{"None", nil, nil},
		{"One", []float64{evening}, nil},
		{"OneInstant", slices.Repeat([]float64{evening}, 50), nil},
		{"OneEvening", []float64{evening, evening + 10*minute, evening + 15*minute, evening + 40*minute}, [][2]int{{0, 4}}},
		{"Daily", []float64{evening, evening + 24*hour, evening + 47*hour, evening + 73*hour, evening + 95*hour, evening + 119*hour}, nil},
		{"AStrayBetween", []float64{0, 60, 120, 300, 5 * day, 12 * day, 12*day + 60, 12*day + 200, 12*day + 500}, [][2]int{{0, 4}, {5, 9}}},
		{"HoursApart", []float64{0, hour, 2 * hour, 3 * hour, 4 * hour, 28 * hour, 29 * hour, 30 * hour, 31 * hour, 32 * hour}, [][2]int{{0, 5}, {5, 10}}},
		{"TheLastCounts", []float64{0, 60, 120, 5 * day, 5*day + 100, 5*day + 200}, [][2]int{{0, 3}, {3, 6}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got [][2]int
			for _, s := range series.Sessions(tt.times, 3, 1) {
				got = append(got, [2]int{s.From, s.To})
				if s.Confidence < 0.7 {
					t.Errorf("confidence %g", s.Confidence)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("sessions %v, want %v", got, tt.want)
			}
		})
	}
}

// A memory of a wrong clock, or a year's absence, does not make all the rest one session.
func TestSessionsBesideAnExtremeGap(t *testing.T) {
	for seed := range uint64(8) {
		times, sizes := sitting(source(seed), 30)
		for name, with := range map[string][]float64{
			"1900":    append([]float64{-70 * 365 * day}, times...),
			"future":  append(slices.Clone(times), monday+100*365*day),
			"absence": append(slices.Clone(times[:200]), shifted(times[200:], 365*day)...),
		} {
			if got := len(series.Sessions(with, 3, 1)); got < len(sizes)*9/10 || got > len(sizes)+1 {
				t.Errorf("%s, seed %d: %d sessions, want about %d", name, seed, got, len(sizes))
			}
		}
	}
}

func TestSessionsOfNoiseAreFew(t *testing.T) {
	some, sure, runs := 0, 0, 500
	for seed := range uint64(runs) {
		random := source(seed)
		found := series.Sessions(poisson(random, 5+random.IntN(300), 200), 3, 1)
		some += min(len(found), 1)
		sure += min(confident(found, func(s series.Session) float64 { return s.Confidence }), 1)
	}
	atMost(t, "Poisson processes with a session", some, runs, 0.05)
	atMost(t, "Poisson processes with a confident session", sure, runs, 0.02)
}

func TestSessionsMoveWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := moments(t)
		by := float64(rapid.Int64Range(-1e9, 1e9).Draw(t, "by"))
		a, b := series.Sessions(times, 2, 7), series.Sessions(shifted(times, by), 2, 7)
		if len(a) != len(b) {
			t.Fatalf("%d sessions, %d later", len(a), len(b))
		}
		for i := range a {
			a[i].Start += by
			a[i].End += by
			if a[i] != b[i] {
				t.Fatalf("session %+v became %+v", a[i], b[i])
			}
		}
	})
}

func TestSessionSentence(t *testing.T) {
	s := series.Session{From: 3, To: 15, Start: monday + day + 19*hour + 2*minute, End: monday + day + 21*hour + 40*minute + 20, Gap: 7.5 * hour}
	if got, want := s.Sentence(), "12 memories on 3 Nov 2026 between 19:02 and 21:40 UTC"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	d := s.Details()
	if d["gap_hours"] != 7.5 || d["count"] != 12 || d["start"] != "2026-11-03T19:02:00Z" || d["end"] != "2026-11-03T21:40:20Z" {
		t.Errorf("details %v", d)
	}
	s.End += 2 * day
	if got, want := s.Sentence(), "12 memories between 3 Nov 2026 19:02 and 5 Nov 2026 21:40 UTC"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func shifted(times []float64, by float64) []float64 {
	moved := slices.Clone(times)
	for i := range moved {
		moved[i] += by
	}
	return moved
}
