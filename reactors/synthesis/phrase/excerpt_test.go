package phrase_test

import (
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"I went home. Then I slept.", 8, "I went home."},
		{"Dr. Smith called. He was late.", 8, "Dr. Smith called."},
		{"Hi! We are home. Good.", 8, "Hi! We are home."},
		{"one two three four five", 3, "one two three…"},
		{"one two three", 3, "one two three"},
		{"first, second (third", 2, "first, second…"},
		{"  a\tlot \r\n of space", 8, "a lot of space"},
		{"\n\n heading \n text", 8, "heading text"},
		{"don't stop it's fine", 2, "don't stop…"},
		{"\u202eevil\u202c \u2067text\u2069\u0007 ends", 8, "evil text ends"},
		{"东京很大，我很喜欢。是的", 4, "东京很大…"},
		{"שלום לכולם, מה שלומכם היום", 2, "שלום לכולם…"},
		{"👩‍👩‍👧‍👦 went to the sea", 2, "👩‍👩‍👧‍👦 went…"},
		{"Donaudampfschifffahrtsgesellschaftskapitän", 1, "Donaudampfsc…"},
		{"caf\xff\xfe", 3, "caf"},
		{"tea", 0, "…"},
		{"", 5, ""},
		{"\u200b\u2066", 5, ""},
	} {
		if got := phrase.Excerpt(c.text, c.most); got != c.want {
			t.Errorf("%q, %d: %q, want %q", c.text, c.most, got, c.want)
		}
	}
}
