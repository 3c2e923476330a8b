package parallel_test

import (
	"sync/atomic"
	"testing"

	"github.com/helixd/helixd/internal/parallel"
)

func TestEveryNumberOnce(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 7, 1000} {
		times := make([]atomic.Int32, n)
		parallel.Each(n, func(i int) { times[i].Add(1) })
		parallel.Ranges(n, func(from, to int) {
			for i := from; i < to; i++ {
				times[i].Add(1)
			}
		})
		for i := range times {
			if got := times[i].Load(); got != 2 {
				t.Errorf("%d of %d: %d times, want once by each", i, n, got)
			}
		}
	}
}

// TestPanic has the caller get a panic, which in a goroutine nobody could.
func TestPanic(t *testing.T) {
	defer func() {
		if r := recover(); r != "seven" {
			t.Errorf("recovered %v", r)
		}
	}()
	parallel.Each(100, func(i int) {
		if i == 7 {
			panic("seven")
		}
	})
	t.Error("it went on")
}
