package cluster_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/synthesis/cluster"
	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// methods are those of this package that need no Index, with their defaults.
var methods = map[string]func(context.Context, *vector.Matrix) (cluster.Labels, error){
	"hdbscan": func(ctx context.Context, m *vector.Matrix) (cluster.Labels, error) {
		return cluster.HDBSCAN(ctx, m, cluster.HDBSCANOptions{})
	},
	"dbscan": func(ctx context.Context, m *vector.Matrix) (cluster.Labels, error) {
		return cluster.DBSCAN(ctx, m, cluster.DBSCANOptions{})
	},
	"kmeans": func(ctx context.Context, m *vector.Matrix) (cluster.Labels, error) {
		return cluster.KMeans(ctx, m, cluster.KMeansOptions{})
	},
}

// groups are a few directions with n rows around each, and as many around none.
func groups(of, n, dim int, random *rand.Rand) *vector.Matrix {
	m := vector.NewMatrix((of+1)*n, dim)
	v, centre := make([]float32, dim), make([]float32, dim)
	for g := range of + 1 {
		for x := range centre {
			centre[x] = float32(random.NormFloat64())
		}
		for range n {
			for x := range v {
				if v[x] = float32(random.NormFloat64()); g < of {
					v[x] = centre[x] + v[x]/3
				}
			}
			m.Append(v)
		}
	}
	return m
}

func TestMethodsOnFewRows(t *testing.T) {
	for name, run := range methods {
		for n := range 12 {
			m := groups(1, n, 8, rand.New(rand.NewPCG(1, uint64(n))))
			for m.Rows() > n {
				m.Remove(n)
			}
			labels, err := run(context.Background(), m)
			if err != nil || len(labels) != n {
				t.Fatalf("%s of %d rows: %v, %v", name, n, labels, err)
			}
			ordered(t, labels)
		}
	}
}

// ordered fails where clusters are not numbered by descending size.
func ordered(t interface{ Fatalf(string, ...any) }, labels cluster.Labels) {
	sizes := make([]int, labels.Clusters())
	for _, l := range labels {
		if l < cluster.Noise {
			t.Fatalf("there is a label %d", l)
		}
		if l != cluster.Noise {
			sizes[l]++
		}
	}
	if slices.Contains(sizes, 0) || !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) {
		t.Fatalf("the clusters' sizes are %v", sizes)
	}
}

func TestMethodsOnCopies(t *testing.T) {
	const n = 4000
	m := vector.NewMatrix(n, 24)
	v := make([]float32, 24)
	for x := range v {
		v[x] = float32(x%5) - 1.7
	}
	for range n {
		m.Append(v)
	}
	for name, run := range methods {
		labels, err := run(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		// What makes up one single cluster is noise to HDBSCAN, as to scikit-learn's.
		want := int32(0)
		if name == "hdbscan" {
			want = cluster.Noise
		}
		if slices.ContainsFunc(labels, func(l int32) bool { return l != want }) {
			t.Errorf("%s: not all copies are %d", name, want)
		}
	}
}

// Copies of two different rows are two clusters, of infinite density.
func TestHDBSCANOfTwoRowsCopies(t *testing.T) {
	m := vector.NewMatrix(40, 3)
	for i := range 40 {
		m.Append([]float32{1, float32(i % 2), 0.1})
	}
	labels, err := cluster.HDBSCAN(context.Background(), m, cluster.HDBSCANOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range labels {
		if l != int32(i%2) {
			t.Fatalf("row %d is in %d: %v", i, l, labels)
		}
	}
}

func TestHDBSCANOfFewerRowsThanACluster(t *testing.T) {
	m := groups(2, 10, 8, rand.New(rand.NewPCG(1, 1)))
	for _, least := range []int{16, 31, 1000} {
		labels, err := cluster.HDBSCAN(context.Background(), m, cluster.HDBSCANOptions{MinClusterSize: least})
		if err != nil || noise(labels) != m.Rows() {
			t.Errorf("of at least %d: %v, %v", least, labels, err)
		}
	}
	if _, err := cluster.HDBSCAN(context.Background(), m, cluster.HDBSCANOptions{MinSamples: 1000}); err != nil {
		t.Error(err)
	}
}

func TestMethodsEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := groups(3, 100, 8, rand.New(rand.NewPCG(1, 1)))
	for name, run := range methods {
		if _, err := run(ctx, m); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMethodsFindGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	m := groups(6, 60, 64, random)
	truth := make(cluster.Labels, m.Rows())
	for i := range truth {
		truth[i] = int32(i / 60)
	}
	grouped := 6 * 60
	for name, run := range methods {
		labels, err := run(context.Background(), m)
		if err != nil {
			t.Fatal(err)
		}
		if agreement := cluster.ARI(labels[:grouped], truth[:grouped]); agreement < 0.95 {
			t.Errorf("%s finds %d clusters, agreement %.3f", name, labels.Clusters(), agreement)
		}
		if name != "kmeans" && noise(labels[grouped:]) < 55 {
			t.Errorf("%s leaves %d of 60 rows of noise", name, noise(labels[grouped:]))
		}
	}
}

// Rows in another order have the same clusters, where no distances are equal: those of
// HDBSCAN but for what lies on a border between equal reachabilities.
func TestRowsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		m := groups(rapid.IntRange(1, 5).Draw(t, "groups"), rapid.IntRange(5, 80).Draw(t, "rows"), 32, random)
		order := random.Perm(m.Rows())
		other := vector.NewMatrix(m.Rows(), m.Dim())
		centres := make([][]float32, 3)
		for x, i := range order {
			other.Append(m.Row(i))
			centres[x%3] = m.Row(i)
		}
		for name, run := range map[string]func(*vector.Matrix) (cluster.Labels, error){
			"hdbscan": func(m *vector.Matrix) (cluster.Labels, error) {
				// A row's core is itself: no two reachabilities are equal.
				return cluster.HDBSCAN(context.Background(), m, cluster.HDBSCANOptions{MinSamples: 1})
			},
			"dbscan": func(m *vector.Matrix) (cluster.Labels, error) {
				return cluster.DBSCAN(context.Background(), m, cluster.DBSCANOptions{Eps: 0.2, MinSamples: 1}) // no borders
			},
			"kmeans": func(m *vector.Matrix) (cluster.Labels, error) {
				return cluster.KMeans(context.Background(), m, cluster.KMeansOptions{Init: centres})
			},
		} {
			labels, err := run(m)
			if err != nil {
				t.Fatal(err)
			}
			ordered(t, labels)
			permuted, err := run(other)
			if err != nil {
				t.Fatal(err)
			}
			back := make(cluster.Labels, len(labels))
			for x, i := range order {
				back[i] = permuted[x]
			}
			if !samePartition(labels, back) {
				t.Fatalf("%s: %v became %v", name, labels, back)
			}
		}
	})
}

