// Package turn lets each of many users do one thing at a time.
package turn

import (
	"context"
	"sync"
)

// Turns has one turn a key. The zero Turns is ready; it keeps nothing of keys
// that nobody has or waits for.
type Turns[K comparable] struct {
	mu sync.Mutex
	of map[K]*turn
}

type turn struct {
	taken chan struct{}
	users int // who has it, and who waits
}

// Take waits for the key's turn until ctx ends, and gives what gives it back.
func (t *Turns[K]) Take(ctx context.Context, key K) (leave func(), err error) {
	t.mu.Lock()
	if t.of == nil {
		t.of = map[K]*turn{}
	}
	own := t.of[key]
	if own == nil {
		own = &turn{taken: make(chan struct{}, 1)}
		t.of[key] = own
	}
	own.users++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.of, key)
		}
	}
	select {
	case own.taken <- struct{}{}:
		return func() { <-own.taken; forget() }, nil
	case <-ctx.Done():
		forget()
		return nil, ctx.Err()
	}
}
