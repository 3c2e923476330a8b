package skills_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
)

// waits is a program that ends with its context.
func waits(ctx context.Context, _ sandbox.Call) (sandbox.Result, error) {
	<-ctx.Done()
	return sandbox.Result{}, sandbox.Errorf(sandbox.Cancelled, "the call was cancelled")
}

func TestCancel(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	cfg := skills.DefaultConfig
	cfg.Concurrency = 1
	b.work(t, cfg, runner{run: waits})
	user := b.User(t)
	skill := b.skill(t, user, "")
	running := b.run(t, user, skill, `{}`)
	b.until(t, "the first to run", "select status = 'running' from skill_runs where id = $1", running)
	waiting := b.run(t, user, skill, `{}`)
	gone := b.run(t, user, skill, `{}`)
	t.Run("Waiting", func(t *testing.T) {
		b.Exec(t, "update skill_runs set cancel_requested = true where id = $1", waiting)
		if got := b.ended(t, waiting); got != "cancelled cancelled" {
			t.Errorf("it ended with %q", got)
		}
	})
	t.Run("Running", func(t *testing.T) {
		b.Exec(t, "update skill_runs set cancel_requested = true where id = $1", running)
		if got := b.ended(t, running); got != "cancelled cancelled" {
			t.Errorf("it ended with %q", got)
		}
	})
	t.Run("Deleted", func(t *testing.T) {
		b.until(t, "the last to run", "select status = 'running' from skill_runs where id = $1", gone)
		b.Exec(t, "delete from skill_runs where id = $1", gone)
		b.until(t, "its claim to go", "select not exists (select from helix.skill_claims)")
		if get[bool](t, b.Admin, "select exists (select from skill_runs where id = $1)", gone) {
			t.Error("the deleted run is back")
		}
	})
}

// TestStop: a process that ends in order leaves nothing running, and what it could
// not end is run by another.
func TestStop(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	var calls atomic.Int64
	begun := make(chan struct{}, 2)
	r := runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		if calls.Add(1) <= 2 {
			begun <- struct{}{}
			return waits(ctx, call)
		}
		return echo(ctx, call)
	}}
	stop := b.work(t, skills.DefaultConfig, r)
	user := b.User(t)
	skill := b.skill(t, user, "")
	first, second := b.run(t, user, skill, `1`), b.run(t, user, skill, `2`)
	b.until(t, "both to run", "select count(*) = 2 from skill_runs where status = 'running'")
	<-begun
	<-begun
	stop()
	if !get[bool](t, b.Admin, "select bool_and(status = 'queued' and started_at is null and error is null) from skill_runs") {
		t.Error("a run is not back in the queue")
	}
	if get[bool](t, b.Admin, "select exists (select from helix.skill_claims) or exists (select from helix.workers)") {
		t.Error("the process left a claim, or its name")
	}
	b.work(t, skills.DefaultConfig, r)
	for _, run := range []string{b.ended(t, first), b.ended(t, second)} {
		if run != "succeeded" {
			t.Errorf("afterwards a run ended with %q", run)
		}
	}
}
