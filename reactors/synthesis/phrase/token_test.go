package phrase_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/synthesis/phrase"
)

func texts(tokens []phrase.Token) (texts []string) {
	for _, t := range tokens {
		texts = append(texts, t.Text)
	}
	return texts
}

func stems(tokens []phrase.Token) (stems []string) {
	for _, t := range tokens {
		stems = append(stems, t.Stem)
	}
	return stems
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // texts, by a bar
	}{
		{"English", "I don't know what Anna's been running from.", "know|Anna|running"},
		{"curly apostrophes", "I’m sure they’ll isn’t it", "sure"},
		{"German", "Ich habe die Häuser an der Straße nicht gesehen", "Häuser|Straße|gesehen"},
		{"French, elided", "L’eau de l'océan n'est pas chaude aujourd'hui", "eau|océan|chaude|aujourd|hui"},
		{"Spanish", "El niño come las manzanas de su madre", "niño|come|manzanas|madre"},
		{"Russian", "Я не люблю холодную зиму и снег", "люблю|холодную|зиму|снег"},
		{"Turkish", "bu çok güzel bir gün", "güzel|bir|gün"},
		{"Chinese", "我喜欢吃苹果", "喜欢|欢吃|吃苹|苹果"},
		{"one character", "茶", "茶"},
		{"Japanese", "東京で寿司を食べた", "東京|京で|寿司|食べ|べた"},
		{"Katakana", "コーヒー が好き", "コーヒー|好き"},
		{"Thai", "กินข้าว", "กิน|นข้|ข้า|าว"},
		{"Korean", "학교에 갑니다", "학교에|갑니다"},
		{"Arabic", "ذهبت إلى المدرسة مع أخي", "ذهبت|المدرسة|أخي"},
		{"Hebrew", "אני אוהב את הים", "אוהב|הים"},
		{"emoji", "party 🎉👩‍💻 👍🏽", "party|🎉|👩‍💻|👍🏽"},
		{"flags", "🇩🇪🇫🇷", "🇩🇪|🇫🇷"},
		{"compatibility", "ﬁne ＡＢＣ ①② ½", "fine|ABC|12|1⁄2"},
		{"numbers", "on 2026 I paid 3,000.50 in 5 days for B12", "2026|paid|3,000.50|days|B12"},
		{"links", "see https://user:pass@www.Example.com:8080/a/b?token=secret#c, www.golang.org/x.", "see|Example.com|golang.org"},
		{"mentions", "cc @anna_b, write ada@example.com! #holiday", "cc|@anna_b|write|ada@example.com|holiday"},
		{"hidden", "a\u202edrow\u200bs \ufeffs\u00adoft\u0000nul\u2066x\u2069", "adrows|soft|nulx"},
		{"marks", "z" + strings.Repeat("\u0316", 50) + "algo", "z\u0316\u0316\u0316\u0316algo"},
		{"not UTF-8", "caf\xe9 latte \xff\xfe", "caf|latte"},
		{"nothing", " \t\n…!?", ""},
		{"stop words only", "what is this", ""},
	} {
		got := phrase.Tokens(c.text)
		if said := strings.Join(texts(got), "|"); said != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, said, c.want)
		}
	}
}

// TestStems has forms of a word, in its language, share a stem.
func TestStems(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"I was running with the dogs", "he runs with a dog"},
		{"die Katzen sind im Haus", "eine Katze ist in den Häusern"},
		{"les chevaux sont dans la maison", "le cheval est dans les maisons"},
		{"она читала книги", "он читал книгу и не"},
		{"los gatos negros de la casa", "la gata negra en las casas"},
		{"الكتاب على", "كِتَاب في"},
		{"학교를", "학교에"},
		{"👍🏽 ❤️", "👍 ❤"},
		{"CAFÉ", "cafe\u0301"},
	} {
		a, b := stems(phrase.Tokens(c.a)), stems(phrase.Tokens(c.b))
		if len(a) == 0 || !slices.ContainsFunc(a, func(stem string) bool { return slices.Contains(b, stem) }) {
			t.Errorf("%q has %q, %q has %q: none in common", c.a, a, c.b, b)
		}
	}
}

// TestLanguageOfCorpus has what a user mostly writes decide about a text that could be several languages'.
func TestLanguageOfCorpus(t *testing.T) {
	english := [][]string{{"to die another day", "die another time", "I will not die of this", "what is the name of that one"}}
	if keys := phrase.Keys(english, 1); keys[0][0].Text != "die" {
		t.Errorf("English: %+v", keys)
	}
	german := [][]string{{"die Katze", "die Katzen", "wo ist die Katze denn nun wieder"}}
	if keys := phrase.Keys(german, 3); keys[0][0].Text != "Katze" || len(keys[0]) != 1 {
		t.Errorf("German: %+v", keys)
	}
}

func TestBounds(t *testing.T) {
	for name, text := range map[string]string{
		"words":           strings.Repeat("word ", 1<<18),
		"a long word":     strings.Repeat("a", 1<<20),
		"marks":           strings.Repeat("\u0301", 1<<20),
		"ideographs":      strings.Repeat("東", 1<<20),
		"joiners":         strings.Repeat("👩\u200d", 1<<18),
		"apostrophes":     strings.Repeat("a'", 1<<19),
		"signs":           strings.Repeat("@a://", 1<<18),
		"expanding runes": strings.Repeat("\ufdfa", 1<<18),
	} {
		tokens := phrase.Tokens(text)
		if len(tokens) > 4096 {
			t.Errorf("%s: %d tokens", name, len(tokens))
		}
		for _, token := range tokens {
			if len(token.Text) > 256 {
				t.Errorf("%s: a token of %d bytes", name, len(token.Text))
				break
			}
		}
		if shown := phrase.Excerpt(text, 8); len(shown) > 8*12*4+3 {
			t.Errorf("%s: an excerpt of %d bytes", name, len(shown))
		}
	}
}
