package sync

import (
	"testing"
	"time"
)

// LowerMaxKept makes versions collapse sooner, for the time of a test.
func LowerMaxKept(t *testing.T, n int) {
	before := maxKept
	maxKept = n
	t.Cleanup(func() { maxKept = before })
}

// Disputed is an entity under manual, as it is between loading and storing.
type Disputed struct{ entity }

// NewDisputed gives one that has no version.
func NewDisputed() *Disputed {
	policy := Policy{Strategy: ManualStrategy}
	return &Disputed{entity{State: State{Strategy: ManualStrategy}, policy: policy}}
}

// Write takes what a device wrote.
func (d *Disputed) Write(v Version, at time.Time) { d.take(nil, &event{version: v, at: at}) }

// Decide takes an answer to the n-th question ever asked.
func (d *Disputed) Decide(n int, data []byte, deleted bool, at time.Time) {
	v := Version{Device: decider, LastModified: at, Deleted: deleted, Data: data, Content: ContentHash(data, deleted)}
	d.take(nil, &event{version: v, at: at, decision: &decision{id: d.open[n].id}})
}

// Questions are the open ones: by their place among all, the IDs of both versions.
func (d *Disputed) Questions() map[int][2]string {
	questions := map[int][2]string{}
	for i, q := range d.open {
		if !q.closed() {
			questions[i] = q.versions
		}
	}
	return questions
}

// Asked is how many questions were ever asked.
func (d *Disputed) Asked() int { return len(d.open) }

// Recorded are the IDs of the versions that rows keep with their data.
func (d *Disputed) Recorded() map[string]bool {
	recorded := map[string]bool{}
	for _, r := range d.conflicts {
		recorded[r.Loser.ID()] = true
		if r.asks() {
			recorded[r.Winner.ID()] = true
		}
	}
	return recorded
}
