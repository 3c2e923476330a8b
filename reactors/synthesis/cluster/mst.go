package cluster

import (
	"context"

	"github.com/helixd/helixd/internal/parallel"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// distances are those between all pairs of n rows, which is 4 n² bytes: Prim's
// algorithm reads whole rows of it.
type distances struct {
	n    int
	data []float32
}

func newDistances(ctx context.Context, m *vector.Matrix) (*distances, error) {
	n := m.Rows()
	d := &distances{n, make([]float32, n*n)}
	return d, m.Tiles(ctx, func(t vector.Tile) {
		width := t.C1 - t.C0
		for x, v := range t.Products {
			t.Products[x] = distance(v)
		}
		for r := t.R0; r < t.R1; r++ {
			copy(d.row(r)[t.C0:], t.Products[(r-t.R0)*width:][:width])
		}
		for c := t.C0; c < t.C1; c++ {
			row := d.row(c)[t.R0:t.R1]
			for x := range row {
				row[x] = t.Products[x*width+c-t.C0]
			}
		}
		if t.R0 == t.C0 {
			for i := t.R0; i < t.R1; i++ {
				d.row(i)[i] = 0
			}
		}
	})
}

// zero is what float32 makes of a distance of 0 between long rows: less is none.
const zero = 1.0 / (1 << 22)

// distance is the cosine distance of a similarity: 1 - s, never negative.
func distance(s float32) float32 {
	if d := 1 - s; d >= zero {
		return d
	}
	return 0
}

func (d *distances) row(i int) []float32 { return d.data[i*d.n : (i+1)*d.n] }

// beyond is more than any cosine distance.
const beyond = 4

// core gives each row's distance to its k-th nearest, itself counted.
func (d *distances) core(k int) []float32 {
	core := make([]float32, d.n)
	parallel.Ranges(d.n, func(from, to int) {
		near := make([]float32, k) // ascending
		for i := from; i < to; i++ {
			for x := range near {
				near[x] = beyond
			}
			for _, v := range d.row(i) {
				if v < near[k-1] {
					place(near, v)
				}
			}
			core[i] = near[k-1]
		}
	})
	return core
}

// place puts v among ascending values, of which the last one leaves.
func place(near []float32, v float32) {
	i := len(near) - 1
	for ; i > 0 && near[i-1] > v; i-- {
		near[i] = near[i-1]
	}
	near[i] = v
}

// spanning gives the minimum spanning tree of mutual reachability, max(core of
// both, distance), as a chain: rows in the order in which Prim's algorithm, begun
// at row 0, reaches them, and how far each was from all before it. For each
// threshold, the rows that hang together lie side by side in it, between greater
// values, so it has the same single linkage as the tree.
func (d *distances) spanning(ctx context.Context, core []float32) (order []int32, reach []float32, err error) {
	order, reach = make([]int32, 1, d.n), make([]float32, 1, d.n)
	left, best := make([]int32, d.n-1), make([]float32, d.n-1) // ascending; how far each is
	for x := range left {
		left[x], best[x] = int32(x+1), beyond
	}
	for current := int32(0); len(left) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		row, own := d.row(int(current)), core[current]
		nearest, at := float32(beyond+1), 0
		best := best[:len(left)]
		for x, j := range left {
			v := best[x]
			if d := row[j]; d < v && core[j] < v && own < v {
				v = max(d, core[j], own)
				best[x] = v
			}
			if v < nearest {
				nearest, at = v, x
			}
		}
		current = left[at]
		order, reach = append(order, current), append(reach, nearest)
		left = append(left[:at], left[at+1:]...)
		copy(best[at:], best[at+1:])
	}
	return order, reach, nil
}
