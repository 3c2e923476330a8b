package main_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// waiting holds what waits against the metrics while no worker runs: runs are written,
// and stay jobs.
func (x *told) waiting(t *testing.T, c *clients, admin *pgx.Conn, nodes []*node) {
	t.Helper()
	const runs = 5
	for range runs {
		c.runs = append(c.runs, get[uuid.UUID](t, c.app, "insert into skill_runs (definition, input) values ($1, $2) returning id", echo, fmt.Sprintf(`{"n": %d}`, len(c.runs))))
	}
	until(t, "a job that waits", func() bool {
		return get[bool](t, admin, "select exists (select from helix.river_job where queue = 'skills' and state = 'available')")
	})
	mark := float64(time.Now().UnixMicro()) / 1e6
	for _, n := range nodes {
		var s *scraped
		until(t, "metrics of what waits", func() bool {
			s = x.of(n).last()
			return s != nil && s.values["helixd_postgres_read_timestamp_seconds"] > mark
		})
		at, took := s.values["helixd_postgres_read_timestamp_seconds"], s.values["helixd_postgres_read_duration_seconds"]
		if got := s.values.sum("helixd_reactor_queue_depth", `{reactor="skills"}`); got != runs {
			t.Errorf("%v runs are said to wait, and it is %d", got, runs)
		}
		rows, err := admin.Query(t.Context(), `select queue, state::text, count(*)::float8 as jobs,
			coalesce(extract(epoch from min(scheduled_at) filter (where state = 'available')), 0)::float8 as since
			from helix.river_job where state not in ('completed', 'cancelled') group by 1, 2`)
		if err != nil {
			t.Fatal(err)
		}
		type jobs struct {
			Queue, State string
			Jobs, Since  float64
		}
		all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[jobs])
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range all {
			queue := fmt.Sprintf("{queue=%q}", j.Queue)
			if got := s.values.sum("helixd_queue_jobs", queue, fmt.Sprintf("{state=%q}", j.State)); got != j.Jobs {
				t.Errorf("queue %s has %v jobs that are %s, and it is %v", j.Queue, got, j.State, j.Jobs)
			}
			age := s.values.sum("helixd_queue_oldest_job_age_seconds", queue)
			if j.Since > 0 && (age < at-j.Since-clockStep || age > at+took-j.Since+clockStep) {
				t.Errorf("queue %s: a job is said to wait for %v s, and it is %v to %v", j.Queue, age, at-j.Since, at+took-j.Since)
			}
		}
	}
}

// clockStep is how fine a time is in a metric, in seconds.
const clockStep = 1e-3

// settled waits until what processes have counted is what Postgres says, while nothing
// happens any more. What a killed process has counted since its last scrape is not known:
// that is taken off, within its bound.
func (x *told) settled(t *testing.T) {
	t.Helper()
	var not []string
	defer func() {
		if t.Failed() {
			t.Logf("the metrics differ: %s", strings.Join(not, "; "))
		}
	}()
	until(t, "the metrics to say what is", func() bool {
		not = x.differences(t)
		return len(not) == 0
	})
}

// differences tells what metrics say now and is not so.
func (x *told) differences(t *testing.T) (not []string) {
	before := x.now(t)
	x.mu.Lock()
	lives := slices.Clone(x.lives)
	base := x.truths[0]
	x.mu.Unlock()
	sums := map[string]float64{}
	var lost tail
	for _, l := range lives {
		if l.killed.IsZero() {
			l.scrape(t.Context())
		}
		s := l.last()
		if !l.killed.IsZero() {
			lost.add(x.tail(l, s))
		}
		if s == nil {
			continue
		}
		for _, name := range []string{"helixd_apply_changes_total", "helixd_apply_transactions_total", "helixd_broadcasts_total"} {
			sums[name] += s.values.sum(name)
		}
		if l.killed.IsZero() {
			not = append(not, x.differs(t, l, s)...)
		}
	}
	after := x.now(t)
	within := func(name string, lost, before, after float64) {
		if got := sums[name]; got < before-lost || got > after {
			not = append(not, fmt.Sprintf("%s is %v, want %v, less at most %v that killed processes had not told", name, got, after, lost))
		}
	}
	within("helixd_apply_changes_total", lost.changes, before.Changes-base.Changes, after.Changes-base.Changes)
	within("helixd_apply_transactions_total", lost.transactions, before.Transactions-base.Transactions, after.Transactions-base.Transactions)
	// A job's messages count before it commits, so one that failed has told too many.
	within("helixd_broadcasts_total", lost.messages, before.Messages-base.Messages, math.Inf(1))
	if len(not) == 0 {
		t.Logf("metrics count %v of %v changes, %v of %v transactions, and %v broadcasts of %v messages; killed processes took at most %v changes along",
			sums["helixd_apply_changes_total"], after.Changes-base.Changes, sums["helixd_apply_transactions_total"], after.Transactions-base.Transactions,
			sums["helixd_broadcasts_total"], after.Messages-base.Messages, lost.changes)
		if lost.changes > (after.Changes-base.Changes)/4 {
			not = append(not, "the bound of what killed processes took along says nothing")
		}
	}
	return not
}

