package analysis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/helixd/helixd/reactors/synthesis/analysis/local"
)

// finding is a pattern before it has a row. It is kept in the shape of an answer.
type finding struct {
	Type        string         `json:"pattern_type"`
	Description string         `json:"description"`
	Cited       []string       `json:"evidence"` // ids, as they were sent
	Confidence  float64        `json:"confidence"`
	Content     map[string]any `json:"content"`
	Advice      string         `json:"recommendation"`

	Evidence []int `json:"-"` // texts of the plan, ascending
}

// findLocal lets package local answer about texts: at gives their numbers in the plan.
func (p *plan) findLocal(at []int) []finding {
	number := make(map[string]int, len(at))
	for _, i := range at {
		number[p.in.texts[i].ID] = i
	}
	var found []finding
	for _, f := range local.Analyse(p.kind.name, p.texts(at)) {
		if !slices.Contains(p.kind.types, f.Type) || !(f.Confidence >= 0 && f.Confidence <= 1) {
			continue
		}
		own := finding{Type: f.Type, Description: clip(f.Description, mostDescription), Confidence: f.Confidence, Content: f.Content, Advice: clip(f.Recommendation, mostAdvice)}
		for _, id := range f.Evidence {
			if i, ok := number[id]; ok && len(own.Evidence) < mostEvidence {
				own.Evidence = append(own.Evidence, i)
			}
		}
		if len(own.Evidence) == 0 || own.Description == "" {
			continue
		}
		slices.Sort(own.Evidence)
		found = append(found, own)
	}
	return found
}

// all are the texts of the plan, by their numbers.
func (p *plan) all() []int {
	at := make([]int, len(p.in.texts))
	for i := range at {
		at[i] = i
	}
	return at
}

// alike is from which share of common words on two descriptions say the same, where
// their content does not tell.
const alike = 0.8

// merge makes one of findings that say the same, as without a model it can be seen:
// of one type, with the same content or much the same words. The surest come first.
func merge(found []finding) []finding {
	var merged []finding
	for _, f := range found {
		i := slices.IndexFunc(merged, func(m finding) bool { return m.same(&f) })
		if i < 0 {
			f.Evidence = slices.Clone(f.Evidence)
			merged = append(merged, f)
			continue
		}
		m := &merged[i]
		evidence := union(m.Evidence, f.Evidence)
		if f.Confidence > m.Confidence {
			*m = f
		}
		m.Evidence = evidence
	}
	rank(merged)
	return merged[:min(len(merged), mostPatternsFull)]
}

// rank orders findings: the surest first, then those with the most evidence.
func rank(found []finding) {
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(len(b.Evidence), len(a.Evidence)))
	})
}

func union(a, b []int) []int {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), mostEvidence)]
}

func (f *finding) same(g *finding) bool {
	if f.Type != g.Type {
		return false
	}
	if a, b := f.key(), g.key(); a != "" || b != "" {
		return a == b
	}
	return overlap(f.Description, g.Description) >= alike
}

// key is what the content says, "" where it says nothing.
func (f *finding) key() string {
	var parts []string
	for _, m := range contents[f.Type] {
		if text, ok := f.Content[m.name].(string); ok && text != "" {
			parts = append(parts, m.name+"="+strings.ToLower(text))
		}
	}
	return strings.Join(parts, "\n")
}

// overlap is the Jaccard similarity of the words of two sentences.
func overlap(a, b string) float64 {
	words := map[string]int{}
	for _, w := range strings.Fields(strings.ToLower(a)) {
		words[w] |= 1
	}
	for _, w := range strings.Fields(strings.ToLower(b)) {
		words[w] |= 2
	}
	both := 0
	for _, in := range words {
		if in == 3 {
			both++
		}
	}
	if len(words) == 0 {
		return 0
	}
	return float64(both) / float64(len(words))
}
