package skills_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
)

// echoModule is a skill that gives its input as output: skill_alloc always gives
// address 0, and skill_run the pointer and length that it got.
func echoModule() []byte {
	section := func(id byte, body ...byte) []byte { return append([]byte{id, byte(len(body))}, body...) }
	export := func(name string, kind, index byte) []byte {
		return append(append([]byte{byte(len(name))}, name...), kind, index)
	}
	exports := append([]byte{3}, export("memory", 2, 0)...)
	exports = append(append(exports, export("skill_alloc", 0, 0)...), export("skill_run", 0, 1)...)
	alloc := []byte{0, 0x41, 0x80, 0x08, 0x0b}                                 // i32.const 1024
	run := []byte{0, 0x20, 0, 0xad, 0x42, 32, 0x86, 0x20, 1, 0xad, 0x84, 0x0b} // p << 32 | n
	code := append([]byte{2, byte(len(alloc))}, alloc...)
	code = append(append(code, byte(len(run))), run...)
	module := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range [][]byte{
		section(1, 2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 1, 0x7e),
		section(3, 2, 0, 1), section(5, 1, 0, 17), section(7, exports...), section(10, code...),
	} {
		module = append(module, s...)
	}
	return module
}

// TestModules runs real modules in real children.
func TestModules(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, boxes(t))
	user, other := b.User(t), b.User(t)
	module := func(more string, code []byte, args ...any) uuid.UUID {
		t.Helper()
		return b.skill(t, user, "kind = 'wasm', wasm_bytecode = $1"+more, append([]any{code}, args...)...)
	}
	good := module("", echoModule())
	t.Run("Runs", func(t *testing.T) {
		run := b.run(t, user, good, `{"hello": "wörld"}`)
		if got := b.ended(t, run); got != "succeeded" {
			t.Fatalf("it ended with %q: %s", got, b.fault(t, run))
		}
		if got := get[string](t, b.Admin, "select output::text from skill_runs where id = $1", run); got != `{"hello": "wörld"}` {
			t.Errorf("output %s", got)
		}
		if !get[bool](t, b.Admin, `select s.status = 'ready' and s.checks ->> 'abi' = 'run' and s.sha256 = r.execution_context ->> 'sha256'
			and r.peak_memory_bytes > 0 and r.started_at <= r.finished_at and exists (select from skill_versions v where v.skill_id = s.id and v.sha256 = s.sha256)
			from skills s join skill_runs r on r.skill_id = s.id where r.id = $1`, run) {
			t.Error("the skill's or the run's columns are not as they should be")
		}
	})
	schema := module(`, parameters = '{"type": "object", "properties": {"a": {"type": "object", "properties": {"n": {"type": "integer"}}}}}'`, echoModule())
	for name, c := range map[string]struct {
		skill     uuid.UUID
		user      uuid.UUID
		input     string
		want, has string
	}{
		"BrokenModule":     {module("", []byte("\x00asm\x01\x00\x00\x00\xff")), user, `{}`, "failed skill_invalid", "invalid_module"},
		"NoModuleAtAll":    {module("", []byte("hello")), user, `{}`, "failed skill_invalid", "invalid_module"},
		"WrongABI":         {module("", []byte("\x00asm\x01\x00\x00\x00")), user, `{}`, "failed skill_invalid", "missing_export"},
		"EmptyCode":        {b.skill(t, user, "kind = 'javascript', source = ''"), user, `{}`, "failed skill_invalid", "definition_invalid"},
		"AgainstItsSchema": {schema, user, `{"a": {"n": "x"}}`, "failed input_invalid", `"pointer":"/a/n"`},
		"TooDeep":          {good, user, strings.Repeat("[", 1500) + strings.Repeat("]", 1500), "failed input_invalid", "deep"},
		"Disabled":         {module(", enabled = false", echoModule()), user, `{}`, "failed skill_disabled", ""},
		"RaisedLimit":      {module(`, limits = '{"wall_ms": 3600000}'`, echoModule()), user, `{}`, "failed skill_invalid", "/limits/wall_ms"},
		"UnknownLimit":     {module(`, limits = '{"wall": 1}'`, echoModule()), user, `{}`, "failed skill_invalid", "definition_invalid"},
		"LoweredLimit":     {module(`, limits = '{"input_bytes": 4}'`, echoModule()), user, `{"a": 1}`, "failed input_too_large", ""},
		"Filesystem":       {module(`, capabilities = '{filesystem:read}'`, echoModule()), user, `{}`, "failed skill_invalid", "capability_refused"},
		"BadSchema":        {module(`, parameters = '{"type": 7}'`, echoModule()), user, `{}`, "failed skill_invalid", "/parameters"},
	} {
		t.Run(name, func(t *testing.T) {
			run := b.run(t, c.user, c.skill, c.input)
			if got := b.ended(t, run); got != c.want {
				t.Errorf("it ended with %q, want %q: %s", got, c.want, b.fault(t, run))
			}
			if got := b.fault(t, run); !strings.Contains(got, c.has) {
				t.Errorf("its error is %s, without %s", got, c.has)
			}
		})
	}
	t.Run("AnothersPrivateSkill", func(t *testing.T) {
		if _, err := b.Admin.Exec(t.Context(), "insert into skill_runs (user_id, skill_id) values ($1, $2)", other, good); err == nil {
			t.Error("the run was inserted")
		}
		// What was public when the run was inserted, and is not any more.
		public := module(", visibility = 'public'", echoModule())
		b.Exec(t, "begin")
		run := b.run(t, other, public, `{}`)
		b.Exec(t, "update skills set visibility = 'private' where id = $1", public)
		b.Exec(t, "commit")
		if got := b.ended(t, run); got != "failed skill_not_found" {
			t.Errorf("it ended with %q", got)
		}
	})
	t.Run("ChangedSkillIsLive", func(t *testing.T) {
		skill := module("", echoModule())
		if got := b.ended(t, b.run(t, user, skill, `1`)); got != "succeeded" {
			t.Fatalf("it ended with %q", got)
		}
		b.Exec(t, "update skills set wasm_bytecode = 'x' where id = $1", skill)
		if got := b.ended(t, b.run(t, user, skill, `1`)); got != "failed skill_invalid" {
			t.Errorf("broken, it ended with %q", got)
		}
		b.Exec(t, "update skills set active_sha256 = (select sha256 from skill_versions where skill_id = $1) where id = $1", skill)
		if got := b.ended(t, b.run(t, user, skill, `1`)); got != "succeeded" {
			t.Errorf("rolled back, it ended with %q", got)
		}
	})
	t.Run("Inline", func(t *testing.T) {
		definition, err := json.Marshal(map[string]string{"kind": "wasm", "wasm_bytecode": fmt.Sprintf(`\x%x`, echoModule())})
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]string{string(definition): "succeeded", `{"kind": "perl"}`: "failed definition_invalid",
			`[]`: "failed definition_invalid", `{"kind": "wasm", "wasm_bytecode": "%"}`: "failed definition_invalid"} {
			run := get[uuid.UUID](t, b.Admin, "insert into skill_runs (user_id, definition, input) values ($1, $2, '7') returning id", user, text)
			if got := b.ended(t, run); got != want {
				t.Errorf("%.40s ended with %q, want %q: %s", text, got, want, b.fault(t, run))
			}
		}
	})
	t.Run("DryRun", func(t *testing.T) {
		run := get[uuid.UUID](t, b.Admin, "insert into skill_runs (user_id, skill_id, input, dry_run) values ($1, $2, '{}', true) returning id", user, good)
		if got := b.ended(t, run); got != "succeeded" {
			t.Fatalf("it ended with %q", got)
		}
		if !get[bool](t, b.Admin, "select output #>> '{plan,kind}' = 'wasm' and cpu_ms = 0 from skill_runs where id = $1", run) {
			t.Error("the plan is not there, or something was run")
		}
		run = get[uuid.UUID](t, b.Admin, `insert into skill_runs (user_id, skill_id, input, dry_run) values ($1, $2, '{"a": 1}', true) returning id`, user, schema)
		if got := b.ended(t, run); got != "failed input_invalid" {
			t.Errorf("with a wrong input it ended with %q", got)
		}
	})
}

