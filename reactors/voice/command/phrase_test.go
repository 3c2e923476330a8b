package command_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/voice/command"
)

// say compares a phrase with a transcript, and prints what came of it: "-" for
// nothing, else how many words matched and the slots.
func say(t *testing.T, phrase, transcript string) string {
	t.Helper()
	p, err := command.Parse(phrase)
	if err != nil {
		t.Fatalf("Parse(%q): %v", phrase, err)
	}
	said, ok := command.Listen(transcript)
	if !ok {
		return "-"
	}
	m, ok := p.Match(said)
	if !ok {
		return "-"
	}
	text := fmt.Sprint(m.Words)
	for _, name := range p.Slots() {
		if value, ok := m.Slots[name]; ok {
			text += fmt.Sprintf(" %s=%s", name, value)
		}
	}
	return text
}

func TestMatch(t *testing.T) {
	const (
		list   = "add {item} to my list"
		remind = "[please] (remind|tell) me to {task}"
	)
	for _, tt := range []struct{ name, phrase, transcript, want string }{
		{"Slot", list, "Add milk to my list.", "4 item=milk"},
		{"SlotOfSeveralWords", list, "add two liters of milk to my list", "4 item=two liters of milk"},
		{"SlotAsItWasSaid", list, "ADD “Crème, fraîche” (Bio), to my LIST!", "4 item=Crème, fraîche” (Bio"},
		{"SlotOfNumberAndSign", list, "Add 50% of #3 @home to my list", "4 item=50% of #3 @home"},
		{"SlotWithCurrency", "pay {sum} now", "Pay $12.50 now.", "2 sum=$12.50"},
		{"SlotEmpty", list, "add to my list", "-"},
		{"SlotTakesFewWords", list, "add to my list to my list", "4 item=to my list"},
		{"SlotTwiceTheEnd", "add {item} to {list}", "add a to b to c", "2 item=a list=b to c"},
		{"SlotsSideBySide", "call {first} {rest} now", "call Ada King of Lovelace now", "2 first=Ada rest=King of Lovelace"},
		{"SlotAtTheEnd", remind, "Tell me to call Bob, at 5 p.m.!", "3 task=call Bob, at 5 p.m"},
		{"Optional", remind, "Please, remind me to go.", "4 task=go"},
		{"OptionalLeftOut", remind, "remind me to go", "3 task=go"},
		{"OptionalTwice", remind, "please please remind me to go", "-"},
		{"Alternative", "(play|start [x) y", "", "invalid"},
		{"OptionalSlot", "buy {item} [for {price}]", "buy milk for two euros", "2 item=milk price=two euros"},
		{"OptionalSlotLeftOut", "buy {item} [for {price}]", "buy milk", "1 item=milk"},
		{"OptionalSlotPreferred", "buy {item} [for {price}]", "buy a toy for Tom for ten", "2 item=a toy price=Tom for ten"},
		{"SlotAsAlternative", "(open|{verb}) the door", "smash the door", "2 verb=smash"},
		{"OtherWord", remind, "ask me to go", "-"},
		{"MoreBefore", list, "so add milk to my list", "-"},
		{"MoreAfter", list, "add milk to my list please", "-"},
		{"OpenStart", "... " + list, "so well, add milk to my list", "4 item=milk"},
		{"OpenStartNothingThere", "... " + list, "add milk to my list", "4 item=milk"},
		{"OpenEnd", list + "…", "add milk to my list. Thanks a lot", "4 item=milk"},
		{"OpenBoth", "...stop...", "would you stop that", "1"},
		{"OpenStartFirstPlace", "... call {name} ...", "please call Ann and call Bob", "1 name=Ann"},
		{"Case", "STRASSE ΣΊΣΥΦΟΣ", "strasse σίσυφος", "2"},
		{"Accents", "el año nuevo", "el ano nuevo", "-"},
		{"AccentsWrittenInTwo", "el an\u0303o", "El A\u00f1o", "2"},
		{"Apostrophes", "don't stop", "Don’t stop", "2"},
		{"ContractionIsAWord", "do not stop", "don't stop", "-"},
		{"Hyphen", "my to-do list", "My to do list", "4"},
		{"PunctuationInside", "hey, helix: stop", "Hey Helix. Stop.", "3"},
		{"Digits", "channel 5", "Channel 5.", "2"},
		{"Japanese", "リストに{item}を追加", "リストに牛乳とパンを追加。", "7 item=牛乳とパン"},
		{"Thai", "โทรหา{name}เดี๋ยวนี้", "โทรหาแม่เดี๋ยวนี้", "10 name=แม่"},
		{"Hindi", "{item} सूची में जोड़ें", "दूध सूची में जोड़ें", "3 item=दूध"},
		{"Empty", list, "", "-"},
		{"PunctuationAlone", list, "... !?", "-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "invalid" {
				if _, err := command.Parse(tt.phrase); err == nil {
					t.Errorf("Parse(%q) takes it", tt.phrase)
				}
				return
			}
			if got := say(t, tt.phrase, tt.transcript); got != tt.want {
				t.Errorf("%q, said %q: %s, want %s", tt.phrase, tt.transcript, got, tt.want)
			}
		})
	}
}

