package local

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
)

// hint is one of the ways in which a type is often told. One alone says little: what a
// text has of them adds up.
type hint struct {
	key    string // what it speaks for, such as a direction of trust; "": nothing certain
	points int
	cue    *pattern
}

// hintsOf makes a hint of each line of a text: one way to say something in many words.
func hintsOf(key string, points int, lines string) []hint {
	var all []hint
	for line := range strings.SplitSeq(strings.ReplaceAll(lines, "|\n", "|"), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, hint{key, points, phrased("(?:" + line + ")")})
		}
	}
	return all
}

// What a talk says of a type.
const (
	hintShown = .5  // enough by itself
	hintWeak  = .3  // enough if two texts say so
	hintFaint = .15 // only beside what is enough
)

// longestPassage is how many sentences in a row are read together.
const longestPassage = 4

// talk is some sentences in a row of one text, in which the user has to do with
// somebody.
type talk struct {
	lines  []bondLine
	has    []set // the hints of each
	charge int   // how much more than a matter of every day it is
	alone  bool  // nobody but the user is in it
	meets  bool  // the user does something, and somebody else does
	turns  int   // how often one does something, and then the other
}

// withSelf says that the user is in some sentences.
func withSelf(lines []bondLine) bool {
	return slices.ContainsFunc(lines, func(l bondLine) bool { return l.self && userCue.in(&l.sentence) })
}

// contact says that a talk has both the user and somebody else in it.
func contact(lines []bondLine) bool {
	self, other := false, false
	for i := range lines {
		self = self || lines[i].self && userCue.in(&lines[i].sentence)
		other = other || otherCue.in(&lines[i].sentence) && !hearsayCue.in(&lines[i].sentence)
	}
	return self && other
}

// byUser says that what is told to come from others is only heard of.
var hearsayCue = phrased(`(?:i (?:_ )?(?:hear|heard|gather|gathered|am told|was told)|told her friend|(?:0p|he|she|they|parents|couple) and (?:his|her|their|0p) (?:_ )?(?:_ )?(?:_ )?(?:fell|fallen|argue*|quarrel*|fight*|fought|broke|split|row*|disagree*)|(?:says|said) (?:that )?(?:his|her|their) (?:_ )?(?:husband|wife|boss|friend|mother|father|brother|sister|son|daughter|partner|boyfriend|girlfriend)|0p (?:argued|fought|quarrelled|fight|argue) about (?:_ )?(?:_ )?(?:_ )?(?:_ )?$|argued for)`)

var (
	userCue  = phrased(`(?:i|me|we|us|our|myself|my|mine)`)
	otherCue = phrased(`(?:0p|he|she|him|her|his|they|them|someone|somebody|people|anybody|anyone|everyone|everybody|nobody|neighbours|colleagues|street|village|women|men|lads|girls|lot|friends|one of)`)
	// bystanderCue is the user as a mere place
	bystanderCue = phrased(`(?:woman|man|lady|girl|boy|guy|couple|people|person|kid|lot|one|those|he|she) (?:behind|beside|near|opposite|in front of|next to|ahead of) (?:me|us)`)
)

