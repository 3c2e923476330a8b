package skills_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
	"github.com/helixd/helixd/reactors/skills"
)

// TestTools calls the built-in tools in steps, which need no sandbox.
func TestTools(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: func(context.Context, sandbox.Call) (sandbox.Result, error) {
		t.Error("a program was run")
		return sandbox.Result{}, nil
	}})
	user := b.User(t)
	b.Exec(t, "insert into memories (user_id, type, content) values ($1, 'episodic', 'a red bicycle'), ($2, 'episodic', 'a red car')", user, b.User(t))
	made := 0
	composite := func(t *testing.T, capabilities, steps string) uuid.UUID {
		t.Helper()
		made++
		return b.skill(t, user, "kind = 'composite', name = $1, steps = $2, capabilities = $3::text::text[]", fmt.Sprint("c", made), steps, capabilities)
	}
	t.Run("SearchFormatWrite", func(t *testing.T) {
		skill := composite(t, "{memories:read,memories:write}", `[
			{"stepId": "found", "toolName": "memory.search", "inputMapping": {"query": "$.input.query"}},
			{"stepId": "text", "toolName": "format", "inputMapping": {"template": "You wrote: {{lines}}", "lines": "$.found[*].content"}},
			{"stepId": "kept", "toolName": "memory.write", "inputMapping": {"type": "semantic", "content": "$.text"}}]`)
		run := b.run(t, user, skill, `{"query": "bicycle red"}`)
		if got := b.ended(t, run); got != "succeeded" {
			t.Fatalf("it ended with %q: %s", got, b.fault(t, run))
		}
		if got := get[string](t, b.Admin, "select concat_ws(' | ', m.type, m.content) from skill_runs r join memories m on m.id = (r.output ->> 'id')::uuid and m.user_id = r.user_id where r.id = $1", run); got !=
			"semantic | You wrote: a red bicycle" {
			t.Errorf("it wrote %q", got)
		}
		if got := get[string](t, b.Admin, "select string_agg(concat_ws(' ', e ->> 'call', e ->> 'outcome'), ', ') from skill_runs, jsonb_array_elements(audit_log) e where id = $1", run); got !=
			"memories.search ok, memories.write ok" {
			t.Errorf("the audit_log has %s", got)
		}
	})
	for name, c := range map[string]struct{ capabilities, tool, input, want string }{
		"HTTPWithoutCapability":   {"{}", "http", `{"url": "https://api.example.com/"}`, "host_not_allowed"},
		"HTTPToAnotherHost":       {"{network:https:api.example.com}", "http", `{"url": "https://other.example.com/"}`, "host_not_allowed"},
		"HTTPWithoutTLS":          {"{network:https:api.example.com}", "http", `{"url": "http://api.example.com/"}`, "invalid_request"},
		"SearchWithoutCapability": {"{memories:write}", "memory.search", `{"query": "red"}`, "capability_not_granted"},
		"WriteWithoutCapability":  {"{memories:read}", "memory.write", `{"type": "semantic", "content": "x"}`, "capability_not_granted"},
		"WriteOfNothing":          {"{memories:write}", "memory.write", `{"type": "semantic", "content": ""}`, "invalid_request"},
		"NoLanguageModel":         {"{llm}", "llm", `{"prompt": "hello"}`, "llm_unavailable"},
		"ModelWithoutCapability":  {"{memories:read}", "llm", `{"prompt": "hello"}`, "capability_not_granted"},
		"NoTemplate":              {"{}", "format", `{"text": "hello"}`, "input_invalid"},
		"UnknownName":             {"{}", "format", `{"template": "{{who}}"}`, "input_invalid"},
	} {
		t.Run(name, func(t *testing.T) {
			run := b.run(t, user, composite(t, c.capabilities, fmt.Sprintf(`[{"stepId": "a", "toolName": %q, "inputMapping": %s}]`, c.tool, c.input)), `{}`)
			if got := b.ended(t, run); got != "failed step_failed" {
				t.Errorf("it ended with %q: %s", got, b.fault(t, run))
			}
			if got := get[string](t, b.Admin, "select concat_ws(' ', step_results -> 0 ->> 'success', step_results -> 0 -> 'error' ->> 'code', error ->> 'step') from skill_runs where id = $1", run); got !=
				"false "+c.want+" a" {
				t.Errorf("its step ended with %s, want %s", got, c.want)
			}
		})
	}
}

