package vector

import (
	"context"
	"math"
	"sync"
)

// Neighbours are the K nearest rows of each row, nearest first, itself left out,
// equal similarities by row number. Where there are fewer than K others, Row is -1.
type Neighbours struct {
	K          int
	Row        []int32   // of row i: [i*K, (i+1)*K)
	Similarity []float32 // likewise
}

// Of gives row i's.
func (n *Neighbours) Of(i int) (rows []int32, similarities []float32) {
	return n.Row[i*n.K : (i+1)*n.K], n.Similarity[i*n.K : (i+1)*n.K]
}

// grow makes room for rows, the new ones without neighbours.
func (n *Neighbours) grow(rows int) {
	for len(n.Row) < rows*n.K {
		n.Row, n.Similarity = append(n.Row, -1), append(n.Similarity, 0)
	}
}

// bar is the similarity below which a row is not among i's neighbours.
func (n *Neighbours) bar(i int) float32 {
	switch rows, similarities := n.Of(i); {
	case n.K == 0:
		return float32(math.Inf(1))
	case rows[n.K-1] < 0:
		return float32(math.Inf(-1))
	default:
		return similarities[n.K-1]
	}
}

// offer puts row j among i's neighbours where it is nearer than the last of them.
func (n *Neighbours) offer(i int, j int32, similarity float32) bool {
	rows, similarities := n.Of(i)
	x := n.K
	for x > 0 && (rows[x-1] < 0 || similarity > similarities[x-1] || similarity == similarities[x-1] && j < rows[x-1]) {
		x--
	}
	if x == n.K {
		return false
	}
	copy(rows[x+1:], rows[x:])
	copy(similarities[x+1:], similarities[x:])
	rows[x], similarities[x] = j, similarity
	return true
}

// scan offers the rows from, from+1 … of these similarities to row i.
func (n *Neighbours) scan(i, from int, similarities []float32) {
	bar := n.bar(i)
	for x, s := range similarities {
		if s >= bar && from+x != i && n.offer(i, int32(from+x), s) {
			bar = n.bar(i)
		}
	}
}

// Nearest finds the k nearest rows of each row, exactly, on all processors; the
// result does not depend on how many there are. It ends early with ctx's error.
func (m *Matrix) Nearest(ctx context.Context, k int) (*Neighbours, error) {
	rows := m.Rows()
	nn := &Neighbours{K: k, Row: make([]int32, 0, rows*k), Similarity: make([]float32, 0, rows*k)}
	nn.grow(rows)
	locks := make([]sync.Mutex, rows/blockRows+1) // of each block's lists
	err := m.Tiles(ctx, func(t Tile) {
		lock := &locks[t.R0/blockRows]
		lock.Lock()
		nn.scanRows(t)
		lock.Unlock()
		if t.R0 != t.C0 {
			lock = &locks[t.C0/blockRows]
			lock.Lock()
			nn.scanColumns(t)
			lock.Unlock()
		}
	})
	if err != nil {
		return nil, err
	}
	return nn, nil
}

// scanRows offers its columns to a tile's rows.
func (n *Neighbours) scanRows(t Tile) {
	width := t.C1 - t.C0
	for r := range t.R1 - t.R0 {
		n.scan(t.R0+r, t.C0, t.Products[r*width:][:width])
	}
}

// scanColumns offers its rows to a tile's columns.
func (n *Neighbours) scanColumns(t Tile) {
	var all [blockRows]float32
	bars := all[:t.C1-t.C0]
	for c := range bars {
		bars[c] = n.bar(t.C0 + c)
	}
	for r := range t.R1 - t.R0 {
		for c, s := range t.Products[r*len(bars):][:len(bars)] {
			if s >= bars[c] && n.offer(t.C0+c, int32(t.R0+r), s) {
				bars[c] = n.bar(t.C0 + c)
			}
		}
	}
}
