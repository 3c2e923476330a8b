package model_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
)

const mail = "ada@example.com"

var (
	filler = rapid.SampledFrom([]string{"a", "\n", "\t", "é", "😀", `"`, `\`, `\u0041`, "<b>", "</data>", "[EMAIL_A]", "[TEXT_", "&", "\u2028", "n"})
	words  = rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(filler, 0, 4).Draw(t, "before")
		if rapid.Bool().Draw(t, "personal") {
			parts = append(parts, rapid.SampledFrom([]string{mail, "Ada Lovelace", "4111 1111 1111 1111"}).Draw(t, "what"))
		}
		return strings.Join(append(parts, rapid.SliceOfN(filler, 0, 4).Draw(t, "after")...), rapid.SampledFrom([]string{" ", "\n"}).Draw(t, "between"))
	})
)

// values draws JSON with personal data in strings, names and numbers.
func values(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Map(words, func(s string) any { return s }),
		rapid.SampledFrom([]any{nil, true, 1.5, json.Number("4111111111111111")}))
	if depth == 0 {
		return leaf
	}
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(values(depth-1), 0, 3), func(v []any) any { return v }),
		rapid.Map(rapid.MapOfN(words, values(depth-1), 0, 3), func(v map[string]any) any { return v }))
}

// count is how often the address is in JSON that is decoded, as text.
func count(v any) (n int) {
	switch v := v.(type) {
	case string:
		n = strings.Count(v, mail)
	case []any:
		for _, item := range v {
			n += count(item)
		}
	case map[string]any:
		for name, item := range v {
			n += count(name) + count(item)
		}
	}
	return n
}

// TestWhateverIsSent: however a prompt and data are written, nothing personal leaves
// in them, the data ends where helixd ends it, and a model that repeats it all gives
// the skill what it sent.
func TestWhateverIsSent(t *testing.T) {
	b := newBench(t)
	m, user := b.model(t, llm.NewOpenAI), b.user(t)
	b.server.Answer(func(r llmtest.Request) any { return r.System + r.Prompt })
	rapid.Check(t, func(rt *rapid.T) {
		prompt, system, data := "? "+words.Draw(rt, "prompt"), words.Draw(rt, "system"), values(3).Draw(rt, "data")
		request, err := json.Marshal(map[string]any{"prompt": prompt, "system": system, "memories": data})
		if err != nil {
			rt.Fatal(err)
		}
		raw, err := m.Complete(t.Context(), user, "k", request)
		if err != nil {
			rt.Fatal(err)
		}
		sent := b.server.Last()
		for _, word := range personal {
			if strings.Contains(sent.Prompt+sent.System, word) {
				rt.Fatalf("%q is in %s", word, sent.Body)
			}
		}
		if data != nil && (!strings.HasSuffix(sent.Prompt, "\n</data>") || strings.Count(sent.Prompt, "<data>") != 1 ||
			strings.Count(sent.Prompt, "</data>") != 1+strings.Count(prompt, "</data>")) {
			rt.Fatalf("the data has other ends: %s", sent.Prompt)
		}
		var said struct{ Text string }
		if err := json.Unmarshal(raw, &said); err != nil {
			rt.Fatal(err)
		}
		if !strings.HasPrefix(said.Text, system) || !strings.Contains(said.Text, prompt) {
			rt.Fatalf("the answer to %q, %q is %q", system, prompt, said.Text)
		}
		if got, want := strings.Count(said.Text, mail), count(prompt)+count(system)+count(data); got != want {
			rt.Fatalf("the address is %d times in %q, want %d", got, said.Text, want)
		}
	})
}
