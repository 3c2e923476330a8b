package workflow_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/theory/jsonpath"

	"github.com/helixd/helixd/reactors/skills/schema"
	"github.com/helixd/helixd/reactors/skills/workflow"
	"github.com/helixd/helixd/testenv"
)

type compliance struct {
	Name     string          `json:"name"`
	Selector string          `json:"selector"`
	Document json.RawMessage `json:"document"`
	Result   *[]any          `json:"result"`
	Results  [][]any         `json:"results"`
	Invalid  bool            `json:"invalid_selector"`
}

// suite is the official compliance suite, which testdata/cts.sh gets.
func suite(t *testing.T) []compliance {
	t.Helper()
	if out, err := exec.Command("testdata/cts.sh").CombinedOutput(); err != nil {
		t.Fatalf("get the compliance suite: %v: %s", err, out)
	}
	doc, err := os.ReadFile("testdata/cts.json")
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ Tests []compliance }
	if err := json.Unmarshal(doc, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Tests) != 687 {
		t.Fatalf("%d cases, want 687", len(s.Tests))
	}
	return s.Tests
}

// satisfied reports whether nodes are a result that the case allows.
func (c compliance) satisfied(t *testing.T, nodes []any) bool {
	t.Helper()
	doc, err := json.Marshal(nodes)
	if err != nil {
		t.Fatal(err)
	}
	var plain []any
	if err := json.Unmarshal(doc, &plain); err != nil {
		t.Fatal(err)
	}
	if plain == nil {
		plain = []any{}
	}
	allowed := c.Results
	if c.Result != nil {
		allowed = append(allowed, *c.Result)
	}
	for _, want := range allowed {
		if reflect.DeepEqual(plain, want) {
			return true
		}
	}
	return false
}

func TestComplianceOfTheParser(t *testing.T) {
	for _, c := range suite(t) {
		path, err := jsonpath.Parse(c.Selector)
		if c.Invalid != (err != nil) {
			t.Errorf("%s: %s: %v", c.Name, c.Selector, err)
		}
		if err != nil {
			continue
		}
		var document any
		if err := json.Unmarshal(c.Document, &document); err != nil {
			t.Fatal(err)
		}
		if nodes := path.Select(document); !c.satisfied(t, nodes) {
			t.Errorf("%s: %s gives %v", c.Name, c.Selector, nodes)
		}
	}
}

func TestComplianceOfMappings(t *testing.T) {
	refused := map[string]int{}
	for _, c := range suite(t) {
		var document any
		if !c.Invalid {
			var err error
			if document, err = schema.Decode(c.Document); err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
		}
		nodes, parse, eval := workflow.SelectNodes(c.Selector, document)
		switch {
		case c.Invalid:
			if parse == nil {
				t.Errorf("%s: %s is not valid", c.Name, c.Selector)
			}
		case parse != nil:
			refused[parse.Error()]++
		case eval != nil:
			t.Errorf("%s: %s: %v", c.Name, c.Selector, eval)
		case !c.satisfied(t, nodes):
			t.Errorf("%s: %s gives %v", c.Name, c.Selector, nodes)
		}
	}
	want := map[string]int{
		"a filter cannot begin a path at $ again: it can look at @ only": 13,
		"a filter cannot hold another filter":                            1,
		"a path in a filter or a function cannot select by [a,b]":        2,
	}
	if !reflect.DeepEqual(refused, want) {
		t.Errorf("refused by our bounds: %v, want %v", refused, want)
	}
}

func TestPathOrderIsThatOfTheNames(t *testing.T) {
	document, _ := schema.Decode([]byte(`{"z":1,"a":2,"m":{"y":3,"b":4}}`))
	for range 50 {
		nodes, _, err := workflow.SelectNodes("$..*", document)
		if got, _ := json.Marshal(nodes); err != nil || string(got) != `[2,{"b":4,"y":3},1,4,3]` {
			t.Fatalf("got %s, %v", got, err)
		}
	}
}

func TestPathRefused(t *testing.T) {
	for path, words := range map[string]string{
		"$..a..b":                        "one .. only",
		"$..[?@..a]":                     "one .. only",
		"$[?@.a == $.b]":                 "at $ again",
		"$[?@[?@.a]]":                    "another filter",
		"$[?count(@[0,0][0,0]) > 1]":     "[a,b]",
		"$[?search(@.a, @.b)]":           "stand in the expression",
		"$[?search(@.a, 'a{900}')]":      "repeats too much",
		"$." + strings.Repeat("a", 3000): "longer than",
		"$.a[":                           "unexpected eof",
		"$['a":                           "not closed",
	} {
		if _, err, _ := workflow.SelectNodes(path, nil); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.40s: %v, want %q", path, err, words)
		}
	}
}

// large is a document of n values in an array, each made by of.
func large(n int, of string) string { return "[" + strings.Repeat(of+",", n-1) + of + "]" }

