package provider

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/helixd/helixd/reactors/outbound"
)

// Options of a Provider are all optional but for what it cannot work without.
type Options struct {
	// BaseURL is where the API is, with or without the /v1 of its paths; "": where
	// the provider itself has it.
	BaseURL string
	Key     string // "": none is sent
	Model   string // "": the provider's default
	// HTTP makes the requests; nil: a client of its own. Its redirects are not
	// followed: they would take the key and the audio elsewhere.
	HTTP *http.Client
	// Timeout is how long an answer may take once the audio is there; 0: 10 min.
	// Short audio gets less.
	Timeout time.Duration
}

const (
	defaultTimeout = 10 * time.Minute
	slowestUpload  = 256 << 10 // bytes a second; a request on a slower line ends
)

// endpoint is one URL of a provider's API.
type endpoint struct {
	outbound.Service
	url     *url.URL
	scheme  string // of Authorization
	broken  *Error // why no request can be made
	http    *http.Client
	timeout time.Duration
}

func newEndpoint(o Options, e endpoint, base, path string) *endpoint {
	if o.BaseURL != "" {
		base = o.BaseURL
	}
	var err error
	e.URLSetting, e.ModelSetting = "HELIX_VOICE_URL", "HELIX_VOICE_MODEL"
	e.Sending, e.Later = "the audio", "recordings are transcribed by themselves"
	if e.url, err = outbound.Target(base, path); err != nil {
		e.broken = &Error{Code: Rejected, Message: fmt.Sprintf("the address of %s is unusable: %s", e.Name, err)}
	}
	if e.Key = strings.TrimSpace(o.Key); !outbound.ValidKey(e.Key) {
		e.broken = &Error{Code: Unauthorized, Message: "the API key has characters that no key has; set a valid " + e.KeySetting}
	}
	e.http = outbound.Client(o.HTTP)
	if e.timeout = o.Timeout; e.timeout <= 0 {
		e.timeout = defaultTimeout
	}
	return &e
}

// check says why a request cannot be made at all.
func (e *endpoint) check(r Request, mostBytes int64) *Error {
	switch {
	case e.broken != nil:
		return e.broken
	case r.URL != "":
		return nil
	case r.Size <= 0:
		return &Error{Code: Rejected, Message: "the audio is empty"}
	case r.Size > mostBytes:
		return &Error{Code: TooLarge, Message: fmt.Sprintf("the audio has %d bytes and %s takes %d; make it shorter", r.Size, e.Name, mostBytes)}
	}
	return nil
}

// patience is how long a request may take: a while for the upload, and for the
// answer a minute and twice the length of the audio, but no longer than Timeout.
func (e *endpoint) patience(r Request) time.Duration {
	if r.URL != "" { // of whatever length
		return e.timeout
	}
	answer := time.Minute + time.Duration(2*r.seconds()*float64(time.Second))
	return min(answer, e.timeout) + time.Duration(r.Size)*time.Second/slowestUpload
}

// ask makes one request and gives the body of a 2xx.
func (e *endpoint) ask(ctx context.Context, r Request, query url.Values, contentType string, body *upload) ([]byte, http.Header, error) {
	inner, cancel := context.WithTimeout(ctx, e.patience(r))
	defer cancel()
	inner, try := e.Try(inner)
	u := *e.url
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(inner, http.MethodPost, u.String(), body)
	if err != nil {
		body.Close() // nothing was read
		return nil, nil, &Error{Code: Rejected, Message: "the request to " + e.Name + " cannot be made"}
	}
	req.ContentLength = body.size
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", contentType)
	e.SetKeys(req.Header, e.scheme, r.Key)
	resp, err := try.Do(e.http, req)
	var answer []byte
	var header http.Header
	if err == nil {
		header = resp.Header
		answer, err = e.read(resp, r.mostAnswer())
	}
	cancel()
	<-body.closed // the caller may take the audio away now
	var failure *Error
	said := err == nil || errors.As(err, &failure)
	switch {
	case !said && ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case body.failed() != nil: // whatever was heard in it
		return nil, nil, e.unreadable(body.failed(), try.Sent())
	case !said:
		return nil, nil, try.Unreachable(outbound.Explain(err))
	}
	return answer, header, err
}

// read takes an answer of at most most bytes. Its error is an *Error, or the network's.
func (e *endpoint) read(resp *http.Response, most int64) ([]byte, error) {
	defer resp.Body.Close() // all that is wanted was read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if int64(len(answer)) > most {
		return nil, e.Unreadable(fmt.Errorf("it has more than %d bytes", most), resp.Header)
	}
	return answer, err
}

// unreadable is the Error of audio that could not be sent.
func (e *endpoint) unreadable(err error, sent bool) *Error {
	return &Error{Code: Unavailable, Message: "the audio cannot be read: " + outbound.Clean(err.Error(), e.Key, 200), Retry: true, Sent: sent, Ours: true}
}

// upload is the body of a request: exactly size bytes.
type upload struct {
	source io.Reader
	closer io.Closer
	size   int64
	left   int64
	closed chan struct{}
	once   atomic.Bool
	err    atomic.Pointer[error]
}

func newUpload(source io.Reader, closer io.Closer, size int64) *upload {
	return &upload{source: source, closer: closer, size: size, left: size, closed: make(chan struct{})}
}

// open gives r's audio as the body of a request.
func (e *endpoint) open(r Request) (io.ReadCloser, *Error) {
	audio, err := r.Open()
	if err != nil {
		return nil, e.unreadable(err, false)
	}
	return audio, nil
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.source.Read(p)
	u.left -= int64(n)
	switch {
	case u.left < 0:
		err = errors.New("it is longer than its size")
	case err == io.EOF && u.left > 0:
		err = errors.New("it is shorter than its size")
	}
	if err != nil && err != io.EOF && !u.once.Load() { // a provider that has answered needs no more of it
		u.err.Store(&err)
	}
	return n, err
}

// Close may be called several times, and by several goroutines.
func (u *upload) Close() error {
	if !u.once.CompareAndSwap(false, true) {
		return nil
	}
	defer close(u.closed)
	return u.closer.Close()
}

// failed is why the audio could not be read.
func (u *upload) failed() error {
	if err := u.err.Load(); err != nil {
		return *err
	}
	return nil
}
