package vector

// tilePlain is tile in plain Go.
func tilePlain(out []float32, outStride int, a []float32, aStride int, b []float32, bStride, n int) {
	for i := range tileRows {
		for j := range tileColumns {
			out[i*outStride+j] += foldPlain(a[i*aStride:][:n], b[j*bStride:][:n])
		}
	}
}

// dot3Plain is dot3 in plain Go.
func dot3Plain(sum float32, a, b *[3 * chunk]float32) float32 {
	for k := 0; k < len(a); k += chunk {
		sum += foldPlain(a[k:k+chunk], b[k:k+chunk])
	}
	return sum
}

// foldPlain is the sum of products of two chunks, of a multiple of eight components.
// The conversions keep a compiler from fusing some of them only.
func foldPlain(a, b []float32) float32 {
	var s [lanes]float32
	for ; len(a) >= lanes && len(b) >= lanes; a, b = a[lanes:], b[lanes:] {
		s[0] += float32(a[0] * b[0])
		s[1] += float32(a[1] * b[1])
		s[2] += float32(a[2] * b[2])
		s[3] += float32(a[3] * b[3])
		s[4] += float32(a[4] * b[4])
		s[5] += float32(a[5] * b[5])
		s[6] += float32(a[6] * b[6])
		s[7] += float32(a[7] * b[7])
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}
