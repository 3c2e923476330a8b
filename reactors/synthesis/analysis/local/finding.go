package local

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// Bounds of what one type gives: findings, and statements that are looked at, of a
// text and in all.
const (
	mostFindings   = 20
	mostStatements = 5000
	mostOfOneText  = 40
	longestShown   = 80
)

// How much a statement says: the chance that it is right. See the package doc for a
// clear one; half of that for one that counts only with others.
const (
	sure = 0.6
	weak = 0.3
)

// statement is a sentence that shows a pattern.
type statement struct {
	of     int     // index of its Text
	about  string  // what it is about, as it was said
	beside string  // what stands beside it: enough for what is weak to go with it
	kind   string  // statements of different kinds are never of one finding; such as a family of feelings
	chance float64 // clear or weak
	detail string  // of the type, such as a way of coping
}

// group is statements about the same thing.
type group struct {
	statements []statement
	stems      map[string]bool
}

// texts gives the indexes of the texts of a group, in their order.
func (g *group) texts() []int {
	var of []int
	for _, s := range g.statements {
		of = append(of, s.of)
	}
	slices.Sort(of)
	return slices.Compact(of)
}

// best gives the clearest statement, the first one of these.
func (g *group) best() statement {
	best := g.statements[0]
	for _, s := range g.statements[1:] {
		if s.chance > best.chance {
			best = s
		}
	}
	return best
}

// confidence is the chance that one of the texts at least is right, each by itself:
// 1 - Π(1 - p) over the texts, with the p of its clearest statement; at most 0.97.
func (g *group) confidence() float64 {
	of := map[int]float64{}
	for _, s := range g.statements {
		of[s.of] = max(of[s.of], s.chance)
	}
	wrong := 1.0
	for _, i := range g.texts() {
		wrong *= 1 - of[i]
	}
	return math.Round(100*min(1-wrong, 0.97)) / 100
}

// collector gathers the statements of a type.
type collector struct {
	all    []statement
	last   int               // text
	of     int               // statements of it
	enough func(*group) bool // whether weak statements alone are, which three texts are anyway
}

func (c *collector) add(s statement) {
	if s.of != c.last {
		c.last, c.of = s.of, 0
	}
	if c.of++; c.of <= mostOfOneText && len(c.all) < mostStatements {
		c.all = append(c.all, s)
	}
}

// groups puts statements together that share half of the stems of the shorter one.
// What is weak comes after what is clear, to go with it if it shares one stem; what is
// only weak stays if three texts say it.
func (c *collector) groups() []*group {
	var all []*group
	by := map[string][]int{} // kind and stem → groups
	ordered := slices.Clone(c.all)
	slices.SortStableFunc(ordered, func(a, b statement) int { return cmp.Compare(min(b.chance, sure), min(a.chance, sure)) })
	for _, s := range ordered {
		stems := stemsOf(s.about)
		shared := map[int]int{}
		for _, stem := range stems {
			for _, g := range by[s.kind+"\x00"+stem] {
				shared[g]++
			}
			if s.chance <= weak {
				for _, g := range by[s.kind+"\x01"+stem] {
					shared[g]++
				}
			}
		}
		found := -1
		for g, n := range shared {
			if (s.chance <= weak || 2*n >= min(len(stems), len(all[g].stems))) && (found < 0 || n > shared[found] || n == shared[found] && g < found) {
				found = g
			}
		}
		if found < 0 {
			found = len(all)
			all = append(all, &group{stems: map[string]bool{}})
		}
		g := all[found]
		g.statements = append(g.statements, s)
		for _, stem := range stems {
			if !g.stems[stem] && len(g.stems) < 8 {
				g.stems[stem] = true
				by[s.kind+"\x00"+stem] = append(by[s.kind+"\x00"+stem], found)
			}
		}
		for _, stem := range stemsOf(s.beside) {
			if key := s.kind + "\x01" + stem; len(by[key]) == 0 || by[key][len(by[key])-1] != found {
				by[key] = append(by[key], found)
			}
		}
	}
	return slices.DeleteFunc(all, func(g *group) bool {
		return g.best().chance <= weak && len(g.texts()) < 3 && (c.enough == nil || !c.enough(g))
	})
}

// findings makes a Finding of each group, the surest first.
func (c *collector) findings(d *document, tell func(*group) Finding) []Finding {
	groups := c.groups()
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(b.confidence(), a.confidence()), cmp.Compare(len(b.texts()), len(a.texts())))
	})
	var found []Finding
	for _, g := range groups[:min(len(groups), mostFindings)] {
		f := tell(g)
		f.Evidence = d.ids(g.texts())
		f.Confidence = g.confidence()
		found = append(found, f)
	}
	return found
}

