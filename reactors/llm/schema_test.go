package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/llm"
)

func TestStrict(t *testing.T) {
	got, err := llm.Strict(json.RawMessage(`{"$schema":"x","title":"t","type":"object","required":["a"],"properties":{
		"a":{"type":"array","minItems":1,"items":{"type":"object","properties":{"minimum":{"type":"integer","minimum":1},"kind":{"enum":["x","y"]}}}},
		"b":{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]},"c":{"$ref":"#/$defs/c"}},
		"$defs":{"c":{"type":"object","description":"d","properties":{"pattern":{"type":"string","pattern":"^x$"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"$defs":{"c":{"additionalProperties":false,"description":"d","properties":{"pattern":{"type":"string"}},"required":["pattern"],"type":"object"}},"additionalProperties":false,` +
		`"properties":{"a":{"items":{"additionalProperties":false,"properties":{"kind":{"enum":["x","y"]},"minimum":{"type":"integer"}},"required":["kind","minimum"],"type":"object"},"type":"array"},` +
		`"b":{"anyOf":[{"type":"string"},{"type":"null"}]},"c":{"$ref":"#/$defs/c"}},"required":["a","b","c"],"type":"object"}`
	if string(text) != want {
		t.Errorf("it is\n%s\nand not\n%s", text, want)
	}
	for _, schema := range []string{``, `[]`, `{`, `null`, `{"type":"string"}`, `"x"`} {
		if _, err := llm.Strict(json.RawMessage(schema)); err == nil {
			t.Errorf("%s is a schema", schema)
		}
	}
}

func FuzzObject(f *testing.F) {
	for _, seed := range []string{`{}`, "```json\n{}\n```", "```{\"a\":1}```", ` {"a":[]} `, `[]`, `{`, "``````", "```json"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := llm.Object(text)
		if err != nil {
			return
		}
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil || o == nil || !strings.Contains(text, string(raw)) {
			t.Errorf("%q is %q", text, raw)
		}
	})
}

func FuzzStrict(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"object","properties":5}},"items":[1],"anyOf":{"a":1}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		got, err := llm.Strict(json.RawMessage(schema))
		if err == nil && got["type"] != "object" {
			t.Errorf("%s is %v", schema, got)
		}
	})
}
