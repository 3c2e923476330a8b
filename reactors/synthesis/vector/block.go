package vector

const (
	lanes       = 8   // floats multiplied and added at once
	line        = 16  // floats of a cache line
	chunk       = 512 // components after which the lanes are folded; a tile's stay in L1
	tileRows    = 3   // with tileColumns, what sixteen registers hold
	tileColumns = 4
	blockRows   = 96 // of which a chunk stays in L2, and whose tiles ask for the next rows' chunk
)

// block writes the products of a's rows [r0, r1), at most a few blockRows, with b's
// rows [c0, c1) into rows of out that begin stride apart.
func block(out []float32, stride int, a *Matrix, r0, r1 int, b *Matrix, c0, c1 int) {
	if r0 == r1 {
		return
	}
	for i := range r1 - r0 {
		clear(out[i*stride:][:c1-c0])
	}
	span := c1 - c0 // of b's rows, before the next chunk
	if r1-r0 <= 2*tileRows {
		span = tileColumns // a stays in L1 whole, so b is read in the order of memory
	}
	used := min(a.used, b.used)
	for from := c0; from < c1; from += span {
		for k := 0; k < used; k += chunk {
			addChunk(out[from-c0:], stride, a, r0, r1, b, from, min(from+span, c1), k, min(chunk, used-k))
		}
	}
}

// addChunk adds the products of n components from k on.
func addChunk(out []float32, stride int, a *Matrix, r0, r1 int, b *Matrix, c0, c1, k, n int) {
	for j := c0; j < c1; {
		bStride, columns := b.stride, tileColumns
		if c1-j < tileColumns {
			bStride, columns = 0, 1
		}
		for i := r0; i < r1; {
			aStride, rows := a.stride, tileRows
			if r1-i < tileRows {
				aStride, rows = 0, 1
			}
			to, x, y := out[(i-r0)*stride+j-c0:], a.data[i*a.stride+k:], b.data[j*b.stride+k:]
			if rows == tileRows && columns == tileColumns {
				tile(to, stride, x, aStride, y, bStride, n, (i-r0)/tileRows*line)
			} else {
				edge(to, stride, rows, columns, x, aStride, y, bStride, n)
			}
			i += rows
		}
		j += columns
	}
}

// edge is a tile of which only rows × columns count, the others repeating them.
func edge(out []float32, stride, rows, columns int, a []float32, aStride int, b []float32, bStride, n int) {
	var whole [tileRows * tileColumns]float32
	tile(whole[:], tileColumns, a, aStride, b, bStride, n, 0)
	for i := range rows {
		for j := range columns {
			out[i*stride+j] += whole[i*tileColumns+j]
		}
	}
}
