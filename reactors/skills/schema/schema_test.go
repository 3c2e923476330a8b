package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/skills/schema"
	"github.com/helixd/helixd/testenv"
)

func compile(t *testing.T, doc string) *schema.Schema {
	t.Helper()
	s, err := schema.Compile([]byte(doc))
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return s
}

// wrong checks that err is an Error at pointer whose message holds words.
func wrong(t *testing.T, err error, pointer, words string) {
	t.Helper()
	var e *schema.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error with %q", err, words)
	}
	if e.Pointer != pointer || !strings.Contains(e.Message, words) {
		t.Fatalf("got %q %q, want %q with %q", e.Pointer, e.Message, pointer, words)
	}
	if len(e.Message) > 500 {
		t.Fatalf("a message of %d bytes", len(e.Message))
	}
}

func TestFailureNamesThePlace(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, c := range map[string]struct{ schema, doc, pointer, words string }{
		"type":          {`{"type":"object"}`, `3`, "", "object"},
		"required":      {`{"required":["city"]}`, `{}`, "", "city"},
		"nested":        {`{"properties":{"a":{"items":{"type":"integer"}}}}`, `{"a":[1,2,"x"]}`, "/a/2", "integer"},
		"escaped":       {`{"additionalProperties":{"type":"null"}}`, `{"a/b~c":1}`, "/a~1b~0c", "null"},
		"first":         {`{"properties":{"a":{"type":"null"},"b":{"type":"null"}}}`, `{"b":1,"a":1}`, "/a", "null"},
		"enum":          {`{"enum":["x","y"]}`, `"` + long + `"`, "", "x, y"},
		"pattern":       {`{"pattern":"^a$"}`, `"` + long + `"`, "", "^a$"},
		"format":        {`{"$schema":"http://json-schema.org/draft-07/schema#","format":"email"}`, `"` + long + `"`, "", "email"},
		"deepest of":    {`{"anyOf":[{"type":"null"},{"properties":{"a":{"type":"string"}},"type":"object"}]}`, `{"a":1}`, "/a", "string"},
		"none of":       {`{"oneOf":[{"type":"null"},{"type":"string"}]}`, `1`, "", "none of the alternatives"},
		"exact numbers": {`{"maximum":9007199254740992}`, `9007199254740993`, "", "9"},
	} {
		t.Run(name, func(t *testing.T) { wrong(t, compile(t, c.schema).Validate([]byte(c.doc)), c.pointer, c.words) })
	}
	if err := compile(t, `{"maximum":9007199254740993}`).Validate([]byte(`9007199254740993`)); err != nil {
		t.Errorf("an exact number: %v", err)
	}
}

