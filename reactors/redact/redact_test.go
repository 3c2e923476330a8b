package redact_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/redact"
)

var (
	values = func() (all []string) {
		for _, k := range redact.Kinds() {
			all = append(all, found[k]...)
		}
		return all
	}()
	misses = func() (all []string) {
		for _, k := range redact.Kinds() {
			all = append(all, passed[k]...)
		}
		return all
	}()
	people = []string{"Anna", "Anna Maria Lopez", "Lopez", "Maria", "O'Brien", "José", "张伟", "Zoë Q"}
)

// pieces of texts: planted values, near misses, placeholders, glue and anything.
var piece = rapid.OneOf(
	rapid.SampledFrom(values),
	rapid.SampledFrom(misses),
	rapid.SampledFrom(people),
	rapid.SampledFrom([]string{
		"[EMAIL_A]", "[NAME_B]", "[TEXT_A]", "[IP_ZZZZZZ]", "[ID_A_B]", "[CARD_", "[", "]", "_A]", "[[EMAIL_A]]", "[PHONE_A_]", "[name_a]", "[TEXT_AAAAAAA]",
	}),
	rapid.SampledFrom([]string{
		" ", "\n", "-", ".", "+", "@", ":", "::", "/", "(", ")", "'s ", "s ", ", ", "\u200b", "\u00ad", "\u0301", "\xff", "\xe2\x80", "\x00", "②", "⑩", "½", "ß", "٣", "tel ",
		" at ", " dot com", "SSN ", "bsn: ", "v", "0", "1", "4", "00", "%", "[192.0.2.1]", "\"", "é", "㎢", "ﷺ", "K",
	}),
	rapid.StringMatching(`[0-9 .()+:/-]{1,24}`),
	rapid.StringMatching(`[a-f0-9:.@]{1,24}`),
	rapid.String(),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
)

func draw(t *rapid.T, label string) string {
	parts := rapid.SliceOfN(piece, 0, 14).Draw(t, label)
	return strings.Join(parts, rapid.SampledFrom([]string{"", "", " ", ", ", "-"}).Draw(t, "between"))
}

// Whatever the text, what was replaced comes back, and nothing stays that could be replaced: by the package's own
// measure and by that of detectors which know nothing of it.
func TestRoundTrip(t *testing.T) {
	r, err := redact.New(redact.Rules{Kinds: redact.Kinds(), Names: people})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := r.Session(rapid.SampledFrom([]string{"", "salt", "x"}).Draw(t, "salt"))
		texts := []string{draw(t, "text"), draw(t, "another")}
		var reds []string
		for _, text := range texts {
			reds = append(reds, s.Redact(text))
		}
		for i, red := range reds {
			if back := s.Restore(red); back != texts[i] {
				t.Fatalf("%q became %q and then %q", texts[i], red, back)
			}
			if again := s.Redact(texts[i]); again != red {
				t.Fatalf("%q became %q and then %q", texts[i], red, again)
			}
			clean(t, r, texts[i], red)
			if rest := remains(red, people); rest != nil {
				t.Fatalf("%q became %q, with %q", texts[i], red, rest)
			}
			if rest := remains(taken.ReplaceAllString(red, " | "), people); rest != nil {
				t.Fatalf("%q became %q, with %q between placeholders", texts[i], red, rest)
			}
		}
	})
}

// clean fails if a redacted text has more to redact.
func clean(t rapid.TB, r *redact.Redactor, text, red string) {
	t.Helper()
	again := r.Session("")
	twice := again.Redact(red)
	counts := again.Counts()
	delete(counts, redact.Literal)
	if len(counts) != 0 {
		t.Fatalf("%q became %q, and that %q", text, red, twice)
	}
}

// The same with each kind alone: others must not be what keeps a text clean.
func TestEachKind(t *testing.T) {
	for _, kind := range redact.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			r, err := redact.New(redact.Rules{Kinds: []redact.Kind{kind}, Names: people})
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				text := draw(t, "text")
				s := r.Session("")
				red := s.Redact(text)
				if back := s.Restore(red); back != text {
					t.Fatalf("%q became %q and then %q", text, red, back)
				}
				clean(t, r, text, red)
				for k := range s.Counts() {
					if k != kind && k != redact.Literal {
						t.Fatalf("%s found in %q", k, text)
					}
				}
			})
		})
	}
}

