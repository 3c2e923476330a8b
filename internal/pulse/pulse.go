// Package pulse knows whether what must go on in this process does: a process that
// is there may be frozen all the same.
package pulse

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Part is something that goes on step by step, while it is needed at all. It is safe
// for concurrent use, and a step costs next to nothing.
type Part struct {
	name string
	what string       // that is late
	most atomic.Int64 // that a step may take
	last atomic.Int64 // when the last one began, since epoch; 0: it is not needed
}

// What goes on in a process, as its role is.
var (
	// Stream is the goroutine that owns the walsender connection; it turns at least
	// each time that the server wants an answer.
	Stream = part("stream", "it has not answered the server", 30*time.Second)
	// Apply is an apply's chunk under way.
	Apply = part("apply", "an apply has not ended", 5*time.Minute)
	// Standby looks whether there is a leader.
	Standby = part("standby", "it has not looked for a leader", 30*time.Second)
	// Jobs says that this process works jobs, while its River client runs.
	Jobs = part("jobs", "its workers gave no sign", 30*time.Second)
)

var parts []*Part

func part(name, what string, most time.Duration) *Part {
	p := &Part{name: name, what: what}
	p.most.Store(int64(most))
	parts = append(parts, p)
	return p
}

// epoch is when the first step began. Since then is told by a clock that nobody sets.
var epoch = sync.OnceValue(time.Now)

// Step says that the part goes on: a further step begins.
func (p *Part) Step() { p.last.Store(max(1, int64(time.Since(epoch())))) }

// Rest says that it is not needed until the next Step.
func (p *Part) Rest() { p.last.Store(0) }

// Limit sets how long a step may take.
func (p *Part) Limit(most time.Duration) { p.most.Store(int64(most)) }

// Stuck is a Part that does not go on.
type Stuck struct {
	Part  string
	Since time.Duration // its last step
	what  string
	most  time.Duration
}

func (s Stuck) String() string {
	return fmt.Sprintf("%s: %s for %s, which is more than %s", s.Part, s.what, s.Since.Round(time.Millisecond), s.most)
}

// Look gives the parts that do not go on.
func Look() []Stuck {
	var stuck []Stuck
	now := time.Since(epoch())
	for _, p := range parts {
		last, most := time.Duration(p.last.Load()), time.Duration(p.most.Load())
		if last != 0 && now-last > most {
			stuck = append(stuck, Stuck{p.name, now - last, p.what, most})
		}
	}
	return stuck
}