// keeper is a module that makes the host call that its input names in six letters,
// {"name": "kv.get", "request": {…}} as jsonb is spelled, and gives the response.
func keeper() []byte {
	const name, request = 10, 30 // where they begin
	m := &Module{}
	call := m.Import("helix", "call", Types{I32, I32, I32, I32}, Types{I64})
	m.Memory(1)
	m.ExportMemory("memory")
	add := Op(0x6a)
	m.ExportFunc("skill_alloc", m.Func("", Types{I32}, Types{I32}, nil, I32Const(4096)))
	m.ExportFunc("skill_run", m.Func("", Types{I32, I32}, Types{I64}, nil, LocalGet(0), I32Const(name), add, I32Const(6),
		LocalGet(0), I32Const(request), add, LocalGet(1), I32Const(-request-1), add, Call(call)))
	return m.Bytes()
}

// TestKV: what a skill keeps is its own, of one user, whichever kind it is.
func TestKV(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, boxes(t))
	ada, bob := b.User(t), b.User(t)
	module := b.skill(t, ada, "kind = 'wasm', visibility = 'public', wasm_bytecode = $1, capabilities = '{kv}'", keeper())
	b.grant(t, bob, module, "kv")
	bare := b.skill(t, ada, "kind = 'wasm', wasm_bytecode = $1", keeper())
	script := b.skill(t, ada, "kind = 'javascript', source = $1, capabilities = '{kv}'",
		"export default async (input, helix) => ({ok: await helix.call(input.name, input.request)})")
	short := b.skill(t, ada, "kind = 'javascript', source = $1, capabilities = '{kv}'", `export default async ({key}, {kv}) => {
		const before = await kv.get(key)
		await kv.set(key, {n: (before?.n ?? 0) + 1})
		const now = [await kv.get(key), await kv.list("")]
		if (now[0].n === 2) await kv.delete(key)
		return [before, ...now, await kv.get(key)]
	}`)
	set, got := `{"name": "kv.set", "request": {"key": "a", "value": [1, "ö"]}}`, `{"name": "kv.get", "request": {"key": "a"}}`
	for _, c := range []struct {
		name        string
		user, skill uuid.UUID
		input, want string
	}{
		{"ModuleFindsNothing", ada, module, got, `{"ok": {"value": null}}`},
		{"ModuleSets", ada, module, set, `{"ok": {}}`},
		{"ModuleGets", ada, module, got, `{"ok": {"value": [1, "ö"]}}`},
		{"AnotherUserFindsNothing", bob, module, got, `{"ok": {"value": null}}`},
		{"AnotherSkillFindsNothing", ada, script, got, `{"ok": {"value": null}}`},
		{"ScriptSets", ada, script, set, `{"ok": {}}`},
		{"ScriptGets", ada, script, got, `{"ok": {"value": [1, "ö"]}}`},
		{"ScriptCounts", ada, short, `{"key": "k"}`, `[null, {"n": 1}, ["k"], {"n": 1}]`},
		{"ScriptCountsOnAndDeletes", ada, short, `{"key": "k"}`, `[{"n": 1}, {"n": 2}, ["k"], null]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := b.run(t, c.user, c.skill, c.input)
			if ended := b.ended(t, run); ended != "succeeded" {
				t.Fatalf("it ended with %q: %s", ended, b.fault(t, run))
			}
			if output := get[string](t, b.Admin, "select output::text from skill_runs where id = $1", run); output != c.want {
				t.Errorf("it gave %s, want %s", output, c.want)
			}
		})
	}
	t.Run("NotWithoutTheCapability", func(t *testing.T) {
		run := b.run(t, ada, bare, got)
		if ended := b.ended(t, run); ended != "succeeded" || get[string](t, b.Admin, "select output -> 'error' ->> 'code' from skill_runs where id = $1", run) != "capability_not_granted" {
			t.Errorf("it ended with %q: %s", ended, b.fault(t, run))
		}
	})
	t.Run("InlineKeepsNothing", func(t *testing.T) {
		run := get[uuid.UUID](t, b.Admin, `insert into skill_runs (user_id, definition, input) values ($1, jsonb_build_object('kind', 'javascript',
			'capabilities', array['kv'], 'source', 'export default (input, helix) => helix.kv.set("a", 1)'), '{}') returning id`, ada)
		if ended := b.ended(t, run); ended != "failed invalid_request" {
			t.Errorf("it ended with %q: %s", ended, b.fault(t, run))
		}
	})
}
