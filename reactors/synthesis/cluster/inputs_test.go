package cluster_test

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/vector"
)

// inputs are those of testdata/sklearn.py, to the bit. Conversions to float64 keep
// the compiler from fusing a product with a sum.
var inputs = map[string]func(*testing.T) *vector.Matrix{
	"blobs of 50 in 2":      blobs(1, 2, []int{18, 20}, 0.05, 12, 0),
	"blobs of 300 in 3":     blobs(2, 3, []int{60, 80, 50, 40}, 0.08, 70, 0),
	"blobs of 500 in 16":    blobs(3, 16, []int{120, 90, 60, 40, 30, 10}, 0.4, 150, 0),
	"copies of 600 in 8":    blobs(4, 8, []int{100, 80, 50}, 0.3, 70, 300),
	"chains of 720 in 3":    chains(5, 3, []int{200, 150, 150, 100}, 0.02),
	"chains of 1200 in 32":  chains(6, 32, []int{400, 300, 300}, 0.15),
	"blobs of 2000 in 64":   blobs(7, 64, []int{400, 300, 250, 200, 150, 100, 60, 40}, 0.5, 500, 0),
	"chains of 1500 in 128": chains(9, 128, []int{500, 400, 300, 50}, 0.1),
	"blobs of 1000 in 256":  blobs(10, 256, []int{150, 140, 130, 120, 110, 100, 50}, 0.4, 200, 0),
	"blobs of 400 in 1536":  blobs(8, 1536, []int{80, 70, 60, 50, 40}, 0.6, 100, 0),
	"intents":               intents,
}

// random is SplitMix64.
type random uint64

func (r *random) uniform() float64 {
	*r += 0x9E3779B97F4A7C15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return float64((z^z>>31)>>11) / (1 << 53)
}

// normal is the sum of twelve uniforms less six, for each component.
func (r *random) normal(rows, dim int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, dim)
		for x := range out[i] {
			for range 12 {
				out[i][x] += r.uniform()
			}
			out[i][x] -= 6
		}
	}
	return out
}

func unit(v []float64) []float32 {
	total := 0.0
	for _, x := range v {
		total += float64(x * x)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x / math.Sqrt(total))
	}
	return out
}

func blobs(seed random, dim int, sizes []int, spread float64, noise, copies int) func(*testing.T) *vector.Matrix {
	return func(t *testing.T) *vector.Matrix {
		r := seed
		centres := r.normal(len(sizes), dim)
		var all [][]float64
		for i, n := range sizes {
			centre := unit(centres[i])
			scale := spread * float64(1+i%3) / math.Sqrt(float64(dim))
			for _, v := range r.normal(n, dim) {
				for x := range v {
					v[x] = float64(centre[x]) + float64(scale*v[x])
				}
				all = append(all, v)
			}
		}
		all = append(all, r.normal(noise, dim)...)
		return matrix(t, dim, append(all, all[:copies]...))
	}
}

func chains(seed random, dim int, chain []int, step float64) func(*testing.T) *vector.Matrix {
	return func(t *testing.T) *vector.Matrix {
		r := seed
		var all [][]float64
		total := 0
		for _, n := range chain {
			total += n
			at := make([]float64, dim)
			steps := r.normal(n, dim)
			start := unit(r.normal(1, dim)[0])
			for i, s := range steps {
				for x := range s {
					s[x] = float64(step / math.Sqrt(float64(dim)) * s[x])
					if i == 0 {
						s[x] += float64(start[x])
					}
					at[x] += s[x]
				}
				all = append(all, append([]float64(nil), at...))
			}
		}
		return matrix(t, dim, append(all, r.normal(total/5, dim)...))
	}
}

func matrix(t *testing.T, dim int, rows [][]float64) *vector.Matrix {
	m := vector.NewMatrix(len(rows), dim)
	for i, v := range rows {
		if !m.Append(unit(v)) {
			t.Fatalf("row %d has no direction", i)
		}
	}
	return m
}

// intents are CLINC150's embeddings.
func intents(t *testing.T) *vector.Matrix {
	content, err := os.ReadFile("../testdata/intents/intents.f32")
	if err != nil {
		t.Fatal(err)
	}
	const dim = 512
	m := vector.NewMatrix(len(content)/4/dim, dim)
	for ; len(content) > 0; content = content[4*dim:] {
		v := make([]float32, dim)
		for x := range v {
			v[x] = math.Float32frombits(binary.LittleEndian.Uint32(content[4*x:]))
		}
		if !m.Append(v) {
			t.Fatal("a row has no direction")
		}
	}
	return m
}
