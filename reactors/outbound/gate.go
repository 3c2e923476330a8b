package outbound

import (
	"sync"
	"time"
)

// Gate decides whether a request may be made now.
//
//	        5 Unavailable in a row (see blamed), a 402, a 429
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
//
// Where it is told so, a 401 and a 404 are reasons to pause, too: without a key that
// is good, and a model that there is, nobody gets an answer. A 403 is none: it may be
// of what one user sent.
type Gate struct {
	now    func() time.Time
	random func() float64 // 0..1
	denial bool           // a 401 and a 404 pause

	mu       sync.Mutex
	state    state
	until    time.Time // the end of the pause
	why      *Error    // of the pause
	failures int       // Unavailable, in a row
	failing  string    // whose the last of them was
	several  bool      // they were not all the same owner's
	askers   [2]asker  // who asked last, and who else did
	pauses   int       // since the last answer
}

// NewGate makes one that is open. random (0..1) is its jitter; pauseOnDenial is for
// services whose users wait until the settings are mended.
func NewGate(now func() time.Time, random func() float64, pauseOnDenial bool) *Gate {
	return &Gate{now: now, random: random, denial: pauseOnDenial}
}

type asker struct {
	owner string
	at    time.Time
}

type state int

const (
	open state = iota
	paused
	probing
)

const (
	mostFailures = 5
	// lately is how long who asked may be expected to ask again.
	lately = 10 * time.Minute
	// probeWait is when to ask again while another's request is the probe.
	probeWait = time.Second
)

// growth is how long the first pause for a reason is, and the longest: each is
// twice the one before.
var growth = map[Code]struct{ first, longest time.Duration }{
	Unavailable:     {5 * time.Second, 5 * time.Minute},
	RateLimited:     {time.Second, time.Minute},
	PaymentRequired: {5 * time.Minute, time.Hour},
	Unauthorized:    {time.Minute, 10 * time.Minute},
	NotFound:        {time.Minute, 10 * time.Minute},
}

// Ready is when Enter may let a request through; the zero time is now.
func (g *Gate) Ready() (time.Time, *Error) {
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

// Trouble is the reason of the last pause until its end is known; nil: it is open.
func (g *Gate) Trouble() *Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.state == open {
		return nil
	}
	return g.why
}

// refusal is the reason of the pause, for a request that was not made.
func (g *Gate) refusal(after time.Duration) *Error {
	return &Error{Code: g.why.Code, Message: g.why.Message, After: after, Retry: true}
}

// Enter lets a request through, or says why not. Who enters leaves.
func (g *Gate) Enter() (probe bool, refusal *Error) {
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

// Leave takes what an owner's request came to: an answer (ok), an error of the
// provider, or neither, which says nothing of it.
func (g *Gate) Leave(probe, ok bool, e *Error, owner string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.askers[0].owner != owner {
		g.askers[1] = g.askers[0]
	}
	g.askers[0] = asker{owner, g.now()}
	switch {
	case ok:
		g.answered(probe)
		if g.state == open {
			g.pauses = 0
		}
	case e == nil, e.Ours, e.Code == BadAnswer, !e.Sent && e.Code != Unavailable:
		if probe { // the next request is one
			g.state = paused
		}
	case e.Code == PaymentRequired || e.Code == RateLimited || g.denial && (e.Status == 401 || e.Code == NotFound):
		g.pause(probe, e)
	case e.Code == Unavailable:
		if g.state == open {
			g.several = g.failures > 0 && (g.several || g.failing != owner)
			g.failing = owner
			g.failures++
		}
		if probe || g.state == open && g.failures >= mostFailures && g.blamed() {
			g.pause(probe, e)
		}
	default: // the provider works, and has looked at this request
		g.answered(probe)
	}
}

// blamed reports whether failures in a row are the provider's, and not of what one
// owner sends while others ask, too: that owner's requests are repeated, each later
// than the one before, and keep nobody else from asking.
func (g *Gate) blamed() bool {
	other := g.askers[1]
	return g.several || other.at.IsZero() || g.now().Sub(other.at) > lately
}

func (g *Gate) answered(probe bool) {
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

func (g *Gate) pause(probe bool, e *Error) {
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
		g.until, g.why = until, e.withoutWords() // all users are told
	}
	if probe || g.state == open {
		g.pauses++
		g.failures = 0
		g.state = paused
	}
}