// chargeCues are signs that a talk is of more than a matter of every day.
var chargeCues = hintsOf("", 1, `
	again|another|always|every|each|never|whenever|once more|still|anymore|any more|since|for years|as usual|as ever|as always|keeps?|kept|all the time|times|third|second time|ever|no longer
	anything|nothing|everything|nobody|no one|whole|even|only|without|alone|own|anybody|anyone|everyone|everybody|first time|one person|all of us|the one|worst|best
	now|by now|from now on|used to|once|this time|at first|any longer|months? ago|years? ago|in the end|until|till|before i|after that|tonight|today|by then|so far|for once|finally|at last
	told|tell|tells|said|says|saying|ask|asks|asked|promis*|swore|swears|called me|calls me|wrote|writes|answer*|explained|admitted|apologi*|sorry|talk|talked|talks|listen*|shout*|yell*|scream*|whisper*|snap*|beg|begged
	afraid|scared|terrified|frightened|cry|cried|cries|crying|tears|wept|sobb*|hurt|hurts|angry|furious|sad|lonely|ashamed|proud|guilty|love|loved|loves|hate|hated|hates|miss|missed|worr*|panic*|safe|warm|sick|tired|relieved|grateful|jealous|heart|stomach|chest|hands?|shak*|sleep|breathe|smile|smiled|smiles|laugh|laughed|laughs|sigh|sighs|sighed|nod|nods|nodded|hug|hugged|hold|holds|held|face|eyes
	secret|lie|lied|lies|lying|liar|truth|believe*|trust*|faith|doubt*|honest*|blame*|fault|forgiv*|pretend*|hide|hid|hidden|hiding|quiet|silent|silence|ignor*|leave|leaves|left|walk(?:s|ed) (?:out|off|away)|door|slam*|gone|stay|stays|stayed|need|needs|needed|help|helps|helped|apart|close|closer|near|distance`)

// read sums up what does not depend on a type.
func (p *talk) read() {
	var charged uint8
	for j := range p.lines {
		charged |= p.lines[j].charged
	}
	p.charge = bits.OnesCount8(charged)
	last := 0
	for j := range p.lines {
		l := &p.lines[j]
		if l.question {
			continue
		}
		for at := range l.words {
			if who := doer(l.words, at); who != 0 && who != last {
				p.meets = p.meets || last != 0
				p.turns++
				last = who
			}
		}
	}
}

// hintsIn gives the hints that a sentence has, nil for none.
func hintsIn(l *bondLine, hints []hint) set {
	if l.question && !wondering.in(&l.sentence) || !l.claims && !l.question || bystanderCue.in(&l.sentence) || hearsayCue.in(&l.sentence) {
		return nil
	}
	var of set
	for i := range hints {
		if hints[i].cue.in(&l.sentence) {
			of.add(int32(i))
		}
	}
	return of
}

// charged says that a talk may count without a hint.
func charged(lines []bondLine) bool {
	var of uint8
	for i := range lines {
		of |= lines[i].charged
	}
	return bits.OnesCount8(of) >= 2
}

// passages calls f with those of each text.
func passages(all []bondLine, hints []hint, f func(p *talk)) {
	has := make([]set, len(all))
	for i := range all {
		has[i] = hintsIn(&all[i], hints)
	}
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].of == all[from].of {
			to++
		}
		for at := from; at == from || at+longestPassage <= to; at++ {
			lines := all[at:min(to, at+longestPassage)]
			if at+longestPassage <= to && !slices.ContainsFunc(has[at:min(to, at+longestPassage)], func(of set) bool { return of != nil }) && !charged(lines) {
				continue
			}
			p := &talk{lines: lines, has: has[at:min(to, at+longestPassage)], alone: !contact(lines)}
			if p.alone && !withSelf(lines) {
				continue
			}
			p.read()
			f(p)
		}
		from = to
	}
}

// sum gives the points of some hints in a talk, those of hints that have a key, the
// key that has most of them, and the sentence that is clearest.
func (p *talk) sum(hints []hint) (points, keyed int, key string, line *bondLine) {
	most, clearest := map[string]int{}, 0
	of := make([]int, len(p.lines))
	for i := range hints {
		h := &hints[i]
		for j := range p.lines {
			if !p.has[j].has(int32(i)) {
				continue
			}
			points += h.points
			of[j] += h.points
			if h.key != "" {
				keyed += h.points
				if most[h.key] += h.points; most[h.key] > most[key] {
					key = h.key
				}
			}
			break
		}
	}
	line = &p.lines[0]
	for j := range of {
		if of[j] > clearest {
			clearest, line = of[j], &p.lines[j]
		}
	}
	return points, keyed, key, line
}

// wondering is a question that says something.
var wondering = phrased(`^ (?:_ )?how (?:can|could|do|did|am|should|would) (?:i|we)`)

