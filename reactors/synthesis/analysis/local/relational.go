package local

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// relational finds what the people in the user's life are to them.
var relational = []detector{bonds}

// bonds reads once what all types of relations are found in.
func bonds(d *document) []Finding {
	all := bondLines(d)
	return slices.Concat(dynamics(d, all), attachment(d, all), trust(d, all), conflicts(d, all), supports(d, all))
}

// bondLine is a sentence in which the user claims something of themselves.
type bondLine struct {
	sentence           // with the people in it marked
	last     *bondLine // what the user said just before in the same text
	whom     string    // the person that "he", "she" or "they" are most likely to be, or ""
	claims   bool      // no question and no supposition
	self     bool      // the user is in it
	charged  uint8     // the chargeCues that are in it, as bits
}

// bondLines gives the sentences of a document with the people in them marked.
func bondLines(d *document) []bondLine {
	known := map[string]bool{}
	for i := range d.texts {
		for _, name := range introduced(d.texts[i].Text) {
			known[name] = true
		}
	}
	all := make([]bondLine, len(d.sentences))
	var marked document
	for i := range d.sentences {
		s := &d.sentences[i]
		words := markPeople(s.words, known)
		if len(words) > 1 && (begun[words[0].text] || words[0].text == "have" && words[1].text == "not") {
			words = slices.Insert(words, 0, word{text: "i"})
		}
		shown := slices.Clone(words)
		for j := range words {
			if words[j].text[0] == '@' {
				words[j].text = personWord
			}
		}
		var n tally
		marked.sentences = marked.sentences[:0]
		marked.add(s.of, words, s.question, &n)
		l := &all[i]
		if len(marked.sentences) == 0 {
			l.of = s.of
			continue
		}
		l.sentence = marked.sentences[0]
		for j := range l.words {
			l.words[j].text = shown[j].text
		}
		if i > 0 && all[i-1].of == s.of {
			l.last, l.whom = &all[i-1], all[i-1].whom
		}
		if p := whom(l.words); p != "" {
			l.whom = p
		}
		for j := range chargeCues {
			if chargeCues[j].cue.in(&l.sentence) {
				l.charged |= 1 << j
			}
		}
		l.claims = !s.question && !unsaid(&l.sentence)
		l.self = (ofSelf.in(&l.sentence) || elidedCue.in(&l.sentence)) && !bystanderCue.in(&l.sentence)
	}
	return all
}

// begun are words that a sentence begins with where "i" is left out.
var begun = wordSet(`told called asked gave did listed opened ended answered helped said had stopped left took screamed shouted argued fought quarrelled rang texted made used tried wanted met drove walked sat stood came felt cried
	managed dared spoke wrote refused listened trusted believed lent hid checked waited stayed apologised apologized forgave raised snapped yelled slammed ignored learned got kept let found realised realized
	clashed confronted bickered overcame faced`)

// whom gives the last person that words mention, or "".
func whom(words []word) string {
	for i := len(words) - 1; i >= 0; i-- {
		if words[i].text[0] == '@' {
			return words[i].text
		}
	}
	return ""
}

var (
	ofSelf = phrased(`(?:i|me|my|myself|mine|we|us|our|someone you can|one can not|somebody you can)`)
	// elidedCue is a sentence that leaves "i" out, as notes do
	elidedCue = phrased(`^ (?:told|called|asked|gave|said|had|stopped|left|took|screamed|shouted|argued|fought|still|again|another|second|third|screaming|shouting|always|at|rang|texted|made|
		used|tried|wanted|read|went|met|looking|drove|walked|sat|stood|came|felt|no|not|never|can not|could not|need|without|with|finally|today|cut|without|learned|learnt|got|kept|had|let|found|
		raised|snapped|yelled|slammed|ignored|apologi(?:s|z)ed|forgave|trusted|believed|lent|hid|checked|waited|stayed|cried|managed|dared|spoke|wrote|refused|listened|the trust|the same|same|it came to|big|huge|after|since|whenever|every|everything|each|as usual)`)
	suppositionCue = phrased(`(?:imagine|suppose|supposing|what if|hypothetically|pretend that|let us say|for the sake of argument|if only|i wish (?:i|we) (?:was|were|had))`)
	unclaimed      = phrased(`(?:i|we) (?:_ )?(?:not|never) (?:_ )?(?:say|said|saying|claim|claimed|claiming|mean|meant)`)
	// reportedCue is what somebody else says of themselves
	reportedCue  = phrased(`(?:0p|he|she|they) (?:_ )?(?:told|tells|says|said|thinks|claims|claimed|wrote|writes|mentioned|heard|admitted|explained) (?:me |us )?(?:_ )?(?:that )?(?:he|she|they|his|her|their)`)
	conditionCue = phrased(`(?:if|unless)`)
	unrealCue    = phrased(`(?:would|could|were to|had|i were)`)
)

