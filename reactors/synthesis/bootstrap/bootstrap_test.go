package bootstrap_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/bootstrap"
)

func TestRecurrence(t *testing.T) {
	groups := [][]int32{{0, 1, 2, 3}, {4, 5, 6, 7, 8, 9}}
	for name, tt := range map[string]struct {
		find func(sample []int32) [][]int32
		want []float64
	}{
		"All":     {func([]int32) [][]int32 { return groups }, []float64{1, 1}},
		"Nothing": {func([]int32) [][]int32 { return nil }, []float64{0, 0}},
		"One":     {func([]int32) [][]int32 { return groups[1:] }, []float64{0, 1}},
		"Halves":  {func([]int32) [][]int32 { return [][]int32{{0, 1}, {4, 5, 6}} }, []float64{1, 1}},
		"Less":    {func([]int32) [][]int32 { return [][]int32{{0}, {4, 5}, {6, 7}} }, []float64{0, 0}},
		"Torn":    {func([]int32) [][]int32 { return [][]int32{{0, 1, 4, 5}, {2, 3, 6, 7}} }, []float64{0, 0}},
	} {
		if got := bootstrap.Recurrence(groups, 10, 20, 1, 1, tt.find); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// TestRecurrenceSamples: a sample has about the share, ascending, and is another one
// each time; the same seed gives the same samples.
func TestRecurrenceSamples(t *testing.T) {
	const n, runs = 1000, 50
	draw := func(seed uint64) (samples [][]int32) {
		bootstrap.Recurrence(nil, n, runs, 0.632, seed, func(sample []int32) [][]int32 {
			samples = append(samples, slices.Clone(sample))
			return nil
		})
		return samples
	}
	one, again, other := draw(1), draw(1), draw(2)
	size := 0
	for i := range one {
		size += len(one[i])
		if !slices.IsSorted(one[i]) || !slices.Equal(one[i], again[i]) || slices.Equal(one[i], other[i]) || i > 0 && slices.Equal(one[i], one[i-1]) {
			t.Fatalf("sample %d of %d", i, len(one))
		}
	}
	if share := float64(size) / n / runs; share < 0.62 || share > 0.645 {
		t.Errorf("samples have %.3f of all", share)
	}
}

func TestJaccard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := func(label string) []int32 {
			s := rapid.SliceOfDistinct(rapid.Int32Range(0, 20), rapid.ID[int32]).Draw(t, label)
			slices.Sort(s)
			return s
		}
		a, b := set("a"), set("b")
		both, either := 0, map[int32]bool{}
		for _, x := range a {
			either[x] = true
			if slices.Contains(b, x) {
				both++
			}
		}
		for _, x := range b {
			either[x] = true
		}
		want := 0.0
		if len(either) > 0 {
			want = float64(both) / float64(len(either))
		}
		if got := bootstrap.Jaccard(a, b); got != want || got != bootstrap.Jaccard(b, a) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}
