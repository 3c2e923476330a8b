package redact

import (
	"strings"
	"unicode/utf8"
)

// view is the part of a shadow that is searched, with its digits in groups.
type view struct {
	s      []rune
	lo, hi int
	sh     *shadow
	groups []group
	digits []byte // of all groups, one after the other
}

// group is a run of digits.
type group struct {
	lo, hi int
	first  int  // its first digit in view.digits
	joint  rune // what joins it to the group before: ' ', '\n', '.', '-', '/', or '(' for brackets; 0: nothing does
}

func (g group) len() int { return g.hi - g.lo }

// widest is how many signs may stand between two groups of one number.
const widest = 3

func (v *view) group() {
	i := v.lo
	if i > 0 && isDigit(v.s[i-1]) { // not in the middle of one
		for i < v.hi && isDigit(v.s[i]) {
			i++
		}
	}
	for i < v.hi {
		if !isDigit(v.s[i]) {
			i++
			continue
		}
		g := group{lo: i, first: len(v.digits)}
		for i < len(v.s) && isDigit(v.s[i]) {
			v.digits = append(v.digits, byte(v.s[i]))
			i++
		}
		g.hi = i
		if n := len(v.groups); n > 0 {
			g.joint = joint(v.s[v.groups[n-1].hi:g.lo])
		}
		v.groups = append(v.groups, g)
	}
}

// joint says what joins two groups, the strongest of the signs between them.
func joint(between []rune) rune {
	if len(between) > widest {
		return 0
	}
	strongest := -1
	const order = " _\n.-/("
	for _, r := range between {
		if r == ')' {
			r = '('
		}
		n := strings.IndexRune(order, r)
		if n < 0 {
			return 0
		}
		strongest = max(strongest, n)
	}
	if strongest < 0 {
		return 0
	}
	return rune(order[strongest])
}

// of gives the digits of the groups i to j.
func (v *view) of(i, j int) []byte {
	return v.digits[v.groups[i].first : v.groups[j].first+v.groups[j].len()]
}

// at is what stands at i, or a barrier outside the text.
func (v *view) at(i int) rune {
	if i < 0 || i >= len(v.s) {
		return barrier
	}
	return v.s[i]
}

const (
	before = 40 // how far before a number a word may stand that says what it is
	after  = 20 // and how far after it
)

// near says whether one of words stands before s[lo:hi], or after it, on the same side of whatever was replaced.
func (v *view) near(lo, hi int, words []string) bool {
	from, to := lo, hi
	for from > 0 && lo-from < before && v.s[from-1] != barrier {
		from--
	}
	for to < len(v.s) && to-hi < after && v.s[to] != barrier {
		to++
	}
	return contains(string(v.s[from:lo]), words) || contains(string(v.s[hi:to]), words)
}

// contains says whether one of words is in text, not as a part of a longer word. Words of other scripts than Latin may
// be anywhere, since some have no spaces and others add endings.
func contains(text string, words []string) bool {
	for _, w := range words {
		for from := 0; ; {
			i := strings.Index(text[from:], w)
			if i < 0 {
				break
			}
			lo, hi := from+i, from+i+len(w)
			last, _ := utf8.DecodeLastRuneInString(text[:lo])
			next, _ := utf8.DecodeRuneInString(text[hi:])
			if w[0] >= utf8.RuneSelf || !isAlpha(last) && !isAlpha(next) {
				return true
			}
			from = hi
		}
	}
	return false
}
