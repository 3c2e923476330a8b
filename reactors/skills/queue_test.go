package skills_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
)

// TestRate: runs beyond a user's rate begin later, and none fails of it; other
// users' do not wait for them.
func TestRate(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	cfg := skills.DefaultConfig
	cfg.Rate = 60
	b.work(t, cfg, runner{run: echo})
	ada, bob := b.User(t), b.User(t)
	skill, other := b.skill(t, ada, ""), b.skill(t, bob, "")
	b.Exec(t, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, 66)", ada, skill)
	b.until(t, "what the rate lets begin at once", "select count(*) >= 60 from skill_runs where status = 'succeeded'")
	if got := b.ended(t, b.run(t, bob, other, `{}`)); got != "succeeded" {
		t.Errorf("the other's run ended with %q", got)
	}
	if get[bool](t, b.Admin, "select count(*) = 0 from skill_runs where user_id = $1 and finished_at is null", ada) {
		t.Error("the other's run waited for all of them")
	}
	b.until(t, "all runs", "select not exists (select from skill_runs where status <> 'succeeded')")
	// The clock of started_at is read a moment after that of the rate.
	if early := get[int](t, b.Admin, `select count(*) from (
			select row_number() over w as n, extract(epoch from started_at - min(started_at) over w) as after
			from skill_runs where user_id = $1 window w as (order by started_at, id)) r
		where n > 60 + after + 0.1`, ada); early > 0 {
		t.Errorf("%d runs began before the rate let them", early)
	}
}

// TestQueueBound: of what waits beyond the bound the newest runs fail, and say
// that they may be tried again.
func TestQueueBound(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	cfg := skills.DefaultConfig
	cfg.Concurrency, cfg.QueueBound = 1, 10
	var first atomic.Bool
	release := make(chan struct{})
	b.work(t, cfg, runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		if first.CompareAndSwap(false, true) {
			select {
			case <-release:
			case <-ctx.Done():
			}
		}
		return echo(ctx, call)
	}})
	ada, bob := b.User(t), b.User(t)
	skill, other := b.skill(t, ada, ""), b.skill(t, bob, "")
	b.run(t, ada, skill, `0`)
	b.until(t, "the first to run", "select exists (select from skill_runs where status = 'running')")
	b.Exec(t, "insert into skill_runs (user_id, skill_id, input, created_at) select $1, $2, to_jsonb(n), now() + n * interval '1 ms' from generate_series(1, 14) n", ada, skill)
	b.until(t, "the newest to fail", "select exists (select from skill_runs where status = 'failed')")
	if got := get[string](t, b.Admin, `select string_agg(concat_ws(' ', input, error ->> 'code', error ->> 'retryable', finished_at is not null), ', ' order by input)
		from skill_runs where status = 'failed'`); got != "11 queue_full true t, 12 queue_full true t, 13 queue_full true t, 14 queue_full true t" {
		t.Errorf("failed are %s", got)
	}
	if got := b.ended(t, b.run(t, bob, other, `{}`)); got != "succeeded" {
		t.Errorf("another user's run ended with %q", got)
	}
	close(release)
	b.until(t, "the others", "select count(*) = 11 from skill_runs where user_id = $1 and status = 'succeeded'", ada)
}

// TestInterrupted: a run whose process is lost again and again is not tried for
// ever: it may be why.
func TestInterrupted(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	begun := make(chan struct{}, 10)
	r := runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		begun <- struct{}{}
		return waits(ctx, call)
	}}
	b.work(t, skills.DefaultConfig, r)
	b.work(t, skills.DefaultConfig, r)
	user := b.User(t)
	run := b.run(t, user, b.skill(t, user, ""), `{}`)
	for n := range 3 {
		select {
		case <-begun:
		case <-time.After(patience):
			t.Fatalf("the run was not begun a %d. time: %s", n+1, b.fault(t, run))
		}
		// As a process does that finds another one dead.
		b.Exec(t, "update helix.river_job set state = 'available', scheduled_at = now() where state = 'running' and kind = 'skill_lane'")
	}
	if got := b.ended(t, run); got != "failed interrupted" {
		t.Errorf("it ended with %q", got)
	}
	if len(begun) > 0 {
		t.Error("it was begun a fourth time")
	}
	b.until(t, "its claim to go", "select not exists (select from helix.skill_claims)")
}

// TestSweep: what no job will ever look at is found, though nobody streams.
func TestSweep(t *testing.T) {
	b := newBench(t)
	user := b.User(t)
	b.Exec(t, "insert into helix.skill_queues (user_id) values ($1)", user)
	skill := b.skill(t, user, "")
	var waiting, running, claimed, gone uuid.UUID
	for i, id := range []*uuid.UUID{&waiting, &running, &claimed, &gone} {
		*id = b.run(t, user, skill, `{}`)
		if i > 0 {
			b.Exec(t, "update skill_runs set status = 'running', started_at = now() where id = $1", *id)
		}
		if i > 1 { // of lanes that will not come back
			b.Exec(t, "insert into helix.skill_claims (run_id, user_id, job_id, attempt, holder, permit) values ($1, $2, -$3::bigint, 7, 'gone', true)", *id, user, i)
		}
	}
	b.Exec(t, "delete from skill_runs where id = $1", gone)
	b.work(t, skills.DefaultConfig, runner{run: echo})
	for name, run := range map[string]uuid.UUID{"Waiting": waiting, "RunningNowhere": running, "ClaimedByALostLane": claimed} {
		t.Run(name, func(t *testing.T) {
			if got := b.ended(t, run); got != "succeeded" {
				t.Errorf("it ended with %q: %s", got, b.fault(t, run))
			}
		})
	}
	b.until(t, "no claim to be left", "select not exists (select from helix.skill_claims)")
	unchecked := b.skill(t, user, "")
	b.until(t, "the check", "select status = 'ready' from skills where id = $1", unchecked)
	if n := get[int](t, b.Admin, "select interruptions from (select coalesce(execution_context ->> 'interruptions', '0')::int as interruptions from skill_runs where id = $1) r", claimed); n != 1 {
		t.Errorf("the run of the lost lane was interrupted %d times", n)
	}
}
