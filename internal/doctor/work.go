package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/helixd/helixd/replication/stream"
)

var (
	nobodyLeads  = Kind{"none", Info}
	leaderSilent = Kind{"silent", Warn}

	lettersThere = Kind{"present", Warn}

	jobsWait      = Kind{"waiting", Warn}
	jobsDiscarded = Kind{"discarded", Warn}
)

var workChecks = []Check{
	{"leader", []Kind{nobodyLeads, leaderSilent}, schema, lookAtLeader},
	{"dead-letters", []Kind{lettersThere}, schema, lookAtDeadLetters},
	{"jobs", []Kind{jobsWait, jobsDiscarded}, schema, lookAtJobs},
}

func lookAtLeader(ctx context.Context, d *Doctor) ([]Finding, error) {
	leaders, err := rowsOf[struct {
		Holder    string
		Since     string
		Heartbeat float64
		Left      bool
		Lives     bool
	}](ctx, d, `select holder, to_char(started_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') || ' UTC', extract(epoch from now() - heartbeat_at)::float8, `+stream.HasLeft+`, `+stream.Lives+`
		from helix.leaders l where slot = $1`, d.Slot)
	if err != nil {
		return nil, err
	}
	// What it may lead is not in its name: another slot, too.
	others, err := list[string](ctx, d, `select distinct application_name from pg_stat_activity
		where application_name like 'helixd %/% %' and datname = current_database() and backend_type = 'client backend'
			and not exists (select from helix.leaders l where l.holder = application_name) order by 1`)
	if err != nil {
		return nil, err
	}
	remedy := "Run: helixd run"
	if len(others) > 0 {
		remedy = "Wait some seconds: " + strings.Join(others, ", ") + " runs. If it does not lead then, see its log."
	}
	switch {
	case len(leaders) == 0:
		return []Finding{nobodyLeads.found(remedy, "", "no helixd has led slot %s yet: nothing is processed", d.Slot)}, nil
	case leaders[0].Left:
		return []Finding{leaderSilent.found(remedy, "", "no helixd leads slot %s: %s has ended in order, %s ago, and nothing is processed", d.Slot, leaders[0].Holder, seconds(leaders[0].Heartbeat))}, nil
	case !leaders[0].Lives:
		return []Finding{leaderSilent.found(remedy, "", "no helixd leads slot %s: the last sign of %s is %s old, and nothing is processed", d.Slot, leaders[0].Holder, seconds(leaders[0].Heartbeat))}, nil
	}
	return fine("%s leads slot %s since %s", leaders[0].Holder, d.Slot, leaders[0].Since), nil
}

func lookAtDeadLetters(ctx context.Context, d *Doctor) ([]Finding, error) {
	letters, err := rowsOf[struct {
		Reactor, Table string
		Count          int64
	}](ctx, d, "select reactor, table_name, count(*) from helix.dead_letters where slot = $1 group by 1, 2 order by 3 desc, 1, 2", d.Slot)
	if err != nil {
		return nil, err
	}
	if len(letters) == 0 {
		return fine("there are no dead letters"), nil
	}
	var each []string
	all := int64(0)
	for _, l := range letters {
		all += l.Count
		each = append(each, fmt.Sprintf("%d of %s by %s", l.Count, l.Table, l.Reactor))
	}
	return []Finding{lettersThere.found("Run: helixd dlq list", "", "%d changes could not be applied: %s", all, strings.Join(each, ", "))}, nil
}

// lateJob is how old a job that could be worked may be, in seconds.
const lateJob = 600

func lookAtJobs(ctx context.Context, d *Doctor) ([]Finding, error) {
	queues, err := rowsOf[struct {
		Queue, Literal  string
		Late, Discarded int64
		Paused          bool
	}](ctx, d, `select j.queue, quote_literal(j.queue), count(*) filter (where j.state in ('available', 'retryable') and j.scheduled_at < now() - make_interval(secs => $1)),
			count(*) filter (where j.state = 'discarded'), coalesce(bool_or(q.paused_at is not null), false)
		from helix.river_job j left join helix.river_queue q on q.name = j.queue
		where j.state in ('available', 'retryable', 'discarded') group by 1, 2 order by 1`, float64(lateJob))
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, q := range queues {
		switch {
		case q.Late > 0 && q.Paused:
			found = append(found, jobsWait.found("Run: helixd resume "+q.Queue, "", "%d jobs of queue %s wait for more than ten minutes: it is paused", q.Late, q.Queue))
		case q.Late > 0:
			found = append(found, jobsWait.found("Run: helixd run --role worker", "", "%d jobs of queue %s wait for more than ten minutes: no process works them, or too few do", q.Late, q.Queue))
		}
		if q.Discarded > 0 {
			found = append(found, jobsDiscarded.found("See select kind, errors[array_length(errors, 1)] from helix.river_job where state = 'discarded'; and to try them again, run:",
				fmt.Sprintf("update helix.river_job set state = 'available', finalized_at = null, attempt = 0, scheduled_at = now() where state = 'discarded' and queue = %s;", q.Literal),
				"%d jobs of queue %s failed for good", q.Discarded, q.Queue))
		}
	}
	if found == nil {
		return fine("no job waits for long, and none failed for good"), nil
	}
	return found, nil
}
