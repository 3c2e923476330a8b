package sandbox

import (
	"context"
	"sync"
)

// turns lets each tenant have one program compiled at a time, so that one who
// brings many hard ones holds up nobody else.
type turns struct {
	mu sync.Mutex
	of map[string]*turn
}

type turn struct {
	taken chan struct{}
	users int // who has it, and who waits
}

// take waits for a tenant's turn, which the caller gives back with leave.
func (t *turns) take(ctx context.Context, tenant string) (leave func(), err error) {
	t.mu.Lock()
	own := t.of[tenant]
	if own == nil {
		own = &turn{taken: make(chan struct{}, 1)}
		t.of[tenant] = own
	}
	own.users++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.of, tenant)
		}
	}
	select {
	case own.taken <- struct{}{}:
		return func() { <-own.taken; forget() }, nil
	case <-ctx.Done():
		forget()
		return nil, cancelled(ctx)
	}
}
