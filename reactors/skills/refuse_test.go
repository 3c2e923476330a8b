package skills_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills"
)

// counted is echo, and how often each input was given.
func counted() (r runner, count func() map[string]int) {
	var mu sync.Mutex
	calls := map[string]int{}
	return runner{run: func(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
			mu.Lock()
			calls[string(call.Input)]++
			mu.Unlock()
			return echo(ctx, call)
		}}, func() map[string]int {
			mu.Lock()
			defer mu.Unlock()
			return maps.Clone(calls)
		}
}

// TestRefusedClaim: a run that an app's own trigger or constraint does not let
// begin, or be cancelled, holds up no other, of its user neither. Two processes
// come upon it, and execute each of the others once.
func TestRefusedClaim(t *testing.T) {
	const raises = "create function app() returns trigger language plpgsql as $$ begin if new.input ? 'bad' and new.status %s then %s; end if; return new; end $$; "
	const before = "create trigger z_app before update on skill_runs for each row execute function app()"
	for name, c := range map[string]struct{ when, what, sql, want string }{
		"Raises":      {"= 'running'", "raise exception 'secret %', new.input", before, "failed run_refused"},
		"Class":       {"= 'running'", "raise insufficient_privilege", before, "failed run_refused"},
		"Constraint":  {sql: "alter table skill_runs add check (status <> 'running' or not input ? 'bad')", want: "failed run_refused"},
		"Deferred":    {"= 'running'", "raise exception 'no'", "create constraint trigger z_app after update on skill_runs deferrable initially deferred for each row execute function app()", "failed run_refused"},
		"AnyStatus":   {"<> 'queued'", "raise exception 'no'", before, "queued run_refused"},
		"AnyDeferred": {"<> 'queued'", "raise exception 'no'", "create constraint trigger z_app after update on skill_runs deferrable initially deferred for each row execute function app()", "queued run_refused"},
		"Anything":    {"is not null", "raise exception 'no'", before, "queued"},
		"Broken":      {"= 'running'", "perform new.absent", before, "queued run_refused"}, // mended, it lets the run begin
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if c.when != "" {
				c.sql = fmt.Sprintf(raises, c.when, c.what) + c.sql
			}
			b.Exec(t, c.sql)
			user, other := b.User(t), b.User(t)
			skill, others := b.skill(t, user, ""), b.skill(t, other, "")
			b.stream(t)
			r, count := counted()
			b.work(t, skills.DefaultConfig, r)
			b.work(t, skills.DefaultConfig, r)
			for range 5 {
				b.Exec(t, `insert into skill_runs (user_id, skill_id, input, cancel_requested) select $1, $2,
					jsonb_build_object(case when n in (3, 4) then 'bad' else 'good' end, gen_random_uuid()), n = 4 from generate_series(1, 9) n`, user, skill)
			}
			b.Exec(t, "insert into skill_runs (user_id, skill_id, input) select $1, $2, to_jsonb(n) from generate_series(1, 10) n", other, others)
			b.until(t, "all that may begin", "select count(*) = 45 from skill_runs where status = 'succeeded'")
			b.until(t, "the others' end", "select not exists (select from skill_runs where concat_ws(' ', status, error ->> 'code') not in ('succeeded', 'cancelled cancelled', $1))", c.want)
			for input, n := range count() {
				if n != 1 {
					t.Errorf("the run of %s was executed %d times", input, n)
				}
			}
			if n := len(count()); n != 45 {
				t.Errorf("%d runs were executed, want 45", n)
			}
		})
	}
}

