package provider

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/metric"
	"github.com/helixd/helixd/reactors/outbound"
)

// ClientOptions are all optional but for the log.
type ClientOptions struct {
	Concurrency int // requests at a time; 0: 16
	Log         zerolog.Logger
	// Now and Sleep are the clock, Random (0..1) the jitter. nil: the machine's.
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Random func() float64
}

// Client is a Provider that is asked no more than it takes. It is safe for
// concurrent use; all who ask the same provider share one.
type Client struct {
	Provider
	options ClientOptions
	slots   chan struct{}
	gate    *outbound.Gate

	mu     sync.Mutex
	told   map[Code]bool // in the log, since the last answer
	denied *Error        // a 401 or 403 since the last answer
}

// NewClient makes one.
func NewClient(p Provider, o ClientOptions) *Client {
	if o.Concurrency <= 0 {
		o.Concurrency = 16
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	return &Client{Provider: p, options: o, slots: make(chan struct{}, o.Concurrency),
		gate: outbound.NewGate(o.Now, o.Random, false), told: map[Code]bool{}}
}

// Ready is when a request may be made: the zero time is now. why says what it
// waits for.
func (c *Client) Ready() (at time.Time, why *Error) { return c.gate.Ready() }

// Health is whether transcripts can be expected, and if not, why. A pause for a
// 429 is no illness.
func (c *Client) Health() (healthy bool, reason string) {
	c.mu.Lock()
	denied := c.denied
	c.mu.Unlock()
	if why := c.gate.Trouble(); why != nil && why.Code != RateLimited {
		return false, why.Message
	}
	if denied != nil {
		return false, denied.Message
	}
	return true, ""
}

// Transcribe waits for its turn and makes one request. Where none may be made now,
// the error says so at once, with After, and Sent is false.
func (c *Client) Transcribe(ctx context.Context, r Request) (Answer, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // select may choose either
		return Answer{}, err
	}
	probe, refusal := c.gate.Enter()
	if refusal != nil {
		return Answer{}, refusal
	}
	var ok bool
	var failure *Error
	began := c.options.Now()
	defer func() { // after a panic, too: a probe that never ends would be the last request
		c.gate.Leave(probe, ok, failure, r.Owner)
		outbound.Count(c.Name(), purpose, c.options.Now().Sub(began), ok, failure)
		c.report(ok, failure)
	}()
	a, err := c.Provider.Transcribe(ctx, r)
	ok = err == nil
	errors.As(err, &failure)
	return a, err
}

// purpose is that of all requests here.
const purpose = "transcription"

// report logs what an operator has to know, once until the next answer.
func (c *Client) report(ok bool, e *Error) {
	trouble := c.gate.Trouble()
	metric.Paused(c.Name(), trouble != nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case ok:
		c.denied = nil
		if len(c.told) > 0 && trouble == nil {
			clear(c.told)
			c.options.Log.Info().Str("provider", c.Name()).Msg("the provider answers again")
		}
	case e == nil:
	case e.Code == Unauthorized:
		c.denied = e
		c.tell(zerolog.ErrorLevel, e, "the provider does not accept the key: recordings fail until it is replaced")
	case e.Code == NotFound:
		c.denied = e
		c.tell(zerolog.ErrorLevel, e, "the provider has no such address or model: recordings fail until the settings are mended")
	case e.Code == PaymentRequired:
		c.tell(zerolog.ErrorLevel, e, "the provider wants to be paid: transcription is paused until then")
	case e.Code == Unavailable && trouble != nil:
		c.tell(zerolog.WarnLevel, e, "the provider does not work: requests are paused")
	}
}

func (c *Client) tell(level zerolog.Level, e *Error, text string) {
	if c.told[e.Code] {
		return
	}
	c.told[e.Code] = true
	c.options.Log.WithLevel(level).Str("provider", c.Name()).Str("code", string(e.Code)).Int("status", e.Status).Str("request_id", e.RequestID).Str("reason", e.Message).Msg(text)
}

const (
	firstWait = 500 * time.Millisecond
	mostWait  = 2 * time.Minute // longer than that nobody looks at a terminal
)

// Persist asks again where that may help, up to tries times in all. It is for the
// command line: the service asks again through the database. It gives up where it
// would wait for a payment, or for longer than 2 minutes.
func (c *Client) Persist(ctx context.Context, r Request, tries int) (Answer, error) {
	wait := firstWait
	for try := 1; ; try++ {
		a, err := c.Transcribe(ctx, r)
		var e *Error
		if !errors.As(err, &e) || !e.Retry || e.Code == PaymentRequired || try >= tries {
			return a, err
		}
		pause := max(e.After, wait/2+time.Duration(c.options.Random()*float64(wait)/2))
		if at, _ := c.Ready(); !at.IsZero() {
			pause = max(pause, at.Sub(c.options.Now()))
		}
		if pause > mostWait {
			return a, err
		}
		if err := c.options.Sleep(ctx, pause); err != nil {
			return Answer{}, err
		}
		wait = min(2*wait, 30*time.Second)
	}
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
