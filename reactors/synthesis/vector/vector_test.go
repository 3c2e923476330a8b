package vector_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/vector"
	"pgregory.net/rapid"
)

// dense gives n rows of any direction.
func dense(n, dim int, seed uint64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, dim)
		for x := range rows[i] {
			rows[i][x] = float32(r.NormFloat64())
		}
	}
	return rows
}

func matrix(t testing.TB, dim int, rows [][]float32) *vector.Matrix {
	t.Helper()
	m := vector.NewMatrix(len(rows), dim)
	for i, v := range rows {
		if !m.Append(v) {
			t.Fatalf("row %d has no direction", i)
		}
	}
	return m
}

func TestProductsOfEveryShape(t *testing.T) {
	for _, dim := range []int{1, 2, 7, 8, 9, 15, 16, 511, 512, 513, 1024, 1536, 3072} {
		rows := dense(103, dim, uint64(dim))
		for i, scale := range []float32{1e30, 1e-30, 1e-40} { // huge, tiny, denormal
			for x := range rows[i] {
				rows[i][x] *= scale
			}
		}
		m := matrix(t, dim, rows)
		for _, b := range [][4]int{{0, 103, 0, 103}, {0, 1, 0, 103}, {5, 6, 9, 10}, {100, 103, 99, 103}, {7, 12, 3, 9}, {4, 4, 0, 9}} {
			height, width := b[1]-b[0], b[3]-b[2]
			out := make([]float32, height*width+1)
			out[height*width] = 7
			m.Products(out, b[0], b[1], b[2], b[3])
			for i := range height {
				for j := range width {
					got := out[i*width+j]
					if dot := vector.Dot(m.Row(b[0]+i), m.Row(b[2]+j)); got != dot {
						t.Fatalf("dim %d, block %v: product (%d, %d) is %g, Dot %g", dim, b, i, j, got, dot)
					}
					var want float64
					for x, a := range m.Row(b[0] + i) {
						want += float64(a) * float64(m.Row(b[2] + j)[x])
					}
					if math.Abs(float64(got)-want) > 1e-6 {
						t.Fatalf("dim %d, block %v: product (%d, %d) is %g, want %g", dim, b, i, j, got, want)
					}
				}
			}
			if out[height*width] != 7 {
				t.Fatalf("dim %d, block %v: wrote past the block", dim, b)
			}
		}
	}
}

func TestRowsWithoutDirection(t *testing.T) {
	m := vector.NewMatrix(0, 3)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, v := range [][]float32{nil, {1, 2}, {1, 2, 3, 4}, {0, 0, 0}, {1, nan, 0}, {inf, 0, 0}, {-inf, inf, 1}} {
		if m.Append(v) || m.Rows() != 0 {
			t.Errorf("%v was added", v)
		}
	}
	for _, v := range [][]float32{{math.MaxFloat32, math.MaxFloat32, 0}, {math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32, 0}} {
		if !m.Append(v) {
			t.Fatalf("%v was not added", v)
		}
		row := m.Row(m.Rows() - 1)
		if want := float32(math.Sqrt(.5)); row[0] != want || row[1] != want || row[2] != 0 {
			t.Errorf("%v became %v", v, row)
		}
	}
}

// Rows that end in zeros are shorter to compute; their products do not change, nor
// when a longer row comes or goes.
func TestProductsOfPaddedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		used := rapid.IntRange(1, 700).Draw(t, "used")
		padded := used + rapid.IntRange(0, 900).Draw(t, "zeros")
		rows := dense(9, used, rapid.Uint64().Draw(t, "seed"))
		a, b := vector.NewMatrix(9, used), vector.NewMatrix(0, padded)
		for _, v := range rows {
			long := make([]float32, padded)
			copy(long, v)
			if a.Append(v) != b.Append(long) {
				t.Fatal("one was added, the other not")
			}
		}
		last := make([]float32, padded)
		last[padded-1] = 1
		b.Append(last)
		n := a.Rows()
		x, y := make([]float32, n*n), make([]float32, n*n)
		a.Products(x, 0, n, 0, n)
		b.Products(y, 0, n, 0, n)
		for i := range x {
			if x[i] != y[i] {
				t.Fatalf("product %d: %g, padded %g", i, x[i], y[i])
			}
		}
	})
}

func TestDotOfDifferentLengths(t *testing.T) {
	if got := vector.Dot([]float32{1, 2}, []float32{3, 4, 100}); got != 11 {
		t.Errorf("got %g", got)
	}
	if got := vector.Dot(nil, nil); got != 0 {
		t.Errorf("got %g", got)
	}
}

func TestProductsWithAnother(t *testing.T) {
	for _, dim := range []int{3, 40, 600} {
		a, b := matrix(t, dim, dense(100, dim, 1)), matrix(t, dim, dense(1000, dim, 2)) // the larger blocks on all processors
		b.Append(append(make([]float32, dim-1), 1))
		out := make([]float32, 100*1001)
		a.ProductsWith(out, 0, 100, b, 0, 1001)
		for i := range 100 {
			for j := range 1001 {
				if got, want := out[i*1001+j], vector.Dot(a.Row(i), b.Row(j)); got != want {
					t.Fatalf("dim %d: product (%d, %d) is %g, Dot %g", dim, i, j, got, want)
				}
			}
		}
	}
}

func TestTilesHaveEachPairOnce(t *testing.T) {
	for _, n := range []int{0, 1, 96, 97, 300} {
		m := matrix(t, 5, dense(n, 5, 1))
		var lock sync.Mutex
		seen := make([]int, n*n)
		err := m.Tiles(t.Context(), func(tile vector.Tile) {
			lock.Lock()
			defer lock.Unlock()
			products := tile.Products
			for i := tile.R0; i < tile.R1; i++ {
				for j := tile.C0; j < tile.C1; j++ {
					if products[0] != vector.Dot(m.Row(i), m.Row(j)) {
						t.Errorf("n %d: product (%d, %d) is %g", n, i, j, products[0])
					}
					products = products[1:]
					seen[i*n+j]++
					if tile.R0 != tile.C0 {
						seen[j*n+i]++
					}
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if at := slices.IndexFunc(seen, func(times int) bool { return times != 1 }); at >= 0 {
			t.Errorf("n %d: pair (%d, %d) %d times", n, at/n, at%n, seen[at])
		}
	}
}
