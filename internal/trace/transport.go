package trace

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	otrace "go.opentelemetry.io/otel/trace"
)

// Transport makes each request a span, from its beginning to the end of its answer.
// What is asked is the address: neither the path nor anything that is sent, and the
// service is not told of the trace.
func Transport(next http.RoundTripper) http.RoundTripper {
	if !On() {
		return next
	}
	return transport{next}
}

type transport struct{ next http.RoundTripper }

var errRefused = errors.New("the status is an error's")

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !inSpan(r.Context()) {
		return t.next.RoundTrip(r)
	}
	_, span := start(r.Context(), []string{r.Method, r.URL.Hostname()}, otrace.WithSpanKind(otrace.SpanKindClient), otrace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("server.address", r.URL.Hostname())))
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		span.End(err)
		return resp, err
	}
	span.Count("http.response.status_code", resp.StatusCode)
	if resp.StatusCode >= http.StatusBadRequest {
		err = errRefused
	}
	resp.Body = &answer{ReadCloser: resp.Body, end: sync.OnceFunc(func() { span.End(err) })}
	return resp, nil
}

// answer ends the span with its body.
type answer struct {
	io.ReadCloser
	end func()
}

func (a *answer) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if err != nil {
		a.end()
	}
	return n, err
}

func (a *answer) Close() error {
	defer a.end()
	return a.ReadCloser.Close()
}
