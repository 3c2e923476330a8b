package main_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox/wasmtest"
	"github.com/helixd/helixd/testenv"
)

// slowSkill counts for a while and gives 7.
func slowSkill(rounds int32) []byte {
	var m wasmtest.Module
	m.Memory(1)
	m.ExportFunc("execute", m.Func("", nil, wasmtest.Types{wasmtest.I32}, wasmtest.Types{wasmtest.I32},
		wasmtest.Loop(), wasmtest.LocalGet(0), wasmtest.I32Const(1), wasmtest.Op(0x6a), wasmtest.LocalTee(0),
		wasmtest.I32Const(rounds), wasmtest.Op(0x48), wasmtest.BrIf(0), wasmtest.Op(0x0b), wasmtest.I32Const(7)))
	return m.Bytes()
}

// TestSkillsSurviveKill: helixd is killed again and again during 500 runs; each
// ends once, with its result.
func TestSkillsSurviveKill(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	slot := db.SlotName("skills")
	p := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	skill := get[uuid.UUID](t, admin, "insert into skills (user_id, name, kind, wasm_bytecode) values ($1, 'slow', 'wasm', $2) returning id", user, slowSkill(3_000_000))
	until(t, "the check", func() bool { return get[bool](t, admin, "select status <> 'pending' from skills where id = $1", skill) })
	if fault := get[string](t, admin, "select coalesce(error::text, '') from skills where id = $1", skill); fault != "" {
		t.Fatalf("the skill is not valid: %s", fault)
	}
	exec1(t, admin, `create table ends (id uuid, status text);
		create function note_end() returns trigger language plpgsql security definer as $$ begin insert into public.ends values (new.id, new.status); return new; end $$;
		create trigger note_end after update on skill_runs for each row when (old.finished_at is null and new.finished_at is not null) execute function note_end()`)
	exec1(t, admin, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, 500)", user, skill)
	for kill := range 2 {
		most := 100 * (kill + 1)
		until(t, fmt.Sprintf("%d results", most), func() bool { return get[int](t, admin, "select count(*) from ends") >= most })
		p.Kill()
		p = start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	}
	until(t, "all results", func() bool {
		return !get[bool](t, admin, "select exists (select from skill_runs where finished_at is null)")
	})
	if got := get[string](t, admin, "select string_agg(concat_ws(' ', status, error ->> 'code', output, n), ', ') from (select status, error, output, count(*) as n from skill_runs group by 1, 2, 3) x"); got != "succeeded 7 500" {
		t.Errorf("the runs ended so: %s", got)
	}
	if n := get[int](t, admin, "select count(*) from ends"); n != 500 {
		t.Errorf("500 runs ended %d times", n)
	}
	p.stop(t)
	if get[bool](t, admin, "select exists (select from helix.skill_claims)") {
		t.Error("a claim is left")
	}
}
