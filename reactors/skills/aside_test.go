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

// TestLockedRun: who holds a lock on a run, delays nobody else's results.
func TestLockedRun(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	release := make(chan struct{})
	b.work(t, skills.DefaultConfig, runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		if string(call.Input) == `"wait"` {
			<-release
		}
		return echo(ctx, call)
	}})
	user, other := b.User(t), b.User(t)
	skill, others := b.skill(t, user, ""), b.skill(t, other, "")
	run := b.run(t, user, skill, `"wait"`)
	b.until(t, "it to run", "select status = 'running' from skill_runs where id = $1", run)
	locker := b.DB.Connect(t, "postgres")
	if _, err := locker.Exec(t.Context(), "begin; update skill_runs set cancel_requested = false where id = '"+run.String()+"'"); err != nil {
		t.Fatal(err)
	}
	close(release)
	second := b.run(t, other, others, `{}`)
	b.until(t, "another's run, which needs no lock", "select finished_at is not null from skill_runs where id = $1", second)
	if _, err := locker.Exec(t.Context(), "commit"); err != nil {
		t.Fatal(err)
	}
	for _, run := range []uuid.UUID{run, second} {
		if got := b.ended(t, run); got != "succeeded" {
			t.Errorf("it ended with %q", got)
		}
	}
}

// TestRefusedResult: a result that an app's own trigger refuses keeps neither a
// claim nor the user's queue.
func TestRefusedResult(t *testing.T) {
	for name, trigger := range map[string]string{
		"RefusesOutput": "if new.output->>'bad' is not null then raise exception 'no'; end if;",
		"RefusesEnd":    "if new.input->>'bad' is not null and new.finished_at is not null then raise exception 'no'; end if;",
		"RefusesClass":  "if new.input->>'bad' is not null and new.finished_at is not null then raise insufficient_privilege; end if;",
		"Divides":       "if new.input->>'bad' is not null and new.finished_at is not null then perform 1/0; end if;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.stream(t)
			b.Exec(t, "create function app() returns trigger language plpgsql as $$ begin "+trigger+" return new; end $$")
			b.Exec(t, "create trigger z_app before update on skill_runs for each row execute function app()")
			b.work(t, skills.DefaultConfig, runner{run: echo})
			user, other := b.User(t), b.User(t)
			skill, others := b.skill(t, user, ""), b.skill(t, other, "")
			for range 10 {
				b.Exec(t, `insert into skill_runs (user_id, skill_id, input) select $1, $2, case when n = 3 then '{"bad": 1}' else '{}' end::jsonb from generate_series(1, 5) n`, user, skill)
			}
			b.run(t, other, others, `{}`)
			b.until(t, "all others", "select not exists (select from skill_runs where status <> 'succeeded' and not coalesce(input ? 'bad', false))")
		})
	}
}

// TestAccountDeletion: accounts go while their runs are executed, at the first try.
func TestAccountDeletion(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	var n atomic.Int64
	b.work(t, skills.DefaultConfig, runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
		if n.Add(1)%3 == 0 {
			time.Sleep(5 * time.Millisecond) // the work of a run, so that some are in it when the account goes
		}
		return echo(ctx, call)
	}})
	for range 50 {
		user := b.User(t)
		skill := b.skill(t, user, "")
		b.Exec(t, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, 60)", user, skill)
		b.until(t, "one to end", "select exists (select from skill_runs where user_id = $1 and status = 'succeeded')", user)
		b.Exec(t, "delete from auth.users where id = $1", user)
		if left := get[string](t, b.Admin, `select concat_ws(' ', (select count(*) from skill_runs where user_id = $1), (select count(*) from helix.skill_claims where user_id = $1),
			(select count(*) from helix.audit where user_id = $1), (select count(*) from helix.skill_queues where user_id = $1))`, user); left != "0 0 0 0" {
			t.Errorf("left: %s", left)
		}
	}
}
