package host

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// turns let each user have one large body in the daemon's memory at a time. With
// all copies, until its program has read it, that takes four times MaxBody, and a
// user's programs can ask for 36 at once.
type turns struct {
	mu sync.Mutex
	of map[uuid.UUID]*turn
}

type turn struct {
	taken chan struct{}
	users int // who has it, and who waits
}

// take waits for a user's turn, which the caller gives back with leave.
func (t *turns) take(ctx context.Context, user uuid.UUID) (leave func(), err error) {
	t.mu.Lock()
	own := t.of[user]
	if own == nil {
		own = &turn{taken: make(chan struct{}, 1)}
		t.of[user] = own
	}
	own.users++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.of, user)
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