// The independent detectors are worth something only if they find what is planted.
func TestRemains(t *testing.T) {
	for _, text := range []string{
		"jane@example.com", "4111 1111 1111 1111", "378282246310005", "3782 822463 10005", "DE89 3704 0044 0532 0130 00", "GB82 WEST 1234 5698 7654 32",
		"078-05-1120", "390.533.447-05", "54362315K", "AB123456C", "+12025550143", "(202) 555-0143", "192.0.2.1", "2001:db8::1", "anna", "Anna Maria Lopez", "JOSÉ",
	} {
		for _, around := range []string{"%", "so % and", "(%)"} {
			if remains(strings.ReplaceAll(around, "%", text), people) == nil {
				t.Errorf("%q is not found", text)
			}
		}
	}
	for _, text := range []string{"4111 1111 1111 1112", "DE88370400440532013000", "000-05-1120", "390.533.447-06", "1.2.3", "hannah", "2024-01-15", "[NAME_A]"} {
		if rest := remains(text, people); rest != nil {
			t.Errorf("in %q is %q", text, rest)
		}
	}
}

func TestPlaceholders(t *testing.T) {
	s := session(t, people)
	for _, step := range [][2]string{
		{"Anna wrote to jane@example.com.", "[NAME_A] wrote to [EMAIL_A]."},
		{"anna and José (JOSE)", "[NAME_A_B] and [NAME_B] ([NAME_B_B])"},
		{"Anna's mail: Jane@example.com, bob@example.com", "[NAME_A]'s mail: [EMAIL_A_B], [EMAIL_B]"},
		{"4111 1111 1111 1111 is 4111111111111111", "[CARD_A] is [CARD_A_B]"},
		{"write [EMAIL_A] or [EMAIL_A_B_C]", "write [TEXT_A] or [EMAIL_A_B_C]"},
		{"Anna Maria Lopez", "[NAME_C]"},
	} {
		if red := s.Redact(step[0]); red != step[1] {
			t.Errorf("%q became %q, not %q", step[0], red, step[1])
		}
	}
	// An answer may use them anywhere; those that were not given are text.
	answer := "Dear [NAME_A]/[NAME_A_B], not [NAME_Q] or [EMAIL_Z] or [PHONE_A] or [TEXT_B], [[NAME_B]] [EMAIL_A"
	if got, want := s.Restore(answer), "Dear Anna/anna, not [NAME_Q] or [EMAIL_Z] or [PHONE_A] or [TEXT_B], [José] [EMAIL_A"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	want := map[redact.Kind]int{redact.Name: 6, redact.Email: 3, redact.Card: 2, redact.Literal: 1}
	if got := s.Counts(); !maps.Equal(got, want) {
		t.Errorf("counts %v, not %v", got, want)
	}
}

func TestManyPlaceholders(t *testing.T) {
	s := session(t, nil)
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "u%d@example.com ", i)
	}
	red := s.Redact(text.String())
	for _, p := range []string{"[EMAIL_A] ", "[EMAIL_Z] [EMAIL_AA] ", "[EMAIL_AZ] [EMAIL_BA]", "[EMAIL_ZZ] [EMAIL_AAA]"} {
		if !strings.Contains(red, p) {
			t.Errorf("no %s", p)
		}
	}
	if s.Restore(red) != text.String() {
		t.Error("not restored")
	}
}

func TestSalt(t *testing.T) {
	r, err := redact.New(redact.Rules{Kinds: redact.Kinds(), Names: people})
	if err != nil {
		t.Fatal(err)
	}
	one, same, other := r.Session("one"), r.Session("one"), r.Session("other")
	const text = "Anna, Lopez, jane@example.com"
	red := one.Redact(text)
	if got := same.Redact(text); got != red {
		t.Errorf("%q, not %q", got, red)
	}
	if got := other.Redact(text); got == red {
		t.Errorf("another salt gives %q too", got)
	}
	if got := other.Restore(red); got != red {
		t.Errorf("another session restores %q", got)
	}
}