// differs tells what one process says and is not so, while all is well and quiet.
func (x *told) differs(t *testing.T, l *life, s *scraped) (not []string) {
	t.Helper()
	conn := x.db.Connect(t, "postgres")
	defer conn.Close(t.Context())
	v := s.values
	leads := l.holder() == x.now(t).Holder
	state := map[bool]string{true: "working", false: "standby"}[l.node.role == "worker"]
	if leads {
		state = "leading"
	}
	for what, is := range map[string]bool{
		"it is " + state:                     v.sum("helixd_state", fmt.Sprintf("{state=%q}", state)) == 1 && v.sum("helixd_state") == 1 && s.ready == 200 && strings.TrimSpace(s.state) == state,
		"it is alive":                        s.live == 200,
		"Postgres is up":                     v["helixd_postgres_up"] == 1,
		"one streams":                        v["helixd_slot_active"] == 1,
		"one stands by":                      v["helixd_standbys"] == 1,
		"two work":                           v["helixd_workers"] == 2,
		"the publication is well":            v["helixd_publication_ok"] == 1,
		"so much waits":                      v.sum("helixd_reactor_queue_depth") == get[float64](t, conn, "select sum(queue_depth)::float8 from helix.status()"),
		"no migration is pending":            v["helixd_migrations_pending"] == 0,
		"each run of a reactor took a time":  v.sum("helixd_reactor_runs_total") == v.sum("helixd_reactor_duration_seconds"),
		"each job took a time":               v.sum("helixd_job_runs_total") == v.sum("helixd_job_duration_seconds"),
		"each transaction took a time":       v["helixd_apply_transactions_total"] == v["helixd_commit_to_apply_seconds"],
		"what is received is applied":        v["helixd_stream_in_flight_bytes"] == 0,
		"a position is told by who leads":    leads == (v["helixd_stream_flushed_lsn_bytes"] > 0),
		"the jobs that it has ended, it has": worked(t, conn, l, s),
	} {
		if !is {
			not = append(not, fmt.Sprintf("%s, pid %d: it does not hold that %s", l.node.role, l.p.Pid(), what))
		}
	}
	return not
}

// worked: a live process has counted each job that is there as ended by it. (It may have
// counted more: where Postgres was not told, the job was worked again.)
func worked(t *testing.T, conn *pgx.Conn, l *life, s *scraped) bool {
	t.Helper()
	rows, err := conn.Query(t.Context(), "select kind from job_events where holder = $1 and what = 'completed'", l.holder())
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	ended := map[string]float64{}
	for _, kind := range kinds {
		ended[kind]++
	}
	for kind, n := range ended {
		if s.values.sum("helixd_job_runs_total", fmt.Sprintf("{kind=%q}", kind), `{outcome="done"}`) < n {
			return false
		}
	}
	return true
}

// tail bounds what a killed process had done and not told.
type tail struct{ changes, transactions, messages float64 }

func (a *tail) add(b tail) {
	a.changes += b.changes
	a.transactions += b.transactions
	a.messages += b.messages
}

// tail of a process: all that was applied from its last scrape to its end, if it led
// meanwhile, and all that clients were told. At the scrape it may have committed one apply that it had not counted yet,
// and no more: an apply begins when the last one is counted. So it is what came after
// the checkpoint before the one of then. (A commit whose answer was lost is counted a
// second or so after its wire is healed; a node is killed no sooner than four rounds later.)
func (x *told) tail(l *life, s *scraped) tail {
	x.mu.Lock()
	defer x.mu.Unlock()
	from, to := 0, len(x.truths)-1
	led := false
	for i, now := range x.truths {
		if s != nil && now.Ended.Before(s.began) {
			from = i
		}
		if now.Began.After(l.killed) {
			to = i
			break
		}
	}
	then := from
	for then > 0 && x.truths[then].Changes == x.truths[from].Changes {
		then--
	}
	for _, now := range x.truths[then : to+1] {
		led = led || now.Holder == l.holder()
	}
	a, b := x.truths[then], x.truths[to]
	if !led { // its jobs may have told of results
		return tail{messages: b.Messages - a.Messages}
	}
	return tail{b.Changes - a.Changes, b.Transactions - a.Transactions, b.Messages - a.Messages}
}

