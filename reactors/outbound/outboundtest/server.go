// Package outboundtest is a server on loopback in the place of a provider, whatever
// it speaks: it remembers what it gets, and a test tells what is done with each
// request. Packages llmtest and providertest speak with it.
package outboundtest

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// Request is what all servers know of one.
type Request struct {
	Header  http.Header
	Key     string // of the header Idempotency-Key
	Problem string // what the provider finds wrong with the request
	Status  int    // of the answer that was begun; 0: none
}

// NewRequest is what is known before the body is read.
func NewRequest(r *http.Request) Request {
	return Request{Header: r.Header.Clone(), Key: r.Header.Get("Idempotency-Key")}
}

func (r Request) problem() string { return r.Problem }

// Server remembers requests R, which have a Request in them, and has a step S for each.
type Server[R interface{ problem() string }, S any] struct {
	URL string

	http   *http.Server
	served chan struct{}
	ended  context.CancelFunc

	mu       sync.Mutex
	script   []S
	always   func(R) S
	requests []*R
	changed  chan struct{} // closed and made anew with each request
}

// Serve starts it, at an address of its own.
func (s *Server[R, S]) Serve(handler http.HandlerFunc) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("start a provider: %w", err)
	}
	s.URL, s.served, s.changed = "http://"+listener.Addr().String(), make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	s.ended = cancel
	s.http = &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx }, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.served)
		s.http.Serve(listener) // Close ends it
	}()
	return nil
}

// Close ends the server and all connections.
func (s *Server[R, S]) Close() {
	s.ended()
	s.http.Close() // nothing is left to be lost
	<-s.served
}

// EndWith ends with the test a server that was started for it.
func EndWith[T interface{ Close() }](t testing.TB, s T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Script says what is done with the next requests, one by one. After it they are
// answered well, or as Always says.
func (s *Server[R, S]) Script(steps ...S) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, steps...)
}

// Always says what is done with each request that no Script is for; nil: it is answered well.
func (s *Server[R, S]) Always(step func(R) S) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = step
}

// Requests are all that have come, the oldest first. Their maps are shared, to be
// read only.
func (s *Server[R, S]) Requests() []R {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]R, len(s.requests))
	for i, r := range s.requests {
		all[i] = *r
	}
	return all
}

// Count is how many requests have come.
func (s *Server[R, S]) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// Last is the request that came last.
func (s *Server[R, S]) Last() (last R) {
	if all := s.Requests(); len(all) > 0 {
		last = all[len(all)-1]
	}
	return last
}

// Problems are what was wrong with requests, each once.
func (s *Server[R, S]) Problems() []string {
	var all []string
	for _, r := range s.Requests() {
		if p := r.problem(); p != "" && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// Await returns when count requests have come, or with ctx's error.
func (s *Server[R, S]) Await(ctx context.Context, count int) error {
	for {
		s.mu.Lock()
		come, changed := len(s.requests), s.changed
		s.mu.Unlock()
		if come >= count {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d requests came: %w", come, count, ctx.Err())
		}
	}
}

// Arrive remembers a request, and says what is done with it and which one it is,
// the first being 1.
func (s *Server[R, S]) Arrive(r *R) (step S, number int) {
	s.mu.Lock()
	s.requests = append(s.requests, r)
	number = len(s.requests)
	close(s.changed)
	s.changed = make(chan struct{})
	always := s.always
	if len(s.script) > 0 {
		step, s.script, always = s.script[0], s.script[1:], nil
	}
	known := *r
	s.mu.Unlock()
	if always != nil { // which may ask the server something
		step = always(known)
	}
	return step, number
}

// Learn changes what is remembered of a request.
func (s *Server[R, S]) Learn(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Hold waits until a step's hold is closed, if there is one, as long as the client does.
func Hold(r *http.Request, hold <-chan struct{}) {
	if hold == nil {
		return
	}
	select {
	case <-hold:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}
