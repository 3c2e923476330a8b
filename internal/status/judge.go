package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Problem is something that is not as it should be, and what to do.
type Problem struct {
	Severity string `json:"severity"` // critical or warning
	What     string `json:"what"`
	Next     string `json:"next"`
}

// Severities. Critical is that results do not come, or that changes may be lost.
const (
	Critical = "critical"
	Warning  = "warning"
)

const (
	lateSeconds = 60      // as helix.status() has it
	longWait    = 10 * 60 // seconds that a job has waited
)

// judge fills in the problems, the worst first.
func (r *Report) judge() {
	r.Problems = []Problem{}
	say := func(is bool, severity, what, next string) {
		if is {
			r.Problems = append(r.Problems, Problem{severity, what, next})
		}
	}
	if pending := r.Migrations.Pending; len(pending) > 0 {
		say(true, Critical, fmt.Sprintf("the schema lacks %d migrations, the first is %s", len(pending), pending[0]), "Run: helixd migrate")
		return
	}
	for _, p := range r.Paused {
		say(true, Warning, p.text(), "Run: helixd resume "+p.What)
	}
	r.judgeStream(say)
	r.judgeWork(say)
	slices.SortStableFunc(r.Problems, func(a, b Problem) int { return cmp.Compare(a.Severity, b.Severity) })
	r.Healthy = !slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Severity == Critical })
}

func (r *Report) judgeStream(say func(is bool, severity, what, next string)) {
	leads := r.Leader.lives()
	switch {
	case r.Leader == nil:
		say(true, Critical, "no helixd has ever streamed with this slot", "Run: helixd run")
	case r.Leader.Left:
		say(true, Critical, fmt.Sprintf("no helixd leads: %s has ended in order, %s ago", r.Leader.Holder, duration(r.Leader.HeartbeatSeconds)), "Run: helixd run")
	case !leads:
		say(true, Critical, fmt.Sprintf("no helixd leads: %s gave its last sign %s ago", r.Leader.Holder, duration(r.Leader.HeartbeatSeconds)),
			"Start helixd run, or see its log")
	}
	if slot := r.Slot; slot == nil {
		say(r.Leader != nil, Critical, "the replication slot is not there", "Start helixd run: it makes a new one, and reads all rows once")
	} else {
		say(leads && !slot.Active, Critical, "nobody streams from the slot", "See the log of "+holderOf(r.Leader))
		say(slot.WALStatus == "lost", Critical, "the server has removed write-ahead log that the slot needed",
			"helixd run makes a new slot, and reads all rows once; raise max_slot_wal_keep_size")
		say(slot.WALStatus == "unreserved", Critical, "the server is about to remove write-ahead log that the slot needs",
			"See why helixd is behind, or raise max_slot_wal_keep_size")
		half := slot.LimitBytes != nil && slot.SafeBytes != nil && *slot.SafeBytes < *slot.LimitBytes/2
		say(slot.WALStatus == "extended" || slot.WALStatus == "reserved" && half, Warning,
			fmt.Sprintf("the server keeps %s of write-ahead log for the slot", bytes(slot.RetainedBytes)),
			"See why helixd is behind; end old open transactions; or raise max_slot_wal_keep_size")
	}
	if c := r.Checkpoint; c != nil {
		say(c.Repair != "", Critical, "the slot is to be made anew: "+c.Repair, "Nothing: the leader does, and reads all rows once. Where it takes long, the leader's log names the open transactions that it waits for")
		say(!r.Publication.OK, Critical, fmt.Sprintf("publication %s: %s", r.Publication.Name, r.Publication.Fault),
			"Find out who alters it; the leader mends it, and reads all rows once")
	}
	if lag := r.Lag(); leads && lag > lateSeconds {
		say(true, Critical, "results come "+duration(lag)+" late", "See the leader's log for errors, and Postgres for locks and slow statements")
	}
}

func (r *Report) judgeWork(say func(is bool, severity, what, next string)) {
	working := slices.ContainsFunc(r.Workers, func(p Process) bool { return p.lives() })
	waiting := slices.ContainsFunc(r.Queues, func(q Queue) bool { return q.Jobs["available"] > 0 })
	say(waiting && !working, Critical, "jobs wait and no process works any", "Start helixd run, or helixd run --role worker")
	for _, q := range r.Queues {
		say(working && q.OldestSeconds > longWait, Warning, fmt.Sprintf("a job in queue %s has waited for %s", q.Name, duration(q.OldestSeconds)),
			"Start more workers: helixd run --role worker")
		say(q.Jobs["discarded"] > 0, Warning, fmt.Sprintf("%d jobs in queue %s have failed for good", q.Jobs["discarded"], q.Name),
			"select kind, errors from helix.river_job where state = 'discarded'")
	}
	for _, x := range r.Reactors {
		say(x.Running && !x.Healthy && x.Off == "" && x.Reason != "", Warning, x.Name+": "+strings.TrimSuffix(x.Reason, "."), "")
	}
	var letters int64
	for _, l := range r.DeadLetters {
		letters += l.Count
	}
	say(letters > 0, Warning, fmt.Sprintf("changes in dead letters: %d", letters), "Run: helixd dlq list")
}

func (p Pause) text() string {
	text := fmt.Sprintf("%s is paused since %s, by %s", p.What, p.Since.UTC().Format(time.DateTime), p.By)
	if p.Until != nil {
		text += ", until " + p.Until.UTC().Format(time.DateTime)
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// Lag is how late results are, in seconds.
func (r *Report) Lag() float64 {
	lag := 0.0
	for _, x := range r.Reactors {
		lag = max(lag, x.LagSeconds)
	}
	return lag
}

func holderOf(p *Process) string {
	if p == nil {
		return "helixd run"
	}
	return p.Holder
}
