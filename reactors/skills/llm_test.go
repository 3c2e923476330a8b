package skills_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/reactors/skills/model"
	"github.com/helixd/helixd/reactors/usage"
)

// asks lets skills ask a provider, and gives it.
func (b *bench) asks(t *testing.T, budget usage.Budget) *llmtest.Server {
	t.Helper()
	server := llmtest.New(t)
	provider, err := llm.NewAnthropic(llm.Options{BaseURL: server.URL, Key: llmtest.Key})
	if err != nil {
		t.Fatal(err)
	}
	client := llm.NewClient(provider, llm.ClientConfig{Random: func() float64 { return 0 },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	b.host.Model, err = model.New(b.Pool, client, usage.NewLedger(b.Pool, map[string]usage.Budget{usage.PurposeSkill: budget}, nil), redact.Rules{Kinds: redact.Kinds()})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// TestLanguageModel: runs whose steps and scripts ask one.
func TestLanguageModel(t *testing.T) {
	b := newBench(t)
	server := b.asks(t, usage.Budget{UserRequests: 10})
	b.stream(t)
	b.work(t, skills.DefaultConfig, boxes(t))
	skill := func(t *testing.T, user uuid.UUID, more string, args ...any) uuid.UUID {
		t.Helper()
		return b.skill(t, user, more, args...)
	}
	steps := func(t *testing.T, user uuid.UUID, capabilities, steps string) uuid.UUID {
		t.Helper()
		return skill(t, user, "kind = 'composite', steps = $1, capabilities = $2::text::text[]", steps, capabilities)
	}
	ends := func(t *testing.T, run uuid.UUID, want string) {
		t.Helper()
		if got := b.ended(t, run); got != want {
			t.Fatalf("it ended with %q, want %q: %s", got, want, b.fault(t, run))
		}
	}
	output := func(t *testing.T, run uuid.UUID) string {
		t.Helper()
		return get[string](t, b.Admin, "select output::text from skill_runs where id = $1", run)
	}
	audited := func(t *testing.T, run uuid.UUID) string {
		t.Helper()
		return get[string](t, b.Admin, "select coalesce(string_agg(concat_ws(' ', e ->> 'call', e ->> 'outcome'), ', '), '') from skill_runs, jsonb_array_elements(audit_log) e where id = $1", run)
	}
	t.Run("Steps", func(t *testing.T) {
		user := b.User(t)
		b.Exec(t, "insert into memories (user_id, type, content) values ($1, 'episodic', 'a red bicycle from ada@example.com')", user)
		run := b.run(t, user, steps(t, user, "{memories:read,llm}", `{"steps": [
			{"stepId": "found", "toolName": "memory.search", "inputMapping": {"query": "bicycle"}},
			{"stepId": "answer", "toolName": "llm", "inputMapping": {"prompt": "$.input.question", "memories": "$.found[*].content"}},
			{"stepId": "kind", "toolName": "llm", "inputMapping": {"prompt": "$.answer.text",
				"schema": {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}}}],
			"output": {"text": "$.answer.text", "colour": "$.kind.json.colour"}}`), `{"question": "Which bicycle?"}`)
		ends(t, run, "succeeded")
		if got, want := output(t, run), `{"text": "You said: Which bicycle?\n\n<data>\n\"a red bicycle from ada@example.com\"\n</data>", "colour": "red"}`; got != want {
			t.Errorf("it gave %s, want %s", got, want)
		}
		if got := audited(t, run); got != "memories.search ok, llm.complete ok, llm.complete ok" {
			t.Errorf("the audit_log has %s", got)
		}
		if log := get[string](t, b.Admin, "select audit_log::text from skill_runs where id = $1", run); strings.Contains(log, "bicycle") {
			t.Errorf("the audit_log has what was said: %s", log)
		}
		for _, r := range server.Requests() {
			if strings.Contains(string(r.Body), "ada@") || strings.Contains(string(r.Body), user.String()) {
				t.Errorf("sent %s", r.Body)
			}
		}
		if n := get[int](t, b.Admin, "select requests from helix.usage where user_id = $1 and purpose = 'skill' and held_tokens = 0 and input_tokens > 0", user); n != 2 {
			t.Errorf("the books have %d requests", n)
		}
	})
	t.Run("Script", func(t *testing.T) {
		user := b.User(t)
		run := b.run(t, user, skill(t, user, "source = $1, kind = 'javascript', capabilities = '{llm}'", `export default async ({question}, {llm}) => [
			(await llm.complete(question)).text,
			await llm.complete({prompt: question, schema: {type: "object", properties: {n: {type: "integer"}}}}),
			await llm.complete({prompt: ""}).catch(e => e.code)]`), `{"question": "How many?"}`)
		ends(t, run, "succeeded")
		if got, want := output(t, run), `["You said: How many?", {"json": {"n": 1}}, "invalid_request"]`; got != want {
			t.Errorf("it gave %s, want %s", got, want)
		}
		if got := audited(t, run); got != "llm.complete ok, llm.complete ok, llm.complete invalid_request" {
			t.Errorf("the audit_log has %s", got)
		}
	})
	const one = `[{"stepId": "a", "toolName": "llm", "inputMapping": {"prompt": "$.input.p"}%s}]`
	failed := func(t *testing.T, run uuid.UUID, want string) {
		t.Helper()
		ends(t, run, "failed step_failed")
		if got := get[string](t, b.Admin, "select concat_ws(' ', step_results -> 0 -> 'error' ->> 'code', error ->> 'retryable', retries_used) from skill_runs where id = $1", run); got != want {
			t.Errorf("its step ended with %s, want %s: %s", got, want, b.fault(t, run))
		}
	}
	t.Run("RetriedStep", func(t *testing.T) {
		user := b.User(t)
		before := server.Count()
		unavailable := llmtest.Step{Status: 503}
		server.Script(unavailable, unavailable, unavailable) // as often as a call asks
		run := b.run(t, user, steps(t, user, "{llm}", fmt.Sprintf(one, `, "errorHandling": {"retry": {"maxRetries": 2, "baseDelayMs": 1}}`)), `{"p": "again"}`)
		ends(t, run, "succeeded")
		keys := map[string]bool{}
		for _, r := range server.Requests()[before:] {
			keys[r.Key] = true
		}
		if len(keys) != 1 || keys[""] || server.Count() != before+4 {
			t.Errorf("%d requests with the keys %v", server.Count()-before, keys)
		}
		if got := audited(t, run); got != "llm.complete llm_failed, llm.complete ok" {
			t.Errorf("the audit_log has %s", got)
		}
	})
	t.Run("Declined", func(t *testing.T) {
		user := b.User(t)
		before := server.Count()
		server.Script(llmtest.Step{Refuse: true})
		failed(t, b.run(t, user, steps(t, user, "{llm}", fmt.Sprintf(one, `, "errorHandling": "retry"`)), `{"p": "x"}`), "llm_refused false 0")
		if n := server.Count() - before; n != 1 {
			t.Errorf("it was asked %d times", n)
		}
	})
	t.Run("OptedOut", func(t *testing.T) {
		user := b.User(t)
		before := server.Count()
		b.Exec(t, "insert into privacy_settings (user_id, opt_out) values ($1, array['skill_runs.llm'])", user)
		failed(t, b.run(t, user, steps(t, user, "{llm}", fmt.Sprintf(one, "")), `{"p": "x"}`), "llm_unavailable false 0")
		if n := server.Count() - before; n != 0 {
			t.Errorf("it was asked %d times", n)
		}
	})
	t.Run("Spent", func(t *testing.T) {
		user := b.User(t)
		run := b.run(t, user, skill(t, user, "source = $1, kind = 'javascript', capabilities = '{llm}'", `export default async (_, {llm}) => {
			for (let i = 0; ; i++) try { await llm.complete("x") } catch (e) { return [i, e.code] } }`), `{}`)
		ends(t, run, "succeeded")
		if got := output(t, run); got != `[9, "llm_budget_spent"]` {
			t.Errorf("it gave %s", got)
		}
	})
	t.Run("OthersSkill", func(t *testing.T) {
		author, user := b.User(t), b.User(t)
		public := skill(t, author, "source = $1, kind = 'javascript', capabilities = '{llm}', visibility = 'public'", `export default (_, {llm}) => llm.complete("x")`)
		ends(t, b.run(t, user, public, `{}`), "failed capability_not_granted")
		b.grant(t, user, public, "llm")
		ends(t, b.run(t, user, public, `{}`), "succeeded")
		if n := get[int](t, b.Admin, "select count(*) from helix.usage where user_id = $1", author); n != 0 {
			t.Error("its author pays for it")
		}
		caller := steps(t, user, "{}", fmt.Sprintf(`[{"stepId": "a", "skillName": %q}]`, public))
		failed(t, b.run(t, user, caller, `{}`), "capability_not_granted false 0")
	})
}
