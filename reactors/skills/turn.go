package skills

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// turns are what lanes begin with: few, so that the quick runs of many users come
// one user's after the other's and not all at once, and one a user.
type turns struct {
	free *semaphore.Weighted
	mu   sync.Mutex
	held map[string]bool // by user: whether another lane came, and went

	// pace is how long a run of the user's took in their last lane, of those whose
	// runs are quick.
	pace map[string]time.Duration
}

// maxPaces bounds what is remembered.
const maxPaces = 10_000

func newTurns() *turns {
	return &turns{free: semaphore.NewWeighted(int64(2 * runtime.GOMAXPROCS(0))), held: map[string]bool{}, pace: map[string]time.Duration{}}
}

// take waits for a turn. It is false where a lane of the user has one or waits for
// one: that lane sees to the runs of both, or leave says that it did not.
func (t *turns) take(ctx context.Context, user string) (ok bool, err error) {
	t.mu.Lock()
	_, other := t.held[user]
	t.held[user] = other
	t.mu.Unlock()
	if other {
		return false, nil
	}
	if err := t.free.Acquire(ctx, 1); err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.held, user)
		return false, fmt.Errorf("wait for a turn: %w", err)
	}
	return true, nil
}

// paceOf gives how long a run of the user's took lately, 0 where that is not known.
func (t *turns) paceOf(user string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pace[user]
}

// remember keeps the user's pace; 0 forgets it.
func (t *turns) remember(user string, pace time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pace, user)
	if pace > 0 {
		if len(t.pace) == maxPaces {
			clear(t.pace)
		}
		t.pace[user] = pace
	}
}

// leave gives the turn back. came says whether another lane of the user came
// meanwhile: its runs may wait unseen.
func (t *turns) leave(user string) (came bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	came = t.held[user]
	delete(t.held, user)
	t.free.Release(1)
	return came
}
