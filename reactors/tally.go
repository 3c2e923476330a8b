package reactors

import (
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/internal/metric"
)

// tally is what an apply does, which counts in the process's metrics once it is
// durable.
type tally struct {
	began      time.Time
	commits    []time.Time // of the source transactions, at the server
	withheld   []int       // changes, by reactor
	rejected   map[string]int
	ignored    int // markers
	broadcasts int
}

func (t *tally) begin() {
	clear(t.withheld)
	*t = tally{began: time.Now(), commits: t.commits[:0], withheld: t.withheld}
}

func (t *tally) reject(rejected []rejection) {
	if t.rejected == nil {
		t.rejected = map[string]int{}
	}
	for i := range rejected {
		t.rejected[rejected[i].reactor]++
	}
}

// countApply counts an apply from the stream that was durable at a time.
func (t *tally) countApply(reactors []Reactor, transactions, changes int, ended time.Time) {
	metric.ApplyDuration.Observe(ended.Sub(t.began).Seconds())
	metric.Transactions.Add(float64(transactions))
	metric.Changes.Add(float64(changes))
	for _, at := range t.commits {
		metric.CommitToApply.Observe(max(0, ended.Sub(at).Seconds())) // the clocks are two
	}
	t.count(reactors)
}

// count counts what an apply and a backfill have in common.
func (t *tally) count(reactors []Reactor) {
	for i, n := range t.withheld {
		if n > 0 {
			metric.LoopDrops.WithLabelValues(reactors[i].Name()).Add(float64(n))
		}
	}
	for reactor, n := range t.rejected {
		metric.DeadLetters.WithLabelValues(reactor).Add(float64(n))
	}
	if t.ignored > 0 {
		metric.MarkersIgnored.Add(float64(t.ignored))
	}
	metric.Broadcasts.Add(float64(t.broadcasts))
}

// outcomeOf is a React's.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return metric.Done
	case Poison(err):
		return metric.Poison
	}
	return metric.Failed
}

// OnNotice counts what realtime.send says of messages that it could not send. It is
// for the connections of all who broadcast.
func OnNotice(_ *pgconn.PgConn, n *pgconn.Notice) {
	if strings.Contains(n.Message, "SendingBroadcastMessage: ") {
		metric.BroadcastFailures.Inc()
	}
}
