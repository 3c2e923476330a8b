package workflow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/helixd/helixd/docs"
	"github.com/helixd/helixd/reactors/skills/workflow"
)

var builtIn = map[string]bool{"http": true, "format": true, "memory.search": true, "memory.write": true, "llm": true, "t": true}

func parse(steps string) (*workflow.Workflow, error) {
	return workflow.Parse([]byte(steps), workflow.Options{KnownTool: func(name string) bool { return builtIn[name] }})
}

func TestParseRefuses(t *testing.T) {
	many := func(prefix string) string {
		var steps []string
		for i := range 60 {
			steps = append(steps, fmt.Sprintf(`{"stepId":"%s%d","toolId":"t"}`, prefix, i))
		}
		return "[" + strings.Join(steps, ",") + "]"
	}
	deep := `[{"stepId":"end","toolId":"t"}]`
	for i := range workflow.MaxBranches {
		deep = fmt.Sprintf(`[{"stepId":"d%d","condition":"true","then":%s}]`, i, deep)
	}
	for name, c := range map[string]struct{ steps, code, step, pointer, words string }{
		"no steps":               {`[]`, "definition_invalid", "", "", "minItems"},
		"not JSON":               {`[`, "definition_invalid", "", "", "not JSON"},
		"an unknown property":    {`[{"stepId":"a","toolId":"t","timeout":3}]`, "definition_invalid", "", "/0", "timeout"},
		"a bad id":               {`[{"stepId":"a b","toolId":"t"}]`, "definition_invalid", "", "/0/stepId", "pattern"},
		"an id twice":            {`[{"stepId":"a","toolId":"t"},{"stepId":"a","toolId":"t"}]`, "definition_invalid", "a", "/1/stepId", "two steps"},
		"an id twice, nested":    {`[{"stepId":"a","toolId":"t","condition":"true","then":[{"stepId":"a","toolId":"t"}]}]`, "definition_invalid", "a", "/0/then/0/stepId", "two steps"},
		"a reserved id":          {`[{"stepId":"input","toolId":"t"}]`, "definition_invalid", "input", "/0/stepId", "cannot be a stepId"},
		"an unknown tool":        {`[{"stepId":"a","toolId":"shell"}]`, "definition_invalid", "a", "/0/toolId", `no tool "shell"`},
		"two tools":              {`[{"stepId":"a","toolId":"t","skillName":"s"}]`, "definition_invalid", "a", "/0", "toolId and skillName"},
		"nothing":                {`[{"stepId":"a"}]`, "definition_invalid", "a", "/0", "calls nothing"},
		"then without condition": {`[{"stepId":"a","toolId":"t","then":"b"},{"stepId":"b","toolId":"t"}]`, "definition_invalid", "", "/0", "condition"},
		"a later step":           {`[{"stepId":"a","toolId":"t","inputMapping":{"x":"$.b.y"}},{"stepId":"b","toolId":"t"}]`, "mapping_invalid", "a", "/0/inputMapping/x", "$.b is neither"},
		"itself":                 {`[{"stepId":"a","toolId":"t","inputMapping":{"x":"$['a'].y"}}]`, "mapping_invalid", "a", "/0/inputMapping/x", "$.a is neither"},
		"a bad path":             {`[{"stepId":"a","toolId":"t","inputMapping":{"x/y":"$.input["}}]`, "mapping_invalid", "a", "/0/inputMapping/x~1y", ""},
		"a bad output path":      {`[{"stepId":"a","toolId":"t","outputMapping":{"x":"$["}}]`, "mapping_invalid", "a", "/0/outputMapping/x", ""},
		"a bad output":           {`{"steps":[{"stepId":"a","toolId":"t"}],"output":{"x":"$.b"}}`, "mapping_invalid", "", "/output/x", "$.b is neither"},
		"a bad condition":        {`[{"stepId":"a","toolId":"t","condition":"1 +"}]`, "condition_invalid", "a", "/0/condition", ""},
		"long conditions":        {strings.ReplaceAll(many("a"), `"toolId":"t"`, `"condition":"`+strings.Repeat("true && ", 60)+`true"`), "condition_invalid", "", "", "longer than 20000"},
		"no bool":                {`[{"stepId":"a","toolId":"t","condition":"'x'"}]`, "condition_invalid", "a", "/0/condition", "not true or false"},
		"an unknown name":        {`[{"stepId":"a","toolId":"t","condition":"b.x"}]`, "condition_invalid", "a", "/0/condition", "undeclared"},
		"an unknown path":        {`[{"stepId":"a","toolId":"t","condition":"$.b.x"}]`, "condition_invalid", "a", "/0/condition", "$.b is neither"},
		"a branch to nothing":    {`[{"stepId":"a","condition":"true","then":"b"}]`, "definition_invalid", "a", "/0/then", `no step "b"`},
		"a branch back":          {`[{"stepId":"b","toolId":"t"},{"stepId":"a","condition":"true","else":["b"]}]`, "definition_invalid", "a", "/1/else", "lead back"},
		"a branch to itself":     {`[{"stepId":"a","condition":"true","then":"a"}]`, "definition_invalid", "a", "/0/then", "lead back"},
		"a branch elsewhere":     {`[{"stepId":"a","condition":"true","then":[{"stepId":"b","condition":"true","then":"c"}]},{"stepId":"c","toolId":"t"}]`, "definition_invalid", "b", "/0/then/0/then", "no step"},
		"a mixed branch":         {`[{"stepId":"a","condition":"true","then":["b",{"stepId":"c","toolId":"t"}]},{"stepId":"b","toolId":"t"}]`, "definition_invalid", "a", "/0/then", "not both"},
		"too many steps":         {`[{"stepId":"x","condition":"true","then":` + many("a") + `,"else":` + many("b") + `}]`, "definition_invalid", "", "", "more than 100"},
		"too deep":               {deep, "definition_invalid", "", "", "deeper"},
		"too many retries":       {`[{"stepId":"a","toolId":"t","errorHandling":{"retry":{"maxRetries":11}}}]`, "definition_invalid", "", "/0/errorHandling/retry/maxRetries", "10"},
		"two counts":             {`[{"stepId":"a","toolId":"t","errorHandling":{"retry":{"maxRetries":1,"maxAttempts":2}}}]`, "definition_invalid", "", "/0/errorHandling/retry", ""},
		"an unknown handling":    {`[{"stepId":"a","toolId":"t","errorHandling":"ignore"}]`, "definition_invalid", "", "/0/errorHandling", "stop, continue, skip, retry"},
		"no time":                {`[{"stepId":"a","toolId":"t","timeoutMs":0}]`, "definition_invalid", "", "/0/timeoutMs", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(c.steps)
			var e *workflow.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Code != c.code || (c.step != "" && e.Step != c.step) || !strings.Contains(e.Message, c.words) ||
				(c.pointer != "" && e.Pointer != c.pointer) {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestPlanListsAllBranches(t *testing.T) {
	w, err := parse(`[{"stepId":"a","toolName":"http","condition":"true",
		"then":[{"stepId":"b","skillName":"s"}],"else":[{"stepId":"c","toolId":"http"}]},{"stepId":"d","skillName":"s"}]`)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := w.Plan(), (workflow.Plan{StepIDs: []string{"a", "b", "c", "d"}, TotalSteps: 4}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	want := []workflow.Ref{{Kind: workflow.KindTool, Name: "http"}, {Kind: workflow.KindSkill, Name: "s"}}
	only, err := workflow.Parse([]byte(`[{"stepId":"a","toolName":"http","condition":"1 +","inputMapping":{"x":"$["},
		"then":[{"stepId":"b","skillName":"s"}]}]`), workflow.Options{ReferencesOnly: true})
	if err != nil || !reflect.DeepEqual(only.References(), want) {
		t.Errorf("only the references: %v, %v", only, err)
	}
	if got := w.References(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSchemaExamplesParse(t *testing.T) {
	var s struct{ Examples []json.RawMessage }
	if err := json.Unmarshal(docs.StepsSchema, &s); err != nil || len(s.Examples) != 3 {
		t.Fatalf("%d examples, %v", len(s.Examples), err)
	}
	for i, example := range s.Examples {
		if _, err := parse(string(example)); err != nil {
			t.Errorf("example %d: %v", i, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`[{"stepId":"a","toolId":"t","condition":"$.input.x > 3","inputMapping":{"x":"$..y[?@.z]"}}]`))
	f.Add([]byte(`{"steps":[{"stepId":"a","condition":"input.x","then":"b"},{"stepId":"b","toolId":"t"}],"output":"$.b"}`))
	f.Fuzz(func(t *testing.T, steps []byte) {
		w, err := workflow.Parse(steps, workflow.Options{})
		var e *workflow.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%v is no *Error", err)
		}
		if err == nil && w.Plan().TotalSteps > workflow.MaxSteps {
			t.Fatal("too many steps")
		}
	})
}
