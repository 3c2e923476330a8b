package vector

import (
	"context"
	"runtime"
	"sync"

	"github.com/helixd/helixd/internal/parallel"
)

// Dot is the sum of products. Of many rows, Products are an order faster.
func Dot(a, b []float32) float32 {
	b = b[:len(a)]
	var sum float32
	for ; len(a) >= 3*chunk; a, b = a[3*chunk:], b[3*chunk:] {
		sum = dot3(sum, (*[3 * chunk]float32)(a), (*[3 * chunk]float32)(b))
	}
	for ; len(a) >= chunk; a, b = a[chunk:], b[chunk:] {
		sum = dot(sum, a[:chunk], b)
	}
	whole := len(a) / lanes * lanes
	if whole == len(a) {
		return dot(sum, a, b)
	}
	var tail [2][chunk]float32
	copy(tail[0][:], a)
	copy(tail[1][:], b)
	return dot(sum, tail[0][:whole+lanes], tail[1][:])
}

// Similarities writes the products of row i with the rows [from, to) into out.
func (m *Matrix) Similarities(out []float32, i, from, to int) { m.Products(out, i, i+1, from, to) }

// Products writes the products of the rows [r0, r1) with the rows [c0, c1) into out,
// row by row, on all processors where it is worth it.
func (m *Matrix) Products(out []float32, r0, r1, c0, c1 int) {
	m.ProductsWith(out, r0, r1, m, c0, c1)
}

// ProductsWith writes the products of the rows [r0, r1) with the rows [c0, c1) of
// another Matrix of the same dimension, as Products does.
func (m *Matrix) ProductsWith(out []float32, r0, r1 int, other *Matrix, c0, c1 int) {
	const worth = 1 << 22 // multiplications
	width := c1 - c0
	out = out[:(r1-r0)*width]
	if len(out)*m.used < worth {
		block(out, width, m, r0, r1, other, c0, c1)
		return
	}
	const wide = 4 * blockRows
	across := (width + wide - 1) / wide
	down := (r1 - r0 + blockRows - 1) / blockRows
	parallel.Each(across*down, func(at int) {
		r, c := at/across*blockRows, at%across*wide
		block(out[r*width+c:], width, m, r0+r, min(r0+r+blockRows, r1), other, c0+c, min(c0+c+wide, c1))
	})
}

// Tile holds the products of the rows [R0, R1) with the rows [C0, C1), row by row.
type Tile struct {
	R0, R1, C0, C1 int
	Products       []float32
}

// Tiles computes each pair of rows once, in tiles on and above the diagonal, and
// visits them, from several goroutines at once and in any order. Those on the diagonal are
// whole squares. A visit may keep nothing of the tile. It ends early with ctx's error.
func (m *Matrix) Tiles(ctx context.Context, visit func(Tile)) error {
	rows := m.Rows()
	pairs := pairs{blocks: (rows + blockRows - 1) / blockRows}
	parallel.Each(min(pairs.blocks, runtime.GOMAXPROCS(0)), func(int) {
		products := make([]float32, blockRows*blockRows)
		for i, j, ok := pairs.next(); ok && ctx.Err() == nil; i, j, ok = pairs.next() {
			t := Tile{R0: i * blockRows, R1: min((i+1)*blockRows, rows), C0: j * blockRows, C1: min((j+1)*blockRows, rows)}
			width := t.C1 - t.C0
			t.Products = products[:(t.R1-t.R0)*width]
			block(t.Products, width, m, t.R0, t.R1, m, t.C0, t.C1)
			visit(t)
		}
	})
	return ctx.Err()
}

// pairs hands out the pairs of blocks i ≤ j, each once.
type pairs struct {
	sync.Mutex
	blocks, i, j int
}

func (p *pairs) next() (i, j int, ok bool) {
	p.Lock()
	defer p.Unlock()
	i, j, ok = p.i, p.j, p.i < p.blocks
	if p.j++; p.j >= p.blocks {
		p.i++
		p.j = p.i
	}
	return i, j, ok
}
