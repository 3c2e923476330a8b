package phrase

import (
	"cmp"
	"strings"
)

// show gives terms as the texts have them most often, whatever the case; on a tie the shorter way, and the lower case.
func (v *vocabulary) show(terms []weighted, texts []analysis) []Phrase {
	if len(terms) == 0 {
		return nil
	}
	ways := make(map[int32]map[string]int, len(terms))
	for _, t := range terms {
		ways[t.term] = map[string]int{}
	}
	for _, a := range texts {
		for o := range v.occurrences(a) {
			if way := ways[o.term]; way != nil {
				way[a.text[o.from:o.to]]++
			}
		}
	}
	phrases := make([]Phrase, len(terms))
	for i, t := range terms {
		phrases[i] = Phrase{Text: commonest(ways[t.term]), Weight: t.weight}
	}
	return phrases
}

// commonest gives the way of writing that was counted most.
func commonest(ways map[string]int) string {
	folded := map[string]int{}
	for way, n := range ways {
		folded[strings.ToLower(way)] += n
	}
	best := ""
	for way, n := range ways {
		lower, before := strings.ToLower(way), strings.ToLower(best)
		if best == "" || cmp.Or(cmp.Compare(folded[lower], folded[before]), cmp.Compare(len(before), len(lower)),
			cmp.Compare(before, lower), cmp.Compare(n, ways[best]), cmp.Compare(way, best)) > 0 {
			best = way
		}
	}
	return best
}
