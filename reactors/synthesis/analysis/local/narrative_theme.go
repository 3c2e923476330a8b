package local

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

// How a theme stands above chance: a word that is not common is in a text of average
// length by chance with wordChance, and a theme is what would be in as many texts with less
// than themeChance, over all words that might be one.
const (
	leastTexts   = 3
	wordChance   = 0.015
	dailyChance  = 0.06
	themeChance  = 0.1
	longTerms    = 12
	averageTerms = 8   // words of a text that say something
	mostCompared = 100 // texts that a theme is named by, and as many others
	mostOfWord   = 50  // texts of a word that tells others of a topic
)

// runningTopic is a word, or words for the same matter, and the texts that have one.
type runningTopic struct {
	terms  []string
	texts  []int
	chance float64
}

// lifeThemes finds topics that run through several texts, and those that the user calls
// one. Content: keywords and texts, or said.
func lifeThemes(d *document, all []bondLine) []Finding {
	texts, of := termsOf(d)
	if !inEnglish(d) {
		texts, of = nil, nil
	}
	var topics []runningTopic
	daily, rare := chances(texts, dailyChance), chances(texts, wordChance)
	for _, term := range slices.Sorted(maps.Keys(of)) {
		if n := len(of[term]); n > leastTexts || n == leastTexts && term[0] != '~' && !dailyStems[term] {
			if p := either(dailyStems[term], daily, rare)[n] * float64(len(of)); p < either(n > leastTexts, themeChance, themeChance/3) {
				topics = append(topics, runningTopic{[]string{term}, of[term], p})
			}
		}
	}
	slices.SortStableFunc(topics, func(a, b runningTopic) int {
		return cmp.Or(cmp.Compare(len(b.texts), len(a.texts)), cmp.Compare(a.chance, b.chance))
	})
	var kept []runningTopic
next:
	for _, t := range topics {
		for i := range kept {
			if both := common2(t.texts, kept[i].texts); 2*both >= len(t.texts) {
				kept[i].terms = append(kept[i].terms, t.terms...)
				if 3*both >= 2*len(t.texts) && len(t.texts) > leastTexts {
					kept[i].texts = unionOf(kept[i].texts, t.texts)
				}
				continue next
			}
		}
		if len(kept) < mostFindings {
			kept = append(kept, t)
		}
	}
	var findings []Finding
	for i := range kept {
		kept[i].widen(texts, of)
		findings = append(findings, kept[i].finding(d))
	}
	findings = append(findings, sayings(d, all)...)
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return findings[:min(len(findings), mostFindings)]
}

// inEnglish says that most texts are in English: short ones of another language pass
// as names and numbers, and have their small words in common.
func inEnglish(d *document) bool {
	all, some := 0, 0
	for i := range d.sentences {
		for _, w := range d.sentences[i].words {
			if w.text != "," {
				all++
				if function[w.text] {
					some++
				}
			}
		}
	}
	return 100*some >= 18*all
}

// termSet is what a text is about: stems, and matters.
type termSet map[string]bool

// termsOf gives the terms of each text, and the texts of each term; texts that are
// the same count once.
func termsOf(d *document) (map[int]termSet, map[string][]int) {
	texts, of := map[int]termSet{}, map[string][]int{}
	env := snowballstem.NewEnv("")
	seen := map[string]bool{}
	for from := 0; from < len(d.sentences); {
		to, t, said := from, termSet{}, strings.Builder{}
		matters := map[string]map[string]bool{}
		for ; to < len(d.sentences) && d.sentences[to].of == d.sentences[from].of; to++ {
			if d.sentences[to].question { // of others' matters, mostly
				continue
			}
			for _, w := range d.sentences[to].words {
				said.WriteString(w.text)
				said.WriteByte(' ')
				word := strings.TrimSuffix(w.text, "'s")
				if len(word) < 3 || '0' <= word[0] && word[0] <= '9' {
					continue
				}
				env.SetCurrent(word)
				english.Stem(env)
				stem := env.Current()
				if !everydayWords[word] && !everydayWords[stem] && !wornWords[word] && felt.any[word].family == "" {
					t[stem] = true
				}
				for _, matter := range matterOf[stem] {
					if matters["~"+matter] == nil {
						matters["~"+matter] = map[string]bool{}
					}
					matters["~"+matter][stem] = true
				}
			}
		}
		text := d.sentences[from].of
		from = to
		long := len(t) > longTerms
		for matter, words := range matters {
			if !long || len(words) > 1 { // a long text mentions anything once
				t[matter] = true
			}
		}
		if seen[said.String()] {
			continue
		}
		seen[said.String()] = true
		texts[text] = t
		for term := range t {
			of[term] = append(of[term], text)
		}
	}
	return texts, of
}

