package vector

import (
	"context"
	"slices"
)

// Index is a Matrix with the exact Neighbours of its rows, kept while rows come and
// go: a row that comes costs one product with each other row, one that goes likewise
// for each row that it was a neighbour of. It equals a new Index of the same rows.
type Index struct {
	m       *Matrix
	nn      *Neighbours
	changed []bool // of each row, since Changed
}

// NewIndex finds the k nearest neighbours of m's rows; m then belongs to the Index.
func NewIndex(ctx context.Context, m *Matrix, k int) (*Index, error) {
	nn, err := m.Nearest(ctx, k)
	if err != nil {
		return nil, err
	}
	x := &Index{m: m, nn: nn, changed: make([]bool, m.Rows())}
	return x, nil
}

// Matrix gives the rows, to be read only.
func (x *Index) Matrix() *Matrix { return x.m }

// Neighbours gives the lists, to be read only until the Index changes.
func (x *Index) Neighbours() *Neighbours { return x.nn }

// Bytes is the memory that it holds.
func (x *Index) Bytes() int {
	return 4*cap(x.m.data) + 4*cap(x.nn.Row) + 4*cap(x.nn.Similarity) + cap(x.changed)
}

// Changed gives the rows, ascending, whose set of neighbours is another than when it
// was last called, or the Index made; new rows are among them, rows that only have
// another number, or neighbours with another number, are not.
func (x *Index) Changed() []int32 {
	var rows []int32
	for i, changed := range x.changed {
		if changed {
			rows = append(rows, int32(i))
		}
	}
	clear(x.changed)
	return rows
}

// Insert adds v as the last row, as Matrix.Append does.
func (x *Index) Insert(v []float32) bool { return x.InsertAll([][]float32{v})[0] }

// InsertAll adds many in order, and reports of each whether it has a direction.
func (x *Index) InsertAll(vs [][]float32) []bool {
	before := x.m.Rows()
	added := make([]bool, len(vs))
	for i, v := range vs {
		added[i] = x.m.Append(v)
	}
	rows := x.m.Rows()
	x.nn.grow(rows)
	for i := before; i < rows; i++ {
		x.changed = append(x.changed, true)
	}
	if rows-before > before {
		x.renew()
		return added
	}
	out := make([]float32, min(blockRows, rows-before)*rows)
	for r0 := before; r0 < rows; r0 += blockRows {
		r1 := min(r0+blockRows, rows)
		x.m.Products(out, r0, r1, 0, rows)
		for r := r0; r < r1; r++ {
			similarities := out[(r-r0)*rows:][:rows]
			x.nn.scan(r, 0, similarities)
			for c, s := range similarities[:before] {
				if x.nn.offer(c, int32(r), s) {
					x.changed[c] = true
				}
			}
		}
	}
	return added
}

// Remove takes row i out; the last row takes its number, as in Matrix.Remove.
func (x *Index) Remove(i int) { x.RemoveAll([]int{i}) }

// RemoveAll takes many out as Remove would, the highest number first.
func (x *Index) RemoveAll(rows []int) {
	rows = slices.Clone(rows)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	was := make([]int32, x.m.Rows()) // the former number of each row
	for i := range was {
		was[i] = int32(i)
	}
	for _, i := range slices.Backward(rows) {
		last := len(was) - 1
		was[i], x.changed[i] = was[last], x.changed[last]
		toRows, toSimilarities := x.nn.Of(i)
		fromRows, fromSimilarities := x.nn.Of(last)
		copy(toRows, fromRows)
		copy(toSimilarities, fromSimilarities)
		x.m.Remove(i)
		was, x.changed = was[:last], x.changed[:last]
		x.nn.Row, x.nn.Similarity = x.nn.Row[:last*x.nn.K], x.nn.Similarity[:last*x.nn.K]
	}
	x.repair(x.renumber(was, len(was)+len(rows)))
}

// renumber puts the rows' new numbers into the lists: of so many rows before, each of
// now was this one. It gives the rows whose list has lost one, and those with another number.
func (x *Index) renumber(was []int32, before int) (lost, moved []int32) {
	now := make([]int32, before)
	for i := range now {
		now[i] = -1
	}
	for i, w := range was {
		now[w] = int32(i)
		if int32(i) != w {
			moved = append(moved, int32(i))
		}
	}
	for i := range was {
		rows, similarities := x.nn.Of(i)
		whole := true
		for at, j := range rows {
			if j < 0 {
				break
			}
			j, s := now[j], similarities[at]
			whole = whole && j >= 0
			for ; at > 0 && similarities[at-1] == s && rows[at-1] > j; at-- {
				rows[at] = rows[at-1]
			}
			rows[at] = j
		}
		if !whole {
			lost = append(lost, int32(i))
			x.changed[i] = true
		}
	}
	return lost, moved
}

// repair finds the neighbours of the rows that have lost one anew, and offers those
// with another number to all: among equally near ones the lower number counts.
func (x *Index) repair(lost, moved []int32) {
	again := slices.Concat(lost, moved)
	slices.Sort(again)
	again = slices.Compact(again)
	rows := x.m.Rows()
	if 2*len(again) > rows {
		x.renew()
		return
	}
	for _, i := range lost {
		list, similarities := x.nn.Of(int(i))
		for at := range list {
			list[at], similarities[at] = -1, 0
		}
	}
	some := NewMatrix(min(blockRows, len(again)), x.m.dim)
	out := make([]float32, min(blockRows, len(again))*rows)
	for part := range slices.Chunk(again, blockRows) {
		x.m.gather(some, part)
		some.ProductsWith(out, 0, len(part), x.m, 0, rows)
		for at, i := range part {
			similarities := out[at*rows:][:rows]
			if _, found := slices.BinarySearch(lost, i); found {
				x.nn.scan(int(i), 0, similarities)
			}
			if _, found := slices.BinarySearch(moved, i); found {
				x.offerAll(i, lost, similarities)
			}
		}
	}
}

// offerAll offers row i to all others but the lost, which find it by themselves.
func (x *Index) offerAll(i int32, lost []int32, similarities []float32) {
	for j, s := range similarities {
		if len(lost) > 0 && lost[0] == int32(j) {
			lost = lost[1:]
			continue
		}
		if int32(j) == i || s < x.nn.bar(j) {
			continue
		}
		if rows, _ := x.nn.Of(j); !slices.Contains(rows, i) && x.nn.offer(j, i, s) {
			x.changed[j] = true
		}
	}
}

// renew finds all neighbours again, where that is less work.
func (x *Index) renew() {
	nn, err := x.m.Nearest(context.Background(), x.nn.K)
	if err != nil {
		panic(err) // the background is never done
	}
	for i := range x.changed {
		before, _ := x.nn.Of(i)
		after, _ := nn.Of(i)
		x.changed[i] = x.changed[i] || !slices.Equal(before, after)
	}
	x.nn = nn
}
