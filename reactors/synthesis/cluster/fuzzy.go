package cluster

import (
	"math"
	"slices"

	"github.com/helixd/helixd/internal/parallel"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// Fuzzy weighs the graph of nearest neighbours as UMAP does (McInnes, Healy and
// Melville 2018, algorithms 2 and 3): a neighbour at cosine distance d of a row whose
// nearest is at ρ is one with membership exp(-(d-ρ)/σ), where σ makes the k
// memberships sum to log2 k; two rows are linked with the fuzzy union a+b-ab.
func Fuzzy(nn *vector.Neighbours) *Network {
	n := 0
	if nn.K > 0 {
		n = len(nn.Row) / nn.K
	}
	membership := make([]float32, len(nn.Row))
	parallel.Ranges(n, func(from, to int) {
		distance := make([]float64, nn.K)
		for i := from; i < to; i++ {
			_, similarity := nn.Of(i)
			k := others(nn, i)
			for x := range k {
				distance[x] = max(0, 1-float64(similarity[x]))
			}
			memberships(membership[i*nn.K:], distance[:k])
		}
	})
	return union(nn, membership, n)
}

// others is how many neighbours row i has: K, or as many as there are.
func others(nn *vector.Neighbours, i int) int {
	rows, _ := nn.Of(i)
	k := len(rows)
	for k > 0 && rows[k-1] < 0 {
		k--
	}
	return k
}

// memberships writes those of neighbours at the ascending distances.
func memberships(out []float32, distance []float64) {
	if len(distance) == 0 {
		return
	}
	var mean float64
	for _, d := range distance {
		mean += d / float64(len(distance))
	}
	scale := width(distance, math.Log2(float64(len(distance))))
	// UMAP's floor (MIN_K_DIST_SCALE): many equal distances would ask for a width of 0.
	scale = max(scale, 1e-3*mean, math.SmallestNonzeroFloat32)
	for x, d := range distance {
		out[x] = float32(math.Exp(-(d - distance[0]) / scale))
	}
}

// width finds σ with Σ exp(-(d-ρ)/σ) = target by Newton's steps on log σ, kept inside
// a bracket that they halve where they would leave it. 0: the sum is above target
// whatever σ.
func width(distance []float64, target float64) float64 {
	least, far := distance[0], distance[len(distance)-1]-distance[0]
	if far <= 0 {
		return 0
	}
	low, high, at := 0.0, math.Inf(1), far/2
	for range 64 {
		var sum, slope float64 // slope = dΣ/dlogσ
		for _, d := range distance {
			x := (d - least) / at
			e := math.Exp(-x)
			sum += e
			slope += x * e
		}
		if math.Abs(sum-target) < 1e-5 {
			return at
		}
		if sum > target {
			high = at
		} else {
			low = at
		}
		next := at * math.Exp((target-sum)/slope)
		if !(next > low && next < high) { // NaN too
			next = (low + high) / 2
			if math.IsInf(high, 1) {
				next = 2 * at
			}
		}
		at = next
	}
	return at
}

// union makes the symmetric network of directed memberships.
func union(nn *vector.Neighbours, membership []float32, n int) *Network {
	// Who has row i as a neighbour: the transpose, ascending as it is filled.
	start := make([]int32, n+1)
	for _, j := range nn.Row {
		if j >= 0 {
			start[j+1]++
		}
	}
	for i := range n {
		start[i+1] += start[i]
	}
	type link struct {
		to     int32
		weight float32
	}
	incoming, next := make([]link, start[n]), slices.Clone(start[:n])
	for i := range n {
		for x, j := range nn.Row[i*nn.K : (i+1)*nn.K] {
			if j >= 0 {
				incoming[next[j]] = link{int32(i), membership[i*nn.K+x]}
				next[j]++
			}
		}
	}
	g := &Network{
		Start: make([]int32, n+1),
		To:    make([]int32, 0, 2*len(incoming)), Weight: make([]float32, 0, 2*len(incoming)),
	}
	outgoing := make([]link, 0, nn.K)
	add := func(to int32, weight float32) {
		if weight > 0 {
			g.To, g.Weight = append(g.To, to), append(g.Weight, weight)
		}
	}
	for i := range n {
		outgoing = outgoing[:0]
		for x, j := range nn.Row[i*nn.K : (i+1)*nn.K] {
			if j >= 0 {
				outgoing = append(outgoing, link{j, membership[i*nn.K+x]})
			}
		}
		slices.SortFunc(outgoing, func(a, b link) int { return int(a.to - b.to) })
		in, out := incoming[start[i]:start[i+1]], outgoing
		for len(in) > 0 || len(out) > 0 {
			switch {
			case len(out) == 0 || len(in) > 0 && in[0].to < out[0].to:
				add(in[0].to, in[0].weight)
				in = in[1:]
			case len(in) == 0 || out[0].to < in[0].to:
				add(out[0].to, out[0].weight)
				out = out[1:]
			default:
				a, b := in[0].weight, out[0].weight
				add(in[0].to, a+b-a*b)
				in, out = in[1:], out[1:]
			}
		}
		g.Start[i+1] = int32(len(g.To))
	}
	return g
}
