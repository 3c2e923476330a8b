package status

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("helixd_"+name, help, labels, nil)
}

// The metrics that Postgres knows better than a process. Every process that can read
// them has the same values.
var (
	up           = desc("postgres_up", "1 if the database could be read; if not, all that is read from it is absent.")
	readDuration = desc("postgres_read_duration_seconds", "Time that the last read of these metrics took; they are read at most every 5 seconds.")
	readAt       = desc("postgres_read_timestamp_seconds", "When these metrics were read, in seconds since 1970 by this machine's clock.")

	slotActive   = desc("slot_active", "1 while a process streams from the slot.")
	slotLag      = desc("slot_lag_bytes", "Write-ahead log that helixd has not confirmed.")
	slotRetained = desc("slot_retained_wal_bytes", "Write-ahead log that the server keeps for the slot.")
	slotSafe     = desc("slot_safe_wal_bytes", "Write-ahead log that may be written until the slot is lost; absent where max_slot_wal_keep_size has no limit.")
	slotStatus   = desc("slot_wal_status", "1 for what pg_replication_slots.wal_status is.", "status")

	lag           = desc("lag_seconds", "How late results are, or how long nothing was applied while much was written.")
	checkpointAge = desc("checkpoint_age_seconds", "Time since something was applied last. It grows where nothing is written, too.")
	leaderAge     = desc("leader_heartbeat_age_seconds", "Time since the leader's last sign.")
	standbys      = desc("standbys", "Processes that would take the lead.")
	workers       = desc("workers", "Processes that work jobs.")
	publicationOK = desc("publication_ok", "1 while the publication is as the leader made it.")
	migrationsDue = desc("migrations_pending", "Migrations of this build that the schema lacks.")

	reactorHealthy = desc("reactor_healthy", "1 while a reactor can do its work, as in helix_status.", "reactor")
	reactorDepth   = desc("reactor_queue_depth", "Rows or jobs that wait for a reactor, counted to 10,000.", "reactor")
	queueJobs      = desc("queue_jobs", "Jobs in a queue by River's state. Those that have ended well or were cancelled are none.", "queue", "state")
	queueAge       = desc("queue_oldest_job_age_seconds", "Time since the job that waits for longest could have been worked.", "queue")
	deadLetters    = desc("dead_letters", "Changes in helix.dead_letters.", "reactor")
	inboxRows      = desc("inbox_rows", "Rows in helix.inbox, counted to a million. They go once the checkpoint has passed them.")
	costToday      = desc("provider_cost_today_dollars", "Cost in USD of what was asked of a provider since 00:00 UTC, by all processes; absent without a price.", "provider", "purpose")
)

var descs = []*prometheus.Desc{up, readDuration, readAt, slotActive, slotLag, slotRetained, slotSafe, slotStatus, lag, checkpointAge, leaderAge, standbys,
	workers, publicationOK, migrationsDue, reactorHealthy, reactorDepth, queueJobs, queueAge, deadLetters, inboxRows, costToday}

// Collector gives a Report as metrics.
type Collector struct{ reader *Reader }

// NewCollector makes one.
func NewCollector(r *Reader) Collector { return Collector{r} }

// Describe implements prometheus.Collector.
func (c Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range descs {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c Collector) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	r, took, err := c.reader.last(context.Background()) // it has a limit of its own
	gauge(up, number(err == nil))
	gauge(readDuration, took.Seconds())
	if err != nil {
		return
	}
	gauge(readAt, float64(r.At.UnixMicro())/1e6)
	gauge(migrationsDue, float64(len(r.Migrations.Pending)))
	if len(r.Migrations.Pending) > 0 {
		return
	}
	r.collectStream(gauge)
	for _, x := range r.Reactors {
		gauge(reactorHealthy, number(x.Healthy), x.Name)
		gauge(reactorDepth, float64(x.QueueDepth), x.Name)
	}
	for _, q := range r.Queues {
		gauge(queueAge, q.OldestSeconds, q.Name)
		for state, n := range q.Jobs {
			gauge(queueJobs, float64(n), q.Name, state)
		}
	}
	letters := map[string]int64{}
	for _, x := range r.Reactors {
		letters[x.Name] = 0
	}
	for _, l := range r.DeadLetters {
		letters[l.Reactor] += l.Count
	}
	for reactor, n := range letters {
		gauge(deadLetters, float64(n), reactor)
	}
	gauge(inboxRows, float64(r.InboxRows))
	for _, c := range r.Costs {
		if c.Dollars != nil {
			gauge(costToday, *c.Dollars, c.Provider, c.Purpose)
		}
	}
}

func (r *Report) collectStream(gauge func(d *prometheus.Desc, v float64, labels ...string)) {
	if s := r.Slot; s != nil {
		gauge(slotActive, number(s.Active))
		gauge(slotLag, float64(s.LagBytes))
		gauge(slotRetained, float64(s.RetainedBytes))
		if s.SafeBytes != nil {
			gauge(slotSafe, float64(*s.SafeBytes))
		}
		for _, status := range []string{"reserved", "extended", "unreserved", "lost"} {
			gauge(slotStatus, number(s.WALStatus == status), status)
		}
	}
	if r.Checkpoint != nil {
		gauge(checkpointAge, r.Checkpoint.AgeSeconds)
		gauge(publicationOK, number(r.Publication.OK))
		gauge(lag, r.Lag())
	}
	if r.Leader != nil {
		gauge(leaderAge, r.Leader.HeartbeatSeconds)
	}
	gauge(standbys, float64(len(r.Standbys)))
	live := 0
	for _, w := range r.Workers {
		live += int(number(w.lives()))
	}
	gauge(workers, float64(live))
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
