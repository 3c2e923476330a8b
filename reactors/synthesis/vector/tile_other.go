//go:build !amd64 || purego

package vector

// tile adds the products of three rows of a with four rows of b, n components of
// each, to three rows of four in out. Strides are in floats and may be zero; n is a
// multiple of eight. Of the next four rows of b, the cache line that is ahead floats
// from their beginning is asked for meanwhile: a hint, it may lie anywhere.
func tile(out []float32, outStride int, a []float32, aStride int, b []float32, bStride, n, _ int) {
	tilePlain(out, outStride, a, aStride, b, bStride, n)
}

// dot adds the products of a chunk's components, a multiple of eight, to sum.
func dot(sum float32, a, b []float32) float32 { return sum + foldPlain(a, b) }

// dot3 adds those of three whole chunks to sum, one after the other.
func dot3(sum float32, a, b *[3 * chunk]float32) float32 { return dot3Plain(sum, a, b) }
