package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/vector"
	"github.com/viterin/vek/vek32"
)

// BenchmarkVector compares embeddings of 1,536 dimensions beside viterin/vek, on one
// processor: `go test -run '^$' -bench Vector .`
func BenchmarkVector(b *testing.B) {
	const n, dim = 768, 1536
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	r := rand.New(rand.NewPCG(1, 2))
	m := vector.NewMatrix(n, dim)
	across := make([]float32, dim*n) // as MatMul wants the other factor
	for i := range n {
		v := make([]float32, dim)
		for x := range v {
			v[x] = float32(r.NormFloat64())
		}
		m.Append(v)
		for x, f := range m.Row(i) {
			across[x*n+i] = f
		}
	}
	var down []float32
	for i := range n {
		down = append(down, m.Row(i)...)
	}
	ours, theirs := make([]float32, n*n), make([]float32, n*n)
	m.Products(ours, 0, n, 0, n)
	vek32.MatMul_Into(theirs, down, across, dim)
	for i := range ours {
		if math.Abs(float64(ours[i]-theirs[i])) > 1e-5 {
			b.Fatalf("product %d is %g, vek's %g", i, ours[i], theirs[i])
		}
	}
	run := func(name string, products int, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(2*dim*float64(products)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
	run("Dot/helixd", 1, func() { vector.Dot(m.Row(0), m.Row(1)) })
	run("Dot/vek", 1, func() { vek32.Dot(m.Row(0), m.Row(1)) })
	run("Products/helixd", n*n, func() { m.Products(ours, 0, n, 0, n) })
	run("Products/vek-MatMul", n*n, func() { vek32.MatMul_Into(theirs, down, across, dim) })
	run("Products/vek-Dot", n*n, func() {
		for i := range n {
			for j := range n {
				theirs[i*n+j] = vek32.Dot(m.Row(i), m.Row(j))
			}
		}
	})
}
