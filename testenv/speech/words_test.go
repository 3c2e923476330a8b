package speech_test

import (
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv/speech"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"Hello, world! ":                "hello world",
		"It's the cats’ door.":          "its the cats door",
		"twenty-one; 21":                "twenty one twenty one",
		"0 7 12 19 40 99":               "zero seven twelve nineteen forty ninety nine",
		"100 and 512":                   "one hundred and five hundred twelve",
		"1,000 or 20500":                "one thousand or twenty thousand five hundred",
		"999999 1000000":                "nine hundred ninety nine thousand nine hundred ninety nine 1000000",
		"the 1st, 2nd, 12th, 30th":      "the first second twelfth thirtieth",
		"the 21st and 104th":            "the twenty first and one hundred fourth",
		"3:30, 5%":                      "three thirty five percent",
		"Straße in Ōsaka — naïve, déjà": "straße in ōsaka naïve déjà",
		"4G mp3 b2b":                    "4g mp3 b2b",
	} {
		if got := strings.Join(speech.Words(text), " "); got != want {
			t.Errorf("%q has the words %q, want %q", text, got, want)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		what, spoken, heard string
		words, wrong        int
	}{
		{"all is heard", "It's nine o'clock.", "its 9 oclock", 3, 0},
		{"one word is another", "the old house is warm", "the old horse is warm", 5, 1},
		{"one word is missing", "the old house is warm", "the house is warm", 5, 1},
		{"one word is too many", "the old house is warm", "the old old house is warm", 5, 1},
		{"two words are one", "an ice cream", "an icecream", 3, 2},
		{"nothing is heard", "the old house", "", 3, 3},
		{"words come from nowhere", "", "thank you", 0, 2},
		{"the order matters", "one two three", "three two one", 3, 2},
		{"the shortest way counts", "a b c d e f", "b c d e f a", 6, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			if got := speech.Compare(c.spoken, c.heard); got != (speech.Score{Words: c.words, Wrong: c.wrong}) {
				t.Errorf("got %+v, want %d words and %d wrong", got, c.words, c.wrong)
			}
		})
	}
}

func TestScore(t *testing.T) {
	all := speech.Score{Words: 15, Wrong: 0}.Add(speech.Score{Words: 5, Wrong: 1})
	if got := all.Accuracy(); got != 0.95 {
		t.Errorf("19 of 20 words are an accuracy of %v", got)
	}
	if got := (speech.Score{}).Accuracy(); got != 1 {
		t.Errorf("silence that was heard as silence has an accuracy of %v", got)
	}
	if got := (speech.Score{Wrong: 2}).Accuracy(); got >= 0 {
		t.Errorf("words out of silence have an accuracy of %v", got)
	}
}
