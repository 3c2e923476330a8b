package local_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/analysis/local"
)

// BenchmarkAnalyse analyses 1,000 texts of 16 KiB.
func BenchmarkAnalyse(b *testing.B) {
	var all strings.Builder
	for _, kind := range append([]string{"none"}, ofThisFile...) {
		for _, p := range readPlanted(b, "own_*.jsonl")[kind] {
			for _, t := range p.Texts {
				all.WriteString(t.Text + "\n")
			}
		}
	}
	long := strings.Repeat(all.String(), 1+32<<10/all.Len())
	texts := make([]local.Text, 1000)
	for i := range texts {
		from := i * 97 % (len(long) - 16<<10)
		texts[i] = local.Text{ID: fmt.Sprint(i), Text: long[from : from+16<<10]}
	}
	b.SetBytes(1000 * 16 << 10)
	for b.Loop() {
		local.Analyse("full_synthesis", texts)
	}
}
