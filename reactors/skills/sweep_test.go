package skills_test

import (
	"testing"

	"github.com/helixd/helixd/reactors/skills"
)

// TestClaimsOfLostLanes: a claim whose lane's job is gone, or ended without it, is
// run by another.
func TestClaimsOfLostLanes(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	user := b.User(t)
	skill := b.skill(t, user, "")
	run := b.run(t, user, skill, `{}`)
	b.Exec(t, "update skill_runs set status = 'running', started_at = now() where id = $1", run)
	b.Exec(t, "insert into helix.skill_claims (run_id, user_id, job_id, attempt, holder, permit) values ($1, $2, 999999, 1, 'nobody', true)", run, user)
	b.work(t, skills.DefaultConfig, runner{run: echo})
	if got := b.ended(t, run); got != "succeeded" {
		t.Errorf("it ended with %q", got)
	}
}
