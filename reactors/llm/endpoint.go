package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
)

// Options of a Model or an Embedder are all optional but for what it cannot work
// without.
type Options struct {
	// BaseURL is where the API is, with or without the /v1 of its paths; "": where
	// the provider itself has it.
	BaseURL string
	Key     string // "": none is sent, which only a BaseURL permits
	Model   string // "": the provider's default, which only the provider itself has
	// HTTP makes the requests; nil: a client of its own. Its redirects are not
	// followed: they would take the key and the texts elsewhere.
	HTTP *http.Client
	// Timeout is how long an answer may take in all, IdleTimeout how long nothing
	// may come of it; 0: 10 and 2 minutes.
	Timeout, IdleTimeout time.Duration
}

const (
	defaultTimeout     = 10 * time.Minute
	defaultIdleTimeout = 2 * time.Minute
	// A stream has a few hundred bytes for each token of its answer.
	maxStream = 64 << 20
	maxAnswer = 2 << 20
)

// endpoint is one URL of a provider's API.
type endpoint struct {
	outbound.Service
	url           *url.URL
	http          *http.Client
	timeout, idle time.Duration
}

func newEndpoint(o Options, s outbound.Service, base, path string) (*endpoint, error) {
	e := &endpoint{Service: s, http: outbound.Client(o.HTTP), timeout: o.Timeout, idle: o.IdleTimeout}
	e.Key = strings.TrimSpace(o.Key)
	switch {
	case !outbound.ValidKey(e.Key):
		return nil, fmt.Errorf("the API key of %s has characters that no key has; set a valid %s", e.Name, e.KeySetting)
	case o.BaseURL == "" && e.Key == "":
		return nil, fmt.Errorf("%s is not asked without an API key; set %s", e.Name, e.KeySetting)
	case o.BaseURL != "":
		base = o.BaseURL
	}
	var err error
	if e.url, err = outbound.Target(base, path); err != nil {
		return nil, fmt.Errorf("%s is unusable: %w", e.URLSetting, err)
	}
	if e.timeout <= 0 {
		e.timeout = defaultTimeout
	}
	if e.idle <= 0 {
		e.idle = defaultIdleTimeout
	}
	return e, nil
}

// exchange is one request and its answer.
type exchange struct {
	*endpoint
	*outbound.Try
	caller, ctx context.Context
	stop        context.CancelCauseFunc
	release     context.CancelFunc
	idling      *time.Timer
	most        int64 // bytes of the answer
}

var errIdle = errors.New("it does not answer in time")

// begin makes an exchange, which must end.
func (e *endpoint) begin(ctx context.Context, most int64) *exchange {
	x := &exchange{endpoint: e, caller: ctx, most: most}
	inner, release := context.WithTimeout(ctx, e.timeout)
	x.release = release
	inner, x.stop = context.WithCancelCause(inner)
	x.ctx, x.Try = e.Try(inner)
	x.idling = time.AfterFunc(e.idle, func() { x.stop(errIdle) })
	return x
}

func (x *exchange) end() {
	x.idling.Stop()
	x.stop(nil)
	x.release()
}

// Do makes the request, for Anthropic's SDK, too.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") { // which machine this is, is nobody's business
			req.Header.Del(name)
		}
	}
	resp, err := x.Try.Do(x.http, req)
	if err != nil {
		return nil, x.failed(err)
	}
	resp.Body = &answer{ReadCloser: resp.Body, x: x, left: x.most}
	return resp, nil
}

// post makes a request of JSON.
func (x *exchange) post(body []byte, key string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(x.ctx, http.MethodPost, x.url.String(), strings.NewReader(string(body)))
	if err != nil {
		return nil, &outbound.Error{Code: outbound.Rejected, Message: "the request to " + x.Name + " cannot be made"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	x.SetKeys(req.Header, "Bearer", key)
	return x.Do(req)
}

// failed is what an error of the network, or of the answer, comes to.
func (x *exchange) failed(err error) error {
	var known *outbound.Error
	switch {
	case x.caller.Err() != nil:
		return x.caller.Err()
	case errors.As(err, &known):
		return known
	}
	why := outbound.Explain(err)
	if errors.Is(context.Cause(x.ctx), errIdle) {
		why = errIdle.Error()
	}
	return x.Unreachable(why)
}

// unread is what an error while an answer is read comes to.
func (x *exchange) unread(err error, header http.Header) error {
	var l lost
	var known *outbound.Error
	switch {
	case errors.As(err, &l):
		return x.failed(l.error)
	case x.caller.Err() != nil:
		return x.caller.Err()
	case errors.As(err, &known):
		if known.RequestID == "" {
			known.RequestID = x.Identify("", header)
		}
		return known
	}
	return x.Unreadable(err, header)
}

// answer is a body that has to go on coming, and to end.
type answer struct {
	io.ReadCloser
	x    *exchange
	left int64
}

// lost is an error of the network.
type lost struct{ error }

var errTooLong = errors.New("it is longer than any answer")

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	a.x.idling.Reset(a.x.idle)
	if a.left -= int64(n); a.left < 0 {
		return 0, errTooLong
	}
	if err != nil && err != io.EOF {
		err = lost{err}
	}
	return n, err
}
