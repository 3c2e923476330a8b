package vector_test

import (
	"fmt"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/vector"
)

const embedding = 1536

// gflops reports multiplications and additions a second.
func gflops(b *testing.B, products int) {
	b.ReportMetric(2*embedding*float64(products)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkDot(b *testing.B) {
	m := matrix(b, embedding, dense(2, embedding, 1))
	for b.Loop() {
		vector.Dot(m.Row(0), m.Row(1))
	}
	gflops(b, 1)
}

func BenchmarkSimilarities(b *testing.B) {
	const n = 5000
	m := matrix(b, embedding, dense(n, embedding, 1))
	out := make([]float32, n)
	for b.Loop() {
		m.Similarities(out, 7, 0, n)
	}
	gflops(b, n)
}

func BenchmarkProducts(b *testing.B) {
	const n = 2000
	m := matrix(b, embedding, dense(n, embedding, 1))
	for _, rows := range []int{96, 256, n} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			out := make([]float32, rows*n)
			for b.Loop() {
				m.Products(out, 0, rows, 0, n)
			}
			gflops(b, rows*n)
		})
	}
}

func BenchmarkNearest(b *testing.B) {
	for _, n := range []int{1000, 5000, 20000} {
		m := matrix(b, embedding, dense(n, embedding, 1))
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				nearest(b, m, 15)
			}
			gflops(b, n*n/2)
		})
	}
}

func BenchmarkInsert(b *testing.B) {
	for _, n := range []int{5000, 20000} {
		x, err := vector.NewIndex(b.Context(), matrix(b, embedding, dense(n, embedding, 1)), 15)
		if err != nil {
			b.Fatal(err)
		}
		more := dense(100, embedding, 2)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				x.Insert(more[i%len(more)])
			}
			gflops(b, n)
		})
		b.Run(fmt.Sprintf("remove/n=%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				x.Remove(i * 7919 % x.Matrix().Rows())
			}
		})
	}
}