// who gives the person of a talk: one that is named in it, else the one spoken of.
func (p *talk) who() string {
	for i := range p.lines {
		for _, w := range p.lines[i].words {
			if w.text[0] == '@' {
				return w.text
			}
		}
	}
	return ""
}

// hinted gives the signs of hints. The passages of a text give one, its clearest.
func hinted(all []bondLine, hints []hint, weigh func(p *talk, points, keyed int, line *bondLine) float64) []bondSign {
	var found []bondSign
	passages(all, hints, func(p *talk) {
		points, keyed, key, line := p.sum(hints)
		weight := weigh(p, points, keyed, line)
		if p.alone && (styleManner[key] == "" || keyed < 5) {
			weight = 0 // only a style may be told without anybody
		}
		if weight == 0 {
			return
		}
		s := bondSign{line: line, key: p.who(), about: key, weight: weight, sex: pronouns(p.lines)}
		if n := len(found); n > 0 && found[n-1].line.of == line.of {
			if found[n-1].weight < weight {
				found[n-1] = s
			}
			return
		}
		found = append(found, s)
	})
	return found
}

// withHints adds the signs of hints to those that are clear, in the order of the texts. A
// text that is clear already needs none.
func withHints(found []bondSign, all []bondLine, hints []hint, weigh func(p *talk, points, keyed int, line *bondLine) float64) []bondSign {
	clear := map[int]bool{}
	for i, s := range found {
		clear[s.line.of] = true
		found[i].sex = pronouns([]bondLine{*s.line})
	}
	for _, s := range hinted(all, hints, weigh) {
		if !clear[s.line.of] {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b bondSign) int { return cmp.Compare(a.line.of, b.line.of) })
	return found
}

// together says whether the signs of a bond are enough: one that is by itself, or one
// that is weak, beside another text
// that names the same person or is weak too. It takes out those that speak of somebody else.
func (b *bond) together() bool {
	var sex uint8
	strongest := 0.
	for _, s := range b.signs {
		if s.weight > strongest {
			strongest, sex = s.weight, 0
		}
		if s.weight == strongest {
			sex |= s.sex
		}
	}
	if of := sexOf[strings.TrimPrefix(b.key, "@")]; of != 0 {
		sex = of
	}
	b.signs = slices.DeleteFunc(b.signs, func(s bondSign) bool {
		return s.weight <= hintWeak && s.weight < strongest && sex != 0 && s.sex != 0 && s.sex&sex == 0
	})
	b.texts, b.abouts = nil, nil
	sum, named := 0., false
	of := map[int]float64{}
	for _, s := range b.signs {
		named = named || s.whose == "" && s.weight >= hintWeak
		sum += max(s.weight-of[s.line.of], 0)
		of[s.line.of] = max(of[s.line.of], s.weight)
		if n := len(b.texts); n == 0 || b.texts[n-1] != s.line.of {
			b.texts = append(b.texts, s.line.of)
		}
		if s.about != "" && !slices.Contains(b.abouts, s.about) {
			b.abouts = append(b.abouts, s.about)
		}
	}
	return strongest > hintWeak || strongest >= hintWeak && (b.key != "" && named && sum > hintWeak+hintFaint-.01 || sum > 2*hintWeak-.01)
}

// pronouns gives as bits which of "he", "she" and "they" some sentences say.
func pronouns(lines []bondLine) (of uint8) {
	for i := range lines {
		for _, w := range lines[i].words {
			of |= sexes[w.text]
		}
	}
	return of
}

var sexes = map[string]uint8{"he": 1, "him": 1, "his": 1, "she": 2, "her": 2}

// sexOf is known of kin.
var sexOf = table(func(of map[string]uint8) {
	for _, w := range strings.Fields("father brother uncle grandfather nephew son stepfather stepson stepbrother godfather father_in_law brother_in_law husband boyfriend") {
		of[w] = 1
	}
	for _, w := range strings.Fields("mother sister aunt grandmother niece daughter stepmother stepdaughter stepsister godmother mother_in_law sister_in_law wife girlfriend") {
		of[w] = 2
	}
})
