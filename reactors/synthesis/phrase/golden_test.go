package phrase_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

// golden is what testdata/golden.py computed with scikit-learn and numpy.
type golden struct {
	Texts    []string
	Cosines  [][]float64
	Clusters [][]string
	Weights  []map[string]float64
}

func readGolden(t testing.TB) (g golden) {
	t.Helper()
	content, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// TestVectorsEqualScikitLearn compares in a dimension in which none of the golden's words meets another one.
func TestVectorsEqualScikitLearn(t *testing.T) {
	g := readGolden(t)
	vectors := phrase.Vectors(g.Texts, 1<<12)
	worst := 0.0
	for i := range vectors {
		for j := range vectors {
			worst = max(worst, math.Abs(cosine(vectors[i], vectors[j])-g.Cosines[i][j]))
		}
	}
	t.Logf("%d × %d cosines, the worst off by %.2g", len(vectors), len(vectors), worst)
	if worst > 1e-6 {
		t.Errorf("a cosine is off by %g", worst)
	}
}

// TestKeysEqualNumpy has every phrase weigh what numpy says, the heaviest first, and none left out that is heavier than
// the first one, but for a word that is in it.
func TestKeysEqualNumpy(t *testing.T) {
	g := readGolden(t)
	compared := 0
	for i, keys := range phrase.Keys(g.Clusters, 1000) {
		if len(keys) < 5 {
			t.Fatalf("cluster %d: %d phrases", i, len(keys))
		}
		for j, key := range keys {
			words := strings.Fields(key.Text)
			words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains([]string{"the", "of", "and", "with"}, w) })
			want, known := g.Weights[i][strings.Join(words, " ")]
			if !known || math.Abs(want-key.Weight) > 1e-12 {
				t.Errorf("cluster %d: %q weighs %v, numpy has %v", i, key.Text, key.Weight, want)
			}
			if j > 0 && key.Weight > keys[j-1].Weight {
				t.Errorf("cluster %d: %q after the lighter %q", i, key.Text, keys[j-1].Text)
			}
			compared++
		}
		for term, weight := range g.Weights[i] {
			if weight > keys[0].Weight+1e-12 && !slices.ContainsFunc(keys, func(k phrase.Phrase) bool {
				return slices.Contains(strings.Fields(k.Text), term)
			}) {
				t.Errorf("cluster %d: %q weighs %v, more than the first phrase %q", i, term, weight, keys[0].Text)
			}
		}
	}
	t.Logf("%d weights compared", compared)
}

// sparse gives the TF-IDF cosines of texts without hashing, by the formulas of scikit-learn's manual.
func sparse(texts []string) func(i, j int) float64 {
	n := float64(len(texts))
	df := map[string]float64{}
	rows := make([]map[string]float64, len(texts))
	for i, text := range texts {
		rows[i] = map[string]float64{}
		for _, token := range phrase.Tokens(text) {
			if rows[i][token.Stem]++; rows[i][token.Stem] == 1 {
				df[token.Stem]++
			}
		}
	}
	for _, row := range rows {
		square := 0.0
		for stem, tf := range row {
			row[stem] = (1 + math.Log(tf)) * (math.Log((1+n)/(1+df[stem])) + 1)
			square += row[stem] * row[stem]
		}
		for stem := range row {
			row[stem] /= math.Sqrt(square)
		}
	}
	return func(i, j int) (sum float64) {
		for stem, x := range rows[i] {
			sum += x * rows[j][stem]
		}
		return sum
	}
}

// TestHashingKeepsCosines bounds what hashing changes: with signs it is unbiased, with a variance of about 1/dim
// (Weinberger et al. 2009, lemma 2), so the mean error is 0, its root mean square 1/√dim, and by Chebyshev one pair in 25
// off by five times that: those of texts of one or two words, which may meet in one number.
func TestHashingKeepsCosines(t *testing.T) {
	_, by := intents(t)
	var texts []string
	for _, of := range by {
		texts = append(texts, of[:6]...)
	}
	exact := sparse(texts)
	for _, dim := range []int{0, 256, 2048} {
		vectors := phrase.Vectors(texts, dim)
		if dim == 0 {
			dim = 1024
		}
		deviation := 1 / math.Sqrt(float64(dim))
		var sum, square, far, pairs float64
		for i := range vectors {
			if vectors[i] == nil {
				continue
			}
			if len(vectors[i]) != dim || math.Abs(cosine(vectors[i], vectors[i])-1) > 1e-5 {
				t.Fatalf("text %d: %d numbers, length² %v", i, len(vectors[i]), cosine(vectors[i], vectors[i]))
			}
			for j := range i {
				if vectors[j] == nil {
					continue
				}
				off := cosine(vectors[i], vectors[j]) - exact(i, j)
				sum, square, pairs = sum+off, square+off*off, pairs+1
				if math.Abs(off) > 5*deviation {
					far++
				}
			}
		}
		t.Logf("%d numbers, %.0f pairs: mean %.2g, root mean square %.2g of %.2g, far %.2g", dim, pairs, sum/pairs, math.Sqrt(square/pairs), deviation, far/pairs)
		if math.Abs(sum/pairs) > deviation/5 || math.Sqrt(square/pairs) > 1.1*deviation || far/pairs > 1./25 {
			t.Errorf("%d numbers: too far from the exact cosines", dim)
		}
	}
}
