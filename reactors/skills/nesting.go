package skills

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/skills/host"
)

// Each depth of skills that programs call has workers of its own beside those of
// runs: a caller keeps its worker while it waits, and who waits for a deeper one is
// never waited for by that. One user has half of a depth's at the most, so that
// skills which call slow ones hold up nobody else's.
const (
	nestedPerDepth = 4
	nestedPerUser  = 2
	// NestedWorkers is how many a Runner has more than Config.Workers.
	NestedWorkers = nestedPerDepth * (host.MaxDepth - 1)
)

// berths are the workers of one depth.
type berths struct {
	mu      sync.Mutex
	taken   map[uuid.UUID]int // by user
	all     int
	waiting []*berth // the first came first
}

type berth struct {
	user uuid.UUID
	got  chan struct{} // closed when it is
}

// take waits for a worker, which the caller gives back with leave.
func (b *berths) take(ctx context.Context, user uuid.UUID) (leave func(), err error) {
	own := &berth{user, make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, own)
	b.assign()
	b.mu.Unlock()
	leave = func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.all--
		if b.taken[user]--; b.taken[user] == 0 {
			delete(b.taken, user)
		}
		b.assign()
	}
	select {
	case <-own.got:
		return leave, nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	i := slices.Index(b.waiting, own)
	if i >= 0 {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
	b.mu.Unlock()
	if i < 0 { // it came at the same time
		leave()
	}
	return nil, context.Cause(ctx)
}

// assign serves those who wait and may have one; mu is held.
func (b *berths) assign() {
	b.waiting = slices.DeleteFunc(b.waiting, func(w *berth) bool {
		if b.all == nestedPerDepth || b.taken[w.user] == nestedPerUser {
			return false
		}
		b.all++
		b.taken[w.user]++
		close(w.got)
		return true
	})
}
