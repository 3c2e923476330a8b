package vector

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A tile's guards are NaN: what reads or writes past its rows shows.
func TestTileEqualsThePlainLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, chunk/lanes).Draw(t, "steps") * lanes
		aStride := rapid.SampledFrom([]int{0, n, n + 8, n + 13}).Draw(t, "a's stride")
		bStride := rapid.SampledFrom([]int{0, n, n + 8, n + 13}).Draw(t, "b's stride")
		outStride := rapid.IntRange(tileColumns, 9).Draw(t, "out's stride")
		size := rapid.SampledFrom([]float32{1, 1e-3, 1e15, 1e-20, 1e-44}).Draw(t, "size")
		component := rapid.Custom(func(t *rapid.T) float32 { return size * rapid.Float32Range(-1, 1).Draw(t, "x") })
		rows := func(name string, of, stride int) (guarded, inner []float32) {
			guarded = make([]float32, 8+(of-1)*stride+n+8)
			for i := range guarded {
				guarded[i] = float32(math.NaN())
			}
			inner = guarded[8 : len(guarded)-8 : len(guarded)-8]
			few := rapid.SliceOfN(component, 1, 40).Draw(t, name)
			for r := range of {
				for i := range n {
					inner[r*stride+i] = few[(i*(r+1)+r)%len(few)]
				}
			}
			return guarded, inner
		}
		_, a := rows("a", tileRows, aStride)
		_, b := rows("b", tileColumns, bStride)
		const before, untouched = 3, 7
		fast := make([]float32, 8+2*outStride+tileColumns+8)
		for i := range fast {
			fast[i] = untouched
		}
		for i := range tileRows {
			for j := range tileColumns {
				fast[8+i*outStride+j] = before
			}
		}
		plain := append([]float32(nil), fast...)
		inner := func(out []float32) []float32 { return out[8 : len(out)-8 : len(out)-8] }
		tile(inner(fast), outStride, a, aStride, b, bStride, n, rapid.IntRange(0, 1<<20).Draw(t, "ahead"))
		tilePlain(inner(plain), outStride, a, aStride, b, bStride, n)
		seen := make([]bool, len(fast))
		for i := range tileRows {
			for j := range tileColumns {
				at := 8 + i*outStride + j
				seen[at] = true
				var want, sizes float64
				for x := range n {
					p := float64(a[i*aStride+x]) * float64(b[j*bStride+x])
					want, sizes = want+p, sizes+math.Abs(p)
				}
				near := 1e-5*sizes + 1e-6*before + 1e-40
				for name, got := range map[string]float32{"tile": fast[at], "tilePlain": plain[at]} {
					if !(math.Abs(float64(got)-before-want) <= near) {
						t.Fatalf("%s (%d, %d): %g, want %g", name, i, j, got, before+want)
					}
				}
			}
		}
		for at := range fast {
			if !seen[at] && (fast[at] != untouched || plain[at] != untouched) {
				t.Fatalf("wrote past the tile, at %d", at-8)
			}
		}
	})
}

// What follows the slices is NaN: a read past them shows.
func TestDotEqualsThePlainLoop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 7*chunk).Draw(t, "n")
		few := rapid.SliceOfN(rapid.Float32Range(-1, 1), 1, 40).Draw(t, "components")
		size := rapid.SampledFrom([]float32{1, 1e15, 1e-20, 1e-44}).Draw(t, "size")
		all := make([]float32, 8+n+8+n+8)
		for i := range all {
			all[i] = float32(math.NaN())
		}
		a, b := all[8:8+n], all[8+n+8:8+n+8+n]
		var want, sizes float64
		for i := range n {
			a[i], b[i] = size*few[i%len(few)], few[i*7%len(few)]
			want += float64(a[i]) * float64(b[i])
			sizes += math.Abs(float64(a[i]) * float64(b[i]))
		}
		if got := Dot(a, b); !(math.Abs(float64(got)-want) <= 1e-5*sizes+1e-40) {
			t.Fatalf("%g, want %g", got, want)
		}
		if got := dotPlain(a, b); !(math.Abs(float64(got)-want) <= 1e-5*sizes+1e-40) {
			t.Fatalf("plain %g, want %g", got, want)
		}
	})
}

// dotPlain adds up chunks as Dot does, in plain Go.
func dotPlain(a, b []float32) (sum float32) {
	pad := func(v []float32) []float32 {
		return append(append([]float32(nil), v...), make([]float32, (lanes-len(v)%lanes)%lanes)...)
	}
	a, b = pad(a), pad(b)
	for ; len(a) >= 3*chunk; a, b = a[3*chunk:], b[3*chunk:] {
		sum = dot3Plain(sum, (*[3 * chunk]float32)(a), (*[3 * chunk]float32)(b))
	}
	for ; len(a) > 0; a, b = a[min(chunk, len(a)):], b[min(chunk, len(b)):] {
		sum += foldPlain(a[:min(chunk, len(a))], b)
	}
	return sum
}
