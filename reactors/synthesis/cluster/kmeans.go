package cluster

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/helixd/helixd/internal/parallel"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// KMeansOptions with zero values: see each.
type KMeansOptions struct {
	K    int         // clusters; 0: picked by their silhouette
	Seed uint64      // of everything drawn
	Init [][]float32 // the first centres, K of them; nil: k-means++, the best of three
}

const (
	restarts      = 3    // drawn beginnings that compete
	maxIterations = 300  // as scikit-learn has it
	tolerated     = 1e-4 // it ends when the centres move by less, of the rows' mean variance
)

// KMeans divides the rows among K centres so that their squares of euclidean
// distances are small, which of unit rows are twice the cosine distances: by Lloyd's
// iteration, as scikit-learn does it. Each row has a cluster; there are fewer than K
// where there are fewer different rows. It ends early with ctx's error.
func KMeans(ctx context.Context, m *vector.Matrix, o KMeansOptions) (Labels, error) {
	for c, v := range o.Init {
		if len(v) != m.Dim() {
			return nil, fmt.Errorf("centre %d has %d components, the rows have %d", c, len(v), m.Dim())
		}
	}
	if o.Init != nil {
		o.K = len(o.Init)
	} else if o.K <= 0 {
		var err error
		if o.K, err = pickK(ctx, m, o.Seed); err != nil {
			return nil, err
		}
	}
	if o.K = min(o.K, m.Rows()); o.K == 0 {
		return make(Labels, m.Rows()), nil
	}
	l := newLloyd(m, o.K)
	if o.Init != nil {
		for c, v := range o.Init[:o.K] {
			copy(l.centres.Row(c), v)
		}
		if err := l.run(ctx); err != nil {
			return nil, err
		}
		l.labels.number(1)
		return l.labels, nil
	}
	var labels Labels
	least := math.Inf(1)
	for r := range uint64(restarts) {
		if err := l.draw(ctx, o.Seed+r); err != nil {
			return nil, err
		}
		if err := l.run(ctx); err != nil {
			return nil, err
		}
		if inertia := l.inertia(); inertia < least {
			least, labels = inertia, slices.Clone(l.labels)
		}
	}
	labels.number(1)
	return labels, nil
}

// lloyd is the state of Lloyd's iteration.
type lloyd struct {
	m       *vector.Matrix
	n, k    int
	centres *vector.Matrix // k rows, here not of unit length
	labels  Labels         // of each row, its nearest centre
	product []float32      // of each row and that centre
	square  []float64      // of each centre, its length's
	sums    []float64      // of each label's rows, k of dim
	size    []int          // of each label
	counted Labels         // the labels that sums and size are of
}

func newLloyd(m *vector.Matrix, k int) *lloyd {
	n := m.Rows()
	l := &lloyd{m: m, n: n, k: k, centres: blank(k, m.Dim()), labels: make(Labels, n), product: make([]float32, n),
		square: make([]float64, k), sums: make([]float64, k*m.Dim()), size: make([]int, k), counted: make(Labels, n)}
	for i := range l.counted {
		l.counted[i] = Noise
	}
	return l
}

// blank makes a Matrix of n rows to write to.
func blank(n, dim int) *vector.Matrix {
	m := vector.NewMatrix(n, dim)
	for range n {
		m.Append(slices.Repeat([]float32{1}, dim))
	}
	return m
}

func (l *lloyd) sum(c int) []float64 { return l.sums[c*l.m.Dim() : (c+1)*l.m.Dim()] }

// run iterates until no label changes, or the centres rest.
func (l *lloyd) run(ctx context.Context) error {
	tol := tolerated * l.variance()
	before := make(Labels, l.n)
	for i := range l.labels {
		l.labels[i] = Noise
	}
	for range maxIterations {
		copy(before, l.labels)
		if err := l.assign(ctx); err != nil {
			return err
		}
		same := slices.Equal(before, l.labels)
		moved := l.update()
		if same {
			return nil
		}
		if moved <= tol {
			break
		}
	}
	return l.assign(ctx) // to the centres as they are now
}

// variance is the mean of the components' variances.
func (l *lloyd) variance() float64 {
	mean := make([]float64, l.m.Dim())
	for i := range l.n {
		for x, v := range l.m.Row(i) {
			mean[x] += float64(v)
		}
	}
	square := 0.0
	for _, v := range mean {
		square += v / float64(l.n) * v / float64(l.n)
	}
	return max(1-square, 0) / float64(len(mean))
}

// assign gives each row the label of its nearest centre, the first of equal ones.
func (l *lloyd) assign(ctx context.Context) error {
	for c := range l.square {
		l.square[c] = 0
		for _, v := range l.centres.Row(c) {
			l.square[c] += float64(v) * float64(v)
		}
	}
	const block = 192 // rows
	parallel.Each((l.n+block-1)/block, func(b int) {
		if ctx.Err() != nil {
			return
		}
		from, to := b*block, min((b+1)*block, l.n)
		products := make([]float32, (to-from)*l.k)
		l.m.ProductsWith(products, from, to, l.centres, 0, l.k)
		for i := from; i < to; i++ {
			nearest, at := math.Inf(1), 0
			for c, s := range products[(i-from)*l.k : (i-from+1)*l.k] {
				if d := l.square[c] - 2*float64(s); d < nearest {
					nearest, at = d, c
				}
			}
			l.labels[i], l.product[i] = int32(at), products[(i-from)*l.k+at]
		}
	})
	return ctx.Err()
}

// distance is the square of row i's from its centre.
func (l *lloyd) distance(i int) float64 {
	return max(1+l.square[l.labels[i]]-2*float64(l.product[i]), 0)
}

func (l *lloyd) inertia() (sum float64) {
	for i := range l.n {
		sum += l.distance(i)
	}
	return sum
}

// update makes each centre the mean of its rows, and tells by how much they moved:
// the sum of squares. A centre without rows takes the row that is farthest from its
// own centre; l.labels stay.
func (l *lloyd) update() (moved float64) {
	for i, label := range l.labels {
		if l.counted[i] != label {
			l.count(i, l.counted[i], -1)
			l.count(i, label, 1)
			l.counted[i] = label
		}
	}
	l.relocate()
	for c, size := range l.size {
		if size == 0 {
			continue
		}
		centre := l.centres.Row(c)
		for x, v := range l.sum(c) {
			mean := float32(v / float64(size))
			moved += float64(mean-centre[x]) * float64(mean-centre[x])
			centre[x] = mean
		}
	}
	return moved
}

// count adds row i to a label's sum, or takes it out.
func (l *lloyd) count(i int, label int32, times int) {
	if label == Noise {
		return
	}
	sum := l.sum(int(label))
	for x, v := range l.m.Row(i) {
		sum[x] += float64(times) * float64(v)
	}
	l.size[label] += times
}

func (l *lloyd) relocate() {
	var empty []int32
	for c, size := range l.size {
		if size == 0 {
			empty = append(empty, int32(c))
		}
	}
	if empty == nil {
		return
	}
	farthest := make([]int32, l.n)
	for i := range farthest {
		farthest[i] = int32(i)
	}
	slices.SortStableFunc(farthest, func(a, b int32) int {
		switch x, y := l.distance(int(a)), l.distance(int(b)); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for x, c := range empty {
		if x == l.n || l.distance(int(farthest[x])) < zero { // fewer different rows than centres
			return
		}
		i := int(farthest[x])
		l.count(i, l.counted[i], -1)
		l.count(i, c, 1)
		l.counted[i] = c
	}
}
