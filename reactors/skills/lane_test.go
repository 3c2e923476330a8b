package skills_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
)

// echo gives the input as output.
func echo(_ context.Context, call sandbox.Call) (sandbox.Result, error) {
	return sandbox.Result{Output: call.Input}, nil
}

func TestRun(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: echo})
	user := b.User(t)
	skill := b.skill(t, user, "")
	run := b.run(t, user, skill, `{"n": 1}`)
	if got := b.ended(t, run); got != "succeeded" {
		t.Fatalf("the run ended with %q", got)
	}
	if got := get[string](t, b.Admin, "select output::text from skill_runs where id = $1", run); got != `{"n": 1}` {
		t.Errorf("its output is %s", got)
	}
	b.until(t, "the count", "select usage_count = 1 from skills where id = $1", skill)
}

// TestConcurrency: a user's runs in all processes are never more than allowed, and
// all of them run.
func TestConcurrency(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	var running, most atomic.Int64
	reached := make(chan struct{}) // closed when as many run as may
	full := sync.OnceFunc(func() { close(reached) })
	slow := runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		n := running.Add(1)
		if n == 3 {
			full()
		}
		select {
		case <-reached:
		case <-ctx.Done():
		}
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(3 * time.Millisecond) // the work of a run, so that they overlap
		return sandbox.Result{Output: call.Input}, nil
	}}
	cfg := skills.DefaultConfig
	cfg.Concurrency = 3
	b.work(t, cfg, slow)
	b.work(t, cfg, slow)
	user := b.User(t)
	skill := b.skill(t, user, "")
	for range 10 {
		b.Exec(t, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, 50)", user, skill)
	}
	b.until(t, "all runs", "select count(*) = 500 from skill_runs where status = 'succeeded'")
	if most.Load() != 3 {
		t.Errorf("%d runs at a time, want 3", most.Load())
	}
	b.until(t, "no claim to be left", "select not exists (select from helix.skill_claims)")
}

// TestFairness: one user's long queue does not delay another's first run.
func TestFairness(t *testing.T) {
	b := newBench(t)
	a, c := b.User(t), b.User(t)
	skill, other := b.skill(t, a, ""), b.skill(t, c, "")
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: echo})
	b.Exec(t, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, 10000)", a, skill)
	b.until(t, "the first runs", "select exists (select from skill_runs where user_id = $1 and status = 'succeeded')", a)
	began := time.Now()
	if got := b.ended(t, b.run(t, c, other, `{}`)); got != "succeeded" {
		t.Fatalf("the other's run ended with %q", got)
	}
	took := time.Since(began)
	if left := get[int](t, b.Admin, "select count(*) from skill_runs where user_id = $1 and status = 'queued'", a); left < 5000 {
		t.Errorf("only %d runs of the long queue were left when the other's ended", left)
	}
	t.Logf("the other's run took %s", took)
	for n := 1000; n <= 10_000; n += 1000 { // as long as it goes on, however slow the machine is
		b.until(t, "the next thousand runs", "select count(*) > $1 from skill_runs where status = 'succeeded'", n)
	}
	t.Logf("10,000 runs took %s", time.Since(began))
}

// TestStorm: what one user inserts and deletes or cancels by the ten thousand
// delays another's run by no more than reading it.
func TestStorm(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, skills.DefaultConfig, runner{run: echo})
	user, other := b.User(t), b.User(t)
	skill, others := b.skill(t, user, ""), b.skill(t, other, "")
	b.Exec(t, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, 60000)", user, skill)
	b.Exec(t, "delete from skill_runs where user_id = $1", user)
	if got := b.ended(t, b.run(t, other, others, `{}`)); got != "succeeded" {
		t.Errorf("beside deleted runs it ended with %q", got)
	}
	b.Exec(t, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, 10000)", user, skill)
	b.Exec(t, "update skill_runs set cancel_requested = true where user_id = $1 and status in ('queued', 'running')", user)
	if got := b.ended(t, b.run(t, other, others, `{}`)); got != "succeeded" {
		t.Errorf("beside cancelled runs it ended with %q", got)
	}
	b.until(t, "all runs", "select not exists (select from skill_runs where finished_at is null)")
}
