package llm

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"github.com/helixd/helixd/internal/metric"
	"github.com/helixd/helixd/reactors/outbound"
)

// ClientConfig is all optional.
type ClientConfig struct {
	Concurrency       int     // requests at a time; 0: 4
	RequestsPerMinute float64 // 0: any
	TokensPerMinute   float64 // read, and allowed to be written; 0: any
	Log               zerolog.Logger
	// Now and Sleep are the clock, Random (0..1) the jitter. nil: the machine's.
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Random func() float64
}

// Client is a Model that is asked no more than it takes, and again where that may
// help at once. It is safe for concurrent use; all who ask a provider share one.
type Client struct {
	Model
	line *line
}

// NewClient makes one.
func NewClient(m Model, c ClientConfig) *Client { return &Client{Model: m, line: newLine(m.Name(), c)} }

// Complete waits for its turn and asks, a few times if it has to. Where nothing may
// be asked now, the error says so, with After, and Sent is false. The Tokens are
// those of all answers, also of ones that were of no use.
func (c *Client) Complete(ctx context.Context, r Request) (Answer, error) {
	var spent Tokens
	var requests int
	a, err := wait(ctx, c.line, r.Owner, r.Purpose, r.input()+int64(r.MaxTokens), func() (Answer, error) {
		a, err := c.Model.Complete(ctx, r)
		requests += made(err)
		spent.Input += a.Tokens.Input
		spent.Output += a.Tokens.Output
		return a, err
	})
	a.Tokens, a.Requests = spent, requests
	return a, err
}

// Trouble is why nothing is asked now; nil: it is.
func (c *Client) Trouble() *outbound.Error { return c.line.gate.Trouble() }

// Ready is when it may be asked; the zero time is now.
func (c *Client) Ready() time.Time { at, _ := c.line.gate.Ready(); return at }

// EmbedClient is an Embedder as Client is a Model.
type EmbedClient struct {
	Embedder
	line *line
}

// NewEmbedClient makes one.
func NewEmbedClient(e Embedder, c ClientConfig) *EmbedClient {
	return &EmbedClient{Embedder: e, line: newLine(e.Name(), c)}
}

// Embed asks as Client.Complete does.
func (c *EmbedClient) Embed(ctx context.Context, r EmbedRequest) (Embedded, error) {
	var spent Tokens
	var tokens int64
	var requests int
	for _, t := range r.Texts {
		tokens += EstimateTokens(t)
	}
	a, err := wait(ctx, c.line, r.Owner, r.Purpose, tokens, func() (Embedded, error) {
		a, err := c.Embedder.Embed(ctx, r)
		requests += made(err)
		spent.Input += a.Tokens.Input
		return a, err
	})
	a.Tokens, a.Requests = spent, requests
	return a, err
}

// Trouble is why nothing is asked now; nil: it is.
func (c *EmbedClient) Trouble() *outbound.Error { return c.line.gate.Trouble() }

// Ready is when it may be asked; the zero time is now.
func (c *EmbedClient) Ready() time.Time { at, _ := c.line.gate.Ready(); return at }

// made is 1 where a request that ended so may have reached the provider.
func made(err error) int {
	var e *outbound.Error
	if errors.As(err, &e) && !e.Sent {
		return 0
	}
	return 1
}

const (
	mostTries = 3
	firstWait = 500 * time.Millisecond
	// mostWait is how long a request waits for its next try: what takes longer is
	// for the database to remember.
	mostWait = 10 * time.Second
	// mostForms bounds how often a server may refuse a parameter.
	mostForms = 8
)

// line is where requests to one provider wait.
type line struct {
	name             string
	config           ClientConfig
	slots            chan struct{}
	gate             *outbound.Gate
	requests, tokens *rate.Limiter // nil: any

	mu   sync.Mutex
	told map[string]bool // in the log, since the last answer
}

