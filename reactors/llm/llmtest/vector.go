package llmtest

import (
	"hash/fnv"
	"math"
	"strings"
)

// Vector is a text's vector of length 1: texts that share words are near.
func Vector(text string, dimensions int) []float32 {
	sum := make([]float64, dimensions)
	for _, word := range append(strings.Fields(strings.ToLower(text)), "") {
		h := fnv.New64a()
		h.Write([]byte(word))
		x := h.Sum64()
		for i := range sum { // xorshift
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			sum[i] += float64(int32(x)) / math.MaxInt32
		}
	}
	var length float64
	for _, n := range sum {
		length += n * n
	}
	vector := make([]float32, dimensions)
	for i, n := range sum {
		vector[i] = float32(n / math.Sqrt(length))
	}
	return vector
}