func TestExpressionsEndSoon(t *testing.T) {
	nested := strings.Repeat(`{"a":`, 900) + large(100_000, "1") + strings.Repeat("}", 900)
	text := large(40, `"`+strings.Repeat("x", 100_000)+`"`)
	objects := large(20_000, `{"a":{"b":[1,2,3]},"c":"d"}`)
	ors := func(part string, n int) string { return strings.Repeat(part+" || ", n) + part }
	for name, c := range map[string]struct{ condition, input string }{
		"unions":                    {"$.input" + strings.Repeat("[0,0]", 60), strings.Repeat("[", 100) + "1" + strings.Repeat("]", 100)},
		"descent into a filter":     {"$..[?@ == @]", nested},
		"deep count":                {"count($..*) == 1", nested},
		"count in a filter":         {"$.input..[?count(@.*) == 7]", nested},
		"many comparisons":          {"$.input[?" + ors("@ == 'nothing'", 80) + "]", objects},
		"many counts":               {"$.a || " + ors("count($.input[*]) == 7", 60), objects},
		"a pattern over much":       {"$.input[?search(@, '(x+x+)+(x+x+)+(x+x+)+y')]", text},
		"cel: lists of lists":       {"input.map(a, input.map(b, input)).size() == 7", large(2000, "1")},
		"cel: a growing string":     {`["a"].map(x, x+x+x+x+x+x+x+x)[0].size() == input.map(y, string(y)+string(y)).size()`, text},
		"cel: all within all":       {"input.all(a, input.all(b, a == b))", objects},
		"cel: a comparison in each": {"!input.all(a, input == input)", large(5_000, "["+strings.Repeat("1,", 99)+"1]")},
		"cel: comparison of much":   {ors("input == [1]", 100) + " || input.all(a, input == input)", nested[5*900 : len(nested)-900]},
		"cel: a pattern over much":  {"input.exists(a, a.matches('(x+x+)+(x+x+)+y'))", text},
		"cel: in a large list":      {"input.all(a, !(a in input))", large(50_000, `"x"`)},
		"cel: a list of big lists":  {"[[input,input],[input,input]].map(a, a + a + a).map(b, b + b + b).size() == 0", objects},
		"cel: concatenated strings": {ors("size(input[0]+input[0]+input[0]+input[0]+input[0]) == 7", 25), text},
	} {
		t.Run(name, func(t *testing.T) {
			start := testenv.CPU()
			holds, parse, eval := workflow.Holds(c.condition, map[string]string{"input": c.input})
			if took := testenv.CPU() - start; took > 30*time.Second {
				t.Errorf("took %v (%v, %v, %v)", took, holds, parse, eval)
			}
			if parse == nil && eval == nil && holds {
				t.Error("none of these hold")
			}
		})
	}
}

func TestConditions(t *testing.T) {
	documents := map[string]string{
		"input": `{"n":3,"s":"y","f":false,"z":0,"e":"","l":[],"big":9007199254740993,"users":[{"age":20},{"age":40}]}`,
		"a":     `{"b":4,"list":[1,2,3]}`, "my-step": `{"ok":true}`,
	}
	for condition, want := range map[string]bool{
		"$.a.b > 3": true, "$.a.b > 4": false, "$.input.s == 'y'": true, `$.input.s == "n"`: false,
		"$.a.b > 3 && $.input.n == 3": true, "$.a.b > 9 || $.input.s": true, "!$.input.none": true, "!$.input.s": false,
		"$.input.f": false, "$.input.z": false, "$.input.e": false, "$.input.l": true, "$.input.none": false,
		"!($.a.b > 9)": true, "($.a.b > 9 || $.a.b == 4) && $.input.n": true, "$['my-step'].ok": true,
		"$.input.users[?@.age > 30]": true, "$.input.users[?@.age > 50]": false, "count($.a.list[*]) == 3": true,
		"match($.input.s, 'y|z')": true, "$.a.list[-1:]": true,
		"a.b > 3": true, "input.s == 'y' && a.b == 4": true, "input.n == 3.0": true, "has(input.none)": false,
		"input.users.exists(u, u.age > 30)": true, "a.list.size() == 3": true, "steps['my-step'].ok": true,
		"'x' in input": false, "input.s.matches('^y$')": true, "input.big == 9007199254740993": true, "true": true,
	} {
		t.Run(condition, func(t *testing.T) {
			holds, parse, eval := workflow.Holds(condition, documents)
			if parse != nil || eval != nil || holds != want {
				t.Errorf("got %v, %v, %v, want %v", holds, parse, eval, want)
			}
		})
	}
	for condition, words := range map[string]string{
		"a.b +": "", "nothing > 3": "undeclared reference", "1 + 2": "not true or false", "input.n + 'x' == 'y'": "overload",
		"input.n": "not true or false", "$.a[*] > 3": "", "$.a.b > ": "", "$.a, $.b": "", "input.none.x": "no such key",
		"$.a] || $[?@.b": "", "input.all(a, input.all(b, input.all(c, true)))": "nest",
	} {
		t.Run(condition, func(t *testing.T) {
			_, parse, eval := workflow.Holds(condition, documents)
			if parse == nil && eval == nil {
				t.Fatal("no error")
			}
			if got := fmt.Sprint(parse, eval); !strings.Contains(got, words) || len(got) > 300 {
				t.Errorf("got %s, want %q", got, words)
			}
		})
	}
}
