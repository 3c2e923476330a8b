package vector

import (
	"math"
	"slices"
)

// Matrix is n rows of dim float32 each, of unit length, so that the product of two
// is their cosine similarity.
type Matrix struct {
	dim    int
	stride int       // from row to row in data
	used   int       // components, a multiple of eight, past which all rows are zero
	data   []float32 // row by row, each followed by zeros
}

// NewMatrix makes a Matrix with room for n rows.
func NewMatrix(n, dim int) *Matrix {
	stride := (dim + lanes - 1) / lanes * lanes
	if stride%chunk == 0 {
		stride += 2 * lanes // rows a power of two apart would share the cache's sets
	}
	return &Matrix{dim: dim, stride: stride, data: make([]float32, 0, n*stride)}
}

// Rows is their number.
func (m *Matrix) Rows() int { return len(m.data) / m.stride }

// Dim is the number of a row's components.
func (m *Matrix) Dim() int { return m.dim }

// Row gives the i-th; it is valid until the Matrix changes.
func (m *Matrix) Row(i int) []float32 {
	from := i * m.stride
	return m.data[from : from+m.dim : from+m.dim]
}

// Append adds a row, scaled to unit length. It reports false, and adds nothing,
// where v has no direction: another number of components, zero, or one that is not finite.
func (m *Matrix) Append(v []float32) bool {
	var sum float64
	used := 0
	for i, x := range v {
		if x != 0 {
			used = i + 1
		}
		sum += float64(x) * float64(x)
	}
	if len(v) != m.dim || sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return false
	}
	scale := 1 / math.Sqrt(sum)
	from := len(m.data)
	m.data = slices.Grow(m.data, m.stride)[:from+m.stride]
	for i, x := range v {
		m.data[from+i] = float32(float64(x) * scale)
	}
	clear(m.data[from+m.dim:])
	m.used = max(m.used, (used+lanes-1)/lanes*lanes)
	return true
}

// Remove takes row i out; the last row takes its place and number.
func (m *Matrix) Remove(i int) {
	last := m.Rows() - 1
	copy(m.Row(i), m.Row(last))
	m.data = m.data[:last*m.stride]
}

// gather copies the rows of these numbers into dst, which is emptied first.
func (m *Matrix) gather(dst *Matrix, rows []int32) {
	dst.dim, dst.stride, dst.used, dst.data = m.dim, m.stride, m.used, dst.data[:0]
	for _, i := range rows {
		dst.data = append(dst.data, m.data[int(i)*m.stride:(int(i)+1)*m.stride]...)
	}
}
