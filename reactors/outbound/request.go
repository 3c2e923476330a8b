package outbound

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// maxErrorBody is how much is read of an error's.
const maxErrorBody = 64 << 10

// Try is one request to a Service.
type Try struct {
	service               *Service
	connecting, connected atomic.Bool
}

// Try gives a context for a request, and what is known of it.
func (s *Service) Try(ctx context.Context) (context.Context, *Try) {
	t := &Try{service: s}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { t.connecting.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.connected.Store(true) },
	}), t
}

// Sent is false where the request certainly did not reach the service.
func (t *Try) Sent() bool { return t.connected.Load() || !t.connecting.Load() }

// Do makes the request, and gives the answer if it is a 2xx; any other is an
// *Error. What the network says is left for Unreachable.
//
// The request has no GetBody: with one, and with the Idempotency-Key, net/http
// would send it again by itself when a connection fails, uncounted.
func (t *Try) Do(client *http.Client, req *http.Request) (*http.Response, error) {
	req.GetBody = nil
	req.Header.Set("User-Agent", "helixd")
	resp, err := client.Do(req)
	if err != nil || resp.StatusCode/100 == 2 {
		return resp, err
	}
	defer resp.Body.Close()                                        // all that is wanted was read
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody)) // the status is enough
	return nil, t.service.Refused(resp.StatusCode, resp.Header, said)
}

// Unreachable is the Error of a request to which there was no answer, or the end of none.
func (t *Try) Unreachable(why string) *Error {
	return &Error{Code: Unavailable, Message: fmt.Sprintf("%s cannot be reached: %s", t.service.Name, why), Retry: true, Sent: t.Sent()}
}

// SetKeys writes into a request's header the Service's key, after the scheme of
// Authorization, and the Idempotency-Key; an empty one is left out, and one that
// cannot be sent.
func (s *Service) SetKeys(header http.Header, scheme, idempotency string) {
	if s.Key != "" {
		header.Set("Authorization", scheme+" "+s.Key)
	}
	if idempotency != "" && ValidKey(idempotency) {
		header.Set("Idempotency-Key", idempotency)
	}
}
