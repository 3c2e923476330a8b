package skills_test

import (
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/skills"
)

func BenchmarkRuns(b *testing.B) {
	x := newBench(b)
	user := x.user(b)
	skill := x.skill(b, user, "")
	x.stream(b)
	x.work(b, skills.DefaultConfig, runner{run: echo})
	x.exec(b, "update skills set enabled = true")
	b.ResetTimer()
	began := time.Now()
	x.exec(b, "insert into skill_runs (user_id, skill_id) select $1, $2 from generate_series(1, $3::int)", user, skill, b.N)
	x.until(b, "all runs", "select not exists (select from skill_runs where status in ('queued', 'running'))")
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "runs/s")
	b.Logf("lanes %d", get[int](b, x.admin, "select count(*) from helix.river_job where kind = 'skill_lane'"))
	b.Logf("%s", get[string](b, x.admin, "select coalesce(string_agg(concat_ws(' ', calls, q, ms), E'\n'),'') from (select n_tup_upd as calls, relname as q, n_dead_tup as ms from pg_stat_user_tables order by 1 desc limit 8) x"))
}
