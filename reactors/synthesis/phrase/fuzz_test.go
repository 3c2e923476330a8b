package phrase_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

// unsafe says what is wrong with a text that is to be shown on a line beside others, or "".
func unsafe(text string) string {
	marks := 0
	for _, r := range text {
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case unicode.IsControl(r):
			return "a control character"
		case unicode.Is(unicode.Bidi_Control, r):
			return "a character that reorders text"
		case unicode.Is(unicode.Cf, r) && r != '\u200d':
			return "a format character"
		case unicode.In(r, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
			return "a separator or an unassigned character"
		case marks > 12:
			return "a tower of marks"
		}
	}
	if !utf8.ValidString(text) {
		return "not UTF-8"
	}
	return ""
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "I went home. Then I slept.", "don't l’eau", "東京で寿司を食べた", "กินข้าว", "מַה שלום", "ذهبت إلى", "👩‍👩‍👧‍👦👍🏽🇩🇪", "a\u202eb\u2066\u200b",
		"https://u:p@www.a.b:1/c?d", "@a_b c@d.e", "\xff\xfe\x00", "z\u0316\u0316\u0316\u0316\u0316", "ﷺ½①", "학교에", "_'’'", "ı İ ß ſ", "❤️\ufe0f\u200d\u200d", "." + strings.Repeat(")", 1<<15)} {
		f.Add(seed, 4)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		tokens := phrase.Tokens(text)
		if len(tokens) > 4096 {
			t.Fatalf("%d tokens", len(tokens))
		}
		for _, token := range tokens {
			if why := unsafe(token.Text); why != "" || token.Text == "" || token.Stem == "" || utf8.RuneCountInString(token.Text) > 256 || strings.ContainsAny(token.Text, " \n") {
				t.Fatalf("token %+q of stem %+q: %s", token.Text, token.Stem, why)
			}
		}
		most %= 20
		shown := phrase.Excerpt(text, most)
		if why := unsafe(shown); why != "" || utf8.RuneCountInString(shown) > 12*max(most, 0)+1 || strings.Contains(shown, "\n") {
			t.Fatalf("excerpt %+q: %s", shown, why)
		}
		for _, key := range phrase.Keys([][]string{{text, text}, {"tea"}}, 5)[0] {
			if why := unsafe(key.Text); why != "" || key.Text == "" || !(key.Weight > 0) {
				t.Fatalf("phrase %+q, %v: %s", key.Text, key.Weight, why)
			}
		}
		vectors := phrase.Vectors([]string{text, "tea"}, 64)
		if (vectors[0] == nil) != (len(tokens) == 0) {
			t.Fatalf("%d tokens, vector %v", len(tokens), vectors[0])
		}
		if vectors[0] != nil && !(math.Abs(cosine(vectors[0], vectors[0])-1) < 1e-5) {
			t.Fatalf("length² %v", cosine(vectors[0], vectors[0]))
		}
		if !slices.Equal(tokens, phrase.Tokens(text)) {
			t.Fatal("other tokens the second time")
		}
	})
}