func TestCompileRefuses(t *testing.T) {
	for name, c := range map[string]struct{ doc, pointer, words string }{
		"a file":          {`{"$ref":"file:///etc/passwd"}`, "", "only point into the schema itself, not to file:///etc/passwd"},
		"the network":     {`{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`, "", "only point into the schema itself"},
		"another dialect": {`{"$schema":"https://127.0.0.1:1/dialect"}`, "", "only point into the schema itself"},
		"no schema":       {`{"type":"strin"}`, "/type", "is not a JSON Schema"},
		"an array":        {`[]`, "", "an object, true or false"},
		"lookahead":       {`{"properties":{"a":{"pattern":"(?=x)"}}}`, "/properties/a/pattern", "RE2"},
		"repetition":      {`{"pattern":"(a{900}b{1000}){1}c{999}"}`, "/pattern", "repeats too much"},
		"a long pattern":  {`{"pattern":"` + strings.Repeat("a", 1001) + `"}`, "/pattern", "longer than 1000"},
		"many patterns":   {`{"anyOf":[{}` + strings.Repeat(`,{"pattern":"a{900}"}`, 200) + `]}`, "/anyOf/112/pattern", "together"},
		"many objects":    {`{"anyOf":[{}` + strings.Repeat(`,{}`, 5000) + `]}`, "", "more than 5000 objects"},
		"no such anchor":  {`{"$ref":"#/$defs/none"}`, "", "none"},
		"too large":       {`{"title":"` + strings.Repeat("a", schema.MaxSchema) + `"}`, "", "larger"},
		"a key twice":     {`{"type":"string","type":"object"}`, "", "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.Compile([]byte(c.doc))
			wrong(t, err, c.pointer, c.words)
		})
	}
}

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct{ doc, pointer, words string }{
		"depth":                {strings.Repeat("[", 1001) + strings.Repeat("]", 1001), strings.Repeat("/0", 501), "deeper than 1000"},
		"values":               {"[0" + strings.Repeat(",0", schema.MaxNodes) + "]", "", "more than"},
		"small objects":        {`[{}` + strings.Repeat(`,{"":0}`, schema.MaxNodes/12) + "]", "", "more than"},
		"a key twice":          {`{"a":[{"b":1,"b":2}]}`, "/a/0", `"b" twice`},
		"a key twice, escaped": {`{"b":1,"\u0062":2}`, "", `"b" twice`},
		"UTF-8":                {"\"\xff\"", "", "UTF-8"},
		"NUL":                  {`["\u0000"]`, "", "U+0000"},
		"half a pair":          {`"\ud800"`, "", "surrogate"},
		"the other half":       {`"\udc00"`, "", "surrogate"},
		"two first halves":     {`"\ud800\ud800"`, "", "surrogate"},
		"exponent":             {`{"a":1e999999999}`, "/a", "exponent"},
		"digits":               {`1` + strings.Repeat("0", 1000), "", "digits"},
		"nothing":              {``, "", "ends too early"},
		"half":                 {`{"a":`, "/a", "ends too early"},
		"two":                  {`1 2`, "", "goes on"},
		"not JSON":             {`[1,}`, "", "not JSON"},
		"no colon":             {`{"a" 1}`, "", "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.Decode([]byte(c.doc))
			var e *schema.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, c.words) {
				t.Fatalf("got %v, want %q", err, c.words)
			}
			if c.pointer != "" && !strings.HasPrefix(e.Pointer, c.pointer[:min(len(c.pointer), 100)]) {
				t.Errorf("pointer %q, want %q", e.Pointer, c.pointer)
			}
			if c.words == "more than" { // which is about keeping them
				return
			}
			if got := schema.Check([]byte(c.doc)); got == nil || got.Error() != err.Error() {
				t.Errorf("Check says %v, Decode %v", got, err)
			}
		})
	}
	t.Run("points from the beginning, at what is deep or behind a long key", func(t *testing.T) {
		for doc, want := range map[string]string{
			`{"a":` + strings.Repeat("[", 999) + `1e9999` + strings.Repeat("]", 999) + `}`: "/a/0/0",
			`{"` + strings.Repeat("k", 1<<20) + `":1e9999}`:                                "/kkk",
		} {
			_, err := schema.Decode([]byte(doc))
			var e *schema.Error
			if !errors.As(err, &e) || !strings.HasPrefix(e.Pointer, want) || len(e.Pointer) > 1000 {
				t.Errorf("%d bytes, %.20s", len(e.Pointer), e.Pointer)
			}
		}
	})
	t.Run("keeps a document of ordinary rows", func(t *testing.T) {
		rows := `[` + strings.Repeat(`{"id":1,"name":"somebody","tags":["a","b"]},`, 22_000) + `0]`
		if _, err := schema.Decode([]byte(rows)); err != nil {
			t.Errorf("%d bytes: %v", len(rows), err)
		}
	})
	t.Run("can be heavier where it is only checked", func(t *testing.T) {
		if err := schema.Check([]byte(`[0` + strings.Repeat(`,{"":0}`, 150_000) + `]`)); err != nil {
			t.Error(err)
		}
	})
	for _, doc := range []string{`"\ud83d\ude00"`, `"\\u0000"`, `"\\\\ud800"`, strings.Repeat("[", 1000) + strings.Repeat("]", 1000)} {
		if _, err := schema.Decode([]byte(doc)); err != nil {
			t.Errorf("%.20s: %v", doc, err)
		}
	}
}

// What Decode takes means the same to the standard library.
func TestDecodeAgreesWithTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, err := json.Marshal(value(3).Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		ours, err := schema.Decode(doc)
		if err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
		again, err := json.Marshal(ours)
		if err != nil || string(again) != string(doc) {
			t.Fatalf("%s became %s, %v", doc, again, err)
		}
	})
}

func value(depth int) *rapid.Generator[any] {
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 4+min(depth, 1)*2).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return rapid.Bool().Draw(t, "bool")
		case 2:
			return rapid.Int64().Draw(t, "integer")
		case 3:
			return rapid.Float64Range(-1e100, 1e100).Draw(t, "number")
		case 4:
			return strings.ReplaceAll(rapid.String().Draw(t, "string"), "\x00", "")
		case 5:
			return rapid.SliceOfN(value(depth-1), 0, 4).Draw(t, "array")
		default:
			return rapid.MapOfN(rapid.StringMatching(`[a-z/~"]{0,5}`), value(depth-1), 0, 4).Draw(t, "object")
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5e3,"\ud83d\ude00",null,true]}`))
	f.Add([]byte(`{"a":1,"a":"\u0000"}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		v, err := schema.Decode(doc)
		if err != nil {
			return
		}
		if !json.Valid(doc) {
			t.Fatalf("%q is not JSON", doc)
		}
		if again, err := json.Marshal(v); err != nil {
			t.Fatal(err)
		} else if _, err := schema.Decode(again); err != nil {
			t.Fatalf("%q: %v", again, err)
		}
	})
}