// What one placeholder stands for is bounded, or an answer that repeats it would have no bound.
func TestLongValues(t *testing.T) {
	s := session(t, nil)
	text := strings.Repeat("a@b.co", 5000) + strings.Repeat("é@b.co@", 5000)
	red := s.Redact(text)
	if s.Restore(red) != text {
		t.Fatal("not restored")
	}
	for p := range strings.SplitAfterSeq(red, "]") {
		if v := s.Restore(p); len(v) > 1024 {
			t.Fatalf("%s stands for %d bytes", p, len(v))
		}
	}
}

func TestOff(t *testing.T) {
	r, err := redact.New(redact.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	const text = "Anna [NAME_A] jane@example.com"
	s := r.Session("")
	if red := s.Redact(text); red != text || s.Restore(red) != text {
		t.Errorf("became %q", red)
	}
}

func TestParseKinds(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []redact.Kind
	}{
		{"all", redact.Kinds()},
		{" ALL ", redact.Kinds()},
		{"off", nil},
		{"email,phone", []redact.Kind{redact.Email, redact.Phone}},
		{" Email , PHONE,email", []redact.Kind{redact.Email, redact.Phone}},
		{"name,email,phone,card,iban,national_id,ip", redact.Kinds()},
	} {
		got, err := redact.ParseKinds(c.in)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, %v", c.in, got, err)
		}
	}
	for _, in := range []string{"", "mail", "email,", "email,off", "all,email", "literal"} {
		_, err := redact.ParseKinds(in)
		if err == nil {
			t.Errorf("%q is taken", in)
			continue
		}
		for _, k := range redact.Kinds() {
			if !strings.Contains(err.Error(), string(k)) {
				t.Errorf("%v does not name %s", err, k)
			}
		}
	}
	if _, err := redact.New(redact.Rules{Kinds: []redact.Kind{"mail"}}); err == nil {
		t.Error("New takes any kind")
	}
	if _, err := redact.New(redact.Rules{Names: make([]string, 1<<20)}); err == nil {
		t.Error("New takes any number of names")
	}
}