// invalid are phrases that neither Parse nor the table takes, and valid those that
// both take.
var (
	invalid = []string{"", " ", "...", "{x}", "[a]", "[a] {x}", "{x} ...", "a {", "a }", "a {}", "a {1}", "a {x y}", "a {x}{x}", "a {x} {x}", "a [", "a ]", "a [b", "a b]",
		"a (b", "a b)", "a [b)", "a (b]", "a [[b]]", "a [(b)]", "a ([b])", "a ((b))", "a |b", "a []", "a ()", "a [b|]", "a (|b)", "a [ | b]", "a (.)", "a ... b", "a … b",
		"(a|{x})", "(a|b", "a {é}", "a {x|y}", "a [{x]}", "....  ...", "a.... b", "!", strings.Repeat("a", 301), "({x}|{y})", "[a|b]", "…"}
	valid = []string{"a", "a.", "a {x}", "{x} a", "{x}a", "a{x}b", "(a|b)", "(a|b {x})", "[a] b", "[a|{x}] b", "a [,b, c|d.]", "... a", "a ...", "…a…", ".... a", "a....",
		"... [a] b {x} ...", "été", "日本", "a-b", "a'b", "5", "a {_x1}", "a {X} {x}", "(a|{x}) b", "a\nb", "  a  ", "a..b", "a . . . b", "(a)", "(a)(b)[c]", strings.Repeat("é", 300)}
)

func TestParse(t *testing.T) {
	for _, phrase := range invalid {
		if _, err := command.Parse(phrase); err == nil {
			t.Errorf("Parse(%q) takes it", phrase)
		}
	}
	for _, phrase := range valid {
		if _, err := command.Parse(phrase); err != nil {
			t.Errorf("Parse(%q): %v", phrase, err)
		}
	}
}

func TestListen(t *testing.T) {
	for _, tt := range []struct {
		name, transcript string
		want             bool
	}{
		{"AThousandWords", strings.Repeat("word ", 1000), true},
		{"OneMore", strings.Repeat("word ", 1001), false},
		{"FourHours", strings.Repeat("all that was said in these four hours ", 5000), false},
		{"OneLongWord", strings.Repeat("a", 1<<20), false},
		{"ThousandCharactersOfJapanese", strings.Repeat("語", 1000), true},
		{"Nothing", " ", false},
		{"NotUTF8", "a\xff", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := command.Listen(tt.transcript); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

// TestMatchOfTheWorst: what makes backtracking matchers take for ever.
func TestMatchOfTheWorst(t *testing.T) {
	transcript := strings.Repeat("a ", 999)
	for _, phrase := range []string{
		"... a {b} a {c} a {d} a {e} a {f} a {g} a {h} a {i} a {j} a {k} z",
		strings.TrimSpace(strings.Repeat("[a] ", 60)) + " z",
		"... " + strings.Repeat("(a|a a|a a a)", 20) + " z",
	} {
		if got := say(t, phrase, transcript); got != "-" {
			t.Errorf("%q: %s", phrase, got)
		}
		if got := say(t, phrase, transcript+"z"); got == "-" && strings.HasPrefix(phrase, "...") {
			t.Errorf("%q does not match", phrase)
		}
	}
}

func TestInput(t *testing.T) {
	p, err := command.Parse("buy {item} [for {price}]")
	if err != nil {
		t.Fatal(err)
	}
	both, one := map[string]string{"item": "milk {x}", "price": "2"}, map[string]string{"item": "milk"}
	for _, tt := range []struct {
		name, arguments string
		slots           map[string]string
		want            string
	}{
		{"None", "", both, `{"item":"milk {x}","price":"2"}`},
		{"NoneAndASlotThatWasNotSaid", "", one, `{"item":"milk"}`},
		{"Empty", `{}`, both, `{}`},
		{"Slots", `{"what": "{item}", "cost": "{price}"}`, both, `{"cost":"2","what":"milk {x}"}`},
		{"SlotThatWasNotSaid", `{"what": "{item}", "cost": "{price}"}`, one, `{"what":"milk"}`},
		{"Text", `{"text": "Buy {item} for {price}!"}`, one, `{"text":"Buy milk for !"}`},
		{"SlotInASlotStays", `{"text": "{item}{item}"}`, both, `{"text":"milk {x}milk {x}"}`},
		{"Constants", `{"n": 1.50, "big": 12345678901234567890, "yes": true, "text": "as it is {}{1}{"}`, one,
			`{"big":12345678901234567890,"n":1.50,"text":"as it is {}{1}{","yes":true}`},
		{"OtherNameStays", `{"text": "{other} {item}"}`, one, `{"text":"{other} milk"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var arguments json.RawMessage
			if tt.arguments != "" {
				arguments = json.RawMessage(tt.arguments)
			}
			input, err := command.Input(arguments, p, maps.Clone(tt.slots))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(input)
			if err != nil || string(got) != tt.want {
				t.Errorf("%s, %v, want %s", got, err, tt.want)
			}
		})
	}
	if _, err := command.Input(json.RawMessage("[]"), p, one); err == nil {
		t.Error("an array is taken for arguments")
	}
}
