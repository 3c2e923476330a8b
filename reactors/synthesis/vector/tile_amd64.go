//go:build !purego

package vector

import "golang.org/x/sys/cpu"

// fused tells whether the processor multiplies and adds eight floats at once.
var fused = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// tile adds the products of three rows of a with four rows of b, n components of
// each, to three rows of four in out. Strides are in floats and may be zero; n is a
// multiple of eight. Of the next four rows of b, the cache line that is ahead floats
// from their beginning is asked for meanwhile: a hint, it may lie anywhere.
func tile(out []float32, outStride int, a []float32, aStride int, b []float32, bStride, n, ahead int) {
	if !fused {
		tilePlain(out, outStride, a, aStride, b, bStride, n)
		return
	}
	if n == 0 {
		return
	}
	_, _, _ = out[2*outStride+3], a[2*aStride+n-1], b[3*bStride+n-1]
	tileFused(&out[0], outStride, &a[0], aStride, &b[0], bStride, n, ahead)
}

//go:noescape
func tileFused(out *float32, outStride int, a *float32, aStride int, b *float32, bStride, n, ahead int)

// dot adds the products of a chunk's components, a multiple of eight, to sum.
func dot(sum float32, a, b []float32) float32 {
	if !fused || len(a) == 0 {
		return sum + foldPlain(a, b)
	}
	_ = b[len(a)-1]
	return dotFused(sum, &a[0], &b[0], len(a))
}

// dot3 adds those of three whole chunks to sum, one after the other.
func dot3(sum float32, a, b *[3 * chunk]float32) float32 {
	if !fused {
		return dot3Plain(sum, a, b)
	}
	return dotFused3(sum, &a[0], &b[0])
}

//go:noescape
func dotFused(sum float32, a, b *float32, n int) float32

//go:noescape
func dotFused3(sum float32, a, b *float32) float32
