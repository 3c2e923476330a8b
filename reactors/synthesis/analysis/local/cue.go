package local

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// pattern is a cue: one over the words of a sentence. It is written like a regular
// expression whose letters are words:
//
//	i (?:am|feel) (?:so )?{fear} of … alone
//
// stands for whole words; (?:a|b c) and (a|b c) for either; (…)? for none or one;
// (?P<name>…) for what find gives by that name; {name} for any of a class; _ for any
// one word, … for none to eight of them; ^ and $ for the begin and end of a clause (of
// the sentence, or at a comma); "," for a comma; spaces and new lines only part words. Within a word, s? and (?:s|ing)?
// spell its forms, and a last * takes any ending.
type pattern struct {
	number int
	source string
	spell  func(source string) string // puts classes into the source; nil: it has none of its own
	*machine
}

// machine is what a pattern is compiled to.
type machine struct {
	program []step
	names   []string
	opens   set // words that a match may begin with; nil: any
}

// step is one of a cue's program, as of a regular expression's machine.
type step struct {
	op   op
	set  set    // one
	text string // prefix
	a, b int    // split: first choice, second choice; jump: a; save: a is the slot
}

type op uint8

const (
	one op = iota
	prefix
	any1
	split
	jump
	save
	begin
	end
	done
)

// set is words by their numbers.
type set []uint64

func (s set) has(number int32) bool {
	return int(number>>6) < len(s) && s[number>>6]&(1<<(number&63)) != 0
}

func (s *set) add(number int32) {
	for int(number>>6) >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[number>>6] |= 1 << (number & 63)
}

// lexicon numbers the words that any cue or class knows, from 1, and says which cues
// one of them may make match.
type lexicon struct {
	number map[string]int32
	cues   int
	wakes  []set // by number of the word: cues; [0]: those that any word may
}

// known is filled by ready, and never after.
var known = lexicon{number: map[string]int32{}, wakes: []set{nil}}

// ready fills the package's tables and compiles its cues, when a text is read for the
// first time: most processes of this binary never read one. They begin in
// milliseconds, and keep the memory.
var ready = sync.OnceFunc(func() {
	compiled = true
	for _, fill := range tables {
		fill()
	}
	tables = nil
	felt = readFeelings(feelingWords)
	maps.Copy(feelings, feelingClasses())
	for _, c := range written {
		c.make()
	}
	written = nil
})

var (
	tables   []func()   // in the order in which one needs another: that of variables
	written  []*pattern // as the package's variables have them
	compiled bool
)

// table makes one, of the package's variables, that is empty until ready fills it.
func table[V any](fill func(of map[string]V)) map[string]V {
	of := map[string]V{}
	if compiled {
		fill(of)
	} else {
		tables = append(tables, func() { fill(of) })
	}
	return of
}

func (l *lexicon) of(word string) int32 {
	n, ok := l.number[word]
	if !ok {
		n = int32(len(l.wakes))
		l.number[word] = n
		l.wakes = append(l.wakes, nil)
	}
	return n
}

// node is a part of a pattern before it is compiled.
type node struct {
	kind  op // one, prefix, any1, begin, end; split: any of parts; jump: parts in a row; save: a name; done: optional
	words []string
	name  string
	parts []node
}

// most is how many words … stands for.
const most = 8

// cue makes a pattern, of the package's variables. A mistake in one is a mistake in
// this package: it panics, when a text is read.
func cue(source string) *pattern { return spelledCue(source, nil) }

// spelledCue makes one whose source is spelled out first.
func spelledCue(source string, spell func(string) string) *pattern {
	c := &pattern{number: known.cues, source: source, spell: spell}
	known.cues++
	if compiled {
		c.make()
	} else {
		written = append(written, c)
	}
	return c
}

func (c *pattern) make() {
	if c.spell != nil {
		c.source = c.spell(c.source)
	}
	p := parser{source: c.source}
	root := p.choice()
	if p.at != len(p.source) {
		panic(fmt.Sprintf("local: cue %q: unexpected %q", c.source, p.source[p.at:]))
	}
	c.machine = &machine{names: p.names}
	c.compile(root)
	c.program = append(c.program, step{op: done})
	c.opens = c.opening()
	needed, _ := needs(root)
	if needed == nil {
		known.wakes[0].add(int32(c.number))
	}
	for _, w := range needed {
		known.wakes[known.of(w)].add(int32(c.number))
	}
}

// cues compiles several.
func cues(patterns ...string) []*pattern {
	all := make([]*pattern, len(patterns))
	for i, p := range patterns {
		all[i] = cue(p)
	}
	return all
}

type parser struct {
	source string
	at     int
	names  []string
}

func (p *parser) choice() node {
	n := node{kind: split}
	for {
		n.parts = append(n.parts, p.row())
		if p.at >= len(p.source) || p.source[p.at] != '|' {
			break
		}
		p.at++
	}
	if len(n.parts) == 1 {
		return n.parts[0]
	}
	// Single words side by side are one set.
	var merged []node
	set := -1
	for _, part := range n.parts {
		if part.kind == jump && len(part.parts) == 1 {
			part = part.parts[0]
		}
		if part.kind == one {
			if set >= 0 {
				merged[set].words = append(slices.Clip(merged[set].words), part.words...)
				continue
			}
			set = len(merged)
		}
		merged = append(merged, part)
	}
	if len(merged) == 1 {
		return merged[0]
	}
	return node{kind: split, parts: merged}
}

