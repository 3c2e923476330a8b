package local

import (
	"maps"
	"slices"
	"strings"
)

func (c *pattern) emit(s step) int {
	c.program = append(c.program, s)
	return len(c.program) - 1
}

func (c *pattern) compile(n node) {
	switch n.kind {
	case one:
		var s set
		for _, w := range n.words {
			s.add(known.of(w))
		}
		c.emit(step{op: one, set: s})
	case prefix:
		c.emit(step{op: prefix, text: n.name})
	case any1, begin, end:
		c.emit(step{op: n.kind})
	case jump:
		for _, part := range n.parts {
			c.compile(part)
		}
	case save:
		slot := 2 * slices.Index(c.names, n.name)
		c.emit(step{op: save, a: slot})
		c.compile(n.parts[0])
		c.emit(step{op: save, a: slot + 1})
	case done:
		at := c.emit(step{op: split})
		c.compile(n.parts[0])
		a, b := at+1, len(c.program)
		if n.name == "lazy" {
			a, b = b, a
		}
		c.program[at].a, c.program[at].b = a, b
	case split:
		var ends []int
		for i, part := range n.parts {
			if i == len(n.parts)-1 {
				c.compile(part)
				break
			}
			at := c.emit(step{op: split})
			c.compile(part)
			ends = append(ends, c.emit(step{op: jump}))
			c.program[at].a, c.program[at].b = at+1, len(c.program)
		}
		for _, at := range ends {
			c.program[at].a = len(c.program)
		}
	}
}

// opening gives the words that a match may begin with, or nil if any may.
func (c *pattern) opening() set {
	var words set
	seen := make([]bool, len(c.program))
	for todo := []int{0}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[at] {
			continue
		}
		seen[at] = true
		switch s := &c.program[at]; s.op {
		case one:
			for len(words) < len(s.set) {
				words = append(words, 0)
			}
			for i, bits := range s.set {
				words[i] |= bits
			}
		case split:
			todo = append(todo, s.a, s.b)
		case jump:
			todo = append(todo, s.a)
		case save, begin, end:
			todo = append(todo, at+1)
		default:
			return nil
		}
	}
	return words
}

// common is words that almost every sentence has: a cue is rather known by others.
var common = table(func(of map[string]bool) {
	for _, w := range strings.Fields(`i am my me to the a an and of in it is was that have be for on so do not want when
		will if with at this we you he she they as but or just get got feel , can would had has been are were what all up out
		about more no now how like there their her his its our your make makes made really think know time go going`) {
		of[w] = true
	}
})

// needs gives words of which a match has at least one, and how many sentences these
// let through; nil: any sentence may match.
func needs(n node) ([]string, int) {
	const never = 1 << 30
	switch n.kind {
	case one:
		cost := 0
		for _, w := range n.words {
			if common[w] {
				cost += 1000
			} else {
				cost++
			}
		}
		return n.words, cost
	case jump:
		var best []string
		least := never
		for _, part := range n.parts {
			if words, cost := needs(part); words != nil && cost < least {
				best, least = words, cost
			}
		}
		return best, least
	case save:
		return needs(n.parts[0])
	case split:
		all, sum := map[string]bool{}, 0
		for _, part := range n.parts {
			words, cost := needs(part)
			if words == nil {
				return nil, never
			}
			for _, w := range words {
				all[w] = true
			}
			sum += cost
		}
		return slices.Sorted(maps.Keys(all)), sum
	}
	return nil, never
}