// bomb refers twice to itself on every one of n levels, by what of makes.
func bomb(n int, of func(next string) string) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"a%d":%s`, i, of(fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1))))
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/a0","$defs":{%s,"a%d":{"type":"string"}}}`, strings.Join(defs, ","), n)
}

func TestNoPairTakesLong(t *testing.T) {
	twice := func(keyword string) func(string) string {
		return func(next string) string { return fmt.Sprintf(`{%q:[%s,%s]}`, keyword, next, next) }
	}
	deep := strings.Repeat(`{"x":`, 900) + "1" + strings.Repeat("}", 900)
	enum := `["` + strings.Repeat(`a","`, 40_000) + `b"]`
	for name, c := range map[string]struct{ schema, doc string }{
		"allOf":     {bomb(40, twice("allOf")), `1`},
		"anyOf":     {bomb(40, twice("anyOf")), `1`},
		"oneOf":     {bomb(40, twice("oneOf")), `1`},
		"not anyOf": {`{"not":{"$ref":"#/$defs/a0"},` + bomb(40, twice("anyOf"))[len(`{"$ref":"#/$defs/a0",`):], `1`},
		"if": {bomb(40, func(next string) string {
			return fmt.Sprintf(`{"if":%s,"else":%s}`, next, next)
		}), `1`},
		"dependentSchemas": {bomb(40, func(next string) string {
			return fmt.Sprintf(`{"dependentSchemas":{"x":%s,"y":%s}}`, next, next)
		}), `{"x":1,"y":1}`},
		"patternProperties on a deep document": {`{"patternProperties":{"x":{"$ref":"#"},"^x":{"$ref":"#"}}}`, deep},
		"dynamicRef":                           {`{"$dynamicAnchor":"n","properties":{"x":{"allOf":[{"$dynamicRef":"#n"},{"$dynamicRef":"#n"}]}}}`, deep},
		"an enum of long arrays": {`{"items":{"enum":[` + strings.Repeat(enum+",", 1) + `1]}}`,
			`[` + strings.Repeat(strings.Replace(enum, "b", "c", 1)+",", 5) + `2]`},
		"alike alternatives": {`{"items":{"anyOf":[` + strings.Repeat(`{"type":"null"},`, 4_900) + `false]}}`, `[` + strings.Repeat(`1,`, 100_000) + `1]`},
		"a long string":      {`{"allOf":[` + strings.Repeat(`{"pattern":"(x+x+){30}y"},`, 250) + `true]}`, `"` + strings.Repeat("x", 900_000) + `"`},
		"names":              {`{"patternProperties":{"(x+x+){300}y":{}}}`, `{"` + strings.Repeat("x", 900_000) + `":1}`},
		"unique items":       {`{"items":{"uniqueItems":true},"uniqueItems":true}`, `[` + strings.Repeat(`[1,2,3,4,5,6,7,8,9,10],`, 40_000) + `1]`},
	} {
		t.Run(name, func(t *testing.T) {
			s := compile(t, c.schema)
			start := testenv.CPU()
			err := s.Validate([]byte(c.doc))
			if err == nil {
				t.Error("it was let through")
			}
			if took := testenv.CPU() - start; took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestBudgetSufficesForOrdinaryDocuments(t *testing.T) {
	s := compile(t, `{"type":"array","items":{"type":"object","required":["id","name"],"properties":{
		"id":{"type":"integer","minimum":0},"name":{"type":"string","pattern":"^[a-z ]+$","maxLength":100},
		"tags":{"type":"array","items":{"enum":["a","b","c"]},"uniqueItems":true}}}}`)
	doc := `[` + strings.Repeat(`{"id":12345,"name":"some ordinary name","tags":["a","b"]},`, 15_000) + `{"id":1,"name":"x"}]`
	if err := s.Validate([]byte(doc)); err != nil {
		t.Errorf("%d bytes: %v", len(doc), err)
	}
}

func TestSchemasDoNotShareBudgets(t *testing.T) {
	meta := `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`
	a, b := compile(t, meta), compile(t, meta)
	var wait sync.WaitGroup
	for range 50 {
		for _, s := range []*schema.Schema{a, b} {
			wait.Go(func() {
				if err := s.Validate([]byte(`{"type":"object"}`)); err != nil {
					t.Error(err)
				}
				if err := s.Validate([]byte(`{"type":1}`)); err == nil {
					t.Error("1 is no type")
				}
			})
		}
	}
	wait.Wait()
}