// ids gives the ids of texts, none twice.
func (d *document) ids(texts []int) []string {
	var ids []string
	for _, i := range texts {
		if id := d.texts[i].ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// empty is words that do not say what a statement is about.
var empty = wordSet(`a an the and or but of in on at to for with from by as about into over after before during around near i you he she
	it we they me him her us them my your his its our their myself yourself this that these those there here is am are was were be been being
	do does did done have has had will would can could should may might must not no never always often usually sometimes every each any some
	all just only really very so too even still again ever when whenever while if because than then what which who how where why time times
	day days week year years thing things something someone people person get gets got getting go goes going went make makes made let lets
	one two first more most much many lot bit kind sort up down out off back away like feel feels felt feeling want wants know think own
	also well now today ,`)

// stemsOf gives the stems of the words that say something, sorted, none twice.
func stemsOf(text string) []string {
	var stems []string
	env := snowballstem.NewEnv("")
	for _, w := range strings.Fields(strings.ReplaceAll(text, ",", " ")) {
		if w = strings.TrimSuffix(w, "'s"); !empty[w] && utf8.RuneCountInString(w) > 1 {
			env.SetCurrent(w)
			english.Stem(env)
			stems = append(stems, env.Current())
		}
	}
	slices.Sort(stems)
	return slices.Compact(stems)
}

var turned = map[string]string{"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "am": "are", "we": "you",
	"us": "you", "our": "your", "ours": "yours", "ourselves": "yourselves"}

// shown gives words as they are told to the user: in the second person, cut to 80
// characters.
func shown(about string) string {
	words := strings.Fields(about)
	for i, w := range words {
		bare, comma := strings.CutSuffix(w, ",")
		if w == "was" && i > 0 && words[i-1] == "you" {
			words[i] = "were"
		} else if to, ok := turned[bare]; ok {
			words[i] = to
			if comma {
				words[i] += ","
			}
		}
	}
	var b strings.Builder
	n := 0
	for i, w := range words {
		if n += utf8.RuneCountInString(w) + 1; n > longestShown {
			b.WriteString("…")
			break
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	return strings.Trim(b.String(), " ,")
}

// clause gives words from one on, to the next comma or a word that begins another
// clause, at most so many.
func (s *sentence) clause(from, most int) (string, int) {
	to := from
	for to < len(s.words) && to < from+most && s.words[to].text != "," && !(to > from && joins[s.words[to].text]) {
		to++
	}
	return s.text(from, to), to
}

var joins = wordSet("because but although though so unless however since whereas")

// start gives where the clause begins that a word is in.
func (s *sentence) start(at int) int {
	for at > 0 && s.words[at-1].text != "," && !joins[s.words[at-1].text] {
		at--
	}
	return at
}

// denies is words before a statement that take it back.
var denies = wordSet(`not never no hardly barely rarely seldom without nobody nothing neither nor would could might should may if unless
	stopped used longer doubt suppose imagine whether pretend`)

// denied says that a word before another one in its clause takes back what follows.
func (s *sentence) denied(at int) bool {
	for i := max(s.start(at), at-5); i < at; i++ {
		if denies[s.words[i].text] {
			return true
		}
	}
	return false
}

// negated says that a word before another one in its clause denies what follows.
func (s *sentence) negated(at int) bool {
	from := max(s.start(at), at-4)
	return s.has(negations, from, at) && !s.has(conditions, s.start(at), at)
}

var conditions = wordSet("if unless") // "if nothing changes I will …"

var negations = wordSet("not never no hardly nobody nothing without longer stopped")

// has says that one of some words is among those of a sentence.
func (s *sentence) has(of map[string]bool, from, to int) bool {
	for i := max(from, 0); i < min(to, len(s.words)); i++ {
		if of[s.words[i].text] {
			return true
		}
	}
	return false
}

// anywhere is has over all words.
func (s *sentence) anywhere(of map[string]bool) bool { return s.has(of, 0, len(s.words)) }

// perText calls f with the sentences of each text.
func (d *document) perText(f func(of int, sentences []sentence)) {
	for from := 0; from < len(d.sentences); {
		to := from
		for to < len(d.sentences) && d.sentences[to].of == d.sentences[from].of {
			to++
		}
		f(d.sentences[from].of, d.sentences[from:to])
		from = to
	}
}

// around gives the words of a sentence and of the one before it.
func around(sentences []sentence, i int) string {
	about := sentences[i].text(0, len(sentences[i].words))
	if i > 0 {
		about = sentences[i-1].text(0, len(sentences[i-1].words)) + " " + about
	}
	return about
}

func halves(detail string) (string, string) {
	a, b, _ := strings.Cut(detail, "\x00")
	return a, b
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// names of families, as one says them to somebody.
var names = map[string]string{"disappointment": "hurt or disappointment", "stress": "a feeling of too much", "love": "warmth", "joy": "joy"}

func nameOf(family string) string {
	if n, ok := names[family]; ok {
		return n
	}
	return family
}
