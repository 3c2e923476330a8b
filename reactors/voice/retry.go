package voice

import (
	"math/rand/v2"
	"time"
)

// Waits between two tries of a recording.
const (
	firstBackoff = time.Second // four times as long each time: ten tries take more than an hour
	mostBackoff  = 15 * time.Minute
	machineWait  = 30 * time.Second
	leastPause   = 5 * time.Second // where the whole provider is waited for
)

// backoff is the wait after so many tries have failed before: it grows, and is
// spread so that recordings which failed together do not come back together.
func backoff(tries int) time.Duration {
	most := min(firstBackoff<<min(2*tries, 20), mostBackoff)
	return most/2 + rand.N(most/2)
}
