package provider

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
)

// ClientOptions are all optional.
type ClientOptions = outbound.LineConfig

// Client is a Provider that is asked no more than it takes. It is safe for
// concurrent use; all who ask the same provider share one.
type Client struct {
	Provider
	line   *outbound.Line
	denied atomic.Pointer[Error] // since the last answer: the key, or the address, is of no use
}

// NewClient makes one.
func NewClient(p Provider, o ClientOptions) *Client {
	return &Client{Provider: p, line: outbound.NewLine(p.Name(), o, false)}
}

// Ready is when a request may be made: the zero time is now. why says what it
// waits for.
func (c *Client) Ready() (at time.Time, why *Error) { return c.line.Ready() }

// Health is whether transcripts can be expected, and if not, why, in words that all
// users may read. A pause for a 429 is no illness.
func (c *Client) Health() (healthy bool, reason string) {
	why := c.line.Trouble()
	if why == nil || why.Code == RateLimited {
		why = c.denied.Load()
	}
	if why == nil {
		return true, ""
	}
	return false, why.Public()
}

// Transcribe waits for its turn and makes one request. Where none may be made now,
// the error says so at once, with After, and Sent is false.
func (c *Client) Transcribe(ctx context.Context, r Request) (a Answer, err error) {
	err = c.line.Ask(ctx, r.Owner, purpose, func() (err error) {
		a, err = c.Provider.Transcribe(ctx, r)
		return err
	})
	var e *Error
	if err == nil {
		c.denied.Store(nil)
	} else if errors.As(err, &e) && (e.Code == Unauthorized || e.Code == NotFound) {
		c.denied.Store(e)
	}
	return a, err
}

// purpose is that of all requests here.
const purpose = "transcription"

const (
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second
	mostWait    = 2 * time.Minute // longer than that nobody looks at a terminal
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
		if err := c.line.Wait(ctx, e, wait, mostWait); err != nil {
			return Answer{}, err
		}
		wait = min(2*wait, longestWait)
	}
}
