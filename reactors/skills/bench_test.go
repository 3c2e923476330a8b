package skills_test

import (
	"slices"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/skills"
)

// BenchmarkRuns is how fast one user's queue is worked.
func BenchmarkRuns(b *testing.B) {
	x := newBench(b)
	user := x.User(b)
	skill := x.skill(b, user, "")
	x.stream(b)
	x.work(b, skills.DefaultConfig, runner{run: echo})
	b.ResetTimer()
	began := time.Now()
	x.Exec(b, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, $3::int)", user, skill, b.N)
	x.until(b, "all runs", "select not exists (select from skill_runs where status in ('queued', 'running'))")
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "runs/s")
}

// BenchmarkLatency is from the commit of a warm user's insert to that of the result.
func BenchmarkLatency(b *testing.B) {
	x := newBench(b)
	user := x.User(b)
	skill := x.skill(b, user, "")
	x.stream(b)
	x.work(b, skills.DefaultConfig, runner{run: echo})
	x.ended(b, x.run(b, user, skill, "{}"))
	x.Exec(b, `create function wait_for(run uuid) returns void language plpgsql as $$ begin
		while not exists (select from skill_runs where id = run and finished_at is not null) loop perform pg_sleep(0.0005); end loop; end $$`)
	var took []time.Duration
	for b.Loop() {
		run := x.run(b, user, skill, "{}")
		began := time.Now()
		x.Exec(b, "select wait_for($1)", run)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}
