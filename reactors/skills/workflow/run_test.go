package workflow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/skills/workflow"
)

// tools answer calls with a function, and keep them.
type tools struct {
	calls  []string // name, input and key
	answer func(ctx context.Context, ref workflow.Ref, input json.RawMessage) (json.RawMessage, error)
}

func (s *tools) Call(ctx context.Context, ref workflow.Ref, input json.RawMessage, key string) (json.RawMessage, error) {
	s.calls = append(s.calls, fmt.Sprintf("%s %s %s", ref.Name, input, key))
	return s.answer(ctx, ref, input)
}

// echo gives its input back.
func echo(_ context.Context, _ workflow.Ref, input json.RawMessage) (json.RawMessage, error) {
	return input, nil
}

// outcome is all that can be seen of a run.
type outcome struct {
	output  string
	err     error
	results []workflow.StepResult
	slept   []time.Duration
}

// line is the results, one word each.
func (o outcome) line() string {
	var words []string
	for _, r := range o.results {
		word := r.StepID + ":"
		switch {
		case r.Error != nil && r.Skipped:
			word += "skipped(" + r.Error.Code + ")"
		case r.Error != nil:
			word += r.Error.Code
		case r.Skipped:
			word += "not"
		default:
			word += string(r.Output)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func run(t testing.TB, ctx context.Context, steps, input string, s *tools, done []workflow.StepResult) outcome {
	t.Helper()
	w, err := workflow.Parse([]byte(steps), workflow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{}
	clock := time.Unix(0, 0)
	output, err := w.Run(ctx, workflow.Run{
		ID: "run", Input: json.RawMessage(input), Done: done, Tools: s,
		OnStep: func(r workflow.StepResult) error { o.results = append(o.results, r); return nil },
		Now:    func() time.Time { clock = clock.Add(7 * time.Millisecond); return clock },
		Sleep:  func(ctx context.Context, d time.Duration) error { o.slept = append(o.slept, d); return ctx.Err() },
		Rand:   rand.New(rand.NewPCG(1, 2)),
	})
	o.output, o.err = string(output), err
	return o
}

func TestRun(t *testing.T) {
	failing := func(_ context.Context, ref workflow.Ref, input json.RawMessage) (json.RawMessage, error) {
		if ref.Name == "bad" {
			return nil, &workflow.Error{Code: "capability_refused", Message: "no"}
		}
		return input, nil
	}
	for name, c := range map[string]struct{ steps, input, line, output, failure string }{
		"input is passed on":      {`[{"stepId":"a","toolId":"t"}]`, `{"x":1}`, `a:{"x":1}`, `{"x":1}`, ""},
		"mappings":                {`[{"stepId":"a","toolId":"t","inputMapping":{"one":"$.input.x[0]","none":"$.input.y","all":"$.input.x[*]","no":"$.input.y[*]","lit":3,"text":"x$","money":"$$5","obj":{"p":"$.input"}}}]`, `{"x":[1,2]}`, `a:{"all":[1,2],"lit":3,"money":"$5","no":[],"none":null,"obj":{"p":"$.input"},"one":1,"text":"x$"}`, "", ""},
		"a whole mapping":         {`[{"stepId":"a","toolId":"t","inputMapping":"$.input.x"}]`, `{"x":[1]}`, `a:[1]`, `[1]`, ""},
		"output mapping":          {`[{"stepId":"a","toolId":"t","outputMapping":{"y":"$.x.z"}},{"stepId":"b","toolId":"t","inputMapping":{"v":"$.a.y","raw":"$.a.x"}}]`, `{"x":{"z":7}}`, `a:{"y":7} b:{"raw":null,"v":7}`, `{"raw":null,"v":7}`, ""},
		"top-level output":        {`{"steps":[{"stepId":"a","toolId":"t"},{"stepId":"b","toolId":"t","inputMapping":{}}],"output":{"r":"$.a.x","k":1}}`, `{"x":5}`, `a:{"x":5} b:{}`, `{"k":1,"r":5}`, ""},
		"exact numbers":           {`[{"stepId":"a","toolId":"t","inputMapping":{"n":"$.input.n"}}]`, `{"n":12345678901234567890.123}`, `a:{"n":12345678901234567890.123}`, "", ""},
		"condition false":         {`[{"stepId":"a","toolId":"t","condition":"$.input.x > 3"},{"stepId":"b","toolId":"t","inputMapping":{"a":"$.a"}}]`, `{"x":1}`, `a:not b:{"a":null}`, "", ""},
		"nested then":             {`[{"stepId":"a","condition":"input.x > 3","then":[{"stepId":"b","toolId":"t"}],"else":[{"stepId":"c","toolId":"t"}]},{"stepId":"d","toolId":"t"}]`, `{"x":4}`, `a:true b:{"x":4} d:{"x":4}`, "", ""},
		"nested else":             {`[{"stepId":"a","condition":"input.x > 3","then":[{"stepId":"b","toolId":"t"}],"else":[{"stepId":"c","toolId":"t"}]}]`, `{"x":1}`, `a:false c:{"x":1}`, `{"x":1}`, ""},
		"named then":              {`[{"stepId":"a","condition":"input.x > 3","then":"b","else":["c"]},{"stepId":"b","toolId":"t"},{"stepId":"c","toolId":"t"},{"stepId":"d","toolId":"t"}]`, `{"x":4}`, `a:true b:{"x":4} d:{"x":4}`, "", ""},
		"named else":              {`[{"stepId":"a","condition":"input.x > 3","then":"b","else":["c"]},{"stepId":"b","toolId":"t"},{"stepId":"c","toolId":"t"},{"stepId":"d","toolId":"t"}]`, `{"x":1}`, `a:false c:{"x":1} d:{"x":1}`, "", ""},
		"a chain of branches":     {`[{"stepId":"a","condition":"false","then":"b"},{"stepId":"b","condition":"true","then":"c"},{"stepId":"c","toolId":"t"}]`, `1`, `a:false`, `null`, ""},
		"tool and branch":         {`[{"stepId":"a","toolId":"t","condition":"true","then":[{"stepId":"b","toolId":"t","inputMapping":"$.a"}]}]`, `1`, `a:1 b:1`, "1", ""},
		"stop":                    {`[{"stepId":"a","toolId":"bad"},{"stepId":"b","toolId":"t"}]`, `1`, `a:capability_refused`, "", "step_failed"},
		"continue":                {`[{"stepId":"a","toolId":"bad","errorHandling":"continue"},{"stepId":"b","toolId":"t","inputMapping":{"a":"$.a","ran":"$[?@ == null]"}}]`, `1`, `a:capability_refused b:{"a":null,"ran":null}`, "", ""},
		"skip":                    {`[{"stepId":"a","toolId":"bad","errorHandling":"skip"},{"stepId":"b","toolId":"t","inputMapping":{"ran":"$[?@ == null]"}}]`, `1`, `a:skipped(capability_refused) b:{"ran":[]}`, "", ""},
		"skip leaves branches":    {`[{"stepId":"a","toolId":"bad","errorHandling":"skip","condition":"true","then":[{"stepId":"b","toolId":"t"}],"else":[{"stepId":"c","toolId":"t"}]}]`, `1`, `a:skipped(capability_refused)`, "null", ""},
		"condition on data":       {`[{"stepId":"a","toolId":"t","condition":"input.x.y"}]`, `{}`, `a:condition_invalid`, "", "step_failed"},
		"condition continues":     {`[{"stepId":"a","toolId":"t","condition":"input.x.y","errorHandling":"continue"}]`, `{}`, `a:condition_invalid`, "null", ""},
		"input is not JSON":       {`[{"stepId":"a","toolId":"t"}]`, `{`, ``, "", "input_invalid"},
		"dashed ids":              {`[{"stepId":"my-a","toolId":"t"},{"stepId":"b","toolId":"t","condition":"steps['my-a'] == 1","inputMapping":{"v":"$['my-a']"}}]`, `1`, `my-a:1 b:{"v":1}`, "", ""},
		"a step that did not run": {`[{"stepId":"a","toolId":"t","condition":"false"},{"stepId":"b","toolId":"t","condition":"a == null"}]`, `1`, `a:not b:1`, "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, t.Context(), c.steps, c.input, &tools{answer: failing}, nil)
			if o.line() != c.line {
				t.Errorf("got %s, want %s", o.line(), c.line)
			}
			if c.output != "" && o.output != c.output {
				t.Errorf("output %s, want %s", o.output, c.output)
			}
			var e *workflow.Error
			if errors.As(o.err, &e); (e == nil) != (c.failure == "") || (e != nil && e.Code != c.failure) {
				t.Errorf("error %v, want %q", o.err, c.failure)
			}
		})
	}
}

func TestRunFailureHasTheInnerCode(t *testing.T) {
	cause := errors.New("connection to 10.0.0.1 lost")
	s := &tools{answer: func(context.Context, workflow.Ref, json.RawMessage) (json.RawMessage, error) { return nil, cause }}
	o := run(t, t.Context(), `[{"stepId":"a","toolId":"t"}]`, `1`, s, nil)
	var e *workflow.Error
	if !errors.As(o.err, &e) || e.Code != "step_failed" || e.Step != "a" || e.Inner == nil || e.Inner.Code != "internal" {
		t.Fatalf("got %+v", e)
	}
	if !errors.Is(o.err, cause) {
		t.Error("the cause is lost to the log")
	}
	if doc, _ := json.Marshal(e); bytes.Contains(doc, []byte("10.0.0.1")) {
		t.Errorf("the row tells %s", doc)
	}
}

func TestRetryBacksOff(t *testing.T) {
	flaky := func(failures int, code string) *tools {
		s := &tools{}
		s.answer = func(context.Context, workflow.Ref, json.RawMessage) (json.RawMessage, error) {
			if len(s.calls) <= failures {
				return nil, &workflow.Error{Code: code, Message: "once more"}
			}
			return json.RawMessage(`"done"`), nil
		}
		return s
	}
	steps := func(retry string) string {
		return `[{"stepId":"a","toolId":"t","errorHandling":{"retry":` + retry + `}}]`
	}
	exact := `{"maxRetries":4,"baseDelayMs":100,"factor":3,"capMs":500,"jitter":false,"then":"continue"}`
	t.Run("until it succeeds", func(t *testing.T) {
		s := flaky(3, "exception")
		o := run(t, t.Context(), steps(exact), `1`, s, nil)
		if o.line() != `a:"done"` || o.results[0].RetriesUsed != 3 || fmt.Sprint(o.slept) != "[100ms 300ms 500ms]" {
			t.Errorf("got %s after %d, slept %v", o.line(), o.results[0].RetriesUsed, o.slept)
		}
		for _, call := range s.calls {
			if call != "t 1 run/a" {
				t.Errorf("call %q", call)
			}
		}
	})
	t.Run("until there are no more", func(t *testing.T) {
		s := flaky(99, "exception")
		o := run(t, t.Context(), steps(exact), `1`, s, nil)
		if o.line() != "a:exception" || len(s.calls) != 5 || o.results[0].RetriesUsed != 4 || o.err != nil {
			t.Errorf("got %s, %d calls, %v", o.line(), len(s.calls), o.err)
		}
	})
	t.Run("not what fails by its nature", func(t *testing.T) {
		for _, code := range []string{"capability_refused", "secrets_unavailable"} {
			s := flaky(99, code)
			if o := run(t, t.Context(), steps(exact), `1`, s, nil); len(s.calls) != 1 || o.results[0].RetriesUsed != 0 {
				t.Errorf("%s: %d calls", code, len(s.calls))
			}
		}
	})
	t.Run("with jitter", func(t *testing.T) {
		o := run(t, t.Context(), steps(`{"maxAttempts":11,"base":100,"factor":1}`), `1`, flaky(10, "exception"), nil)
		distinct := map[time.Duration]bool{}
		for _, d := range o.slept {
			if d < 0 || d > 100*time.Millisecond {
				t.Errorf("slept %v", d)
			}
			distinct[d] = true
		}
		if len(o.slept) != 10 || len(distinct) < 5 {
			t.Errorf("slept %v", o.slept)
		}
	})
}

func TestStepTimeout(t *testing.T) {
	s := &tools{answer: func(ctx context.Context, _ workflow.Ref, _ json.RawMessage) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	o := run(t, t.Context(), `[{"stepId":"a","toolId":"t","timeoutMs":20,"errorHandling":"continue"}]`, `1`, s, nil)
	if o.line() != "a:step_timeout" || o.err != nil {
		t.Errorf("got %s, %v", o.line(), o.err)
	}
}

func TestEndOfTheRunKeepsTheRunningStep(t *testing.T) {
	reason := errors.New("helixd is stopping")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := &tools{answer: func(ctx context.Context, ref workflow.Ref, input json.RawMessage) (json.RawMessage, error) {
		if ref.Name == "last" {
			cancel(reason)
			return nil, ctx.Err()
		}
		return input, nil
	}}
	steps := `[{"stepId":"a","toolId":"t"},{"stepId":"b","toolId":"last","errorHandling":"continue"}]`
	o := run(t, ctx, steps, `1`, s, nil)
	if !errors.Is(o.err, reason) || o.line() != "a:1" {
		t.Errorf("got %s, %v", o.line(), o.err)
	}
}

func TestOnStepEndsTheRun(t *testing.T) {
	w, err := workflow.Parse([]byte(`[{"stepId":"a","toolId":"t"},{"stepId":"b","toolId":"t"}]`), workflow.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, full := &tools{answer: echo}, errors.New("disk full")
	_, err = w.Run(t.Context(), workflow.Run{Tools: s, Now: time.Now, OnStep: func(workflow.StepResult) error { return full }})
	if !errors.Is(err, full) || len(s.calls) != 1 {
		t.Errorf("got %v after %d calls", err, len(s.calls))
	}
}

func TestContextIsBounded(t *testing.T) {
	doc := json.RawMessage(`"` + strings.Repeat("x", 3<<20) + `"`)
	s := &tools{answer: func(context.Context, workflow.Ref, json.RawMessage) (json.RawMessage, error) { return doc, nil }}
	steps := `[{"stepId":"a","toolId":"t"},{"stepId":"b","toolId":"t"},{"stepId":"c","toolId":"t"}]`
	o := run(t, t.Context(), steps, `1`, s, nil)
	var e *workflow.Error
	if !errors.As(o.err, &e) || e.Inner == nil || e.Inner.Code != "context_too_large" || e.Step != "c" {
		t.Errorf("got %v", o.err)
	}
	for name, bad := range map[string]string{"values": "[0" + strings.Repeat(",0", 1<<20) + "]", "not JSON": "{", "a key twice": `{"a":1,"a":2}`, "nothing": ""} {
		doc = json.RawMessage(bad)
		if o := run(t, t.Context(), steps, `1`, s, nil); o.err == nil || len(o.results) != 1 {
			t.Errorf("%s: %v", name, o.err)
		}
	}
	if o := run(t, t.Context(), `[{"stepId":"a","toolId":"t","inputMapping":{"x":"$..*"}}]`, strings.Repeat("[", 900)+`"`+strings.Repeat("x", 5000)+`"`+strings.Repeat("]", 900), &tools{answer: echo}, nil); o.err == nil {
		t.Error("a mapping of 4 MB was made")
	}
}

// The guide's example does what the guide says.
func TestGuide(t *testing.T) {
	guide, err := os.ReadFile("../../../docs/skills-steps.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "```json\n")
	steps, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("there is no example")
	}
	if _, err := parse(steps); err != nil {
		t.Fatal(err)
	}
	s := &tools{answer: func(_ context.Context, ref workflow.Ref, input json.RawMessage) (json.RawMessage, error) {
		switch ref.Name {
		case "memory.search":
			return json.RawMessage(`[{"id":"1","content":"likes tea"},{"id":"2","content":"likes rain"}]`), nil
		default:
			return input, nil
		}
	}}
	o := run(t, t.Context(), steps, `{"question":"what does she like?"}`, s, nil)
	if o.err != nil || !strings.Contains(o.output, "likes tea") {
		t.Errorf("got %s, %v", o.output, o.err)
	}
	s.answer = func(context.Context, workflow.Ref, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`[]`), nil
	}
	if o := run(t, t.Context(), steps, `{"question":"?"}`, s, nil); o.err != nil || strings.Contains(o.line(), "answer") {
		t.Errorf("got %s, %v", o.line(), o.err)
	}
}
