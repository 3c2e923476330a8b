package sync

import (
	"encoding/json"
	"strings"
	"testing"
)

var fuzzModes = []arrayModes{{}, {all: asSet}, {all: byID}, {at: map[string]arrayMode{"/a": asSet, "/a/b": byID}}}

// FuzzDiff: patch(base, diff(base, x)) is x, for any JSON and any arrays; and what
// is stored is read again.
func FuzzDiff(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a": 1}`, `{"a": {"b": 2}}`}, {`{}`, `null`}, {``, `{"a": []}`}, {`[1, 2]`, `{"": {"": 0}}`},
		{`{"a": [{"id": 1, "x": 2}]}`, `{"a": [{"id": 2}, {"id": 1, "x": {"y": []}}]}`},
		{`{"a.b": 1, "a/b": 2, "__proto__": 3}`, `{"a": {"b": {"[]": "set"}}}`},
		{strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40), `{"a": [[], {}, "\u0000\ud800"]}`},
		{`{"a": [ ], "b": { }}`, `{"a": {}, "b": []}`},
	} {
		for i := range fuzzModes {
			f.Add(seed[0], seed[1], byte(i))
		}
	}
	f.Fuzz(func(t *testing.T, base, x string, mode byte) {
		for _, s := range []string{base, x} {
			if s != "" && !json.Valid([]byte(s)) {
				return
			}
		}
		modes := fuzzModes[int(mode)%len(fuzzModes)]
		from, to := flatten(bytesOrNull(base), modes), flatten(bytesOrNull(x), modes)
		if len(to) > maxLeaves {
			t.Fatalf("%d leaves", len(to))
		}
		registers := diff(nil, from, hlc{Wall: 1}, "a")
		writes := diff(registers, to, hlc{Wall: 2}, "b")
		patched := patch(registers, writes)
		want := string(build(to))
		if got := string(build(patched)); got != want {
			t.Fatalf("%q patched to %q, want %q", base, got, want)
		}
		for p, r := range writes {
			registers.put(p, r)
		}
		shown, hidden := registers.view()
		if got := string(build(shown)); got != want || len(hidden) > 0 {
			t.Fatalf("%q shows %q, want %q", base, got, want)
		}
		if want != "" && !json.Valid([]byte(want)) {
			t.Fatalf("built %q", want)
		}
		if again := string(build(flatten([]byte(want), modes))); want != "" && again != want {
			t.Fatalf("%q, taken apart, is %q", want, again)
		}
		for _, stamps := range []bool{false, true} {
			read, err := readRegisters(writes.json(stamps), stamps, hlc{Wall: 2}, "b")
			if err != nil {
				t.Fatalf("%s: %v", writes.json(stamps), err)
			}
			for p, r := range writes {
				if !validText(string(p)) {
					return // jsonb has no such strings
				}
				if read[p] != r {
					t.Fatalf("%q stored is %+v, was %+v", p, read[p], r)
				}
			}
		}
	})
}

func bytesOrNull(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func validText(s string) bool {
	s = strings.ReplaceAll(strings.ReplaceAll(s, segmentEnd, ""), nulEscaped, "")
	return strings.ToValidUTF8(s, "") == s
}

// FuzzParsePolicy: options are a client's.
func FuzzParsePolicy(f *testing.F) {
	f.Add("merge", []byte(`{"arrays": {"a": "set", "/b/c": "by_id", "d": 1}}`), "/a")
	f.Add("manual", []byte(`[]`), "")
	f.Fuzz(func(t *testing.T, strategy string, options []byte, pointer string) {
		p := ParsePolicy(strategy, options)
		switch p.arrays.of(pointer) {
		case atomic, asSet, byID:
		default:
			t.Fatalf("mode %q", p.arrays.of(pointer))
		}
	})
}
