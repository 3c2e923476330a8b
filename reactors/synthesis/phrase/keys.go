package phrase

import (
	"cmp"
	"math"
	"slices"
)

// Phrase is one or two words that set a cluster apart.
type Phrase struct {
	Text   string  // as people wrote it most often there, what stands between the two words included
	Weight float64 // c-TF-IDF
}

// between is how many stop words may stand between the two words of a phrase: "tell me a joke".
const between = 2

// Keys names clusters of texts by at most most phrases each, the weightiest first: class-based TF-IDF (Grootendorst
// 2022, BERTopic) of stems and of pairs of them in one clause, tf × ln(1 + A/f) with tf the term's share of the
// cluster's terms, f its count over all clusters and A the terms of a cluster on average. Left out are what a single
// text of many says, bare numbers, words that are mostly part of a longer phrase, and phrases whose words were all
// given already; two phrases at most share a word. A cluster without words has none.
func Keys(clusters [][]string, most int) [][]Phrase {
	var texts []string
	for _, cluster := range clusters {
		texts = append(texts, cluster...)
	}
	read := analyse(texts)
	v := vocabulary{stems: map[string]int32{}, grams: map[[2]int32]int32{}}
	counted := make([]counts, len(clusters))
	for i, from := 0, 0; i < len(clusters); i++ {
		counted[i] = v.count(read[from : from+len(clusters[i])])
		from += len(clusters[i])
	}
	average := 0.0 // terms of a cluster
	for _, c := range counted {
		average += float64(c.all) / float64(len(clusters))
	}
	keys := make([][]Phrase, len(clusters))
	for i, from := 0, 0; i < len(clusters); i++ {
		chosen := v.choose(v.weigh(counted[i], average), counted[i], len(clusters[i]), most)
		keys[i] = v.show(chosen, read[from:from+len(clusters[i])])
		from += len(clusters[i])
	}
	return keys
}

// vocabulary numbers the terms of all clusters: stems, and pairs of stems.
type vocabulary struct {
	stems map[string]int32
	grams map[[2]int32]int32
	terms []entry
}

// entry is a term over all clusters.
type entry struct {
	stem  string   // of a single one
	of    [2]int32 // of a pair: its stems' numbers; of a single one: its own number twice
	kind  kind
	count int
}

func (e entry) single() bool { return e.of[0] == e.of[1] }

// counts is how often a cluster's texts have each term.
type counts struct {
	of  map[int32]frequency
	all int
}

type frequency struct {
	count, texts int
	last         int // text that has it, plus one
}

// count numbers and counts the terms of a cluster's texts.
func (v *vocabulary) count(texts []analysis) counts {
	c := counts{of: map[int32]frequency{}}
	for i, a := range texts {
		for gram := range v.occurrences(a) {
			f := c.of[gram.term]
			f.count++
			if f.last != i+1 {
				f.texts++
				f.last = i + 1
			}
			c.of[gram.term] = f
			v.terms[gram.term].count++
			c.all++
		}
	}
	return c
}

// occurrence is a term in its place: bytes of the clean text.
type occurrence struct {
	term     int32
	from, to int
}

// occurrences gives the terms of a text: each stem, and each two that follow each other in one clause with hardly a
// stop word between. The same stem twice ("very very") is no pair.
func (v *vocabulary) occurrences(a analysis) func(func(occurrence) bool) {
	return func(yield func(occurrence) bool) {
		previous := int32(-1)
		for i, t := range a.terms {
			id, known := v.stems[t.stem]
			if !known {
				id = int32(len(v.terms))
				v.stems[t.stem] = id
				v.terms = append(v.terms, entry{stem: t.stem, of: [2]int32{id, id}, kind: t.kind})
			}
			if !yield(occurrence{id, t.from, t.to}) {
				return
			}
			if i > 0 && previous != id && joined(a.terms[i-1], t) {
				pair := [2]int32{previous, id}
				gram, known := v.grams[pair]
				if !known {
					gram = int32(len(v.terms))
					v.grams[pair] = gram
					v.terms = append(v.terms, entry{of: pair})
				}
				if !yield(occurrence{gram, a.terms[i-1].from, t.to}) {
					return
				}
			}
			previous = id
		}
	}
}

// joined says that two terms, one after the other, may be one phrase.
func joined(a, b term) bool {
	if a.clause != b.clause || b.at-a.at > between+1 || a.kind == symbol || b.kind == symbol {
		return false
	}
	return a.kind != pair && b.kind != pair || b.from < a.to // characters: three in a row
}

// weighted is a term with its c-TF-IDF in a cluster.
type weighted struct {
	term   int32
	weight float64
}

// weigh gives a cluster's terms, the weightiest first.
func (v *vocabulary) weigh(c counts, average float64) []weighted {
	terms := make([]weighted, 0, len(c.of))
	for term, f := range c.of {
		tf := float64(f.count) / float64(c.all)
		terms = append(terms, weighted{term, tf * math.Log(1+average/float64(v.terms[term].count))})
	}
	slices.SortFunc(terms, func(a, b weighted) int {
		if c := cmp.Compare(b.weight, a.weight); c != 0 {
			return c
		}
		if one := v.terms[a.term].single(); one != v.terms[b.term].single() { // on a tie a pair, then what came first
			if one {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.term, b.term)
	})
	return terms
}

const (
	// mostly is the share of a word's occurrences from which on a phrase says it better than the word alone.
	mostly = 0.5
	// often is how many phrases of a cluster may share a word.
	often = 2
)

// choose picks the phrases of a cluster.
func (v *vocabulary) choose(ranked []weighted, c counts, texts, most int) []weighted {
	least := min(2, texts) // texts that must have a phrase: one alone is no pattern
	if !slices.ContainsFunc(ranked, func(w weighted) bool { return c.of[w.term].texts >= least && v.terms[w.term].kind != number }) {
		least = 1
	}
	within := map[int32]int{} // of each stem: the count of the phrase that has most of it
	for _, w := range ranked {
		if e := v.terms[w.term]; !e.single() && c.of[w.term].texts >= least {
			for _, stem := range e.of {
				within[stem] = max(within[stem], c.of[w.term].count)
			}
		}
	}
	var chosen []weighted
	said := map[int32]int{} // by how many phrases, of each stem
	for _, w := range ranked {
		if len(chosen) >= most {
			break
		}
		e, f := v.terms[w.term], c.of[w.term]
		switch {
		case f.texts < least, said[e.of[0]] > 0 && said[e.of[1]] > 0, max(said[e.of[0]], said[e.of[1]]) >= often:
		case e.single() && (e.kind == number || float64(within[w.term]) >= mostly*float64(f.count)):
		default:
			chosen = append(chosen, w)
			for _, stem := range slices.Compact(e.of[:]) {
				said[stem]++
			}
		}
	}
	return chosen
}
