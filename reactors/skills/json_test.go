package skills

import (
	"strings"
	"testing"
)

// TestStorable: what a jsonb column takes, and nothing else.
func TestStorable(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for doc, want := range map[string]string{
		`null`: "", `{"a": [1, -2.5e10, "x"]}`: "", `"\ud83d\ude00"`: "", `"\\u0000"`: "", `"\"[[[\\"`: "",
		`"` + strings.Repeat("9", 200) + `"`: "", `"` + strings.Repeat("[", 2000) + `"`: "",
		`"\"` + strings.Repeat("[", 2000) + `"`: "", `"\"1e999"`: "",
		nested(1000):                   "",
		strings.Repeat("9", 100):       "",
		`1e100`:                        "",
		``:                             "it is not JSON",
		`1 2`:                          "it is not JSON",
		nested(1001):                   "nested",
		strings.Repeat("9", 101):       "digits",
		`[1e-101]`:                     "digits",
		`{"a": 1e99999999999999999}`:   "digits",
		`"a\u0000"`:                    "U+0000",
		`{"\u0000": 1}`:                "U+0000",
		`"\ud800"`:                     "surrogate",
		`"\ud800\u0041"`:               "surrogate",
		`"\udc00"`:                     "surrogate",
		`["\"", "\ud83d", "\ude00"]`:   "surrogate",
		`{"a": "\\", "b": [1e101, 2]`:  "it is not JSON",
		`{"a": "\\", "b": [1e101, 2]}`: "digits",
	} {
		err := storable([]byte(doc))
		switch {
		case want == "" && err != nil:
			t.Errorf("%.50s: %v", doc, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.50s: %v, want %s", doc, err, want)
		}
	}
}