// TestRefusedUser: where none of a user's runs may begin, those of others do.
func TestRefusedUser(t *testing.T) {
	for name, c := range map[string]struct{ refused, want string }{
		"ToldSo":   {"= 'running'", "failed run_refused"},
		"SetAside": {"<> 'queued'", "queued run_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			user, other := b.User(t), b.User(t)
			skill, others := b.skill(t, user, ""), b.skill(t, other, "")
			b.Exec(t, "create function app() returns trigger language plpgsql as $$ begin if new.user_id = '"+user.String()+"' and new.status "+c.refused+
				" then raise exception 'no'; end if; return new; end $$; create trigger z_app before update on skill_runs for each row execute function app()")
			b.stream(t)
			r, count := counted()
			b.work(t, skills.DefaultConfig, r)
			stop := b.work(t, skills.DefaultConfig, r)
			b.Exec(t, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, 300)", user, skill)
			b.Exec(t, "insert into skill_runs (user_id, skill_id, input) select $1, $2, to_jsonb(n) from generate_series(1, 100) n", other, others)
			b.until(t, "the other's runs", "select count(*) = 100 from skill_runs where user_id = $1 and status = 'succeeded'", other)
			b.until(t, "the user to be told", "select count(*) = 300 from skill_runs where user_id = $1 and concat_ws(' ', status, error ->> 'code') = $2", user, c.want)
			if name == "ToldSo" {
				if n := get[int](t, b.Admin, "select count(*) from realtime.messages where topic = 'helix:' || $1 and payload::text like '%run_refused%'", user); n == 0 {
					t.Error("nothing was broadcast")
				}
				if get[bool](t, b.Admin, "select exists (select from helix.skill_claims)") {
					t.Error("a claim is left")
				}
				return
			}
			b.until(t, "all to be set aside", "select count(*) = 300 from helix.skill_claims where user_id = $1 and not permit", user)
			for range 2 { // sweeps: they adopt what is lost, and not what is set aside
				lost := get[uuid.UUID](t, b.Admin, `with r as (
						insert into skill_runs (user_id, skill_id, input, status, started_at) values ($1, $2, '"lost"', 'running', now()) returning id, user_id)
					insert into helix.skill_claims (run_id, user_id, job_id, attempt, holder, permit) select id, user_id, -1, 1, 'gone', true from r returning run_id`, other, others)
				if got := b.ended(t, lost); got != "succeeded" {
					t.Errorf("the lost run ended with %q", got)
				}
			}
			if n := len(count()); n != 101 {
				t.Errorf("%d runs were executed, want 101", n)
			}
			// The app is mended: a process that starts, as any each hour, tries them again.
			b.Exec(t, "drop trigger z_app on skill_runs")
			stop()
			b.work(t, skills.DefaultConfig, r)
			b.until(t, "all runs", "select not exists (select from skill_runs where status <> 'succeeded')")
			if get[bool](t, b.Admin, "select exists (select from helix.skill_claims) or exists (select from skill_runs where started_at is null)") {
				t.Error("a claim is left, or a run was executed that was not let begin")
			}
		})
	}
}

// TestUnrefusedClaim: a lock, or a connection that is lost, is no refusal: the run
// is tried again.
func TestUnrefusedClaim(t *testing.T) {
	for name, fault := range map[string]string{
		"Locked": "raise lock_not_available",
		"Lost":   "perform pg_terminate_backend(pg_backend_pid())",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.Exec(t, "create function app() returns trigger language plpgsql as $$ begin "+fault+`; return new; end $$;
				create trigger z_app before update on skill_runs for each row when (new.status = 'running') execute function app()`)
			user := b.User(t)
			skill := b.skill(t, user, "")
			b.stream(t)
			b.work(t, skills.DefaultConfig, runner{run: echo})
			run := b.run(t, user, skill, `{}`)
			b.until(t, "the lane to fail", "select exists (select from helix.river_job where kind = 'skill_lane' and errors is not null)")
			if !get[bool](t, b.Admin, "select status = 'queued' and error is null and not exists (select from helix.skill_claims) from skill_runs") {
				t.Error("the run does not just wait")
			}
			b.Exec(t, "drop trigger z_app on skill_runs")
			if got := b.ended(t, run); got != "succeeded" {
				t.Errorf("it ended with %q", got)
			}
		})
	}
}