// fault is a run's error.
func (b *bench) fault(t testing.TB, run uuid.UUID) string {
	t.Helper()
	return get[string](t, b.Admin, "select coalesce(replace(error::text, '\": ', '\":'), '') from skill_runs where id = $1", run)
}

// TestUnstorableOutput: what Postgres cannot store fails its own run, and none of
// those that are committed with it.
func TestUnstorableOutput(t *testing.T) {
	b := newBench(t)
	outputs := map[string]string{"nul": `"\u0000"`, "half": `"\ud800"`, "low": `"\udc00x"`, "number": `1e99999999`, "none": ``, "twice": `1 2`}
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: func(_ context.Context, call sandbox.Call) (sandbox.Result, error) {
		var in struct{ Of string }
		if err := json.Unmarshal(call.Input, &in); err != nil {
			return sandbox.Result{}, err
		}
		if in.Of == "panic" {
			panic("of the daemon's own")
		}
		if bad, ok := outputs[in.Of]; ok {
			return sandbox.Result{Output: []byte(bad), Logs: "a\x00b\xff"}, nil
		}
		return sandbox.Result{Output: call.Input, Logs: "a\x00b\xff"}, nil
	}})
	user := b.User(t)
	skill := b.skill(t, user, "")
	for name := range outputs {
		b.Exec(t, "insert into skill_runs (user_id, skill_id, input) select $1, $2, jsonb_build_object('of', case when n % 5 = 3 then $3 else 'good' end) from generate_series(1, 20) n", user, skill, name)
	}
	b.Exec(t, `insert into skill_runs (user_id, skill_id, input) values ($1, $2, '{"of": "panic"}')`, user, skill)
	b.until(t, "all runs", "select not exists (select from skill_runs where finished_at is null)")
	if got := get[string](t, b.Admin, `select string_agg(line, ', ' order by line) from (
		select concat_ws(' ', input ->> 'of' <> 'good', status, error ->> 'code', count(*)) as line from skill_runs group by input ->> 'of' <> 'good', status, error ->> 'code') x`); got !=
		"f succeeded 96, t failed internal 1, t failed invalid_output 24" {
		t.Errorf("they ended so: %s", got)
	}
}

