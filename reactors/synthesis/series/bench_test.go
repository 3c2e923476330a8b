package series_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/series"
)

// What each kind costs, with its confidences.
func Benchmark(b *testing.B) {
	for _, n := range []int{1000, 20_000, 100_000} {
		random := source(1)
		sessions, _ := sitting(random, n/9)
		times := poisson(random, n, float64(n)/20)
		evenings := habit(random, float64(n)/2, day, 20*hour, hour, 1, n/2)
		values := slices.Concat(white(random, n/2, .3, .3), white(random, n/2, -.2, .3))
		for _, bb := range []struct {
			name string
			find func()
		}{
			{"Sessions", func() { series.Sessions(sessions, 3, 1) }},
			{"Bursts", func() { series.Bursts(sessions, 3, 1) }},
			{"Periods", func() { series.Periods(evenings, 3, 1) }},
			{"Emotions", func() { series.Emotions(values, 5, 1) }},
			{"Shifts", func() { series.Shifts(times, values, 1) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", bb.name, n), func(b *testing.B) {
				for b.Loop() {
					bb.find()
				}
			})
		}
	}
}