// judge holds every scrape against what Postgres said before and after it.
func (x *told) judge(t *testing.T, admin *pgx.Conn) {
	t.Helper()
	fetched := map[string]float64{}
	rows, err := admin.Query(t.Context(), "select holder, kind from job_events where what = 'fetched'")
	if err != nil {
		t.Fatal(err)
	}
	var holder, kind string
	if _, err := pgx.ForEachRow(rows, []any{&holder, &kind}, func() error { fetched[holder+kind]++; return nil }); err != nil {
		t.Fatal(err)
	}
	said := map[string]int{} // lies, each once
	var scrapes, dark, bracketed int
	for _, l := range x.lives {
		lie := func(format string, a ...any) {
			what, _, _ := strings.Cut(format, ":")
			if said[what]++; said[what] == 1 {
				t.Errorf("%s, pid %d: "+format, append([]any{l.node.role, l.p.Pid()}, a...)...)
			}
		}
		var last values
		for i := range l.scrapes {
			s := &l.scrapes[i]
			scrapes++
			_, after := x.around(s.began, s.ended)
			x.counts(s, last, after, lie)
			x.leads(l, s, lie)
			if s.values["helixd_postgres_up"] == 1 {
				bracketed += x.gauges(s, lie)
			} else if s.fault != "" && s.fault != healed && s.fault != slow {
				dark++
			}
			s.fresh(lie)
			last = s.values
		}
		for series, n := range last {
			if kind, found := strings.CutPrefix(series, "helixd_job_duration_seconds{kind="); found {
				kind = strings.Trim(kind, `"}`)
				if n > fetched[l.holder()+kind] {
					lie("jobs were worked that were never fetched: %s %v, fetched %v", kind, n, fetched[l.holder()+kind])
				}
			}
		}
	}
	x.never(t)
	for what, n := range said {
		if n > 1 {
			t.Errorf("%d times: %s", n, what)
		}
	}
	t.Logf("%d scrapes of %d processes, of which %d held against Postgres, and %d that were cut off and said so; %d looks at Postgres",
		scrapes, len(x.lives), bracketed, dark, len(x.truths))
	if bracketed == 0 || dark == 0 {
		t.Error("no metrics were held against Postgres, or none said that they could not be read")
	}
}

// around gives what Postgres said last before a time and first after another, nil where
// nobody asked.
func (x *told) around(from, to time.Time) (before, after *truth) {
	i, _ := slices.BinarySearchFunc(x.truths, from, func(a truth, at time.Time) int { return a.Ended.Compare(at) })
	if i > 0 {
		before = &x.truths[i-1]
	}
	i, _ = slices.BinarySearchFunc(x.truths, to, func(a truth, at time.Time) int { return a.Began.Compare(at) })
	if i < len(x.truths) {
		after = &x.truths[i]
	}
	return before, after
}

// counts: no counter goes back, none counts what cannot be, and positions are not ahead
// of the checkpoint and of the log.
func (x *told) counts(s *scraped, last values, after *truth, lie func(string, ...any)) {
	for series, was := range last {
		name, _, _ := strings.Cut(series, "{")
		if strings.HasSuffix(name, "_total") && s.values[series] < was {
			lie("a counter went back: %s from %v to %v", series, was, s.values[series])
		}
	}
	for _, name := range []string{"helixd_dead_letters_written_total", "helixd_markers_ignored_total", "helixd_broadcast_failures_total", "helixd_repairs_total", "helixd_provider_requests_total"} {
		if n := s.values.sum(name); n != 0 {
			lie("what never was is counted: %s %v", name, n)
		}
	}
	if n := s.values.sum("helixd_job_runs_total", `{outcome="panicked"}`) + s.values.sum("helixd_reactor_runs_total", `{outcome="poison"}`); n != 0 {
		lie("what never was is counted: panics and poison %v", n)
	}
	if after == nil {
		return
	}
	if at := s.values["helixd_stream_flushed_lsn_bytes"]; at > after.Checkpoint {
		lie("the flushed position is ahead of the checkpoint: %.0f, %.0f", at, after.Checkpoint)
	}
	if at := s.values["helixd_stream_received_lsn_bytes"]; at > after.Inserted {
		lie("the received position is ahead of the log: %.0f, %.0f", at, after.Inserted)
	}
}

// moment is what a busy machine takes to wake a process whose connection is gone.
const moment = 2 * time.Second