// TestChangedMeanwhile: a skill that is saved while its run begins is run as it is
// then, in whichever version, and the run does not fail.
func TestChangedMeanwhile(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	user := b.User(t)
	var skill uuid.UUID
	change := sync.OnceFunc(func() {
		if _, err := b.Pool.Exec(t.Context(), "update skills set source = 'export default () => 2' where id = $1", skill); err != nil {
			t.Error(err)
		}
	})
	var read []byte
	b.work(t, skills.DefaultConfig, runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		change()
		read = nil
		err := call.Program.Code(ctx, func(part []byte) error { read = append(read, part...); return nil })
		if err != nil {
			err = fmt.Errorf("as a Pool does: %w", err)
		}
		return sandbox.Result{Output: call.Input}, err
	}})
	skill = b.skill(t, user, "kind = 'javascript', source = 'export default () => 1'")
	if got := b.ended(t, b.run(t, user, skill, `{}`)); got != "succeeded" {
		t.Fatalf("the run ended with %q", got)
	}
	if string(read) != "export default () => 2" {
		t.Errorf("it ran %q", read)
	}
}

// TestDatabaseBreaksOff: a run whose sessions are ended by the server is none that
// failed.
func TestDatabaseBreaksOff(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		return sandbox.Result{Output: call.Input}, call.Program.Code(ctx, func([]byte) error { return nil })
	}})
	user := b.User(t)
	for range 100 { // none of which is known yet
		skill := b.skill(t, user, "")
		b.Exec(t, `insert into skill_runs (user_id, skill_id, input) select $1, $2, to_jsonb(repeat('x', case when n = 3 then 500000 else 1 end) || n) from generate_series(1, 3) n`, user, skill)
		b.Exec(t, `select pg_terminate_backend(a.pid) from pg_stat_activity a where a.datname = current_database() and a.backend_type = 'client backend'
			and a.pid <> pg_backend_pid() and a.query ~ '^select (input|substring|d\.user_id|s\.id)'`)
	}
	b.until(t, "all runs", "select not exists (select from skill_runs where finished_at is null)")
	if got := get[string](t, b.Admin, "select string_agg(concat_ws(' ', status, code, n), ', ') from (select status, error ->> 'code' as code, count(*) as n from skill_runs group by 1, 2) x"); got != "succeeded 300" {
		t.Errorf("the runs ended so: %s", got)
	}
}