// samePartition tells whether labels differ in names only.
func samePartition(a, b cluster.Labels) bool {
	to, from := map[int32]int32{}, map[int32]int32{}
	for i := range a {
		x, ok := to[a[i]]
		y, back := from[b[i]]
		if ok != back || ok && (x != b[i] || y != a[i]) || (a[i] == cluster.Noise) != (b[i] == cluster.Noise) {
			return false
		}
		to[a[i]], from[b[i]] = b[i], a[i]
	}
	return true
}

// DBSCAN by its definition, row by row.
func TestDBSCANIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		m := groups(rapid.IntRange(1, 4).Draw(t, "groups"), rapid.IntRange(1, 90).Draw(t, "rows"), 8, random)
		eps, least := rapid.Float64Range(0.005, 0.5).Draw(t, "eps"), rapid.IntRange(1, 8).Draw(t, "least")
		got, err := cluster.DBSCAN(context.Background(), m, cluster.DBSCANOptions{Eps: eps, MinSamples: least})
		if err != nil {
			t.Fatal(err)
		}
		n := m.Rows()
		near := make([][]int, n)
		for i := range n {
			for j := range n {
				if i == j || 1-vector.Dot(m.Row(i), m.Row(j)) <= float32(eps) {
					near[i] = append(near[i], j)
				}
			}
		}
		want := make(cluster.Labels, n)
		for i := range want {
			want[i] = cluster.Noise
		}
		for i, next := 0, int32(0); i < n; i++ {
			if want[i] != cluster.Noise || len(near[i]) < least {
				continue
			}
			for stack := []int{i}; len(stack) > 0; {
				j := stack[len(stack)-1]
				if stack = stack[:len(stack)-1]; want[j] != cluster.Noise {
					continue
				}
				if want[j] = next; len(near[j]) >= least {
					stack = append(stack, near[j]...)
				}
			}
			next++
		}
		if !samePartition(got, want) {
			t.Fatalf("%v, by the definition %v", got, want)
		}
	})
}

// K centres that cannot all have rows of their own leave fewer clusters.
func TestKMeansOfFewerDifferentRows(t *testing.T) {
	m := vector.NewMatrix(30, 2)
	for i := range 30 {
		angle := float64(i%3) + 1
		m.Append([]float32{float32(math.Cos(angle)), float32(math.Sin(angle))})
	}
	labels, err := cluster.KMeans(context.Background(), m, cluster.KMeansOptions{K: 7})
	if err != nil || labels.Clusters() != 3 {
		t.Fatalf("%v, %v", labels, err)
	}
	if labels, err = cluster.KMeans(context.Background(), m, cluster.KMeansOptions{}); err != nil || labels.Clusters() != 3 {
		t.Fatalf("with a number picked: %v, %v", labels, err)
	}
	many := slices.Repeat([][]float32{{1, 0}}, 31)
	if labels, err = cluster.KMeans(context.Background(), m, cluster.KMeansOptions{Init: many}); err != nil || labels.Clusters() != 3 {
		t.Fatalf("with more centres than rows: %v, %v", labels, err)
	}
	if _, err := cluster.KMeans(context.Background(), m, cluster.KMeansOptions{Init: [][]float32{{1}}}); err == nil {
		t.Error("a centre of another dimension is taken")
	}
}

func TestKMeansDependsOnItsSeedOnly(t *testing.T) {
	m := groups(5, 40, 16, rand.New(rand.NewPCG(3, 3)))
	first, err := cluster.KMeans(context.Background(), m, cluster.KMeansOptions{K: 9, Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	again, err := cluster.KMeans(context.Background(), m, cluster.KMeansOptions{K: 9, Seed: 5})
	if err != nil || !slices.Equal(first, again) {
		t.Errorf("%v, then %v, %v", first, again, err)
	}
}
