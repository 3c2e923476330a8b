package series_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/series"
)

func TestEmotions(t *testing.T) {
	none := math.NaN()
	for _, tt := range []struct {
		name     string
		values   []float64
		positive []int32
		negative []int32
	}{
		{"None", nil, nil, nil},
		{"WithoutValues", []float64{none, none, none, none, none, none}, nil, nil},
		{"Four", []float64{.8, .8, .8, .8}, nil, nil},
		{"Five", []float64{.8, none, .8, .8, 0, .8, .8}, []int32{0, 2, 3, 5, 6}, nil},
		{"Both", []float64{.8, -.7, .8, -.7, .8, -.7, .8, -.7, .8, -.7}, []int32{0, 2, 4, 6, 8}, []int32{1, 3, 5, 7, 9}},
		{"TheLimitIsOutside", []float64{.3, .3, .3, .3, .3, .3, -.3, -.3, -.3, -.3, -.3}, nil, nil},
		{"OutOfRange", []float64{7, 7, 7, 7, 7, math.Inf(1), -9, -9, -9, -9, -9}, []int32{0, 1, 2, 3, 4}, []int32{6, 7, 8, 9, 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var positive, negative []int32
			for _, e := range series.Emotions(tt.values, 5, 1) {
				if e.Positive {
					positive = e.Members()
				} else {
					negative = e.Members()
				}
				if e.Confidence < 0.6 || math.Abs(e.Mean) > 1 || math.Abs(e.Baseline) > 1 {
					t.Errorf("%+v", e)
				}
			}
			if !slices.Equal(positive, tt.positive) || !slices.Equal(negative, tt.negative) {
				t.Errorf("positive %v, negative %v; want %v, %v", positive, negative, tt.positive, tt.negative)
			}
		})
	}
}

// Confidence tells a clear group from one at the limit, and a large one from a small.
func TestEmotionsConfidence(t *testing.T) {
	sure := func(valence float64, n, beside int, other float64) float64 {
		values := append(slices.Repeat([]float64{valence}, n), slices.Repeat([]float64{other}, beside)...)
		found := series.Emotions(values, 5, 1)
		if len(found) != 1 {
			t.Fatalf("%d of %g: %d groups", n, valence, len(found))
		}
		return found[0].Confidence
	}
	clear, barely, few, crowded := sure(.8, 40, 40, 0), sure(.31, 8, 40, .25), sure(.8, 5, 40, 0), sure(.31, 40, 200, .29)
	t.Logf("40 at 0.8: %.2f; 8 at 0.31 beside 40 at 0.25: %.2f; 5 at 0.8: %.2f; 40 at 0.31 beside 200 at 0.29: %.2f", clear, barely, few, crowded)
	if clear < 0.99 || barely > 0.5 || crowded > 0.1 || few > 0.8 || few < 0.7 {
		t.Error("confidence does not tell them apart")
	}
}

func TestEmotionsLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.Float64()).Draw(t, "values")
		for i := range values {
			values[i] = math.Mod(values[i], 3)
		}
		for _, e := range series.Emotions(values, 5, 3) {
			if len(e.Members()) < 5 || !slices.IsSorted(e.Members()) {
				t.Fatalf("members %v", e.Members())
			}
			for i, v := range values {
				in := slices.Contains(e.Members(), int32(i))
				if want := v > 0.3 && e.Positive || v < -0.3 && !e.Positive; in != want {
					t.Fatalf("value %g: in the group is %v", v, in)
				}
			}
		}
	})
}

func TestEmotionSentence(t *testing.T) {
	found := series.Emotions([]float64{-.5, -.5, -.75, -.75, -.5, .6, 0, 0}, 5, 1)
	if len(found) != 1 {
		t.Fatalf("%d groups", len(found))
	}
	if got, want := found[0].Sentence(), "5 of 8 memories with a valence are negative: -0.60 on average, where all have -0.30"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if d := found[0].Details(); d["count"] != 5 || d["of"] != 8 || d["mean"] != -0.6 || d["baseline"] != -0.3 {
		t.Errorf("details %v", d)
	}
	found = series.Emotions([]float64{.5, .5, .75, .75, .5, math.NaN()}, 5, 1)
	if got, want := found[0].Sentence(), "all 5 memories with a valence are positive: +0.60 on average"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
