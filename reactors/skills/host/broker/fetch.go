package broker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/helixd/helixd/reactors/sandbox"
)

const (
	maxURL       = 8 << 10
	maxHeaders   = 100
	maxRedirects = 5
	fetchTimeout = 30 * time.Second
)

// methods are those that a skill may use: not CONNECT and TRACE.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// reserved headers belong to the connection, or say where the request goes.
var reserved = []string{
	"Host", "Content-Length", "Transfer-Encoding", "Connection", "Proxy-Connection", "Keep-Alive", "Te", "Trailer", "Upgrade",
	"Proxy-Authorization", "Proxy-Authenticate", "Expect", "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "Via", "Http2-Settings",
}

// credentials are the headers that go to no other host.
var credentials = []string{"Authorization", "Cookie"}

// Request is what a skill wants.
type Request struct {
	Method  string // "": GET
	URL     string
	Headers map[string]string
	Body    []byte
	// Key is put into the header Idempotency-Key of a request that changes
	// something and has none.
	Key string
	// Room waits until a body of up to MaxBody may be in memory. It is called when
	// one has more than 256 KB, before the rest is read; nil does not wait.
	Room func(context.Context) error
}

// Response is what came.
type Response struct {
	Status  int
	Headers map[string]string // names in lower case, several values joined with ", "
	Body    []byte
}

// Secret gives the value of a secret for a request to the host.
type Secret func(ctx context.Context, name, host string) (string, error)

// Fetch makes a request, and follows up to 5 redirects. {{secret:NAME}} in a
// header's value is replaced; where the response has the secret, it gives ***.
func (b *Broker) Fetch(ctx context.Context, r Request, allow Allow, secret Secret) (*Response, error) {
	req, host, err := request(ctx, r)
	if err != nil {
		return nil, err
	}
	trip := &tripper{broker: b, allow: allow}
	if _, err := trip.check(req); err != nil { // before a secret is read
		return nil, err
	}
	filled, err := fill(ctx, req.Header, host, secret)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	client := http.Client{Transport: trip, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return sandbox.Errorf(NetworkError, "the server redirects more than %d times", maxRedirects)
		}
		next.Header.Del("Referer")
		// Once elsewhere, nothing comes back: the first host need not be the one
		// that sent the request there.
		elsewhere := func(r *http.Request) bool { return r.URL.Host != via[0].URL.Host }
		if elsewhere(next) || slices.ContainsFunc(via, elsewhere) {
			for _, name := range append(filled.headers, credentials...) {
				next.Header.Del(name)
			}
		}
		return nil
	}}
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, explain(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	body, err := read(ctx, resp.Body, r.Room)
	if err != nil {
		return nil, explain(err)
	}
	out := &Response{Status: resp.StatusCode, Headers: map[string]string{}, Body: filled.hide(body)}
	for name, values := range resp.Header {
		out.Headers[string(filled.hide([]byte(strings.ToLower(name))))] =
			string(filled.hide([]byte(strings.ToValidUTF8(strings.Join(values, ", "), "�"))))
	}
	return out, nil
}

// read reads a body.
func read(ctx context.Context, body io.Reader, room func(context.Context) error) ([]byte, error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, body, smallBody); errors.Is(err, io.EOF) {
		return b.Bytes(), nil
	} else if err != nil {
		return nil, err
	}
	if room != nil {
		if err := room(ctx); err != nil {
			return nil, err
		}
	}
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
}

// request checks what a skill wants and gives its host.
func request(ctx context.Context, r Request) (*http.Request, string, error) {
	invalid := func(format string, args ...any) (*http.Request, string, error) {
		return nil, "", sandbox.Errorf(InvalidRequest, format, args...)
	}
	method := strings.ToUpper(r.Method)
	if method == "" {
		method = http.MethodGet
	}
	switch {
	case !slices.Contains(methods, method):
		return invalid("the method is one of %s", strings.Join(methods, ", "))
	case len(r.URL) > maxURL:
		return invalid("a URL has %d bytes at the most", maxURL)
	case strings.Contains(r.URL, "{{secret:"):
		return invalid("secrets go into headers, not into a URL: servers log those")
	case len(r.Headers) > maxHeaders:
		return invalid("a request has %d headers at the most", maxHeaders)
	case len(r.Body) > MaxBody:
		return invalid("a request's body has %d bytes at the most", MaxBody)
	case len(r.Body) > 0 && (method == http.MethodGet || method == http.MethodHead):
		return invalid("%s has no body", method)
	}
	u, err := url.Parse(r.URL)
	if err != nil {
		return invalid("the URL cannot be read")
	}
	host, _, err := Target(u)
	if err != nil {
		return nil, "", err
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return invalid("the URL cannot be read")
	}
	size := 0
	for name, value := range r.Headers {
		size += len(name) + len(value)
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			return invalid("a header's name or value has characters that none can have")
		case slices.Contains(reserved, canonical):
			return invalid("the header %s is not the skill's to set", canonical)
		case req.Header[canonical] != nil:
			return invalid("the header %s is there twice", canonical)
		case canonical == "Accept-Encoding": // what comes is decompressed, and so bounded
			continue
		}
		req.Header.Set(canonical, value)
	}
	if size > maxHeader {
		return invalid("a request's headers have %d bytes at the most", maxHeader)
	}
	if req.Header["User-Agent"] == nil {
		req.Header.Set("User-Agent", "helixd")
	}
	if r.Key != "" && method != http.MethodGet && method != http.MethodHead && req.Header["Idempotency-Key"] == nil {
		req.Header.Set("Idempotency-Key", r.Key)
	}
	return req, host, nil
}
