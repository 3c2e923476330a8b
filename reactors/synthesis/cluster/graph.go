package cluster

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helixd/helixd/internal/parallel"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// Neighbours is the number of nearest neighbours, k, of an Index for Graph.
const Neighbours = 15

// GraphOptions say how to cluster; a zero value gives the default.
type GraphOptions struct {
	MinClusterSize int    // 3; smaller clusters are noise
	Seed           uint64 // of Leiden and of the bootstrap
}

func (o GraphOptions) defaults() GraphOptions {
	if o.MinClusterSize <= 0 {
		o.MinClusterSize = 3
	}
	return o
}

// Graph clusters the rows of x by the communities of their network: nearest
// neighbours weighed as by UMAP (Fuzzy), Leiden at the resolution that pick finds, and
// without the rows that are much less alike than others are. It ends early with ctx's error.
func Graph(ctx context.Context, x *vector.Index, o GraphOptions) (*Clustering, error) {
	o = o.defaults()
	g := Fuzzy(x.Neighbours())
	best, err := pick(ctx, x.Matrix(), g, o)
	if err != nil {
		return nil, err
	}
	c := &Clustering{Labels: best.communities, Resolution: best.resolution}
	all := cohesion(x.Matrix(), x.Neighbours(), c.Labels)
	c.Bound = farBelow(all)
	c.Similarity = outliers(x.Matrix(), x.Neighbours(), c.Labels, all, c.Bound, o.MinClusterSize)
	c.Confidence, err = recurrence(ctx, g, c, o.Seed)
	if err != nil {
		return nil, err
	}
	lone(x.Matrix(), c)
	return c, nil
}

const (
	sampled  = 2000  // rows on which silhouettes are compared
	coarsest = 0.125 // resolution that is tried
	finest   = 64
	// tolerance is the share of merit that a coarser resolution may lack: less than what
	// another seed changes.
	tolerance = 0.02
	// The finest resolutions cost the most, and need not be tried where the best has been
	// passed: from fine on, merit that is below this share of it only falls. Among coarser
	// ones many small clusters have another rise to come.
	fine = 8
	past = 0.85
	// structure is the merit from which on there is more than one cluster: directions
	// drawn at random reach .02 in 50 dimensions and .005 in 500, sentences .1 to .3.
	structure = 0.03
)

// candidate is a clustering that pick compares.
type candidate struct {
	resolution  float64
	communities Labels
	merit       float64 // mean silhouette × modularity
}

// pick finds the communities at resolutions from coarse to fine, a factor of two apart
// and then √2 around the best. The best has the greatest product of mean silhouette, which
// alone favours splitting up what is nearly alike, and Newman's modularity, the share of
// links inside beyond chance, which falls with each split. Without structure all rows
// are one community.
func pick(ctx context.Context, m *vector.Matrix, g *Network, o GraphOptions) (candidate, error) {
	n := g.Nodes()
	silhouettes := newSilhouettes(m, sample(n, sampled, o.Seed))
	nothing := candidate{0, make(Labels, n), structure}
	tried := []candidate{nothing}
	try := func(resolutions ...float64) error {
		found := make([]candidate, len(resolutions))
		parallel.Each(len(resolutions), func(i int) {
			if ctx.Err() == nil {
				found[i].resolution = resolutions[i]
				found[i].communities = Leiden(g, LeidenOptions{Resolution: resolutions[i], Seed: o.Seed, Iterations: 3})
			}
		})
		for _, c := range found {
			if err := ctx.Err(); err != nil {
				return err
			}
			// Where most are alone, there is nothing to weigh, and each centre would
			// take a row's memory.
			if c.communities.Clusters() <= n/2 {
				c.merit = mean(silhouettes.of(c.communities)) * Modularity(g, c.communities, 1)
			}
			tried = append(tried, c)
		}
		return nil
	}
	grid := []float64{coarsest}
	for r := 2 * coarsest; r <= max(1, float64(n)/6) && r <= finest; r *= 2 {
		grid = append(grid, r)
	}
	byMerit := func(a, b candidate) int { return cmp.Compare(a.merit, b.merit) }
	best := nothing
	for pair := range slices.Chunk(grid, 2) {
		if err := try(pair...); err != nil {
			return nothing, err
		}
		best = slices.MaxFunc(tried, byMerit)
		if finer := tried[len(tried)-1]; finer.resolution >= fine && finer.merit < past*best.merit {
			break
		}
	}
	if err := try(best.resolution/math.Sqrt2, best.resolution*math.Sqrt2); err != nil {
		return nothing, err
	}
	best = slices.MaxFunc(tried, byMerit)
	enough := max(structure, (1-tolerance)*best.merit)
	for _, c := range tried {
		if c.resolution < best.resolution && c.merit >= enough {
			best = c
		}
	}
	return best, nil
}

// lone weighs the confidence of a cluster without another: it always recurs, but has
// nothing to be told from. Against unrelated rows, at right angles, its silhouette is
// the mean cosine of its rows.
func lone(m *vector.Matrix, c *Clustering) {
	clusters := c.Labels.Members()
	if len(clusters) != 1 {
		return
	}
	_, length := sums(m, clusters)
	size := float64(len(clusters[0]))
	c.Confidence[0] *= max(0, min(1, (length[0]*length[0]-size)/max(1, size*(size-1))))
}

// UpdateGraph clusters again after few rows have come, gone or changed: previous is the
// clustering of before, its rows permuted as x's were, Noise for new ones, and changed
// the rows whose neighbours have changed. These and noise move to the best community
// at the previous resolution, and are noise below the previous bound; the rest stays
// but for what that pulls along. A cluster that has other rows than before keeps its measured confidence in the share that is common
// (Jaccard), the rest is predicted. After a tenth of the rows, Graph is due.
func UpdateGraph(ctx context.Context, x *vector.Index, previous *Clustering, changed []int32, o GraphOptions) (*Clustering, error) {
	o = o.defaults()
	m, nn := x.Matrix(), x.Neighbours()
	g := Fuzzy(nn)
	first := slices.Clone(changed)
	for _, i := range changed {
		to, _ := g.Of(i)
		first = append(first, to...)
	}
	c := &Clustering{Labels: slices.Clone(previous.Labels), Resolution: previous.Resolution, Bound: previous.Bound}
	alone := int32(c.Labels.Clusters())
	for i, label := range c.Labels {
		if label == Noise {
			c.Labels[i] = alone
			alone++
			first = append(first, int32(i))
		}
	}
	c.Labels.compact()
	if v := newLevel(g); v.total > 0 {
		v.move(c.Labels, c.Resolution/v.total, first)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.Labels.number(1)
	c.Similarity = outliers(m, nn, c.Labels, cohesion(m, nn, c.Labels), c.Bound, o.MinClusterSize)
	c.Confidence = carry(m, g, previous, c)
	return c, ctx.Err()
}

// sample draws at most some of the numbers below n, ascending.
func sample(n, some int, seed uint64) []int32 {
	drawn := make([]int32, 0, min(n, some))
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	for i := range n { // Knuth's algorithm S
		if random.IntN(n-i) < some-len(drawn) {
			drawn = append(drawn, int32(i))
		}
	}
	return drawn
}

func mean[T float32 | float64](values []T) T {
	var sum T
	for _, v := range values {
		sum += v
	}
	return sum / T(max(len(values), 1))
}