// unsaid says that a sentence tells of what is not so.
func unsaid(s *sentence) bool {
	if suppositionCue.in(s) || unclaimed.in(s) {
		return true
	}
	m, ok := conditionCue.find(s)
	if !ok || m.from > 0 && (s.words[m.from-1].text == "as" || s.words[m.from-1].text == "even") {
		return false
	}
	return unrealCue.in(s)
}

// bondClue is a way to say something. All of its cues are in a sentence that says it.
type bondClue struct {
	key    string // what it shows
	all    []*pattern
	denies bool // a negation or a supposition in it belongs to it
	weight float64
}

// sayClue makes a clue. In its patterns ~ is up to three words, and {name} one of
// bondWords.
func sayClue(key string, weight float64, patterns ...string) bondClue {
	c := bondClue{key: key, weight: weight}
	for _, p := range patterns {
		c.all = append(c.all, phrased(p))
	}
	return c
}

// freeClue makes a clue that may hold negations.
func freeClue(key string, weight float64, patterns ...string) bondClue {
	c := sayClue(key, weight, patterns...)
	c.denies = true
	return c
}

// phrased is a cue whose pattern may have ~ and the classes of bondWords.
func phrased(words string) *pattern { return spelledCue(words, spelledOut) }

// spelledOut puts the words of classes into a pattern.
func spelledOut(pattern string) string {
	for {
		from := strings.IndexByte(pattern, '{')
		if from < 0 {
			break
		}
		to := from + strings.IndexByte(pattern[from:], '}')
		words, ok := bondWords[pattern[from+1:to]]
		if !ok {
			panic("local: no class " + pattern[from:to+1])
		}
		pattern = pattern[:from] + "(?:" + words + ")" + pattern[to+1:]
	}
	pattern = strings.Join(strings.Fields(pattern), " ")
	return strings.ReplaceAll(pattern, "~", "(?:_ )?(?:_ )?(?:_ )?")
}

// find gives where the first of a clue's cues is in a sentence that has all of them.
func (c *bondClue) find(s *sentence) (match, bool) {
	for _, p := range c.all {
		if !s.wakes.has(int32(p.number)) {
			return match{}, false
		}
	}
	var place match
	for i, p := range c.all {
		m, ok := p.find(s)
		for ok && !c.denies && denied(m) {
			m, ok = p.findFrom(s, m.from+1)
		}
		if !ok {
			return match{}, false
		}
		if i == 0 {
			place = m
		}
	}
	return place, true
}

var (
	denying = wordSet("not never no hardly rarely barely without nobody none neither nor nothing stopped stop")
	intents = wordSet("would will should could might may must want wants wanted hope hoping wish plan planning going need supposed wonder")
)

// denied says that what was found is negated, or only wanted, thought of or to come:
// by a word in it, or by one of the three before it in its clause.
func denied(m match) bool {
	words := m.sentence.words
	from := m.from
	for from > 0 && from > m.from-3 {
		if w := words[from-1].text; w == "," || w == "but" || w == "and" {
			break
		}
		from--
	}
	for _, w := range words[from:m.to] {
		if denying[w.text] || intents[w.text] {
			return true
		}
	}
	return false
}

// bondSign is a sentence that shows a pattern.
type bondSign struct {
	line   *bondLine
	key    string // what is the same in all that show one pattern
	about  string // of the clue
	weight float64
	whose  string // attributed
	sex    uint8  // of those it speaks of, see pronouns
}

// bond is what several sentences show of one key.
type bond struct {
	key    string
	signs  []bondSign // in the order of the texts
	texts  []int      // ascending
	abouts []string
}

