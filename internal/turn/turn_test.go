package turn_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/helixd/helixd/internal/turn"
)

func TestTake(t *testing.T) {
	t.Run("one of a key at a time", func(t *testing.T) {
		var turns turn.Turns[int]
		var holders [2]atomic.Int32
		var all sync.WaitGroup
		for i := range 200 {
			all.Go(func() {
				leave, err := turns.Take(t.Context(), i%2)
				if err != nil {
					t.Error(err)
					return
				}
				if n := holders[i%2].Add(1); n != 1 {
					t.Errorf("%d have the turn", n)
				}
				holders[i%2].Add(-1)
				leave()
			})
		}
		all.Wait()
	})
	t.Run("another key does not wait", func(t *testing.T) {
		var turns turn.Turns[string]
		leave, err := turns.Take(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
		other, err := turns.Take(t.Context(), "bob")
		if err != nil {
			t.Fatal(err)
		}
		other()
	})
	t.Run("who waits goes with their context, and the turn is not lost", func(t *testing.T) {
		var turns turn.Turns[string]
		leave, err := turns.Take(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := turns.Take(ctx, "ada"); !errors.Is(err, context.Canceled) {
			t.Errorf("it gave %v", err)
		}
		leave()
		if leave, err = turns.Take(t.Context(), "ada"); err != nil {
			t.Fatal(err)
		}
		leave()
	})
}
