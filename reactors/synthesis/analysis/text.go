package analysis

import (
	"regexp"
	"unicode"
)

// printable drops what no line of text has: controls, marks that turn the reading
// direction or are not seen, and what is no character.
func printable(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == '\u200d': // joins emoji
		return r
	case unicode.Is(unicode.Cf, r), unicode.IsControl(r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r), r == unicode.ReplacementChar:
		return -1
	}
	return r
}

// placeholder is how redact writes what it took out.
var placeholder = regexp.MustCompile(`\[[A-Z]+(?:_[A-Z]+){1,2}\]`)

func withoutPlaceholders(text string) string { return placeholder.ReplaceAllString(text, " ") }
