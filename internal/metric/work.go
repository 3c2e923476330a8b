package metric

import "time"

var workBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 900}

// Of reactors, which work in the apply, and of their jobs, which do not.
var (
	reactorRuns     = counters("reactor_runs_total", "Batches given to a reactor inside an apply, by outcome: done, poison (its own data was at fault, and it is halved) or failed.", "reactor", "outcome")
	reactorDuration = histograms("reactor_duration_seconds", "Time that a reactor took for a batch.", workBuckets, "reactor")
	jobRuns         = counters("job_runs_total", "Jobs worked, by outcome: done, failed (it may be tried again), snoozed, cancelled or panicked.", "kind", "outcome")
	jobDuration     = histograms("job_duration_seconds", "Time that a job took.", workBuckets, "kind")

	SandboxChildren = gauge("sandbox_children", "Worker children of this process, which run skills and decode audio.")
)

// Outcomes of work.
const (
	Done      = "done"
	Poison    = "poison"
	Failed    = "failed"
	Snoozed   = "snoozed"
	Cancelled = "cancelled"
	Panicked  = "panicked"
)

// Reacted counts a reactor's run.
func Reacted(reactor, outcome string, began time.Time) {
	reactorRuns.WithLabelValues(reactor, outcome).Inc()
	reactorDuration.WithLabelValues(reactor).Observe(time.Since(began).Seconds())
}

// Worked counts a job's.
func Worked(kind, outcome string, began time.Time) {
	jobRuns.WithLabelValues(kind, outcome).Inc()
	jobDuration.WithLabelValues(kind).Observe(time.Since(began).Seconds())
}
