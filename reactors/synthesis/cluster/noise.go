package cluster

import (
	"slices"

	"github.com/helixd/helixd/internal/parallel"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

const (
	nearest = 5   // members of its own cluster that a row is compared with
	spread  = 2.5 // MADs below the median from which on a row is noise
)

// cohesion gives each row's mean cosine to the nearest five of its own cluster, or to
// as many as there are; 0 for noise and for a row alone.
func cohesion(m *vector.Matrix, nn *vector.Neighbours, of Labels) []float32 {
	out := make([]float32, len(of))
	clusters := of.Members()
	parallel.Each(len(clusters), func(c int) { cohesionWithin(out, m, nn, of, clusters[c]) })
	return out
}

// cohesionWithin writes that of one cluster's rows. The nearest rows of all, as far as
// they are of the cluster, are its nearest; only where these are too few is a row
// compared with the whole cluster.
func cohesionWithin(out []float32, m *vector.Matrix, nn *vector.Neighbours, of Labels, members []int32) {
	want := min(nearest, len(members)-1)
	if want == 0 {
		return
	}
	var far []int32
	for _, i := range members {
		var sum float32
		found := 0
		rows, similarities := nn.Of(int(i))
		for x, j := range rows {
			if j >= 0 && of[j] == of[i] && found < want {
				sum += similarities[x]
				found++
			}
		}
		out[i] = sum / float32(want)
		if found < want {
			far = append(far, i)
		}
	}
	if len(far) == 0 {
		return
	}
	some, all := gather(m, far), gather(m, members)
	products := make([]float32, min(len(far), compared)*len(members))
	for from := 0; from < len(far); from += compared {
		to := min(from+compared, len(far))
		some.ProductsWith(products, from, to, all, 0, len(members))
		for x := from; x < to; x++ {
			best := make([]float32, 0, nearest)
			for y, s := range products[(x-from)*len(members):][:len(members)] {
				if members[y] != far[x] {
					best = insert(best, s, want)
				}
			}
			out[far[x]] = mean(best)
		}
	}
}

// gather copies some rows.
func gather(m *vector.Matrix, rows []int32) *vector.Matrix {
	some := vector.NewMatrix(len(rows), m.Dim())
	for _, i := range rows {
		some.Append(m.Row(int(i)))
	}
	return some
}

// insert keeps the greatest values, at most so many, in descending order.
func insert(best []float32, value float32, most int) []float32 {
	if len(best) == most {
		if value <= best[most-1] {
			return best
		}
		best = best[:most-1]
	}
	best = append(best, value)
	for x := len(best) - 1; x > 0 && best[x-1] < value; x-- {
		best[x-1], best[x] = value, best[x-1]
	}
	return best
}

// farBelow is the cohesion that is far below that of all: median − 2.5 MAD.
func farBelow(cohesion []float32) float32 {
	sorted := slices.Clone(cohesion)
	middle := median(sorted)
	for i, s := range sorted {
		sorted[i] = max(s-middle, middle-s)
	}
	// Cosines of float32 are exact to about 1e-6: rows that are all alike have no spread.
	return middle - spread*median(sorted) - 1e-5
}

// outliers makes noise of the rows whose cohesion is below bound, and of the clusters
// that are left with fewer than least rows, and numbers the clusters anew. It gives the
// cohesion of the rows that stay, with one another.
func outliers(m *vector.Matrix, nn *vector.Neighbours, of Labels, cohesions []float32, bound float32, least int) []float32 {
	for i, s := range cohesions {
		if s < bound {
			of[i] = Noise
		}
	}
	of.number(least)
	return cohesion(m, nn, of)
}

// median sorts its values; 0 of none.
func median(values []float32) float32 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return (values[half-1] + values[half]) / 2
}
