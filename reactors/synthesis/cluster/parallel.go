package cluster

import (
	"runtime"
	"sync"
)

// parallel gives the numbers below n to all processors, in ranges.
func parallel(n int, do func(from, to int)) {
	var wait sync.WaitGroup
	parts := min(runtime.GOMAXPROCS(0), n)
	for p := range parts {
		wait.Go(func() { do(n*p/parts, n*(p+1)/parts) })
	}
	wait.Wait()
}

// each does the numbers below n one by one, as many at once as there are processors.
func each(n int, do func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}
