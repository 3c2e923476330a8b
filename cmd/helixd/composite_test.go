package main_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/testenv"
)

// TestCompositeSurvivesKill: helixd is killed while a step is executed. Its worker
// children die with it, and the run goes on after the last step that had ended.
func TestCompositeSurvivesKill(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	slot := db.SlotName("composite")
	p := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	count := get[uuid.UUID](t, admin, `insert into skills (user_id, name, kind, source, capabilities) values ($1, 'count', 'javascript', $2, '{kv}') returning id`, user,
		`export default async (input, helix) => { const n = (await helix.kv.get("n") ?? 0) + 1; await helix.kv.set("n", n); return n }`)
	slow := get[uuid.UUID](t, admin, "insert into skills (user_id, name, kind, wasm_bytecode) values ($1, 'slow', 'wasm', $2) returning id", user, slowSkill(2_000_000_000))
	skill := get[uuid.UUID](t, admin, "insert into skills (user_id, name, kind, steps, capabilities) values ($1, 'three', 'composite', $2, '{kv}') returning id", user,
		fmt.Sprintf(`[{"stepId": "a", "skillName": "%s"}, {"stepId": "b", "skillName": "%s"}, {"stepId": "c", "toolName": "format", "inputMapping": {"template": "{{a}} {{b}}", "a": "$.a", "b": "$.b"}}]`, count, slow))
	until(t, "the checks", func() bool {
		return !get[bool](t, admin, "select exists (select from skills where status = 'pending')")
	})
	if fault := get[string](t, admin, "select coalesce(string_agg(error::text, ' '), '') from skills"); fault != "" {
		t.Fatalf("a skill is not valid: %s", fault)
	}
	run := get[uuid.UUID](t, admin, "insert into skill_runs (user_id, skill_id) values ($1, $2) returning id", user, skill)
	until(t, "the first step", func() bool {
		return get[bool](t, admin, "select coalesce(steps_completed, 0) = 1 from skill_runs where id = $1", run)
	})
	workers := children(t, p.Pid())
	if len(workers) == 0 {
		t.Error("helixd has no worker children")
	}
	p.Kill()
	until(t, "the worker children to be gone", func() bool { return len(alive(workers)) == 0 })
	if got := get[string](t, admin, "select concat_ws(' ', status, steps_completed) from skill_runs where id = $1", run); got != "running 1" {
		t.Fatalf("when helixd was killed the run was %s", got)
	}
	p = start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	until(t, "the run to end", func() bool {
		return get[bool](t, admin, "select finished_at is not null from skill_runs where id = $1", run)
	})
	if got := get[string](t, admin, `select concat_ws(' ', status, error, output, steps_completed, execution_context ->> 'interruptions',
		(select string_agg(s ->> 'stepId', '') from jsonb_array_elements(step_results) s)) from skill_runs where id = $1`, run); got != `succeeded "1 7" 3 1 abc` {
		t.Errorf("it ended so: %s", got)
	}
	if got := get[string](t, admin, "select value::text from helix.skill_kv where skill_id = $1", count); got != "1" {
		t.Errorf("the first step was executed %s times", got)
	}
	const calls = "select string_agg(e ->> 'call', ' ' order by n) from "
	if got := get[string](t, admin, calls+"skill_runs, jsonb_array_elements(audit_log) with ordinality a (e, n) where id = $1", run); got != "kv.get kv.set" {
		t.Errorf("the run's audit_log has %s", got)
	}
	if got := get[string](t, admin, calls+"(select event as e, seq as n from helix.audit where run_id = $1) a", run); got != "kv.get kv.set" {
		t.Errorf("the chain has %s", got)
	}
	p.stop(t)
}
