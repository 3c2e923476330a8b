package cluster

import "math"

// contingency counts the rows that two labellings put together: per pair of
// clusters, and per cluster of each. Noise is a cluster of its own here.
func contingency(a, b Labels) (both map[[2]int32]float64, inA, inB map[int32]float64) {
	both, inA, inB = map[[2]int32]float64{}, map[int32]float64{}, map[int32]float64{}
	for i := range a {
		both[[2]int32{a[i], b[i]}]++
		inA[a[i]]++
		inB[b[i]]++
	}
	return both, inA, inB
}

// ARI is the adjusted Rand index of two labellings of the same rows (Hubert and
// Arabie 1985): 1 for equal ones, about 0 for independent ones. Noise counts as one
// cluster, unless the caller has given each row of it a label of its own.
func ARI(a, b Labels) float64 {
	both, inA, inB := contingency(a, b)
	var together, pairsA, pairsB float64
	for _, n := range both {
		together += n * (n - 1) / 2
	}
	for _, n := range inA {
		pairsA += n * (n - 1) / 2
	}
	for _, n := range inB {
		pairsB += n * (n - 1) / 2
	}
	n := float64(len(a))
	if n < 2 || pairsA == pairsB && pairsA == together {
		return 1 // the same partition
	}
	expected := pairsA * pairsB / (n * (n - 1) / 2)
	return (together - expected) / ((pairsA+pairsB)/2 - expected)
}

// NMI is the mutual information of two labellings of the same rows, over the mean
// of their entropies: 1 for equal ones, 0 for independent ones. Noise as in ARI.
func NMI(a, b Labels) float64 {
	both, inA, inB := contingency(a, b)
	n := float64(len(a))
	var information, entropyA, entropyB float64
	for c, m := range both {
		information += m / n * math.Log(n*m/(inA[c[0]]*inB[c[1]]))
	}
	for _, m := range inA {
		entropyA -= m / n * math.Log(m/n)
	}
	for _, m := range inB {
		entropyB -= m / n * math.Log(m/n)
	}
	if entropyA+entropyB == 0 {
		return 1 // one cluster in both
	}
	return information / ((entropyA + entropyB) / 2)
}
