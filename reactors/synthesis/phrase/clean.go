package phrase

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// longest is how much of a text is read, in bytes.
	longest = 32 << 10
	// stacked is how many combining marks may follow each other: every living script does with fewer.
	stacked = 4

	// together is how many joiners an emoji may have: a family of four has three.
	together = 3

	joiner    = '\u200d' // ZWJ, which makes one emoji of several
	colourful = '\ufe0f' // VS16, after a character that could be text as well
)

// clean makes a text safe to show and gives it in NFKC: what is not valid UTF-8 or not to be seen becomes a space or
// nothing, and a break of lines or paragraphs one "\n".
func clean(text string) string {
	if len(text) > longest {
		text = text[:longest] // a rune cut in two is invalid, and goes with the other invalid ones
	}
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	marks, joined := 0, 0
	var last, previous rune // last: the one that marks, tones and joiners belong to
	for i, r := range text {
		switch {
		case r == '\n' || r == '\r' || r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			r = '\n'
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"), unicode.IsControl(r), unicode.Is(unicode.Zs, r):
			r = ' '
		case r == joiner && emoji(last) && previous != joiner && joined < together:
			joined++ // or one emoji would become two
		case r == colourful && emoji(previous):
		case tone(r) && tone(previous):
			continue
		case !unicode.IsGraphic(r), unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
			continue
		}
		if unicode.IsMark(r) && r != colourful {
			if marks++; marks > stacked {
				continue
			}
		} else {
			marks = 0
		}
		if r != joiner && r != colourful && !tone(r) {
			last = r
			if previous != joiner {
				joined = 0
			}
		}
		previous = r
		b.WriteRune(r)
	}
	return norm.NFKC.String(b.String())
}

// plain says that there is nothing to clean: printable ASCII and "\n" only.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < ' ' && c != '\n') || c > '~' {
			return false
		}
	}
	return true
}

// emoji says that a rune is a pictograph or a part of one. The standard library has no table of the property Emoji;
// these blocks hold those that do not look like text by default.
func emoji(r rune) bool {
	return r >= 0x1f000 && r < 0x20000 || r >= 0x2600 && r <= 0x27bf || r == 0x2b50 || r == 0x2b55 || r == 0x231a || r == 0x231b
}

// tone says that a rune only colours the emoji before it.
func tone(r rune) bool { return r >= 0x1f3fb && r <= 0x1f3ff }
