package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/redact"
)

// FuzzRedact: whatever the text and the names, what was replaced comes back, nothing stays, and an answer with the
// placeholders in JSON is JSON when they are restored.
func FuzzRedact(f *testing.F) {
	for _, texts := range []map[redact.Kind][]string{found, passed} {
		for _, k := range redact.Kinds() {
			f.Add(strings.Join(texts[k], " "), "Anna\nAnna Maria Lopez")
			for _, text := range texts[k] {
				f.Add(text, "José\n张伟")
			}
		}
	}
	f.Add("[EMAIL_A] [TEXT_A] a@b.co[EMAIL_A]a@b.co", "EMAIL\nTEXT A")
	f.Add("1 1 1 1 1 1 1 1 1 1 1 1 1\xff::::@@@@", "1 1\n1")
	f.Fuzz(func(t *testing.T, text, names string) {
		r, err := redact.New(redact.Rules{Kinds: redact.Kinds(), Names: strings.Split(names, "\n")})
		if err != nil {
			t.Skip(err) // more names than are possible
		}
		s := r.Session(names)
		red := s.Redact(text)
		if back := s.Restore(red); back != text {
			t.Fatalf("%q became %q and then %q", text, red, back)
		}
		clean(t, r, text, red)
		if rest := remains(red, nil); rest != nil {
			t.Fatalf("%q became %q, with %q", text, red, rest)
		}
		raw, err := json.Marshal([]string{red})
		if err != nil {
			t.Fatal(err)
		}
		raw, err = s.RestoreJSON(raw)
		if err != nil {
			t.Fatal(err)
		}
		var back []string
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		if valid := strings.ToValidUTF8(text, ""); valid == text && back[0] != text {
			t.Fatalf("%q became %q in JSON", text, back[0])
		}
	})
}
