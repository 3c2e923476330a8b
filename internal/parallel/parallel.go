// Package parallel does the parts of a computation at once.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls f with 0 to n-1, as many at a time as there are processors. Each call
// keeps its result in its own place, so their order does not show. A panic goes on in
// the caller, who may be ready for it: in a goroutine it would end the process.
func Each(n int, f func(i int)) {
	var next atomic.Int64
	var done sync.WaitGroup
	var failed atomic.Pointer[any]
	for range min(n, runtime.GOMAXPROCS(0)) {
		done.Go(func() {
			defer func() {
				if r := recover(); r != nil {
					failed.Store(&r)
				}
			}()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	done.Wait()
	if r := failed.Load(); r != nil {
		panic(*r)
	}
}

// Ranges is Each over all numbers below n, a range for each processor.
func Ranges(n int, f func(from, to int)) {
	parts := min(runtime.GOMAXPROCS(0), n)
	Each(parts, func(p int) { f(n*p/parts, n*(p+1)/parts) })
}