func TestRestoreJSON(t *testing.T) {
	s := session(t, []string{"Anna"})
	text := "Anna \"quoted\" jane@example.com"
	if red := s.Redact(text); red != `[NAME_A] "quoted" [EMAIL_A]` {
		t.Fatal(red)
	}
	s.Redact(`"Jane \ <x>"@example.com`)
	for _, c := range [][2]string{
		{`{"a": "of [NAME_A]", "n": [1, "[EMAIL_A]", null]}`, `{"a": "of Anna", "n": [1, "jane@example.com", null]}`},
		{`"\u005bNAME_A\u005d"`, `"Anna"`},
		{`"[EMAIL_B]"`, `"\"Jane \\ <x>\"@example.com"`},
		{`{"[NAME_A]" : "[NAME_A]"}`, `{"[NAME_A]" : "Anna"}`},
		{`["[NAME_Z]", "\ud800", "\/", "[", 1e5]`, `["[NAME_Z]", "\ud800", "\/", "[", 1e5]`},
		{`"\"[NAME_A]\\"`, `"\"Anna\\"`},
		{`["[NAME_A]"]`, `["Anna"]`},
	} {
		got, err := s.RestoreJSON(json.RawMessage(c[0]))
		if err != nil || string(got) != c[1] {
			t.Errorf("%s became %s, %v; not %s", c[0], got, err, c[1])
		}
	}
	for _, bad := range []string{"", "{", `"`, `"\`, `{"a":}`, `[NAME_A]`, strings.Repeat("[", 300) + strings.Repeat("]", 300), strings.Repeat("[", 1<<20)} {
		if got, err := s.RestoreJSON(json.RawMessage(bad)); err == nil {
			t.Errorf("%.40s became %.40s", bad, got)
		}
	}
}

// What is put into JSON in redacted form comes back in JSON as it was.
func TestRestoreJSONOfAnything(t *testing.T) {
	r, err := redact.New(redact.Rules{Kinds: redact.Kinds(), Names: people})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := r.Session("")
		var plain, red any
		for range rapid.IntRange(1, 4).Draw(t, "depth") {
			text := strings.ToValidUTF8(draw(t, "text"), "?")
			if rapid.Bool().Draw(t, "list") {
				plain, red = []any{plain, text, 1.5}, []any{red, s.Redact(text), 1.5}
			} else {
				plain, red = map[string]any{"k": plain, "v": text}, map[string]any{"k": red, "v": s.Redact(text)}
			}
		}
		raw, err := json.Marshal(red)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.RestoreJSON(raw)
		if err != nil {
			t.Fatal(err)
		}
		var back any
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(plain)
		have, _ := json.Marshal(back)
		if string(want) != string(have) {
			t.Fatalf("%s became %s", want, have)
		}
	})
}

func TestZeroWidthSpaces(t *testing.T) {
	r, err := redact.New(redact.Rules{Kinds: redact.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"call +1 202-555-0143\u200b030 23125000 now": "call +1 [PHONE_A] [PHONE_B] now", // nothing of either is left
		"+1 202-555-0143\u200b+44 20 7946 0018":      "[PHONE_A]\u200b[PHONE_B]",
		"4111\u200b1111\u200b1111\u200b1111":         "[CARD_A]",
		"jane\u200b@example.com":                     "[EMAIL_A]",
	} {
		if got := r.Session("").Redact(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A text that begins with a country's letters and has "at" in it was read for ever.
func TestSpelledAddressWithoutDots(t *testing.T) {
	r, err := redact.New(redact.Rules{Kinds: redact.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	const text = "de vez en cuando meet at example.com"
	if got := r.Session("").Redact(text); got != text {
		t.Errorf("%q", got)
	}
}

// TestRulesWith: a user's own names are replaced whatever the operator replaces, and
// the operator's names only where they are.
func TestRulesWith(t *testing.T) {
	for name, c := range map[string]struct {
		rules redact.Rules
		names []string
		stays []string
	}{
		"nothing":                 {redact.Rules{}, nil, []string{"Ada", "Bob", "a@b.org"}},
		"own names alone":         {redact.Rules{}, []string{"Ada"}, []string{"Bob", "a@b.org"}},
		"own names, and no other": {redact.Rules{Kinds: []redact.Kind{redact.Email}, Names: []string{"Bob"}}, []string{"Ada"}, []string{"Bob"}},
		"own names beside others": {redact.Rules{Kinds: []redact.Kind{redact.Name}, Names: []string{"Bob"}}, []string{"Ada"}, []string{"a@b.org"}},
		"the operator's":          {redact.Rules{Kinds: []redact.Kind{redact.Name}, Names: []string{"Bob"}}, nil, []string{"Ada", "a@b.org"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := redact.New(c.rules.With(c.names))
			if err != nil {
				t.Fatal(err)
			}
			said := r.Session("salt").Redact("Ada and Bob at a@b.org")
			for _, what := range []string{"Ada", "Bob", "a@b.org"} {
				if strings.Contains(said, what) != slices.Contains(c.stays, what) {
					t.Errorf("%s: %s", what, said)
				}
			}
		})
	}
}

// TestChain has numbers that touch found in one search: each was once found only after
// the one before it was replaced, in a search of its own.
func TestChain(t *testing.T) {
	r, err := redact.New(redact.Rules{Kinds: redact.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	const numbers = 500
	text := strings.Repeat("014-014-014-014-", numbers)
	s := r.Session("")
	if red := s.Redact(text); s.Counts()[redact.Phone] != numbers {
		t.Fatalf("%d numbers in %.200s", s.Counts()[redact.Phone], red)
	}
	per := testing.AllocsPerRun(3, func() { r.Session("").Redact(text) }) / numbers
	t.Logf("%.1f allocations a number", per)
	if per > 20 {
		t.Errorf("%.1f allocations a number", per)
	}
}
