package skills

// Of skills.status.
const (
	statusPending = "pending"
	statusReady   = "ready"
	statusInvalid = "invalid"
)

// Of skill_runs.status.
const (
	statusQueued    = "queued"
	statusRunning   = "running"
	statusSucceeded = "succeeded"
	statusFailed    = "failed"
	statusTimedOut  = "timed_out"
	statusCancelled = "cancelled"
)
