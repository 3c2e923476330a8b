package speech

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Words are those of a text as they are compared: in lower case, without
// punctuation, hyphens and apostrophes ("it's" is "its"), and with numbers below a
// million in words: "21" and "twenty-one" are the same two words, "2nd" is "second".
func Words(text string) []string {
	text = apostrophes.Replace(strings.ToLower(text))
	text = thousands.ReplaceAllString(text, "$1$2")
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	}) {
		words = append(words, inWords(word)...)
	}
	return words
}

var (
	apostrophes = strings.NewReplacer("'", "", "’", "", "%", " percent ", "&", " and ")
	thousands   = regexp.MustCompile(`\b(\d{1,3}),(\d{3})\b`)
	ordinal     = regexp.MustCompile(`^(\d+)(?:st|nd|rd|th)$`)
)

// inWords gives a number in words, and any other word as it is.
func inWords(word string) []string {
	digits := word
	m := ordinal.FindStringSubmatch(word)
	if m != nil {
		digits = m[1]
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n >= 1_000_000 {
		return []string{word}
	}
	words := cardinal(n)
	if m != nil {
		last := words[len(words)-1]
		words[len(words)-1] = ordinalOf(last)
	}
	return words
}

var (
	small = strings.Fields(`zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
		sixteen seventeen eighteen nineteen`)
	tens      = strings.Fields(`twenty thirty forty fifty sixty seventy eighty ninety`)
	irregular = map[string]string{"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
		"nine": "ninth", "twelve": "twelfth"}
)

func cardinal(n int) []string {
	above := func(unit int, words ...string) []string {
		if n%unit == 0 {
			return words
		}
		return append(words, cardinal(n%unit)...)
	}
	switch {
	case n < 20:
		return []string{small[n]}
	case n < 100:
		return above(10, tens[n/10-2])
	case n < 1000:
		return above(100, small[n/100], "hundred")
	default:
		return above(1000, append(cardinal(n/1000), "thousand")...)
	}
}

func ordinalOf(word string) string {
	if first, ok := irregular[word]; ok {
		return first
	}
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		return stem + "ieth"
	}
	return word + "th"
}

// A Score says how well words were heard. Scores of several texts add up.
type Score struct {
	Words int // that were spoken
	Wrong int // that were heard wrongly, not heard, or heard without having been spoken
}

// Compare compares what was spoken with what was heard, as the word error rate
// does: Wrong is the least number of substitutions, deletions and insertions.
func Compare(spoken, heard string) Score {
	want, got := Words(spoken), Words(heard)
	// before[j] is the distance of the words of want so far to the first j of got.
	before, now := make([]int, len(got)+1), make([]int, len(got)+1)
	for j := range before {
		before[j] = j
	}
	for i, word := range want {
		now[0] = i + 1
		for j, other := range got {
			now[j+1] = min(before[j+1], now[j]) + 1
			if word == other {
				now[j+1] = min(now[j+1], before[j])
			} else {
				now[j+1] = min(now[j+1], before[j]+1)
			}
		}
		before, now = now, before
	}
	return Score{Words: len(want), Wrong: before[len(got)]}
}

// Add gives the score of both texts together.
func (s Score) Add(other Score) Score {
	return Score{Words: s.Words + other.Words, Wrong: s.Wrong + other.Wrong}
}

// Accuracy is 1 - WER: 1 where each word was heard. It is below 0 where more was
// heard wrongly than was spoken.
func (s Score) Accuracy() float64 {
	if s.Words == 0 {
		return 1 - float64(s.Wrong)
	}
	return 1 - float64(s.Wrong)/float64(s.Words)
}