// leads: who says that it leads does, or did until a moment ago.
func (x *told) leads(l *life, s *scraped, lie func(string, ...any)) {
	if s.values[`helixd_state{state="leading"}`] != 1 {
		return
	}
	from, _ := x.around(s.began.Add(-moment), s.ended)
	if from == nil {
		return
	}
	for i := range x.truths {
		now := &x.truths[i]
		if !now.Ended.Before(from.Ended) && now.Began.Before(s.ended) && now.Holder == l.holder() {
			return
		}
	}
	lie("it says that it leads, and another does: %s, not %s, wire %s", from.Holder, l.holder(), s.fault)
}

// gauges: what was read from Postgres lies between what it was before and after the time
// that is told with it. Each is the difference of two that only grow. It gives 1 where
// there was something to compare.
func (x *told) gauges(s *scraped, lie func(string, ...any)) int {
	v := s.values
	at := time.UnixMicro(int64(math.Round(v["helixd_postgres_read_timestamp_seconds"] * 1e6)))
	until := at.Add(time.Duration(v["helixd_postgres_read_duration_seconds"]*1e9) + time.Millisecond)
	a, b := x.around(at.Add(-time.Millisecond), until)
	if a == nil || b == nil {
		return 0
	}
	age := func(to, since time.Time) float64 { return to.Sub(since).Seconds() }
	for name, between := range map[string][2]float64{
		"helixd_slot_lag_bytes":               {a.Written - b.Flushed, b.Written - a.Flushed},
		"helixd_slot_retained_wal_bytes":      {a.Written - b.Kept, b.Written - a.Kept},
		"helixd_leader_heartbeat_age_seconds": {age(at, b.Heartbeat) - clockStep, age(until, a.Heartbeat) + clockStep},
		"helixd_checkpoint_age_seconds":       {age(at, b.Applied) - clockStep, age(until, a.Applied) + clockStep},
	} {
		if got, there := v[name]; !there || got < between[0] || got > between[1] {
			lie(name+" is wrong: %v, and Postgres says %v", got, between)
		}
	}
	if got := v.sum("helixd_dead_letters"); got < a.Letters || got > b.Letters {
		lie("helixd_dead_letters is wrong: %v, and Postgres says %v to %v", got, a.Letters, b.Letters)
	}
	if got := v.sum("helixd_reactor_queue_depth", `{reactor="skills"}`); got > b.Runs-a.RunsEnded {
		lie("helixd_reactor_queue_depth is wrong: %v runs, and of %v had %v ended", got, b.Runs, a.RunsEnded)
	}
	return 1
}

// fresh: what is told of Postgres is as old as the documentation says at the most, and
// nothing where it cannot be read. A wire that carries no answers brought none.
func (s *scraped) fresh(lie func(string, ...any)) {
	v := s.values
	if s.live != 200 {
		lie("it says that it is stuck: /livez %d", s.live)
	}
	if v["helixd_postgres_up"] != 1 {
		for _, series := range slices.Sorted(maps.Keys(v)) {
			if strings.HasPrefix(series, "helixd_slot_") || strings.HasPrefix(series, "helixd_queue_") || series == "helixd_dead_letters" || series == "helixd_lag_seconds" {
				lie("what cannot be read is told: %s", series)
			}
		}
		if s.ready == 200 && s.fault != "" && s.fault != healed && s.fault != slow {
			lie("it is said to be ready, and cannot read the database: %s", s.state)
		}
		return
	}
	at, took := v["helixd_postgres_read_timestamp_seconds"], v["helixd_postgres_read_duration_seconds"]
	if age := float64(s.began.UnixMicro())/1e6 - at; age > took+max(5, 10*took)+clockStep {
		lie("what is told is old: %v s, and it took %v s to read", age, took)
	}
	if (s.fault == cut || s.fault == frozen || s.fault == halfOpen) && at > float64(s.faulted.UnixMicro())/1e6+clockStep {
		lie("it tells what it cannot have read: %v s after the wire was %s", at-float64(s.faulted.UnixMicro())/1e6, s.fault)
	}
}

// never: at no time was more counted than there was.
func (x *told) never(t *testing.T) {
	t.Helper()
	base := x.truths[0]
	next := make([]int, len(x.lives)) // of each life's scrapes, the first that comes
	for _, now := range x.truths {
		changes, transactions := 0.0, 0.0
		for i, l := range x.lives {
			for next[i] < len(l.scrapes) && l.scrapes[next[i]].ended.Before(now.Began) {
				next[i]++
			}
			if next[i] > 0 {
				v := l.scrapes[next[i]-1].values
				changes += v["helixd_apply_changes_total"]
				transactions += v["helixd_apply_transactions_total"]
			}
		}
		if changes > now.Changes-base.Changes || transactions > now.Transactions-base.Transactions {
			t.Errorf("%v changes in %v transactions were counted, and %v in %v applied", changes, transactions, now.Changes-base.Changes, now.Transactions-base.Transactions)
			return
		}
	}
}
