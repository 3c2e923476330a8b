package command

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostPhrase bounds a phrase, in characters.
const mostPhrase = 300

// Phrase is what a user says to have a skill run.
//
//	[please] (remind|tell) me to {task}
//	... add {item} to my list [please] ...
//
// Words are said as they stand, in any case and with any punctuation. A {slot}
// takes one or more words, as few as it can. What is in brackets may be left out;
// of what is in parentheses one is said; both have alternatives, and do not nest.
// The phrase is all that is said, unless "..." stands at an end: there, more may
// be. At least one word must be said.
type Phrase struct {
	program []instruction
	slots   []string
	openEnd bool
}

// instruction is a step of a phrase: of what it says that the next words are.
type instruction struct {
	op   op
	word string // folded
	slot int
	to   []int // where it may go on, the best first
}

type op int

const (
	opWord  op = iota // one word, this one
	opFirst           // one word, any: a slot's first
	opMore            // goes on, or takes one more word for the slot
	opSkip            // goes on, or takes one more word for nobody
	opSplit           // goes on at one of several
	opEnd
)

var (
	dots     = regexp.MustCompile(`^(\.{3,}|…)|(\.{3,}|…)$`)
	slotName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Parse reads a phrase. The table's trigger has refused what it refuses.
func Parse(phrase string) (*Phrase, error) {
	if phrase == "" || utf8.RuneCountInString(phrase) > mostPhrase {
		return nil, fmt.Errorf("it has %d characters, and may have 1 to %d", utf8.RuneCountInString(phrase), mostPhrase)
	}
	p := &parser{rest: strings.TrimSpace(phrase), phrase: &Phrase{}}
	for _, at := range dots.FindAllStringIndex(p.rest, -1) {
		if at[0] == 0 {
			p.emit(instruction{op: opSkip})
		}
		p.phrase.openEnd = p.phrase.openEnd || at[0] > 0
	}
	p.rest = dots.ReplaceAllString(p.rest, "")
	if strings.Contains(p.rest, "...") || strings.Contains(p.rest, "…") {
		return nil, errors.New(`"..." may stand at the ends only`)
	}
	needed, err := p.parts()
	if err != nil {
		return nil, err
	}
	if !needed {
		return nil, errors.New("there is no word that must be said")
	}
	p.emit(instruction{op: opEnd})
	return p.phrase, nil
}

type parser struct {
	rest   string // to be read
	phrase *Phrase
}

func (p *parser) emit(i instruction) int {
	p.phrase.program = append(p.phrase.program, i)
	return len(p.phrase.program) - 1
}

func (p *parser) here() int { return len(p.phrase.program) }

// parts reads to the end. needed: there is a word that must be said.
func (p *parser) parts() (needed bool, err error) {
	for p.rest != "" {
		var word bool
		switch p.rest[0] {
		case '[':
			_, err = p.group(']')
		case '(':
			word, err = p.group(')')
		default:
			word, _, err = p.sequence()
			if err == nil && p.rest != "" && strings.IndexByte("])|}", p.rest[0]) >= 0 {
				err = fmt.Errorf("%q stands alone", p.rest[:1])
			}
		}
		if err != nil {
			return false, err
		}
		needed = needed || word
	}
	return needed, nil
}

// group reads [a|b] or (a|b). needed: each of them has a word.
func (p *parser) group(closing byte) (needed bool, err error) {
	p.rest = p.rest[1:]
	split := p.emit(instruction{op: opSplit})
	needed = true
	var ends []int
	for {
		p.phrase.program[split].to = append(p.phrase.program[split].to, p.here())
		word, slot, err := p.sequence()
		switch {
		case err != nil:
			return false, err
		case p.rest == "" || p.rest[0] != '|' && p.rest[0] != closing:
			return false, fmt.Errorf("a part does not end with %q", closing)
		case !word && !slot:
			return false, errors.New("a part is empty")
		}
		needed = needed && word
		ends = append(ends, p.emit(instruction{op: opSplit}))
		ended := p.rest[0] == closing
		if p.rest = p.rest[1:]; ended {
			break
		}
	}
	for _, end := range ends {
		p.phrase.program[end].to = []int{p.here()}
	}
	if closing == ']' {
		p.phrase.program[split].to = append(p.phrase.program[split].to, p.here())
	}
	return needed, nil
}

// sequence reads words and slots, to a bracket or the end.
func (p *parser) sequence() (word, slot bool, err error) {
	for p.rest != "" {
		n := strings.IndexAny(p.rest, "[](){}|")
		if n < 0 {
			n = len(p.rest)
		}
		said, _ := words(p.rest[:n], mostPhrase)
		for _, w := range said {
			at := p.here()
			p.emit(instruction{op: opWord, word: w.folded, to: []int{at + 1}})
		}
		word = word || strings.ContainsFunc(p.rest[:n], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
		if p.rest = p.rest[n:]; p.rest == "" || p.rest[0] != '{' {
			break
		}
		end := strings.IndexByte(p.rest, '}')
		if end < 0 || !slotName.MatchString(p.rest[1:end]) {
			return false, false, errors.New("a slot is a name of letters, digits and _ between { and }")
		}
		name := p.rest[1:end]
		for _, other := range p.phrase.slots {
			if other == name {
				return false, false, fmt.Errorf("{%s} is there twice", name)
			}
		}
		n, at := len(p.phrase.slots), p.here()
		p.phrase.slots = append(p.phrase.slots, name)
		p.emit(instruction{op: opFirst, slot: n, to: []int{at + 1}})
		p.emit(instruction{op: opMore, slot: n, to: []int{at + 2}})
		p.rest, slot = p.rest[end+1:], true
	}
	return word, slot, nil
}
