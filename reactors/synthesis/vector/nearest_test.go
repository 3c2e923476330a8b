package vector_test

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// plainly sorts all others of each row.
func plainly(m *vector.Matrix, k int) *vector.Neighbours {
	nn := &vector.Neighbours{K: k}
	similarity := make([]float32, m.Rows())
	for i := range m.Rows() {
		var others []int32
		for j := range m.Rows() {
			similarity[j] = vector.Dot(m.Row(i), m.Row(j))
			if j != i {
				others = append(others, int32(j))
			}
		}
		slices.SortStableFunc(others, func(a, b int32) int { return cmp.Compare(similarity[b], similarity[a]) })
		for x := range k {
			if x < len(others) {
				nn.Row = append(nn.Row, others[x])
				nn.Similarity = append(nn.Similarity, similarity[others[x]])
			} else {
				nn.Row, nn.Similarity = append(nn.Row, -1), append(nn.Similarity, 0)
			}
		}
	}
	return nn
}

func equal(a, b *vector.Neighbours) bool {
	return a.K == b.K && slices.Equal(a.Row, b.Row) && slices.Equal(a.Similarity, b.Similarity)
}

func nearest(t testing.TB, m *vector.Matrix, k int) *vector.Neighbours {
	t.Helper()
	nn, err := m.Nearest(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	return nn
}

func TestNearestEqualsSorting(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 5, 95, 96, 97, 203, 400} {
		for _, dim := range []int{1, 3, 40} { // of one and three dimensions many are equally near
			rows := dense(n, dim, uint64(n))
			for i := range rows {
				if dim == 3 {
					for x := range rows[i] {
						rows[i][x] = float32(int(rows[i][x]) % 2)
					}
					rows[i][i%3]++
				}
			}
			var m *vector.Matrix
			if dim == 3 { // without those of no direction
				m = vector.NewMatrix(0, dim)
				for _, v := range rows {
					m.Append(v)
				}
			} else {
				m = matrix(t, dim, rows)
			}
			for _, k := range []int{0, 1, 4, 15, 120} {
				if got, want := nearest(t, m, k), plainly(m, k); !equal(got, want) {
					t.Errorf("n %d, dim %d, k %d: got %v, want %v", n, dim, k, got.Row, want.Row)
				}
			}
		}
	}
}

func TestNearestOfIdenticalRows(t *testing.T) {
	m := vector.NewMatrix(0, 17)
	for range 1000 {
		m.Append(dense(1, 17, 1)[0])
	}
	nn := nearest(t, m, 3)
	for i := range m.Rows() {
		rows, _ := nn.Of(i)
		want := slices.DeleteFunc([]int32{0, 1, 2, 3}, func(j int32) bool { return int(j) == i })[:3]
		if !slices.Equal(rows, want) {
			t.Fatalf("row %d: %v", i, rows)
		}
	}
}

func TestNearestOnAnyNumberOfProcessors(t *testing.T) {
	m := matrix(t, 100, dense(1500, 100, 3))
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	one := nearest(t, m, 15)
	for _, n := range []int{2, 3, 8} {
		runtime.GOMAXPROCS(n)
		if !equal(one, nearest(t, m, 15)) {
			t.Errorf("%d processors find others than one", n)
		}
	}
}

func TestNearestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if nn, err := matrix(t, 3, dense(10, 3, 1)).Nearest(ctx, 2); nn != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v", nn, err)
	}
}
