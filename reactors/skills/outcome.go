package skills

import (
	"encoding/json"
	"time"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host/audit"
)

// outcome is what a run came to: the result columns.
type outcome struct {
	dropped bool // the row is gone
	requeue bool // this process stops: the run waits again

	Status     string
	Output     json.RawMessage
	Error      *Error
	Steps      *progress // of a workflow
	Context    json.RawMessage
	Logs       *string
	Wall       time.Duration
	CPU        time.Duration
	PeakMemory int64
	Retries    int
	Finished   time.Time

	noted
}

// noted is what the audit is told: the run's audit_log and the user's chain.
type noted struct {
	Audit   json.RawMessage
	entries []audit.Entry
}

// progress is how far a workflow is.
type progress struct {
	Results   json.RawMessage // step_results
	Completed int
	Total     int

	noted // since the step before
}

// bytes is about what it weighs in a transaction.
func (o *outcome) bytes() int {
	n := len(o.Output) + len(o.Context) + len(o.Audit)
	if o.Steps != nil {
		n += len(o.Steps.Results)
	}
	if o.Logs != nil {
		n += len(*o.Logs)
	}
	return n
}

// unstorable is an outcome instead of one that Postgres did not take. What it said may
// quote a value; its code does not.
func (o *outcome) unstorable(err error) *outcome {
	return &outcome{Status: statusFailed, Wall: o.Wall, CPU: o.CPU, PeakMemory: o.PeakMemory, Finished: o.Finished,
		noted: o.noted, Error: errorf(string(sandbox.InvalidOutput), "The run's result cannot be stored: SQLSTATE %s.", reactors.SQLState(err))}
}
