package skills_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
)

// TestSameID: a skill that is deleted and inserted again with its id is the new one.
func TestSameID(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		var code []byte
		err := call.Program.Code(ctx, func(b []byte) error { code = append(code, b...); return nil })
		return sandbox.Result{Output: fmt.Appendf(nil, `{"code": %q, "sha": "%x"}`, code, call.Program.SHA256[:4])}, err
	}})
	user, other := b.User(t), b.User(t)
	id := uuid.New()
	outputs := map[string]string{}
	for i, c := range []struct {
		user uuid.UUID
		code string
	}{{user, "one"}, {user, "two"}, {other, "three"}} {
		b.Exec(t, "delete from skills where id = $1", id)
		b.Exec(t, "insert into skills (id, user_id, name, kind, source) values ($1, $2, 'x', 'javascript', $3)", id, c.user, c.code)
		run := b.run(t, c.user, id, `{}`)
		if got := b.ended(t, run); got != "succeeded" {
			t.Errorf("%d ended with %q: %s", i, got, b.fault(t, run))
			continue
		}
		sha := get[string](t, b.Admin, "select (output ->> 'sha') || ' ' || (execution_context ->> 'sha256') from skill_runs where id = $1", run)
		if was, is := outputs[sha]; is {
			t.Errorf("%s ran what %s was", c.code, was)
		}
		outputs[sha] = c.code
	}
}

// TestNullCapability: an array that is no list of texts is the skill's fault.
func TestNullCapability(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: echo})
	user := b.User(t)
	for _, bad := range []string{"{NULL}", "{{kv,memories:read}}", "{kv,NULL}"} {
		skill := b.skill(t, user, "kind = 'javascript', source = 'x', capabilities = $1::text::text[]", bad)
		run := b.run(t, user, skill, `{}`)
		if got := b.ended(t, run); got != "failed skill_invalid" && got != "succeeded" {
			t.Errorf("%s ended with %q", bad, got)
		}
	}
}
