package command

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word is one of a text: letters, digits and what combines with them, apostrophes
// between them too. In scripts that put no spaces between words each character is
// one.
type word struct {
	folded     string
	start, end int // bytes of the text
}

// unspaced are scripts that put no spaces between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// words gives those of a text, and reports whether there are no more than most. It
// stops when there are.
func words(text string, most int) ([]word, bool) {
	var all []word
	start, last := -1, rune(0) // of the word that goes on, and its latest letter
	end := func(at int) {
		if start >= 0 {
			all = append(all, word{fold(text[start:at]), start, at})
			start = -1
		}
	}
	for at, r := range text {
		switch {
		case start >= 0 && (unicode.IsMark(r) || r == '\u200c' || r == '\u200d'): // the joiners of Indic and Persian words
		case isApostrophe(r) && start >= 0 && !unicode.In(last, unspaced...) && letterFollows(text[at:]):
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			alone := unicode.In(r, unspaced...)
			if start >= 0 && (alone || unicode.In(last, unspaced...)) {
				end(at)
			}
			if start < 0 {
				if len(all) == most {
					return all, false
				}
				start = at
			}
			last = r
		default:
			end(at)
		}
	}
	end(len(text))
	return all, true
}

// isApostrophe reports what stands in "don't", however it is written.
func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == 'ʼ' }

// letterFollows reports whether a letter or a digit comes after the first rune.
func letterFollows(text string) bool {
	_, size := utf8.DecodeRuneInString(text)
	r, _ := utf8.DecodeRuneInString(text[size:])
	return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !isApostrophe(r)
}

// fold makes words equal that differ in case, or in how Unicode writes the same
// accent. Accents themselves make words: año is not ano.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case isApostrophe(r):
			return '\''
		case r == '\u200c' || r == '\u200d':
			return -1
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, norm.NFC.String(text))
}

// trim takes away the punctuation around what was said, but not what belongs to a
// number or a name.
func trim(text string) string {
	return strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsPunct(r) && !strings.ContainsRune("%#@&", r)
	})
}
