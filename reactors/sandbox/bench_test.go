package sandbox_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkWarmCall is a call of a small module in a worker that has it. p50 is
// the figure of REACTORS.md: at most 100 µs.
func BenchmarkWarmCall(b *testing.B) {
	p := newPool(b)
	call := run(echo(), `{"a":1}`)
	mustRun(b, p, call)
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		mustRun(b, p, call)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkSpawn is a call in a new worker, whose program is compiled already.
func BenchmarkSpawn(b *testing.B) {
	p := newPool(b)
	call := run(echo(), `{"a":1}`)
	if _, err := p.Check(context.Background(), "ada", call.Program); err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		n++
		call.Tenant = fmt.Sprint(n)
		mustRun(b, p, call)
	}
}

// BenchmarkThroughput is as many calls at a time as there are workers.
func BenchmarkThroughput(b *testing.B) {
	p := newPool(b)
	call := run(echo(), `{"a":1}`)
	mustRun(b, p, call)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			mustRun(b, p, call)
		}
	})
}
