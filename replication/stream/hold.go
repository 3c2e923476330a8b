package stream

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// hold keeps the owner from handing anything over, between two SQL transactions
// of the sink. It goes on reading until it holds as much as it may, and answers
// the server all the while; nothing more is acknowledged.
type hold struct {
	on     atomic.Bool
	inHand atomic.Bool   // it is heeded: the sink has nothing, and gets nothing
	turned chan struct{} // it was changed since the owner last looked

	mu   sync.Mutex
	wire net.Conn // to wake the owner, while there is one
}

func newHold() *hold { return &hold{turned: make(chan struct{}, 1)} }

// attach lets Hold wake the owner of a connection, nil when there is none.
func (h *hold) attach(wire net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wire = wire
	h.inHand.Store(false)
}

// Hold keeps Run from giving the sink anything, from the end of its SQL transaction
// on and until it is called with false. It may be called at any time, before Run
// as well, and by any goroutine.
func (s *Stream) Hold(on bool) {
	if s.hold.on.Swap(on) == on {
		return
	}
	select {
	case s.hold.turned <- struct{}{}:
	default:
	}
	s.hold.mu.Lock()
	defer s.hold.mu.Unlock()
	if s.hold.wire != nil {
		// As when an apply ends: the owner that is about to set a later deadline looks
		// at turned after that.
		_ = s.hold.wire.SetReadDeadline(time.Unix(1, 0))
	}
}

// Held reports whether Hold is heeded by now: the sink has ended what it was
// given, and gets nothing more.
func (s *Stream) Held() bool { return s.hold.inHand.Load() }

// holds reports whether nothing may be handed over now. A transaction that was
// begun is ended first: the sink holds locks for it.
func (o *owner) holds() bool {
	held := o.hold.on.Load() && !o.split
	o.hold.inHand.Store(held)
	return held
}
