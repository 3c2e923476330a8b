package wasm_test

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/tetratelabs/wazero/experimental"

	"github.com/helixd/helixd/reactors/sandbox"
)

// reusing is an allocator that keeps its memory, as a child's does; it cleans as
// much of it as echo can have written.
type reusing struct{ buffer []byte }

func (r *reusing) Allocate(_, _ uint64) experimental.LinearMemory { return r }

func (r *reusing) Reallocate(size uint64) []byte {
	if size > uint64(cap(r.buffer)) {
		r.buffer = make([]byte, size, 2*size)
	}
	return r.buffer[:size]
}

func (r *reusing) Free() { clear(r.buffer[:cap(r.buffer)][:min(64<<10, cap(r.buffer))]) }

// BenchmarkRun is one call with its instance; p50-µs is its median.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name      string
		code      []byte
		allocator experimental.MemoryAllocator
	}{
		{"skill", echo(), &goMemory{}},
		{"skill, memory reused", echo(), &reusing{}},
		{"go", goCommand(b), &goMemory{}},
	} {
		loaded := load(b, c.code)
		b.Run(c.name, func(b *testing.B) {
			ctx := experimental.WithMemoryAllocator(context.Background(), c.allocator)
			env := &sandbox.Env{Input: []byte(`{"a":1}`), Limits: sandbox.DefaultLimits, Now: now, Logs: io.Discard}
			var took []time.Duration
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				if _, err := loaded.Run(ctx, env); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1000, "p50-µs")
		})
	}
}