// gatherBonds makes bonds of what was shown, the strongest first.
func gatherBonds(found []bondSign) []bond {
	found = attribute(found)
	var bonds []bond
	at := map[string]int{}
	for _, s := range found {
		i, ok := at[s.key]
		if !ok {
			i = len(bonds)
			at[s.key] = i
			bonds = append(bonds, bond{key: s.key})
		}
		b := &bonds[i]
		b.signs = append(b.signs, s)
		if n := len(b.texts); n == 0 || b.texts[n-1] != s.line.of {
			b.texts = append(b.texts, s.line.of)
		}
		if s.about != "" && !slices.Contains(b.abouts, s.about) {
			b.abouts = append(b.abouts, s.about)
		}
	}
	kept := bonds[:0]
	for i := range bonds {
		if bonds[i].together() {
			kept = append(kept, bonds[i])
		}
	}
	bonds = kept
	slices.SortStableFunc(bonds, func(a, b bond) int { return cmp.Compare(b.confidence(), a.confidence()) })
	return bonds[:min(len(bonds), mostFindings)]
}

// attribute gives signs that only say "he" or "we" to the person of the nearest text.
// Where that is nobody, one that only says "we" shows nothing.
func attribute(found []bondSign) []bondSign {
	for i := range found {
		if found[i].key != "" {
			continue
		}
		least := math.MaxInt
		for j := max(0, i-nearSigns); j < min(len(found), i+nearSigns); j++ {
			if name := found[j].key; name != "" && name[0] == '@' && found[j].weight > hintFaint {
				if far := max(found[i].line.of-found[j].line.of, found[j].line.of-found[i].line.of); far < least {
					least, found[i].whose = far, name
				}
			}
		}
	}
	for i := range found {
		if found[i].key == "" {
			found[i].key = found[i].whose
		}
	}
	return slices.DeleteFunc(found, func(s bondSign) bool {
		return s.key == "" && !somebodies.in(&s.line.sentence) && (s.line.last == nil || !somebodies.in(&s.line.last.sentence))
	})
}

var somebodies = phrased(`(?:he|she|him|her|they|them|that (?:man|woman|guy|person|lot)|someone|somebody|the (?:adviser|man|woman))`)

// nearSigns is how many signs before and after one its person is looked for in.
const nearSigns = 50

// confidence is that of a group of such statements.
func (b *bond) confidence() float64 {
	var g group
	for _, s := range b.signs {
		g.statements = append(g.statements, statement{of: s.line.of, chance: s.weight})
	}
	return g.confidence()
}

// finding is what a bond is told as.
func (b *bond) finding(d *document, kind, description, recommendation string, content map[string]any) Finding {
	return Finding{Type: kind, Description: description, Evidence: d.ids(b.texts), Confidence: b.confidence(), Content: content, Recommendation: recommendation}
}

// eachClue looks for all clues in all lines.
func eachClue(lines []bondLine, clues []bondClue, found func(l *bondLine, c *bondClue, m match)) {
	for i := range lines {
		if !lines[i].claims || !lines[i].self {
			continue
		}
		for j := range clues {
			if m, ok := clues[j].find(&lines[i].sentence); ok {
				found(&lines[i], &clues[j], m)
			}
		}
	}
}

// personOf gives the person that found words are about: one that they name, or the one
// that is spoken of; "" where nobody is.
func personOf(l *bondLine, m match) string {
	if p := whom(m.sentence.words[m.from:m.to]); p != "" {
		return p
	}
	return l.whom
}

var pronounCue = phrased(`(?:he|she|they|him|her|them|his|their|we|us|that (?:man|woman|guy|person|lot)|one|someone|somebody|the (?:adviser|man|woman))`)

// quoted shortens what the user wrote to what a description may quote.
func quoted(l *bondLine) string {
	var b strings.Builder
	for i, w := range l.words {
		text := w.text
		if name, ok := strings.CutPrefix(text, "@"); ok {
			if _, ok := kinOf[name]; ok {
				name = "my " + strings.ReplaceAll(name, "_", " ")
			}
			text = name
		}
		if b.Len()+len(text) > longestTold {
			b.WriteString("…")
			break
		}
		if i > 0 && text != "," {
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return strings.TrimLeft(b.String(), ", ")
}

const longestTold = 76
