package llm

import (
	"context"
	"errors"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/outbound"
)

// ClientConfig is all optional.
type ClientConfig = outbound.LineConfig

// Client is a Model that is asked no more than it takes, and again where that may
// help at once. It is safe for concurrent use; all who ask a provider share one.
type Client struct {
	Model
	client
}

// NewClient makes one.
func NewClient(m Model, c ClientConfig) *Client { return &Client{m, newClient(m.Name(), c)} }

// Complete waits for its turn and asks, a few times if it has to. Where nothing may
// be asked now, the error says so, with After, and Sent is false. The Tokens are
// those of all answers, also of ones that were of no use.
func (c *Client) Complete(ctx context.Context, r Request) (Answer, error) {
	var spent Tokens
	var requests int
	a, err := persist(ctx, &c.client, r.Owner, r.Purpose, func() (Answer, error) {
		a, err := c.Model.Complete(ctx, r)
		requests += made(err)
		spent.Input += a.Tokens.Input
		spent.Output += a.Tokens.Output
		return a, err
	})
	a.Tokens, a.Requests = spent, requests
	return a, err
}

// EmbedClient is an Embedder as Client is a Model.
type EmbedClient struct {
	Embedder
	client
}

// NewEmbedClient makes one.
func NewEmbedClient(e Embedder, c ClientConfig) *EmbedClient {
	return &EmbedClient{e, newClient(e.Name(), c)}
}

// Embed asks as Client.Complete does.
func (c *EmbedClient) Embed(ctx context.Context, r EmbedRequest) (Embedded, error) {
	var spent Tokens
	var requests int
	a, err := persist(ctx, &c.client, r.Owner, r.Purpose, func() (Embedded, error) {
		a, err := c.Embedder.Embed(ctx, r)
		requests += made(err)
		spent.Input += a.Tokens.Input
		return a, err
	})
	a.Tokens, a.Requests = spent, requests
	return a, err
}

// client is what both have.
type client struct {
	line *outbound.Line
	log  zerolog.Logger
}

func newClient(name string, c ClientConfig) client {
	return client{outbound.NewLine(name, c, true), c.Log.With().Str("provider", name).Logger()}
}

// Trouble is why nothing is asked now; nil: it is.
func (c *client) Trouble() *outbound.Error { return c.line.Trouble() }

// Ready is when it may be asked; the zero time is now.
func (c *client) Ready() time.Time { at, _ := c.line.Ready(); return at }

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

// persist asks until there is an answer, or it is better to ask later.
func persist[T any](ctx context.Context, c *client, owner, purpose string, ask func() (T, error)) (T, error) {
	wait, sent := firstWait, false
	for try, forms := 1, 0; ; try++ {
		var a T
		err := c.line.Ask(ctx, owner, purpose, func() (err error) {
			a, err = ask()
			return err
		})
		var form adapted
		if errors.As(err, &form) && forms < mostForms {
			c.log.Info().Msg(form.of.Message)
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
			all.Sent, e = true, &all
		}
		if !e.Retry || try >= mostTries {
			return a, e
		}
		if err := c.line.Wait(ctx, e, wait, mostWait); err != nil {
			return a, err
		}
		wait *= 2
	}
}
