package skills_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
)

// named inserts a composite skill of a user, or with code, one that echoes.
func (b *bench) named(t testing.TB, user uuid.UUID, name, steps string) uuid.UUID {
	t.Helper()
	if steps == "" {
		return b.skill(t, user, "kind = 'javascript', source = 'x', name = $1", name)
	}
	return b.skill(t, user, "kind = 'composite', name = $1, steps = $2", name, steps)
}

func TestComposite(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: echo})
	user := b.User(t)
	b.named(t, user, "echo", "")
	twice := `[{"stepId": "a", "skillName": "echo", "inputMapping": {"n": "$.input.n"}},
		{"stepId": "b", "skillName": "echo", "inputMapping": {"m": "$.a.n"}}]`
	t.Run("Runs", func(t *testing.T) {
		run := b.run(t, user, b.named(t, user, "twice", twice), `{"n": 7}`)
		if got := b.ended(t, run); got != "succeeded" {
			t.Fatalf("it ended with %q: %s", got, b.fault(t, run))
		}
		if got := get[string](t, b.Admin, `select concat_ws(' ', output, steps_completed, total_steps, step_results -> 0 ->> 'stepId', step_results -> 1 ->> 'output')
			from skill_runs where id = $1`, run); got != `{"m": 7} 2 2 a {"m": 7}` {
			t.Errorf("it gave %s", got)
		}
		outer := b.run(t, user, b.named(t, user, "outer", `[{"stepId": "x", "skillName": "twice", "inputMapping": {"n": "$.input"}}]`), `5`)
		if got := b.ended(t, outer); got != "succeeded" || get[string](t, b.Admin, "select output::text from skill_runs where id = $1", outer) != `{"m": 5}` {
			t.Errorf("one that calls it ended with %q: %s", got, b.fault(t, outer))
		}
	})
	t.Run("a skill that is called may come later", func(t *testing.T) {
		early := b.named(t, user, "early", `[{"stepId": "a", "skillName": "late"}]`)
		if got := b.ended(t, b.run(t, user, early, `{}`)); got != "failed skill_invalid" {
			t.Fatalf("it ended with %q", got)
		}
		b.named(t, user, "late", `[{"stepId": "a", "skillName": "echo"}]`)
		if got := b.ended(t, b.run(t, user, early, `{}`)); got != "succeeded" {
			t.Errorf("when what it calls is there, it ended with %q", got)
		}
	})
	// Each knows the next, and the last the first.
	ring := b.named(t, user, "ring1", "")
	b.named(t, user, "ring2", `[{"stepId": "a", "skillName": "ring1"}]`)
	b.Exec(t, `update skills set kind = 'composite', steps = '[{"stepId": "a", "skillName": "ring2"}]' where id = $1`, ring)
	b.named(t, user, "deep1", `[{"stepId": "a", "skillName": "echo"}]`)
	for n := range 9 {
		b.named(t, user, "deep"+string(rune('2'+n)), `[{"stepId": "a", "skillName": "deep`+string(rune('1'+n))+`"}]`)
	}
	stranger := b.User(t)
	foreign := b.named(t, stranger, "theirs", "")
	for name, c := range map[string]struct{ steps, has string }{
		"UnknownStep":      {`[{"stepId": "a", "skillName": "echo"}, {"stepId": "b", "skillName": "echo", "inputMapping": {"n": "$.nowhere.n"}}]`, "mapping_invalid"},
		"UnknownFirst":     {`[{"stepId": "a", "skillName": "echo", "inputMapping": {"n": "$.nowhere.n"}}]`, "mapping_invalid"},
		"UnknownSkill":     {`[{"stepId": "a", "skillName": "nobody"}]`, "skill_not_found"},
		"AnothersSkill":    {`[{"stepId": "a", "skillName": "` + foreign.String() + `"}]`, "skill_not_found"},
		"UnknownTool":      {`[{"stepId": "a", "toolName": "shell"}]`, "definition_invalid"},
		"CycleOfOthers":    {`[{"stepId": "a", "skillName": "ring1"}]`, "cycle"},
		"TooDeep":          {`[{"stepId": "a", "skillName": "deep:"}]`, "too_deep"},
		"NoSteps":          {`null`, "steps is empty"},
		"NotSteps":         {`{"steps": 7}`, "definition_invalid"},
		"ConditionInvalid": {`[{"stepId": "a", "skillName": "echo", "condition": "1 +"}]`, "condition_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			run := b.run(t, user, b.named(t, user, name, c.steps), `{}`)
			if got := b.ended(t, run); got != "failed skill_invalid" {
				t.Errorf("it ended with %q", got)
			}
			if got := b.fault(t, run); !strings.Contains(got, c.has) {
				t.Errorf("its error is %s, without %s", got, c.has)
			}
		})
	}
}

// TestCompositeResumes: a run goes on after the last step that was kept, in
// another process.
func TestCompositeResumes(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	user := b.User(t)
	b.named(t, user, "echo", "")
	var mu sync.Mutex
	calls := map[string]int{}
	second := make(chan struct{}, 2)
	r := runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		mu.Lock()
		calls[string(call.Input)]++
		n := calls[string(call.Input)]
		mu.Unlock()
		if string(call.Input) == `{"second":true}` && n == 1 {
			second <- struct{}{}
			return waits(ctx, call)
		}
		return echo(ctx, call)
	}}
	stop := b.work(t, skills.DefaultConfig, r)
	run := b.run(t, user, b.named(t, user, "two", `[{"stepId": "a", "skillName": "echo", "inputMapping": {"second": false}},
		{"stepId": "b", "skillName": "echo", "inputMapping": {"second": true}}]`), `{}`)
	select {
	case <-second:
	case <-time.After(patience):
		t.Fatalf("the second step was not begun: %s", b.fault(t, run))
	}
	b.until(t, "the first step to be kept", "select steps_completed = 1 and status = 'running' from skill_runs where id = $1", run)
	stop()
	b.work(t, skills.DefaultConfig, r)
	if got := b.ended(t, run); got != "succeeded" {
		t.Fatalf("it ended with %q: %s", got, b.fault(t, run))
	}
	mu.Lock()
	defer mu.Unlock()
	if calls[`{"second":false}`] != 1 || calls[`{"second":true}`] != 2 {
		t.Errorf("the steps were called so often: %v", calls)
	}
}
