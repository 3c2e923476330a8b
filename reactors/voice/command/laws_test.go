package command_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/voice/command"
)

// drawSaid gives a phrase and a transcript that is said from it: literal words are
// of letters a to e, what slots take of v to z.
func drawSaid(t *rapid.T) (phrase, transcript string, slots map[string]string) {
	slots = map[string]string{}
	literal := rapid.StringMatching("[a-e]{1,3}")
	value := rapid.StringMatching("[v-z]{1,3}([,.]? [v-z]{1,2}){0,3}")
	casing := rapid.SampledFrom([]func(string) string{strings.ToUpper, strings.ToLower, strings.ToTitle})
	gap := rapid.SampledFrom([]string{" ", "  ", ", ", ". ", " - ", "\n"})
	var written, said []string
	speak := func(text string) { said = append(said, text) }
	sequence := func(spoken bool) string {
		var parts []string
		for i := range rapid.IntRange(1, 3).Draw(t, "atoms") {
			// No two slots side by side: how they share words is not unique.
			if i%2 == 1 && rapid.Bool().Draw(t, "slot") {
				name := fmt.Sprintf("s%d", len(slots))
				slots[name] = ""
				parts = append(parts, "{"+name+"}")
				if spoken {
					slots[name] = value.Draw(t, "value")
					speak(slots[name])
				}
				continue
			}
			word := literal.Draw(t, "word")
			parts = append(parts, word)
			if spoken {
				speak(casing.Draw(t, "casing")(word))
			}
		}
		return strings.Join(parts, " ")
	}
	for range rapid.IntRange(0, 4).Draw(t, "parts") {
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			written = append(written, sequence(true))
		case 1:
			written = append(written, "["+sequence(rapid.Bool().Draw(t, "spoken"))+"]")
		default:
			first := rapid.Bool().Draw(t, "first")
			written = append(written, "("+sequence(first)+"|"+sequence(!first)+")")
		}
		written = append(written, literal.Draw(t, "between"))
		speak(written[len(written)-1])
	}
	written = append(written, "last")
	speak("last")
	transcript = said[0]
	for _, word := range said[1:] {
		transcript += gap.Draw(t, "gap") + word
	}
	return strings.Join(written, " "), transcript, slots
}

// TestLawSaid: what is said from a phrase is that phrase; where an end is open,
// with anything there, too.
func TestLawSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		phrase, transcript, slots := drawSaid(t)
		if utf8.RuneCountInString(phrase) > 290 {
			return
		}
		for _, open := range []bool{false, true} {
			phrase, transcript := phrase, transcript
			if open {
				phrase, transcript = "... "+phrase+" ...", "well, hm "+transcript+"! Thanks."
			}
			p, err := command.Parse(phrase)
			if err != nil {
				t.Fatalf("Parse(%q): %v", phrase, err)
			}
			said, ok := command.Listen(transcript)
			if !ok {
				t.Fatalf("Listen(%q)", transcript)
			}
			m, ok := p.Match(said)
			if !ok {
				t.Fatalf("%q is not %q", transcript, phrase)
			}
			for name, text := range m.Slots {
				if _, known := slots[name]; !known || text == "" || !strings.Contains(transcript, text) {
					t.Fatalf("%q, said %q: slot %s is %q", phrase, transcript, name, text)
				}
			}
		}
	})
}

// TestLawOracle: a phrase without slots is a regular expression, and matches what
// that matches.
func TestLawOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"a", "b", "c"})
		var phrase, pattern strings.Builder
		for range rapid.IntRange(1, 6).Draw(t, "parts") {
			draw := func() string {
				return strings.Join(rapid.SliceOfN(words, 1, 3).Draw(t, "words"), " ")
			}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				one := draw()
				phrase.WriteString(" " + one)
				pattern.WriteString(one + " ")
			case 1:
				one, two := draw(), draw()
				phrase.WriteString("[" + one + "|" + two + "]")
				pattern.WriteString("(?:" + one + " |" + two + " )?")
			case 2:
				one, two := draw(), draw()
				phrase.WriteString("(" + one + "|" + two + ")")
				pattern.WriteString("(?:" + one + " |" + two + " )")
			default:
				slot := fmt.Sprintf("{s%d}", phrase.Len())
				phrase.WriteString(slot)
				pattern.WriteString("(?:[abc] )+")
			}
		}
		written := phrase.String() + " a"
		start, end := rapid.Bool().Draw(t, "openStart"), rapid.Bool().Draw(t, "openEnd")
		oracle := "^" + pattern.String() + "a $"
		if start {
			written, oracle = "..."+written, "(?:^| )"+oracle[1:]
		}
		if end {
			written, oracle = written+"...", oracle[:len(oracle)-1]
		}
		p, err := command.Parse(written)
		if err != nil {
			t.Fatalf("Parse(%q): %v", written, err)
		}
		transcript := strings.Join(rapid.SliceOfN(words, 1, 10).Draw(t, "transcript"), " ")
		said, _ := command.Listen(transcript)
		_, got := p.Match(said)
		if want := regexp.MustCompile(oracle).MatchString(transcript + " "); got != want {
			t.Fatalf("%q, said %q: %v, want %v by %s", written, transcript, got, want, oracle)
		}
	})
}

// FuzzPhrase: whatever a phrase and a transcript are, they are compared; the same
// way each time; and what a slot is, was said.
func FuzzPhrase(f *testing.F) {
	for _, phrase := range append(append([]string{}, valid...), invalid...) {
		f.Add(phrase, "a b c. A word, and another")
	}
	f.Add("[please] (remind|tell) me to {task}", "Please remind me to call Bob.")
	f.Add("... add {item} to my list ...", "so, add 3 l of milk (bio) to my list!")
	f.Add("リストに{item}を追加", "リストに牛乳を追加。")
	f.Fuzz(func(t *testing.T, phrase, transcript string) {
		p, err := command.Parse(phrase)
		if err != nil {
			return
		}
		if utf8.RuneCountInString(phrase) > 300 {
			t.Fatalf("a phrase of %d characters is taken", utf8.RuneCountInString(phrase))
		}
		said, ok := command.Listen(transcript)
		if !ok {
			return
		}
		m, ok := p.Match(said)
		if again, okAgain := p.Match(said); ok != okAgain || fmt.Sprint(m) != fmt.Sprint(again) {
			t.Fatalf("%q, said %q: %v, then %v", phrase, transcript, m, again)
		}
		if !ok {
			return
		}
		if m.Words < 1 {
			t.Fatalf("%q, said %q: no word of it was said", phrase, transcript)
		}
		if len(m.Slots) > len(p.Slots()) {
			t.Fatalf("%q has slots %v", phrase, m.Slots)
		}
		for name, text := range m.Slots {
			if text == "" || !strings.Contains(transcript, text) {
				t.Fatalf("%q, said %q: slot %s is %q", phrase, transcript, name, text)
			}
		}
		// More is said around it, where the phrase lets it.
		if open, err := command.Parse("... " + strings.Trim(phrase, ".… \t\n\r") + " ..."); err == nil {
			if around, ok := command.Listen("zq " + transcript + " zq"); ok {
				if _, ok := open.Match(around); !ok {
					t.Fatalf("%q is not within %q", phrase, "zq "+transcript+" zq")
				}
			}
		}
	})
}
