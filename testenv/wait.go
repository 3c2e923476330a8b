package testenv

import (
	"context"
	"fmt"
	"testing"
	"time"
)

// pollEvery is often enough for what takes milliseconds.
const pollEvery = 5 * time.Millisecond

// Poll calls done every so often until it reports true, and returns its error then; or until ctx ends or limit has
// passed, which is an error that names what was waited for and done's last one.
func Poll(ctx context.Context, limit, every time.Duration, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		ok, err := done()
		if ok {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err != nil {
				return fmt.Errorf("%s: %w: %w", what, ctx.Err(), err)
			}
			return fmt.Errorf("%s: %w", what, ctx.Err())
		}
	}
}

// Until waits until cond holds, and fails the test when it does not within limit.
func Until(t testing.TB, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for deadline := time.Now().Add(limit); !cond(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s for: %s", limit, what)
		}
	}
}
