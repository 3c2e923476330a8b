package cluster

import (
	"math"

	"github.com/helixd/helixd/internal/parallel"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// Silhouette gives that of some rows (Rousseeuw 1987) by cosine distance: (b-a) /
// max(a,b), where a is the mean distance to the other rows of the own cluster and b the
// least mean distance to another cluster. The mean over a cluster is a product with the
// sum of its rows, so this is exact at the cost of one product per cluster. It is 0
// for noise, for a cluster of one row, and where there is no other cluster.
func Silhouette(m *vector.Matrix, of Labels, rows []int32) []float64 {
	return newSilhouettes(m, rows).of(of)
}

// silhouettes compare some rows of a Matrix with the clusters of several labellings.
type silhouettes struct {
	m    *vector.Matrix
	rows []int32
	some *vector.Matrix // copies of the rows
}

func newSilhouettes(m *vector.Matrix, rows []int32) *silhouettes {
	return &silhouettes{m, rows, gather(m, rows)}
}

// of gives the rows' silhouettes.
func (s *silhouettes) of(of Labels) []float64 {
	out := make([]float64, len(s.rows))
	clusters := of.Members()
	k := len(clusters)
	if k < 2 || len(s.rows) == 0 {
		return out
	}
	sums, length := sums(s.m, clusters)
	for from := 0; from < len(s.rows); from += compared {
		to := min(from+compared, len(s.rows))
		products := make([]float32, (to-from)*k)
		s.some.ProductsWith(products, from, to, sums, 0, k)
		for x := from; x < to; x++ {
			if own := of[s.rows[x]]; own != Noise {
				out[x] = silhouette(products[(x-from)*k:][:k], int(own), clusters, length)
			}
		}
	}
	return out
}

// compared is how many rows are compared with all clusters at once.
const compared = 256

// sums gives the directions of the sums of each cluster's rows, and their lengths.
func sums(m *vector.Matrix, clusters [][]int32) (directions *vector.Matrix, length []float64) {
	total, dim := make([]float32, len(clusters)*m.Dim()), m.Dim()
	length = make([]float64, len(clusters))
	parallel.Ranges(len(clusters), func(from, to int) {
		for c := from; c < to; c++ {
			sum := total[c*dim : (c+1)*dim]
			for _, i := range clusters[c] {
				for x, v := range m.Row(int(i)) {
					sum[x] += v
				}
			}
			var squares float64
			for _, v := range sum {
				squares += float64(v) * float64(v)
			}
			length[c] = math.Sqrt(squares)
		}
	})
	directions = vector.NewMatrix(len(clusters), dim)
	for c := range clusters {
		if !directions.Append(total[c*dim : (c+1)*dim]) { // rows that cancel out: any direction, of length 0
			directions.Append(m.Row(int(clusters[c][0])))
		}
	}
	return directions, length
}

// silhouette is that of a row with the clusters' products: the row's with each sum's direction.
func silhouette(products []float32, own int, clusters [][]int32, length []float64) float64 {
	if len(clusters[own]) < 2 {
		return 0
	}
	a, b := 0.0, math.Inf(1)
	for c, p := range products {
		size, product := float64(len(clusters[c])), float64(p)*length[c]
		if c == own {
			a = max(0, 1-(product-1)/(size-1))
		} else {
			b = min(b, max(0, 1-product/size))
		}
	}
	// Sums of float32 are exact to about 1e-6: a difference below that is none.
	if max(a, b) < 1e-5 {
		return 0
	}
	return (b - a) / max(a, b)
}
