package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/skills/workflow"
)

// drawSteps makes steps of every kind, which look at each other.
func drawSteps(t *rapid.T) string {
	var before []string
	n := 0
	var list func(depth int) []map[string]any
	list = func(depth int) []map[string]any {
		var steps []map[string]any
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			n++
			id := fmt.Sprintf("s%d", n)
			s := map[string]any{"stepId": id, "toolId": rapid.SampledFrom([]string{"ok", "bad", "flaky"}).Draw(t, "tool")}
			if len(before) > 0 {
				from := rapid.SampledFrom(before).Draw(t, "from")
				s["inputMapping"] = map[string]any{"v": "$." + from, "all": "$..n"}
			}
			if rapid.Bool().Draw(t, "mapped") {
				s["outputMapping"] = map[string]any{"n": "$.n"}
			}
			s["errorHandling"] = rapid.SampledFrom([]any{"stop", "continue", "skip", "retry",
				map[string]any{"retry": map[string]any{"maxRetries": 2, "then": "skip"}}}).Draw(t, "handling")
			if depth < 3 && n < 20 && rapid.Bool().Draw(t, "condition") {
				s["condition"] = "$.input.n > 2"
				if len(before) > 0 {
					from := rapid.SampledFrom(before).Draw(t, "decides")
					s["condition"] = rapid.SampledFrom([]string{"$." + from + ".n > 2", from + " != null", "$." + from}).Draw(t, "by")
				}
				before = append(before, id)
				s["then"], s["else"] = list(depth+1), list(depth+1)
			} else {
				before = append(before, id)
			}
			steps = append(steps, s)
		}
		return steps
	}
	steps := list(1)
	if len(steps) > 2 && steps[0]["then"] == nil { // and one that leads to a later one
		steps[0]["condition"], steps[0]["then"] = "$.input.n > 1", steps[len(steps)-1]["stepId"]
	}
	doc, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// deterministic tools give what their name, input and attempt make.
func deterministic() *tools {
	s, attempts := &tools{}, map[string]int{}
	s.answer = func(_ context.Context, ref workflow.Ref, input json.RawMessage) (json.RawMessage, error) {
		h := fnv.New32()
		h.Write(input)
		sum := h.Sum32()
		key := s.calls[len(s.calls)-1]
		attempts[key]++
		if ref.Name == "bad" && sum%3 == 0 || ref.Name == "flaky" && attempts[key] <= int(sum%4) {
			return nil, &workflow.Error{Code: "exception", Message: "no"}
		}
		return json.RawMessage(fmt.Sprintf(`{"n":%d,"b":%d,"a":[1,{"n":0}]}`, sum%5, sum)), nil
	}
	return s
}

func TestLawResumeAfterAnyPrefix(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := drawSteps(rt)
		if w, err := workflow.Parse([]byte(steps), workflow.Options{}); err != nil || w.Plan().TotalSteps > workflow.MaxSteps {
			rt.Fatalf("%s: %v", steps, err)
		}
		input := fmt.Sprintf(`{"n":%d}`, rapid.IntRange(0, 4).Draw(rt, "n"))
		first := deterministic()
		whole := run(t, t.Context(), steps, input, first, nil)
		seen := map[string]bool{}
		for _, r := range whole.results {
			if seen[r.StepID] {
				rt.Fatalf("%s ran twice", r.StepID)
			}
			seen[r.StepID] = true
			if r.RetriesUsed > 3 {
				rt.Fatalf("%d retries", r.RetriesUsed)
			}
		}
		keep := rapid.IntRange(0, len(whole.results)).Draw(rt, "kept")
		// What was kept went through the database.
		doc, err := json.Marshal(whole.results[:keep])
		if err != nil {
			rt.Fatal(err)
		}
		var done []workflow.StepResult
		if err := json.Unmarshal(doc, &done); err != nil {
			rt.Fatal(err)
		}
		second := deterministic()
		rest := run(t, t.Context(), steps, input, second, done)
		if rest.output != whole.output || fmt.Sprint(rest.err) != fmt.Sprint(whole.err) {
			rt.Fatalf("%s\nafter %d: %s, %v\nwant %s, %v", steps, keep, rest.output, rest.err, whole.output, whole.err)
		}
		rest.results = append(whole.results[:keep:keep], rest.results...)
		if rest.line() != whole.line() {
			rt.Fatalf("%s\nafter %d: %s\nwant %s", steps, keep, rest.line(), whole.line())
		}
		// The calls are those that were not made, with the same inputs and keys.
		if n := len(first.calls) - len(second.calls); n < 0 || !reflect.DeepEqual(append([]string{}, first.calls[n:]...), append([]string{}, second.calls...)) {
			rt.Fatalf("calls %v, want the last of %v", second.calls, first.calls)
		}
	})
}