// dailyStems is the stems of daily words.
var dailyStems = table(func(of map[string]bool) {
	env := snowballstem.NewEnv("")
	for w := range dailyWords {
		env.SetCurrent(w)
		english.Stem(env)
		of[env.Current()] = true
	}
})

// chances gives, by their number, the chance of a word to be in so many of the texts or
// more, where it is in one of average length with the word's: the upper tails of a
// binomial distribution.
func chances(texts map[int]termSet, word float64) []float64 {
	p := 0.0
	for _, i := range slices.Sorted(maps.Keys(texts)) { // a sum of floats depends on its order
		p += min(0.5, word*max(0.5, float64(len(texts[i]))/averageTerms)) / float64(len(texts))
	}
	all, _ := math.Lgamma(float64(len(texts)) + 1)
	of, sum := make([]float64, len(texts)+1), 0.0
	for n := len(texts); n >= 0; n-- {
		k, rest := float64(n), float64(len(texts)-n)
		in, _ := math.Lgamma(k + 1)
		out, _ := math.Lgamma(rest + 1)
		sum += math.Exp(all - in - out + k*math.Log(p) + rest*math.Log1p(-p))
		of[n] = sum
	}
	return of
}

// widen adds short texts with a word that is in several of the topic's and hardly
// anywhere else.
func (t *runningTopic) widen(texts map[int]termSet, of map[string][]int) {
	inside := map[int]bool{}
	for _, i := range t.texts {
		inside[i] = true
	}
	for term, in := range of {
		if len(in) > mostOfWord {
			continue
		}
		n := 0
		for _, i := range in {
			if inside[i] {
				n++
			}
		}
		if n < 2 || 3*n < 2*len(in) {
			continue
		}
		for _, i := range in {
			if !inside[i] && len(texts[i]) < 3*averageTerms && (n > 2 || strings.HasPrefix(term, "~")) {
				t.texts = append(t.texts, i)
			}
		}
	}
	slices.Sort(t.texts)
	t.texts = slices.Compact(t.texts)
}

// finding names a topic by the words that set its texts apart.
func (t *runningTopic) finding(d *document) Finding {
	in := map[int]bool{}
	for _, i := range t.texts {
		in[i] = true
	}
	var own, rest []string
	said := map[int]*strings.Builder{}
	for i := range d.sentences {
		s := &d.sentences[i]
		if said[s.of] == nil {
			said[s.of] = &strings.Builder{}
		}
		said[s.of].WriteString(s.text(0, len(s.words)) + ". ")
	}
	for i := range d.texts {
		if said[i] == nil {
			continue
		} else if in[i] && len(own) < mostCompared {
			own = append(own, said[i].String())
		} else if len(rest) < mostCompared {
			rest = append(rest, said[i].String())
		}
	}
	var keywords []string
	for _, term := range t.terms {
		if matter, ok := strings.CutPrefix(term, "~"); ok {
			keywords = append(keywords, matter)
		}
	}
	for _, k := range phrase.Keys([][]string{own, rest}, 3)[0] {
		if !slices.Contains(keywords, k.Text) {
			keywords = append(keywords, k.Text)
		}
	}
	if len(keywords) == 0 {
		keywords = []string{t.terms[0]}
	}
	keywords = keywords[:min(len(keywords), 3)]
	name := phrase.Excerpt(strings.Join(keywords, ", "), 6)
	return Finding{
		Type:           "theme",
		Description:    fmt.Sprintf("%d of your texts come back to the same theme: %s.", len(t.texts), name),
		Evidence:       d.ids(t.texts),
		Confidence:     math.Round(100*min(0.95, 1-math.Pow(t.chance, 0.2))) / 100,
		Content:        map[string]any{"keywords": keywords, "texts": len(t.texts)},
		Recommendation: "You might ask yourself what this theme stands for in your life at the moment.",
	}
}

