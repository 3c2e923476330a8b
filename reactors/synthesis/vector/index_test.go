package vector_test

import (
	"math"
	"slices"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/vector"
	"pgregory.net/rapid"
)

// Whatever comes and goes, an Index equals a new one of the same rows, and Changed
// tells of every row whose neighbours are others.
func TestIndexEqualsANewOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.SampledFrom([]int{2, 3, 20}).Draw(t, "dim")
		k := rapid.SampledFrom([]int{0, 1, 3, 10}).Draw(t, "k")
		component := rapid.Float32Range(-1, 1)
		if rapid.Bool().Draw(t, "grid") { // many equally near, identical, and without direction
			component = rapid.Map(rapid.IntRange(-1, 1), func(x int) float32 { return float32(x) })
		}
		row := rapid.SliceOfN(component, dim, dim)
		m, ids, next := vector.NewMatrix(0, dim), []int{}, 0
		add := func(ok bool) {
			if ok {
				ids, next = append(ids, next), next+1
			}
		}
		for _, v := range rapid.SliceOfN(row, 0, 60).Draw(t, "rows") {
			add(m.Append(v))
		}
		x, err := vector.NewIndex(t.Context(), m, k)
		if err != nil {
			t.Fatal(err)
		}
		remove := func(i int) { ids[i], ids = ids[len(ids)-1], ids[:len(ids)-1] }
		named := func() map[int][]int { // each row's neighbours, by names that do not change
			all := map[int][]int{}
			for i, id := range ids {
				all[id] = []int{}
				rows, _ := x.Neighbours().Of(i)
				for _, j := range rows {
					if j >= 0 {
						all[id] = append(all[id], ids[j])
					}
				}
				slices.Sort(all[id])
			}
			return all
		}
		before := named()
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) { add(x.Insert(row.Draw(t, "row"))) },
			"insert all": func(t *rapid.T) {
				for _, ok := range x.InsertAll(rapid.SliceOfN(row, 0, 30).Draw(t, "rows")) {
					add(ok)
				}
			},
			"remove": func(t *rapid.T) {
				if len(ids) > 0 {
					i := rapid.IntRange(0, len(ids)-1).Draw(t, "row")
					x.Remove(i)
					remove(i)
				}
			},
			"remove all": func(t *rapid.T) {
				if len(ids) > 0 {
					rows := rapid.SliceOfNDistinct(rapid.IntRange(0, len(ids)-1), 0, min(20, len(ids)), rapid.ID).Draw(t, "rows")
					x.RemoveAll(rows)
					slices.Sort(rows)
					for _, i := range slices.Backward(rows) {
						remove(i)
					}
				}
			},
			"changed": func(t *rapid.T) {
				var want []int32
				now := named()
				for i, id := range ids {
					if was, ok := before[id]; !ok || !slices.Equal(was, now[id]) {
						want = append(want, int32(i))
					}
				}
				got := x.Changed()
				for _, i := range want {
					if _, found := slices.BinarySearch(got, i); !found {
						t.Fatalf("changed %v without %d", got, i)
					}
				}
				if again := x.Changed(); len(again) > 0 || !slices.IsSorted(got) {
					t.Fatalf("changed %v, then %v", got, again)
				}
				before = now
			},
			"": func(t *rapid.T) {
				if x.Matrix().Rows() != len(ids) {
					t.Fatalf("%d rows, want %d", x.Matrix().Rows(), len(ids))
				}
				if want := plainly(x.Matrix(), k); !equal(x.Neighbours(), want) {
					t.Fatalf("neighbours %v, want %v", x.Neighbours().Row, want.Row)
				}
			},
		})
	})
}

// Three hundred rows on a circle have their neighbours beside them: what comes and
// goes there changes those few lists only.
func TestChangedIsNoMoreThanNeeded(t *testing.T) {
	const n, k = 300, 4
	at := func(angle float64) []float32 {
		sin, cos := math.Sincos(2 * math.Pi * angle / n)
		return []float32{float32(cos), float32(sin)}
	}
	m := vector.NewMatrix(0, 2)
	for i := range n {
		m.Append(at(float64(i)))
	}
	x, err := vector.NewIndex(t.Context(), m, k)
	if err != nil {
		t.Fatal(err)
	}
	want := func(what string, rows ...int32) {
		t.Helper()
		if got := x.Changed(); !slices.Equal(got, rows) {
			t.Errorf("%s changed %v, want %v", what, got, rows)
		}
	}
	want("nothing")
	x.Insert(at(100.25))
	want("inserting between 100 and 101", 99, 100, 101, 102, n)
	x.Remove(200) // the new row takes its number
	want("removing 200", 198, 199, 201, 202)
	x.Remove(200)
	want("removing the new row", 99, 100, 101, 102)
	x.RemoveAll([]int{10, 50, 10})
	want("removing two", 8, 9, 11, 12, 48, 49, 51, 52)
	if x.Insert([]float32{0, 0}) {
		t.Error("a row without direction was added")
	}
	want("a row without direction")
}

// Many that come or go at once are the same as one after the other.
func TestIndexOfManyAtOnce(t *testing.T) {
	const dim, k = 30, 5
	rows := dense(400, dim, 5)
	for _, first := range []int{0, 100, 390} { // anew, and in blocks
		x, err := vector.NewIndex(t.Context(), matrix(t, dim, rows[:first]), k)
		if err != nil {
			t.Fatal(err)
		}
		x.InsertAll(rows[first:])
		if !equal(x.Neighbours(), nearest(t, matrix(t, dim, rows), k)) {
			t.Errorf("after %d rows the others make other neighbours", first)
		}
		for _, gone := range []int{3, 130, 250} {
			var some []int
			for i := range gone {
				some = append(some, i*37%x.Matrix().Rows())
			}
			x.RemoveAll(some)
			if !equal(x.Neighbours(), nearest(t, x.Matrix(), k)) {
				t.Errorf("with %d rows gone the others have other neighbours", gone)
			}
		}
	}
}
