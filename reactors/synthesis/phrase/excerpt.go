package phrase

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"
	"github.com/clipperhouse/uax29/v2/words"
)

const (
	// longestShown is how many characters an excerpt may have for each word that it may have: words are mostly shorter,
	// and what is longer is not worth showing whole.
	longestShown = 12
	// fewest is how many words a sentence must have to say something by itself: "Dr." and "Hi!" do not.
	fewest = 3
	// sought is how many characters a first sentence is looked for in. The search for its end takes time quadratic in
	// what closes it (".))))"), so this is bounded, too.
	sought = 1024
)

// Excerpt gives the first sentence of a text, with the next one if it is very short, or the first most words and "…",
// at most 12 characters a word and 1,024 in all. It is one line that is safe to show: in NFKC, without control
// characters, characters that reorder text, or towers of combining marks. In scripts without spaces each character counts
// as a word. It is "" when there is nothing to see.
func Excerpt(text string, most int) string {
	text = strings.TrimSpace(clean(text))
	if utf8.RuneCountInString(text) > sought {
		text = string([]rune(text)[:sought])
	}
	end := 0
	for found := sentences.FromString(text); end < len(text); {
		found.Next()
		end = found.End()
		if at := nthWord(text[:end], fewest); at >= 0 {
			break
		}
	}
	line := strings.Join(strings.Fields(text[:end]), " ")
	end = len(line)
	if at := nthWord(line, most+1); at >= 0 {
		end = at
	}
	end = shorten(line[:end], most*longestShown)
	if end == len(line) {
		return line
	}
	return strings.TrimRight(line[:end], " ,;:-–—([{\"'‘“„«") + "…"
}

// nthWord gives where the nth word of a text begins, or -1 if it has fewer.
func nthWord(text string, n int) int {
	for found := words.FromString(text); found.Next(); {
		if strings.ContainsFunc(found.Value(), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || emoji(r) }) {
			if n--; n <= 0 {
				return found.Start()
			}
		}
	}
	return -1
}

// shorten gives where to cut a line so that at most most characters remain: at a space if there is one, else not
// within what is seen as one character, if that is possible.
func shorten(line string, most int) int {
	if utf8.RuneCountInString(line) <= most {
		return len(line)
	}
	limit := 0
	for at := range line {
		if most--; most < 0 {
			limit = at
			break
		}
	}
	if space := strings.LastIndexByte(line[:limit], ' '); space > 0 {
		return space
	}
	cut := limit
	for found := graphemes.FromString(line); found.Next() && found.End() <= limit; {
		cut = found.End()
	}
	return cut
}
