package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// barrier stands in a shadow for what is replaced.
const barrier rune = -1

// shadow is a text as patterns are sought in it: compatibility forms and accents taken off, in small letters, digits
// of all scripts as ASCII, spaces, dashes and apostrophes of all kinds as one each, what is not seen left out.
type shadow struct {
	text string
	r    []rune
	wide bool  // a zero-width space is a space
	at   []int // where in the text the character stands that each rune is of; several may be of one
}

// zeroWidthSpaces are not seen, and may stand between two words.
const zeroWidthSpaces = "\u200b\u2060\ufeff"

func newShadow(text string, wide bool) *shadow {
	sh := &shadow{text: text, wide: wide, r: make([]rune, 0, len(text)), at: make([]int, 0, len(text))}
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			sh.r, sh.at = append(sh.r, ascii[c]), append(sh.at, i)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		sh.fold(r, i, n)
		i += n
	}
	return sh
}

// fold appends what the character of n bytes at i becomes.
func (sh *shadow) fold(r rune, i, n int) {
	add := func(r rune) {
		if r < utf8.RuneSelf {
			r = ascii[r]
		} else {
			r = simple(r)
		}
		if r == 'ß' {
			sh.r, sh.at = append(sh.r, 's'), append(sh.at, i)
			r = 's'
		}
		sh.r, sh.at = append(sh.r, r), append(sh.at, i)
	}
	if sh.wide && strings.ContainsRune(zeroWidthSpaces, r) {
		add(' ')
		return
	}
	if invisible(r) {
		return
	}
	parts := norm.NFKD.PropertiesString(sh.text[i : i+n]).Decomposition()
	if parts == nil {
		add(r)
		return
	}
	apart := unicode.In(r, unicode.No, unicode.Nl) // a footnote's ² is not part of the number before it
	if apart {
		add(' ')
	}
	for len(parts) > 0 {
		r, n := utf8.DecodeRune(parts)
		parts = parts[n:]
		if !invisible(r) {
			add(r)
		}
	}
	if apart {
		add(' ')
	}
}

// ascii folds ASCII. Control characters are spaces: they hide nothing, and words do not grow together around them.
var ascii = func() (t [utf8.RuneSelf]rune) {
	for c := range t {
		switch {
		case c == '\n' || c == '\r':
			t[c] = '\n'
		case c < ' ' || c == 0x7f:
			t[c] = ' '
		case 'A' <= c && c <= 'Z':
			t[c] = rune(c) + 'a' - 'A'
		default:
			t[c] = rune(c)
		}
	}
	return t
}()

// simple folds a character that is not ASCII and has no decomposition.
func simple(r rune) rune {
	switch r {
	case 'ß', 'ẞ':
		return 'ß'
	case 'ı':
		return 'i'
	case 'ς':
		return 'σ'
	case '\u0085', '\u2028', '\u2029':
		return '\n'
	case '\u2212', '\u2043', '\u02d7': // minus, hyphen bullet, modifier minus
		return '-'
	case '\u2018', '\u2019', '\u201b', '\u02bc', '\u2032', '\u00b4', '\u02b9':
		return '\''
	case '\u3002', '\u00b7', '\u066b', '\u06d4', '\u2027', '\u30fb': // what stands for a dot, in IDNA and in numbers
		return '.'
	case '\u2044', '\u2215':
		return '/'
	}
	switch {
	case unicode.IsDigit(r):
		return '0' + digit(r)
	case unicode.Is(unicode.Zs, r), unicode.IsControl(r):
		return ' '
	case unicode.Is(unicode.Pd, r):
		return '-'
	}
	return unicode.ToLower(r)
}

// digit is the value of a decimal digit of any script: they stand in tens that begin with zero.
func digit(r rune) rune {
	for _, t := range unicode.Nd.R16 {
		if r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	return 0
}

// invisible says whether a character is not seen by itself: format characters, variation selectors, and
// the accents and vowel points that readers do without.
func invisible(r rune) bool {
	switch {
	case 0x0300 <= r && r <= 0x036f, 0x0483 <= r && r <= 0x0489, 0x0591 <= r && r <= 0x05c7,
		0x064b <= r && r <= 0x065f, r == 0x0670, 0x1ab0 <= r && r <= 0x1aff, 0x1dc0 <= r && r <= 0x1dff,
		0x20d0 <= r && r <= 0x20ff, 0xfe20 <= r && r <= 0xfe2f:
		return unicode.IsMark(r)
	}
	return unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// literals are the places that look like placeholders.
func (sh *shadow) literals() []span {
	var found []span
	e := 0 // the element at or after a place in the text
	for i := 0; i < len(sh.text); {
		n := strings.IndexByte(sh.text[i:], '[')
		if n < 0 {
			break
		}
		i += n
		end := formAt(sh.text, i)
		if end < 0 {
			i++
			continue
		}
		for sh.at[e] < i {
			e++
		}
		found = append(found, span{e, e + end - i, Literal}) // ASCII only: one element a byte
		i = end
	}
	return found
}

// whole widens spans to whole characters of the text.
func (sh *shadow) whole(found []span) {
	for i := range found {
		f := &found[i]
		for f.lo > 0 && sh.at[f.lo-1] == sh.at[f.lo] {
			f.lo--
		}
		for f.hi < len(sh.at) && sh.at[f.hi] == sh.at[f.hi-1] {
			f.hi++
		}
	}
}

// bar puts barriers over a span.
func (sh *shadow) bar(f span) {
	for i := f.lo; i < f.hi; i++ {
		sh.r[i] = barrier
	}
}

// place gives where a span is in the text, with the marks on its last character.
func (sh *shadow) place(f span) place {
	to := sh.at[f.hi-1]
	for {
		_, n := utf8.DecodeRuneInString(sh.text[to:])
		to += n
		if r, _ := utf8.DecodeRuneInString(sh.text[to:]); !unicode.IsMark(r) || !invisible(r) {
			return place{sh.at[f.lo], to, f.kind}
		}
	}
}

// span gives where a place of the text is.
func (sh *shadow) span(p place) span {
	lo, _ := slices.BinarySearch(sh.at, p.from)
	hi, _ := slices.BinarySearch(sh.at, p.to)
	return span{lo, hi, p.kind}
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
func isAlpha(r rune) bool { return 'a' <= r && r <= 'z' }
func isAlnum(r rune) bool { return isAlpha(r) || isDigit(r) }

// isLetter says whether r belongs to a word; digits do not.
func isLetter(r rune) bool {
	return isAlpha(r) || r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r))
}
