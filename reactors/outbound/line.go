package outbound

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/metric"
)

// LineConfig is all optional.
type LineConfig struct {
	Concurrency int // requests at a time; 0: 4
	Log         zerolog.Logger
	// Now and Sleep are the clock, Random (0..1) the jitter. nil: the machine's.
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Random func() float64
}

// Line is where requests to one service wait for their turn, before its Gate. It is
// safe for concurrent use; all who ask a service share one.
type Line struct {
	name   string
	config LineConfig
	slots  chan struct{}
	gate   *Gate

	mu   sync.Mutex
	told map[string]bool // in the log, since the last answer
}

// NewLine makes one, which pauses on denial as NewGate says.
func NewLine(name string, c LineConfig, pauseOnDenial bool) *Line {
	if c.Concurrency <= 0 {
		c.Concurrency = 4
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	return &Line{name: name, config: c, slots: make(chan struct{}, c.Concurrency), gate: NewGate(c.Now, c.Random, pauseOnDenial), told: map[string]bool{}}
}

// Ready is when a request may be made: the zero time is now. why says what it
// waits for.
func (l *Line) Ready() (at time.Time, why *Error) { return l.gate.Ready() }

// Trouble is why nothing is asked now; nil: it is.
func (l *Line) Trouble() *Error { return l.gate.Trouble() }

// Ask waits for its turn and makes an owner's request. Where none may be made now,
// the error says so at once, with After, and Sent is false.
func (l *Line) Ask(ctx context.Context, owner, purpose string, ask func() error) error {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil { // select may choose either
		return err
	}
	probe, refusal := l.gate.Enter()
	if refusal != nil {
		return refusal
	}
	var ok bool
	var failure *Error
	began := l.config.Now()
	defer func() { // after a panic, too: a probe that never ends would be the last request
		l.gate.Leave(probe, ok, failure, owner)
		count(l.name, purpose, l.config.Now().Sub(began), ok, failure)
		l.report(ok, failure)
	}()
	err := ask()
	ok = err == nil
	errors.As(err, &failure)
	return err
}

// Wait waits until a request that came to e may be made again: for a half to the
// whole of wait, or longer where the service says so. Where that is more than most,
// or ctx ends before, it gives e at once.
func (l *Line) Wait(ctx context.Context, e *Error, wait, most time.Duration) error {
	pause := max(e.After, wait/2+time.Duration(l.config.Random()*float64(wait)/2))
	if at, _ := l.Ready(); !at.IsZero() {
		pause = max(pause, at.Sub(l.config.Now()))
	}
	if end, ok := ctx.Deadline(); pause > most || ok && l.config.Now().Add(pause).After(end) {
		return e
	}
	return l.config.Sleep(ctx, pause)
}

// report logs what an operator has to know, once until the next answer. It has
// nothing of the service's own words, which may repeat what a user sent.
func (l *Line) report(ok bool, e *Error) {
	trouble := l.Trouble()
	metric.Paused(l.name, trouble != nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ok && len(l.told) > 0 && trouble == nil:
		clear(l.told)
		l.config.Log.Info().Str("provider", l.name).Msg("the provider answers again")
	case ok, e == nil:
	case e.Code == PaymentRequired:
		l.tell(zerolog.ErrorLevel, e, "the provider wants to be paid: requests are paused until then")
	case e.Code != Unauthorized && e.Code != NotFound:
		if e.Code == Unavailable && trouble != nil {
			l.tell(zerolog.WarnLevel, e, "the provider does not work: requests are paused")
		}
	case !l.gate.denial:
		l.tell(zerolog.ErrorLevel, e, "the provider does not permit requests: they fail until this is mended")
	case e.Status == http.StatusForbidden: // of what was sent, or of the key: see Gate
		l.tell(zerolog.ErrorLevel, e, "the provider does not permit a request; others are still made")
	default:
		l.tell(zerolog.ErrorLevel, e, "the provider cannot be asked until this is mended")
	}
}

func (l *Line) tell(level zerolog.Level, e *Error, text string) {
	what := string(e.Code) + ": " + text
	if l.told[what] {
		return
	}
	l.told[what] = true
	l.config.Log.WithLevel(level).Str("provider", l.name).Str("code", string(e.Code)).Int("status", e.Status).Str("request_id", e.RequestID).Str("reason", e.Public()).Msg(text)
}

// count counts a request that was made, in the process's metrics: an answer (ok), an
// error of the service, or neither, where it was called off.
func count(provider, purpose string, took time.Duration, ok bool, e *Error) {
	outcome := metric.Cancelled
	switch {
	case ok:
		outcome = metric.OK
	case e != nil:
		outcome = string(e.Code)
	}
	metric.Asked(provider, purpose, outcome, took)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
