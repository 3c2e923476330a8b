package main

import (
	"context"
	"fmt"
	"time"
)

// until calls done now and then every interval, until it reports true, and returns its error then; or until ctx ends
// or limit has passed, which is an error that names what was waited for and done's last one.
func until(ctx context.Context, limit, interval time.Duration, what string, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(interval)
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