func newLine(name string, c ClientConfig) *line {
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
	return &line{name: name, config: c, slots: make(chan struct{}, c.Concurrency), gate: outbound.NewGate(c.Now, c.Random, true),
		requests: limiter(c.RequestsPerMinute), tokens: limiter(c.TokensPerMinute), told: map[string]bool{}}
}

// wait asks until there is an answer, or it is better to ask later.
func wait[T any](ctx context.Context, l *line, owner, purpose string, tokens int64, ask func() (T, error)) (T, error) {
	pause, sent := firstWait, false
	for try, forms := 1, 0; ; try++ {
		a, err := once(ctx, l, owner, purpose, tokens, ask)
		var form adapted
		if errors.As(err, &form) && forms < mostForms {
			l.config.Log.Info().Str("provider", l.name).Msg(form.of.Message)
			forms++
			try--
			continue
		}
		var e *outbound.Error
		if !errors.As(err, &e) {
			return a, err
		}
		if sent = sent || e.Sent; sent && !e.Sent { // the last try was refused here, but not those before it
			all := *e
			all.Sent, err = true, &all
		}
		if !e.Retry || try >= mostTries {
			return a, err
		}
		next := max(e.After, pause/2+time.Duration(l.config.Random()*float64(pause)/2))
		if at, _ := l.gate.Ready(); !at.IsZero() {
			next = max(next, at.Sub(l.config.Now()))
		}
		if end, ok := ctx.Deadline(); next > mostWait || ok && l.config.Now().Add(next).After(end) {
			return a, err
		}
		if err := l.config.Sleep(ctx, next); err != nil {
			return a, err
		}
		pause *= 2
	}
}

// once waits for its turn and asks.
func once[T any](ctx context.Context, l *line, owner, purpose string, tokens int64, ask func() (T, error)) (a T, err error) {
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
	case <-ctx.Done():
		return a, ctx.Err()
	}
	if err := ctx.Err(); err != nil { // select may choose either
		return a, err
	}
	if _, why := l.gate.Ready(); why != nil {
		return a, why
	}
	if err := l.pace(ctx, tokens); err != nil {
		return a, err
	}
	probe, refusal := l.gate.Enter()
	if refusal != nil {
		return a, refusal
	}
	var ok bool
	var failure *outbound.Error
	began := l.config.Now()
	defer func() { // after a panic, too: a probe that never ends would be the last request
		l.gate.Leave(probe, ok, failure, owner)
		outbound.Count(l.name, purpose, l.config.Now().Sub(began), ok, failure)
		l.report(ok, failure)
	}()
	a, err = ask()
	ok = err == nil
	errors.As(err, &failure)
	return a, err
}

// report logs what an operator has to know, once until the next answer. It has
// nothing of the provider's own words, which may repeat what a user sent.
func (l *line) report(ok bool, e *outbound.Error) {
	trouble := l.gate.Trouble()
	metric.Paused(l.name, trouble != nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case ok && len(l.told) > 0 && trouble == nil:
		clear(l.told)
		l.config.Log.Info().Str("provider", l.name).Msg("the provider answers again")
	case ok, e == nil:
	case e.Status == http.StatusForbidden: // of what was sent, or of the key: see outbound.Gate
		l.tell(zerolog.ErrorLevel, e, "the provider does not permit a request; others are still made")
	case e.Code == outbound.Unauthorized, e.Code == outbound.NotFound, e.Code == outbound.PaymentRequired:
		l.tell(zerolog.ErrorLevel, e, "the provider cannot be asked until this is mended")
	case e.Code == outbound.Unavailable && trouble != nil:
		l.tell(zerolog.WarnLevel, e, "the provider does not work: requests are paused")
	}
}

func (l *line) tell(level zerolog.Level, e *outbound.Error, text string) {
	what := string(e.Code) + ": " + text
	if l.told[what] {
		return
	}
	l.told[what] = true
	l.config.Log.WithLevel(level).Str("provider", l.name).Str("code", string(e.Code)).Int("status", e.Status).Str("request_id", e.RequestID).Str("reason", e.Public()).Msg(text)
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
