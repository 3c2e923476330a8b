package skills_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
)

// sayOrCall runs "say <text>", whose output is the text, and "call <request>", whose
// output is what skill.run responds.
func sayOrCall(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
	var code []byte
	if err := call.Program.Code(ctx, func(part []byte) error { code = append(code, part...); return nil }); err != nil {
		return sandbox.Result{}, err
	}
	if request, ok := strings.CutPrefix(string(code), "call "); ok {
		response, err := call.Host.Call(ctx, "skill.run", []byte(request))
		return sandbox.Result{Output: response}, err
	}
	output, err := json.Marshal(strings.TrimPrefix(string(code), "say "))
	return sandbox.Result{Output: output}, err
}

func TestNames(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: sayOrCall})
	alice, bob := b.User(t), b.User(t)
	program := func(owner uuid.UUID, visibility, name, source string) uuid.UUID {
		return b.skill(t, owner, "kind = 'javascript', visibility = $1, name = $2, source = $3", visibility, name, source)
	}
	composite := func(owner uuid.UUID, calls string) uuid.UUID {
		return b.skill(t, owner, "kind = 'composite', visibility = 'public', name = $1, steps = $2", "calls "+calls,
			fmt.Sprintf(`[{"stepId": "a", "skillName": %q}]`, calls))
	}
	program(alice, "public", "helper", "say alice's")
	program(alice, "private", "hidden", "say hidden")
	program(bob, "private", "helper", "say bob's")
	diary := program(bob, "private", "diary", "say dear diary")
	builtIn := get[uuid.UUID](t, b.Admin, "insert into skills (user_id, name, kind, source) values (null, 'built in', 'javascript', 'call {\"skill\": \"diary\"}') returning id")
	for name, c := range map[string]struct {
		user, skill uuid.UUID
		want        string
	}{
		"AreThoseOfWhoWroteTheSteps":      {bob, composite(alice, "helper"), `succeeded "alice's"`},
		"AreThoseOfWhoWroteTheProgram":    {bob, program(alice, "public", "p1", `call {"skill": "helper"}`), `succeeded {"output": "alice's"}`},
		"AreTheOwnersForTheOwner":         {alice, composite(alice, "hidden"), `succeeded "hidden"`},
		"DoNotOpenTheAuthorsPrivateSkill": {bob, program(alice, "public", "p2", `call {"skill": "hidden"}`), `failed skill_not_found`},
		"DoNotOpenTheRunnersPrivateSkill": {bob, program(alice, "public", "p3", `call {"skill": "diary"}`), `failed skill_not_found`},
		"OfBuiltInSkillsAreNotTheRunners": {bob, builtIn, `failed skill_not_found`},
		"OfNobodyHaveNoZero":              {bob, program(bob, "private", "p4", `call {"skill": "a\u0000"}`), `failed skill_not_found`},
		"ThatAreIdsAreTheRunnersToGive":   {bob, program(bob, "private", "p5", fmt.Sprintf(`call {"skill": %q}`, diary)), `succeeded {"output": "dear diary"}`},
	} {
		t.Run(name, func(t *testing.T) {
			run := b.run(t, c.user, c.skill, `{}`)
			status := b.ended(t, run)
			if output := get[*string](t, b.Admin, "select output::text from skill_runs where id = $1", run); output != nil {
				status += " " + *output
			}
			if status != c.want {
				t.Errorf("it came to %s: %s", status, b.fault(t, run))
			}
		})
	}
}

func TestInlineDefinitionsOfSeveralUsers(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: sayOrCall})
	for _, version := range []string{"of alice", "of bob"} {
		definition := fmt.Sprintf(`{"kind": "javascript", "source": "say x", "version": %q}`, version)
		run := get[uuid.UUID](t, b.Admin, "insert into skill_runs (user_id, definition) values ($1, $2) returning id", b.User(t), definition)
		if got := b.ended(t, run); got != "succeeded" {
			t.Fatalf("it ended with %q: %s", got, b.fault(t, run))
		}
		if got := get[string](t, b.Admin, "select execution_context ->> 'version' from skill_runs where id = $1", run); got != version {
			t.Errorf("the run of the version %q tells of that %q", version, got)
		}
	}
}

func TestNestedSkillsHoldUpNobodyElses(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	alice, bob := b.User(t), b.User(t)
	inside, end := make(chan struct{}, 10), make(chan struct{})
	b.work(t, skills.DefaultConfig, runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		result, err := sayOrCall(ctx, call)
		if call.Tenant == alice.String() && string(result.Output) == `"it"` {
			inside <- struct{}{}
			<-end
		}
		return result, err
	}})
	runs := map[uuid.UUID][]uuid.UUID{}
	for _, user := range []uuid.UUID{alice, bob} {
		b.skill(t, user, "kind = 'javascript', name = 'slow', source = 'say it'")
		caller := b.skill(t, user, `kind = 'javascript', name = 'caller', source = 'call {"skill": "slow"}'`)
		for range 4 {
			runs[user] = append(runs[user], b.run(t, user, caller, `{}`))
		}
		if user == alice { // two are inside, and two wait
			<-inside
			<-inside
			b.until(t, "all to run", "select count(*) = 4 from skill_runs where status = 'running'")
		}
	}
	for _, run := range runs[bob] {
		if got := b.ended(t, run); got != "succeeded" {
			t.Errorf("another user's ended with %q: %s", got, b.fault(t, run))
		}
	}
	close(end)
	for _, run := range runs[alice] {
		if got := b.ended(t, run); got != "succeeded" {
			t.Errorf("the user's own ended with %q: %s", got, b.fault(t, run))
		}
	}
}

// Seven levels of eight skills, each of which calls all of the next level, have two
// million ways through them.
func TestManyWaysAreCheckedOnce(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: sayOrCall})
	user := b.User(t)
	const wide = 8
	var steps []string
	for level := range 7 {
		var next []string
		for n := range wide {
			name := fmt.Sprintf("s%d-%d", level, n)
			if level == 0 {
				b.skill(t, user, "kind = 'javascript', name = $1, source = 'say it'", name)
			} else {
				b.skill(t, user, "kind = 'composite', name = $1, steps = $2", name, "["+strings.Join(steps, ",")+"]")
			}
			next = append(next, fmt.Sprintf(`{"stepId": "a%d", "skillName": %q}`, n, name))
		}
		steps = next
	}
	b.until(t, "all to be checked", "select bool_and(status = 'ready') from skills")
}
