package provider

import (
	"sync"
	"time"
)

// gate decides whether a request may be made now.
//
//	        5 Unavailable in a row, a 402, a 429
//	open ──────────────────────────────────────────▶ paused ◀─────┐
//	  ▲                                                │          │ it ends so, too:
//	  │                            the pause has passed │          │ a longer pause
//	  │  the provider answers the probe,               ▼          │
//	  └─────────────────────────────────────────── probing ───────┘
//	     or refuses that request alone
//
// While it is paused nobody asks; while it probes, one does. A request that began
// before a pause can make it longer, and not end it. Only an answer makes the next
// pause a short one again.
type gate struct {
	now    func() time.Time
	random func() float64 // 0..1

	mu       sync.Mutex
	state    state
	until    time.Time // the end of the pause
	why      *Error    // of the pause
	failures int       // Unavailable, in a row
	pauses   int       // since the last answer
}

type state int

const (
	open state = iota
	paused
	probing
)

const (
	mostFailures = 5
	// probeWait is when to ask again while another's request is the probe.
	probeWait = time.Second
)

// growth is how long the first pause for a reason is, and the longest: each is
// twice the one before.
var growth = map[Code]struct{ first, longest time.Duration }{
	Unavailable:     {5 * time.Second, 5 * time.Minute},
	RateLimited:     {time.Second, time.Minute},
	PaymentRequired: {5 * time.Minute, time.Hour},
}

// ready is when enter may let a request through; the zero time is now.
func (g *gate) ready() (time.Time, *Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	switch {
	case g.state == open, g.state == paused && !now.Before(g.until):
		return time.Time{}, nil
	case g.state == paused:
		return g.until, g.refusal(g.until.Sub(now))
	}
	return now.Add(probeWait), g.refusal(probeWait)
}

// trouble is the reason of the last pause until its end is known; nil: it is open.
func (g *gate) trouble() *Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == open {
		return nil
	}
	return g.why
}

// refusal is the reason of the pause, for a request that was not made.
func (g *gate) refusal(after time.Duration) *Error {
	return &Error{Code: g.why.Code, Message: g.why.Message, After: after, Retry: true}
}

// enter lets a request through, or says why not. Who enters leaves.
func (g *gate) enter() (probe bool, refusal *Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	switch {
	case g.state == open:
		return false, nil
	case g.state == probing:
		return false, g.refusal(probeWait)
	case now.Before(g.until):
		return false, g.refusal(g.until.Sub(now))
	}
	g.state = probing
	return true, nil
}

// leave takes what a request came to: an answer (ok), an error of the provider, or
// neither, which says nothing of it.
func (g *gate) leave(probe, ok bool, e *Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case ok:
		g.answered(probe)
		if g.state == open {
			g.pauses = 0
		}
	case e == nil, e.ours, e.Code == BadAnswer, !e.Sent && e.Code != Unavailable:
		if probe { // the next request is one
			g.state = paused
		}
	case e.Code == PaymentRequired || e.Code == RateLimited:
		g.pause(probe, e)
	case e.Code == Unavailable:
		if g.state == open {
			g.failures++
		}
		if probe || g.state == open && g.failures >= mostFailures {
			g.pause(probe, e)
		}
	default: // the provider works, and has looked at this request
		g.answered(probe)
	}
}

func (g *gate) answered(probe bool) {
	if g.state == open || probe {
		g.failures = 0
	}
	if !probe {
		return
	}
	g.state = open
	if g.now().Before(g.until) { // an older request has been told to wait
		g.state = paused
	}
}

func (g *gate) pause(probe bool, e *Error) {
	grows := growth[e.Code]
	pause := grows.longest
	if g.pauses < 16 {
		pause = min(grows.first<<g.pauses, grows.longest)
	}
	switch {
	case e.After > 0 && e.Code == RateLimited:
		pause = e.After
	case e.After > pause:
		pause = e.After
	}
	// Other processes pause, too, and do not all come back at once.
	pause += time.Duration(g.random() * float64(pause) / 4)
	if until := g.now().Add(pause); until.After(g.until) {
		g.until, g.why = until, e
	}
	if probe || g.state == open {
		g.pauses++
		g.failures = 0
		g.state = paused
	}
}
