package phrase

import (
	"hash/fnv"
	"math"
)

// dimension is that of vectors where none is asked for.
const dimension = 1024

// Vectors gives each text a vector of unit length, so that the cosine of two is high when they share rare words: TF-IDF
// of the stems with sublinear term frequency, 1 + ln tf, and smoothed idf, ln((1+n)/(1+df)) + 1, as scikit-learn has it,
// hashed with signs into dim numbers (Weinberger et al. 2009), 1,024 where dim is 0 or less. A text without tokens has
// none (nil).
func Vectors(texts []string, dim int) [][]float32 {
	if dim <= 0 {
		dim = dimension
	}
	read := analyse(texts)
	number := map[string]int{} // of each stem
	var hashes []uint64
	var df []int
	documents := make([]map[int]int, len(texts)) // the frequency of each stem, by its number
	orders := make([][]int, len(texts))          // its stems as they first appear: sums of floats depend on their order
	for i, a := range read {
		tf := make(map[int]int, len(a.terms))
		for _, t := range a.terms {
			id, known := number[t.stem]
			if !known {
				id = len(df)
				number[t.stem] = id
				df = append(df, 0)
				hash := fnv.New64a()
				_, _ = hash.Write([]byte(t.stem)) // never fails
				hashes = append(hashes, mix(hash.Sum64()))
			}
			if tf[id]++; tf[id] == 1 {
				df[id]++
				orders[i] = append(orders[i], id)
			}
		}
		documents[i] = tf
	}
	vectors := make([][]float32, len(texts))
	sum := make([]float64, dim)
	for i, tf := range documents {
		if len(tf) == 0 {
			continue
		}
		clear(sum)
		for _, id := range orders[i] {
			weight := (1 + math.Log(float64(tf[id]))) * (math.Log(float64(1+len(texts))/float64(1+df[id])) + 1)
			if hashes[id]>>63 == 1 {
				weight = -weight
			}
			sum[hashes[id]%uint64(dim)] += weight
		}
		var square float64
		for _, x := range sum {
			square += x * x
		}
		if square == 0 { // all of it cancelled out: the first word alone stands for the text
			sum[hashes[orders[i][0]]%uint64(dim)], square = 1, 1
		}
		v := make([]float32, dim)
		for j, x := range sum {
			v[j] = float32(x / math.Sqrt(square))
		}
		vectors[i] = v
	}
	return vectors
}

// mix spreads FNV's bits, the upper ones of which hardly differ between short words (the finaliser of MurmurHash3).
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
