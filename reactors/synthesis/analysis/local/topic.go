package local

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"unicode"

	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

// A topic goes with a feeling if three texts have both, most of the topic's texts have
// it (and of those that have any feeling nearly all), and this would rarely be so by
// chance (Fisher's exact test, one-sided).
const (
	fewestTogether = 3
	mostlySo       = 0.5
	byChance       = 0.05
	nearby         = 2   // sentences between them
	fewTexts       = 20  // cannot show more
	byChanceOfFew  = 0.2 // in them
	mostTopics     = 3   // of one feeling: words of the same texts say the same
)

// themes is words that speak of the same topic.
var themes = map[string]string{"rent": "money", "bank": "money", "bill": "money", "euro": "money", "debt": "money", "loan": "money", "mortgag": "money",
	"salari": "money", "budget": "money", "pound": "money", "dollar": "money", "sum": "money", "invoic": "money", "pay": "money",
	"boss": "work", "job": "work", "offic": "work", "colleagu": "work", "manag": "work", "meet": "work"}

// topicEmotions finds topics that go with one feeling over several texts.
//
// Content: topic, a word as the user writes it; emotion and family; texts, how many
// have both; of, how many have the topic; lift, over chance; p, of Fisher's test.
func topicEmotions(d *document) []Finding {
	shown := map[string]map[string]int{}  // stem → as it is written
	texts := map[string][]int{}           // stem → texts
	feels := map[int]map[string]bool{}    // text → kin of families
	by := map[string][]int{}              // kin → texts
	near := map[string]map[string][]int{} // kin → stem → texts where they are near each other
	family := map[string]map[string]int{}
	all := 0
	if !d.feelsOften() {
		return nil
	}
	d.perText(func(of int, sentences []sentence) {
		all++
		seen := map[string]bool{}
		feels[of] = map[string]bool{}
		at := make([][]string, len(sentences)) // kin of the emotions near each sentence
		for i := range sentences {
			for _, e := range signs(&sentences[i]) {
				k := kin[e.family]
				feels[of][k] = true
				for j := max(0, i-nearby); j <= min(len(sentences)-1, i+nearby); j++ {
					if !slices.Contains(at[j], k) {
						at[j] = append(at[j], k)
					}
				}
				if family[k] == nil {
					family[k] = map[string]int{}
				}
				family[k][e.family]++
			}
		}
		for i := range sentences {
			s := &sentences[i]
			if len(seen) > 400 {
				continue
			}
			for _, t := range phrase.Tokens(s.text(0, len(s.words))) {
				stem := t.Stem
				if _, feeling := felt.any[t.Text]; feeling || vague[t.Text] || unicode.IsDigit(rune(t.Text[0])) || empty[t.Text] {
					continue
				}
				stems := []string{stem}
				if theme, ok := themes[stem]; ok {
					stems = append(stems, theme)
				}
				for _, stem := range stems {
					for _, k := range at[i] {
						if near[k] == nil {
							near[k] = map[string][]int{}
						}
						if n := near[k][stem]; len(n) == 0 || n[len(n)-1] != of {
							near[k][stem] = append(n, of)
						}
					}
					if !seen[stem] {
						seen[stem] = true
						texts[stem] = append(texts[stem], of)
					}
					if shown[stem] == nil {
						shown[stem] = map[string]int{}
					}
					if stem == t.Stem {
						shown[stem][t.Text]++
					} else {
						shown[stem][stem]++
					}
				}
			}
		}
		for k := range feels[of] {
			by[k] = append(by[k], of)
		}
	})
	var found []Finding
	for _, k := range slices.Sorted(maps.Keys(by)) {
		if len(by[k]) < fewestTogether {
			continue
		}
		type topic struct {
			stem  string
			texts []int
			of    int
			p     float64
		}
		var topics []topic
		for stem, has := range texts {
			both := near[k][stem]
			felt := 0
			for _, i := range has {
				if len(feels[i]) > 0 {
					felt++
				}
			}
			if len(both) < fewestTogether || float64(len(both)) < mostlySo*float64(len(has)) || float64(len(both)) < 0.7*float64(felt) {
				continue
			}
			if p := fisher(len(both), len(has), len(by[k]), all); p <= byChance || all <= fewTexts && p <= byChanceOfFew {
				topics = append(topics, topic{stem, both, len(has), p})
			}
		}
		slices.SortFunc(topics, func(a, b topic) int {
			return cmp.Or(cmp.Compare(a.p, b.p), cmp.Compare(len(b.texts), len(a.texts)), cmp.Compare(a.stem, b.stem))
		})
		taken := map[int]int{}
		n := 0
		for _, t := range topics {
			fresh := 0
			for _, i := range t.texts {
				if taken[i] == 0 {
					fresh++
				}
			}
			if n >= mostTopics || 2*fresh < len(t.texts) {
				continue
			}
			n++
			for _, i := range t.texts {
				taken[i]++
			}
			word, name := oftenest(shown[t.stem]), oftenest(family[k])
			lift := float64(len(t.texts)) / float64(t.of) / (float64(len(by[k])) / float64(all))
			confidence := (1 - t.p) * (float64(len(t.texts)) + 1) / (float64(t.of) + 2)
			found = append(found, Finding{
				Type:        "topic_emotion",
				Description: "When you write about “" + shownTopic(word) + "”, " + nameOf(name) + " is mostly there.",
				Evidence:    d.ids(t.texts),
				Confidence:  math.Round(100*min(confidence, 0.97)) / 100,
				Content: map[string]any{"topic": shownTopic(word), "emotion": nameOf(name), "family": name, "texts": len(t.texts), "of": t.of,
					"lift": round(lift), "p": t.p},
				Recommendation: either(negative[name], "You might ask yourself what in this topic brings the feeling, and what would make it lighter.",
					"It may be worth giving this topic more room."),
			})
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return found[:min(len(found), mostFindings)]
}

// feelsOften says that enough texts tell of feelings for a topic to go with one.
func (d *document) feelsOften() bool {
	texts, last := 0, -1
	for i := range d.sentences {
		if s := &d.sentences[i]; s.of != last && len(signs(s)) > 0 {
			texts, last = texts+1, s.of
		}
	}
	return texts >= fewestTogether
}

func shownTopic(word string) string {
	if r := []rune(word); len(r) > longestWord {
		return string(r[:longestWord]) + "…"
	}
	return word
}

// vague is words that are no topic.
var vague = wordSet(`today yesterday tomorrow morning evening night week weekend day month year monday tuesday wednesday thursday friday saturday
	hour hours minute minutes time times thing things lot bit again always never still everything nothing something really just got went going
	came back home little big good bad new old feel feeling feelings felt think thought know knew said say told look looked looking make made take took
	want wanted need come people someone way right left put whole last next first second third two three heart stomach head hands tears mood`)

// oftenest gives the word that is counted most, the first one in order of these.
func oftenest(counts map[string]int) string {
	best := ""
	for _, w := range slices.Sorted(maps.Keys(counts)) {
		if best == "" || counts[w] > counts[best] {
			best = w
		}
	}
	return best
}

// fisher is the chance that of all texts, has of which have a topic and feel of which
// a feeling, both or more have the two.
func fisher(both, has, feel, all int) float64 {
	choose := func(n, k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	p := 0.0
	for i := both; i <= min(has, feel); i++ {
		if feel-i <= all-has {
			p += math.Exp(choose(has, i) + choose(all-has, feel-i) - choose(all, feel))
		}
	}
	return min(p, 1)
}