func (p *parser) row() node {
	n := node{kind: jump}
	for p.at < len(p.source) {
		switch c := p.source[p.at]; {
		case c == '|' || c == ')':
			return n
		case c == ' ' || c == '\n' || c == '\t':
			p.at++
		case c == '(':
			n.parts = append(n.parts, p.group())
		case c == '{':
			closed := strings.IndexByte(p.source[p.at:], '}')
			if closed < 0 {
				panic("local: cue " + p.source + ": { without }")
			}
			name := p.source[p.at+1 : p.at+closed]
			p.at += closed + 1
			n.parts = append(n.parts, classNode(name))
		case c == '_':
			p.at++
			n.parts = append(n.parts, node{kind: any1})
		case c == '^':
			p.at++
			n.parts = append(n.parts, node{kind: begin})
		case c == '$':
			p.at++
			n.parts = append(n.parts, node{kind: end})
		case c == ',':
			p.at++
			n.parts = append(n.parts, node{kind: one, words: []string{","}})
		case strings.HasPrefix(p.source[p.at:], "…"):
			p.at += len("…")
			gap := node{kind: jump}
			for range most {
				gap = node{kind: done, parts: []node{{kind: jump, parts: []node{{kind: any1}, gap}}}, name: "lazy"}
			}
			n.parts = append(n.parts, gap)
		default:
			n.parts = append(n.parts, p.word())
		}
	}
	return n
}

// group reads "(…)" and a "?" after it.
func (p *parser) group() node {
	if forms, ok := p.spelled(); ok { // "(?:un)?happy"
		return p.spell(forms)
	}
	p.at++
	name := ""
	if strings.HasPrefix(p.source[p.at:], "?:") {
		p.at += 2
	} else if strings.HasPrefix(p.source[p.at:], "?P<") {
		closed := strings.IndexByte(p.source[p.at:], '>')
		name = p.source[p.at+3 : p.at+closed]
		p.at += closed + 1
		p.names = append(p.names, name)
	}
	n := p.choice()
	if p.at >= len(p.source) || p.source[p.at] != ')' {
		panic("local: cue " + p.source + ": ( without )")
	}
	p.at++
	if name != "" {
		n = node{kind: save, name: name, parts: []node{n}}
	}
	if p.at < len(p.source) && p.source[p.at] == '?' {
		p.at++
		n = node{kind: done, parts: []node{n}}
	}
	return n
}

func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '\'' || c >= 0x80
}

// spelled reads a group of letters only, with letters right after it: a part of a word.
func (p *parser) spelled() ([]string, bool) {
	rest := strings.TrimPrefix(p.source[p.at:], "(?:")
	if rest[0] == '(' {
		rest = rest[1:]
	}
	closed := strings.IndexByte(rest, ')')
	if closed < 0 {
		return nil, false
	}
	for i := range closed {
		if !letter(rest[i]) && rest[i] != '|' {
			return nil, false
		}
	}
	forms := strings.Split(rest[:closed], "|")
	after := rest[closed+1:]
	if strings.HasPrefix(after, "?") {
		forms = append(forms, "")
		after = after[1:]
	}
	if inWord := p.at > 0 && letter(p.source[p.at-1]); !inWord && (after == "" || !letter(after[0])) || strings.HasPrefix(after, "…") {
		return nil, false
	}
	p.at = len(p.source) - len(after)
	return forms, true
}

func (p *parser) word() node { return p.spell([]string{""}) }

// spell reads a word to its end, with the forms of its begin.
func (p *parser) spell(forms []string) node {
	for p.at < len(p.source) {
		c := p.source[p.at]
		switch {
		case strings.HasPrefix(p.source[p.at:], "…"):
			return node{kind: one, words: forms}
		case letter(c):
			optional := p.at+1 < len(p.source) && p.source[p.at+1] == '?'
			longer := make([]string, 0, 2*len(forms))
			for _, f := range forms {
				longer = append(longer, f+string([]byte{c}))
				if optional {
					longer = append(longer, f)
				}
			}
			forms = longer
			p.at++
			if optional {
				p.at++
			}
		case c == '(':
			ends, ok := p.spelled()
			if !ok {
				return node{kind: one, words: forms}
			}
			var longer []string
			for _, f := range forms {
				for _, e := range ends {
					longer = append(longer, f+e)
				}
			}
			forms = longer
		case c == '*':
			p.at++
			return node{kind: prefix, name: forms[0]}
		case c == ' ' || c == '\n' || c == '|' || c == ')' || c == ',' || c == '{' || c == '_' || c == '$':
			return node{kind: one, words: forms}
		default:
			panic(fmt.Sprintf("local: cue %q: unexpected %q", p.source, c))
		}
	}
	return node{kind: one, words: forms}
}

// classNode gives a class: its words as one set, and what has several words beside it.
func classNode(name string) node {
	words, ok := class(name)
	if !ok {
		panic("local: no class " + name)
	}
	p := parser{source: words}
	n := p.choice()
	if p.at != len(words) {
		panic("local: class " + name + ": unexpected " + words[p.at:])
	}
	return n
}
