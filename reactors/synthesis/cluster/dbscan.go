package cluster

import (
	"context"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// DBSCANOptions with zero values: see each.
type DBSCANOptions struct {
	// Eps is the cosine distance up to which rows are neighbours. Where it is 0 it is
	// picked: at the knee of the rows' distances to their MinSamples-th nearest, which is
	// a weak guess where clusters differ in density, as those of short texts do.
	Eps        float64
	MinSamples int // neighbours of a core row, itself counted; 5
}

// DBSCAN finds clusters of one density (Ester et al. 1996), by cosine distance and as
// scikit-learn does: core rows that are neighbours share a cluster, other neighbours
// of theirs join the first cluster that reaches them, in the rows' order, and what is
// left is Noise. It takes n²·dim products, twice where it picks Eps, and n²/8 bytes.
// It ends early with ctx's error.
func DBSCAN(ctx context.Context, m *vector.Matrix, o DBSCANOptions) (Labels, error) {
	if o.MinSamples == 0 {
		o.MinSamples = 5
	}
	if o.Eps == 0 {
		var err error
		if o.Eps, err = knee(ctx, m, o.MinSamples); err != nil {
			return nil, err
		}
	}
	near, err := within(ctx, m, o.Eps)
	if err != nil {
		return nil, err
	}
	n := m.Rows()
	core := make([]bool, n)
	labels := make(Labels, n)
	for i := range n {
		core[i], labels[i] = near.count(i) >= o.MinSamples, Noise
	}
	free := newSet(n) // those without a cluster
	var queue []int32
	for i, clusters := 0, int32(0); i < n; i++ {
		if !core[i] || labels[i] != Noise {
			continue
		}
		free.remove(i)
		labels[i], queue = clusters, append(queue[:0], int32(i))
		for ; len(queue) > 0; queue = queue[1:] {
			if !core[queue[0]] {
				continue
			}
			near.reach(int(queue[0]), free, func(j int) {
				labels[j], queue = clusters, append(queue, int32(j))
			})
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clusters++
	}
	labels.number(1)
	return labels, nil
}

// knee is the distance where the curve of the rows' distances to their k-th nearest,
// themselves counted, ascending, lies farthest below its chord (Satopää et al. 2011).
func knee(ctx context.Context, m *vector.Matrix, k int) (float64, error) {
	n := m.Rows()
	if k = min(k, n) - 1; k < 1 {
		return 0, nil
	}
	nearest, err := m.Nearest(ctx, k)
	if err != nil {
		return 0, err
	}
	curve := make([]float64, n)
	for i := range curve {
		_, similarities := nearest.Of(i)
		curve[i] = float64(distance(similarities[k-1]))
	}
	slices.Sort(curve)
	eps, farthest := curve[n-1], 0.0
	for i, d := range curve {
		chord := curve[0] + (curve[n-1]-curve[0])*float64(i)/float64(n-1)
		if chord-d > farthest {
			eps, farthest = d, chord-d
		}
	}
	return eps, nil
}

// set is one of row numbers, a bit each.
type set []uint64

// newSet has all n.
func newSet(n int) set {
	s := make(set, (n+63)/64)
	for i := range n {
		s[i/64] |= 1 << (i % 64)
	}
	return s
}

func (s set) remove(i int) { s[i/64] &^= 1 << (i % 64) }

// neighbourhood has for each row the set of those near to it, itself among them.
type neighbourhood struct {
	words int // of a set
	bits  []uint64
}

// within finds the rows that are not farther than eps from each row.
func within(ctx context.Context, m *vector.Matrix, eps float64) (*neighbourhood, error) {
	n := m.Rows()
	words := (n + 63) / 64
	b := &neighbourhood{words, make([]uint64, n*words)}
	most := float32(eps)
	return b, m.Tiles(ctx, func(t vector.Tile) {
		at := t.Products
		for r := t.R0; r < t.R1; r++ {
			for c := t.C0; c < t.C1; c++ {
				if r == c || distance(at[c-t.C0]) <= most {
					b.add(r, c)
					b.add(c, r)
				}
			}
			at = at[t.C1-t.C0:]
		}
	})
}

// add may be called from several goroutines.
func (b *neighbourhood) add(i, j int) { atomic.OrUint64(&b.bits[i*b.words+j/64], 1<<(j%64)) }

func (b *neighbourhood) count(i int) (n int) {
	for _, w := range b.bits[i*b.words : (i+1)*b.words] {
		n += bits.OnesCount64(w)
	}
	return n
}

// reach takes the rows near to i out of free, and calls back with each.
func (b *neighbourhood) reach(i int, free set, each func(j int)) {
	for x, w := range b.bits[i*b.words : (i+1)*b.words] {
		w &= free[x]
		free[x] &^= w
		for ; w != 0; w &= w - 1 {
			each(x*64 + bits.TrailingZeros64(w))
		}
	}
}
