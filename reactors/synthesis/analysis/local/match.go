package local

import (
	"slices"
	"strings"
)

// match is where a cue was found: words from to to of the sentence, and those of its
// names.
type match struct {
	cue      *pattern
	sentence *sentence
	from, to int
	spans    []int
}

// span gives the words of a name; it is -1, -1 where that part did not take part.
func (m match) span(name string) (from, to int) {
	i := slices.Index(m.cue.names, name)
	if i < 0 || m.spans[2*i+1] < 0 {
		return -1, -1
	}
	return m.spans[2*i], m.spans[2*i+1]
}

// text gives the words of a name, or "".
func (m match) text(name string) string {
	from, to := m.span(name)
	if from < 0 {
		return ""
	}
	return m.sentence.text(from, to)
}

// in says that a sentence has the cue.
func (c *pattern) in(s *sentence) bool {
	_, ok := c.find(s)
	return ok
}

// find gives the first place of a cue in a sentence.
func (c *pattern) find(s *sentence) (match, bool) { return c.findFrom(s, 0) }

// findFrom gives the first place at or after a word. It takes time linear in the
// sentence's words: no step is tried twice at one word.
func (c *pattern) findFrom(s *sentence, from int) (match, bool) {
	if !s.wakes.has(int32(c.number)) {
		return match{}, false
	}
	var space [96]uint64 // mostly enough, and on the stack
	size := (len(c.program)*(len(s.words)+1))>>6 + 1
	tried := set(space[:min(size, len(space))])
	if size > len(space) {
		tried = make(set, size)
	}
	r := run{cue: c, words: s.words, tried: tried}
	if len(c.names) > 0 {
		r.spans = make([]int, 2*len(c.names))
	}
	for ; from <= len(s.words); from++ {
		if c.opens != nil && (from == len(s.words) || !c.opens.has(s.words[from].number)) {
			continue
		}
		for i := range r.spans {
			r.spans[i] = -1
		}
		if to := r.try(0, from); to >= 0 {
			return match{c, s, from, to, r.spans}, true
		}
	}
	return match{}, false
}

// first gives the first cue that a sentence has.
func first(all []*pattern, s *sentence) (match, bool) {
	for _, c := range all {
		if m, ok := c.find(s); ok {
			return m, true
		}
	}
	return match{}, false
}

type run struct {
	cue   *pattern
	words []word
	spans []int
	tried set
}

// try gives where a match ends that goes on with a step at a word, or -1.
func (r *run) try(at, word int) int {
	for {
		state := at*(len(r.words)+1) + word
		if r.tried[state>>6]&(1<<(state&63)) != 0 {
			return -1
		}
		r.tried[state>>6] |= 1 << (state & 63)
		s := &r.cue.program[at]
		switch s.op {
		case done:
			return word
		case jump:
			at = s.a
			continue
		case split:
			if to := r.try(s.a, word); to >= 0 {
				return to
			}
			at = s.b
			continue
		case save:
			before := r.spans[s.a]
			r.spans[s.a] = word
			to := r.try(at+1, word)
			if to < 0 {
				r.spans[s.a] = before
			}
			return to
		case begin:
			if word > 0 && r.words[word-1].text != "," {
				return -1
			}
			at++
			continue
		case end:
			if word < len(r.words) && r.words[word].text != "," {
				return -1
			}
			at++
			continue
		}
		if word >= len(r.words) {
			return -1
		}
		switch w := &r.words[word]; s.op {
		case one:
			if w.number == 0 || !s.set.has(w.number) {
				return -1
			}
		case prefix:
			if !strings.HasPrefix(w.text, s.text) {
				return -1
			}
		}
		at, word = at+1, word+1
	}
}