func common2(a, b []int) int {
	n := 0
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); ok {
			n++
		}
	}
	return n
}

func unionOf(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// sayingClues are ways to call something the theme of one's life.
var sayingClues = []bondClue{
	freeClue("", .66, `(?:the |that is the |it is the |same |this is the )(?:story|theme|refrain|leitmotif|motif|pattern|red thread|common thread|thread|
			headline|soundtrack|through line|throughline) (?:_ )?(?:of|in|through|running through|that runs through) (?:my (?:whole |entire |adult
			)?life|my (?:story|relationships|childhood|family|work|writing|journals?|years|diary)|everything i|all of it|all i|all my)`),
	freeClue("", .66, `(?:it|everything|all of it|all this|every (?:conversation|entry|time|story|dream|fight|session)|my thoughts|my mind|my writing|
			life|i|whatever i (?:write|do|start)) ~(?:always|keeps?|inevitably|somehow|invariably|forever|ends? up|never fails to|again and again) (?:_
			)?(?:_ )?(?:come|comes|coming|came|circle|circles|circling|return|returns|returning|lead|leads|leading|goes|go|going|boils?|coming|about)
			(?:right )?(?:back |down |around |round )(?:to )`, `(?:i|me|my|myself)`),
	freeClue("", .64, `my (?:whole |entire )?(?:life|story) (?:is|was|has been|has always been|seems to be|keeps being) (?:_ )?(?:_ )?(?:about|a story of|
			a story about|one long|a series of|a search for|a constant)`),
	freeClue("", .64, `(?:always|keeps?|again and again|all|really|in the end|once more|at bottom|deep down) ~(?:comes? back to|about|comes? down
			to|circles? back to|boils? down to|leads? back to) (?:_ )?(?:_ )?(?:the question|feeling|being|not being|belonging|my|control|fear|loss|love|
			freedom|trust|home|approval|the same (?:theme|question|story|thing|place|fear|wound))`, `(?:i|me|my|myself|life)`),
}

// idleSaying is what is called the story of one's life as one says it.
var idleSaying = phrased(`(?:late|bus|train|umbrella|queue|traffic|parking|socks|coffee|wifi|printer|tax|taxes|recipe|cafe|restaurant|playlist|song|shop|
store|bug|ticket|code|deploy|spreadsheet|meeting|agenda|budget)`)

// sayings finds what the user calls a theme.
func sayings(d *document, all []bondLine) []Finding {
	var found []bondSign
	last := -1
	eachClue(all, sayingClues, func(l *bondLine, c *bondClue, m match) {
		if s := &l.sentence; l.of != last && !reportedCue.in(s) && !idleSaying.in(s) && !trades.in(s) {
			found = append(found, bondSign{line: l, about: c.key, weight: c.weight})
			last = l.of
		}
	})
	return stories(d, found, "theme", func(b *bond) (string, string, map[string]any) {
		said := quoted(b.signs[0].line)
		return fmt.Sprintf("You name a theme of your life: “%s”.", said),
			"You might ask yourself what this theme stands for in your life at the moment.", map[string]any{"said": said}
	})
}
