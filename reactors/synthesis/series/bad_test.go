package series_test

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/series"
)

// pattern is what all kinds have in common.
type pattern interface {
	Members() []int32
	Details() map[string]any
	Sentence() string
}

// everything finds all patterns, with their confidences.
func everything(times, values []float64, seed uint64) (found []pattern, confidence []float64) {
	for _, p := range series.Sessions(times, 3, seed) {
		found, confidence = append(found, p), append(confidence, p.Confidence)
	}
	for _, p := range series.Bursts(times, 3, seed) {
		found, confidence = append(found, p), append(confidence, p.Confidence)
	}
	for _, p := range series.Periods(times, 3, seed) {
		found, confidence = append(found, p), append(confidence, p.Confidence)
	}
	for _, p := range series.Emotions(values, 5, seed) {
		found, confidence = append(found, p), append(confidence, p.Confidence)
	}
	for _, p := range series.Shifts(times, values, seed) {
		found, confidence = append(found, p), append(confidence, p.Confidence)
	}
	return found, confidence
}

// Whatever comes in, patterns have members that exist, a confidence in 0..1, figures
// that JSON can hold, words, and are the same each time.
func TestAnyInput(t *testing.T) {
	strange := rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -2.2e9, 4.9e9, 1e300, -1e300, 0})
	rapid.Check(t, func(t *rapid.T) {
		times := moments(t)
		for range rapid.IntRange(0, 5).Draw(t, "strange") {
			times = append(times, strange.Draw(t, "time"))
		}
		if rapid.Bool().Draw(t, "ascending") {
			slices.Sort(times)
		}
		values := rapid.SliceOfN(rapid.OneOf(strange, rapid.Float64Range(-1.5, 1.5)), 0, len(times)+2).Draw(t, "values")
		beforeTimes, beforeValues := slices.Clone(times), slices.Clone(values)
		found, confidence := everything(times, values, 5)
		for i, p := range found {
			members := p.Members()
			if !slices.IsSorted(members) || len(slices.Compact(slices.Clone(members))) != len(members) {
				t.Fatalf("members %v", members)
			}
			if len(members) == 0 || members[0] < 0 || int(members[len(members)-1]) >= max(len(times), len(values)) {
				t.Fatalf("members %v of %d", members, len(times))
			}
			if !(confidence[i] >= 0 && confidence[i] <= 1) {
				t.Fatalf("confidence %g", confidence[i])
			}
			for name, v := range p.Details() {
				if x, ok := v.(float64); ok && (math.IsNaN(x) || math.IsInf(x, 0)) {
					t.Fatalf("%s is %g", name, x)
				}
			}
			if p.Sentence() == "" {
				t.Fatalf("no sentence of %+v", p)
			}
		}
		again, same := everything(times, values, 5)
		if !reflect.DeepEqual(found, again) || !slices.Equal(confidence, same) {
			t.Fatal("found something else the second time")
		}
		for i, x := range times {
			if math.Float64bits(x) != math.Float64bits(beforeTimes[i]) {
				t.Fatal("the times were written to")
			}
		}
		for i, x := range values {
			if math.Float64bits(x) != math.Float64bits(beforeValues[i]) {
				t.Fatal("the values were written to")
			}
		}
	})
}

func TestNothingInNothing(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name          string
		times, values []float64
	}{
		{"Empty", nil, nil},
		{"One", []float64{monday}, []float64{.9}},
		{"OneInstant", slices.Repeat([]float64{monday}, 20_000), slices.Repeat([]float64{0}, 20_000)},
		{"NeverFinite", []float64{nan, nan, math.Inf(-1), math.Inf(1)}, []float64{nan, nan, nan, nan}},
		{"ConstantMood", hours(20_000), slices.Repeat([]float64{.2}, 20_000)},
		{"Regular", daily(400), nil},
		{"In1900And2126", []float64{-2.2e9, monday, 4.9e9}, []float64{.1, .2, .3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, _ := everything(tt.times, tt.values, 1)
			for _, p := range found {
				if tt.name == "Regular" && len(found) == 1 && p.Details()["period_hours"] == 24. {
					continue // a memory each day is a period of a day
				}
				t.Errorf("found %s", p.Sentence())
			}
		})
	}
}

func daily(n int) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = monday + float64(i)*day
	}
	return times
}

// A memory with a clock of 1900 and one of 2126 leave the patterns of the others.
func TestStraysLeaveThePatterns(t *testing.T) {
	times, _ := sitting(source(3), 40)
	values := slices.Concat(white(source(4), 150, .5, .2), white(source(5), len(times)-150, -.4, .2))
	want, _ := everything(times, values, 1)
	strayed := slices.Concat([]float64{math.Inf(-1), -2.2e9}, times, []float64{4.9e9, math.Inf(1)})
	beside := slices.Concat([]float64{math.NaN(), math.NaN()}, values, []float64{math.NaN(), math.NaN()})
	got, _ := everything(strayed, beside, 1)
	if len(got) != len(want) {
		t.Fatalf("%d patterns, want %d", len(got), len(want))
	}
	for i := range got {
		members := got[i].Members()
		for j := range members {
			members[j] -= 2
		}
		if !slices.Equal(members, want[i].Members()) {
			t.Errorf("%s became %s", want[i].Sentence(), got[i].Sentence())
		}
	}
}
