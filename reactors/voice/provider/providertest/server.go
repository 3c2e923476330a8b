// Package providertest has servers on loopback that speak the protocols of
// Deepgram and OpenAI over HTTP: they look at what they get as those would, hear
// in a recording its own hash, and do to a request what a test tells them to.
package providertest

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

// Key is the one that the servers accept. Where it turns up in an error or in a
// log, a secret has got out.
const Key = "canary-8d1f0c6be94a27735512"

// Request is what a server got.
type Request struct {
	Path   string
	Query  url.Values // Deepgram's parameters
	Form   url.Values // OpenAI's
	Header http.Header
	Key    string // of the header Idempotency-Key

	ContentType string // of the audio
	FileName    string // OpenAI's
	URL         string // that Deepgram fetched the audio from
	Bytes       int64  // of the audio
	SHA256      string // of the audio, in hex; "": it did not come whole
	Seconds     float64
	Transcript  string // what is heard in it

	// Problem is what the provider finds wrong with the request. Interrupted: its
	// body ended early, as when the client is killed.
	Problem     string
	Interrupted bool
	Status      int // of the answer that was begun; 0: none
}

// Server is one provider.
type Server struct {
	// URL is the base URL, Deepgram's without /v1, OpenAI's with it.
	URL string

	protocol protocol
	http     *http.Server
	served   chan struct{}
	ended    context.CancelFunc

	mu       sync.Mutex
	script   []Step
	always   func(Request) Step
	requests []*Request
	changed  chan struct{} // closed and made anew with each request
}

// protocol is what differs between providers.
type protocol interface {
	path() string
	authorization() string // the value with Key
	// read takes a request's audio and fills in req; problem is why it is refused.
	read(r *http.Request, req *Request) (status int, problem string)
	// answer is the documented body of a status; request is a name of this one.
	answer(status int, problem string, req Request, request string) any
}

// NewDeepgram starts a Deepgram that ends with the test.
func NewDeepgram(t testing.TB) *Server {
	t.Helper()
	return started(t, StartDeepgram)
}

// NewOpenAI starts an OpenAI that ends with the test.
func NewOpenAI(t testing.TB) *Server {
	t.Helper()
	return started(t, StartOpenAI)
}

func started(t testing.TB, start func() (*Server, error)) *Server {
	t.Helper()
	s, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// StartDeepgram starts one outside of a test.
func StartDeepgram() (*Server, error) { return start(deepgram{}, "") }

// StartOpenAI starts one outside of a test.
func StartOpenAI() (*Server, error) { return start(openAI{}, "/v1") }

func start(p protocol, base string) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a provider: %w", err)
	}
	s := &Server{URL: "http://" + listener.Addr().String() + base, protocol: p, served: make(chan struct{}), changed: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	s.ended = cancel
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx }, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.served)
		s.http.Serve(listener) // Close ends it
	}()
	return s, nil
}

// Close ends the server and all connections.
func (s *Server) Close() {
	s.ended()
	s.http.Close() // nothing is left to be lost
	<-s.served
}

// Script says what is done with the next requests, one by one. After it they are
// answered well, or as Always says.
func (s *Server) Script(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, steps...)
}

// Always says what is done with each request that no Script is for. It is called
// before the body is read.
func (s *Server) Always(step func(Request) Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = step
}

// Requests are all that have come, the oldest first. Their maps are shared, to be
// read only.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Request, len(s.requests))
	for i, r := range s.requests {
		all[i] = *r
	}
	return all
}

// Count is how many requests have come.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// ByKey counts the requests of each Idempotency-Key.
func (s *Server) ByKey() map[string]int {
	return s.by(func(r Request) string { return r.Key })
}

// ByAudio counts the requests of each recording, by its SHA-256 in hex. Of those
// that did not come whole it is "".
func (s *Server) ByAudio() map[string]int {
	return s.by(func(r Request) string { return r.SHA256 })
}

func (s *Server) by(name func(Request) string) map[string]int {
	count := map[string]int{}
	for _, r := range s.Requests() {
		count[name(r)]++
	}
	return count
}

// Problems are what was wrong with requests, each once.
func (s *Server) Problems() []string {
	var all []string
	for _, r := range s.Requests() {
		if r.Problem != "" && !slices.Contains(all, r.Problem) {
			all = append(all, r.Problem)
		}
	}
	return all
}

// Await returns when count requests have come, or with ctx's error.
func (s *Server) Await(ctx context.Context, count int) error {
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

// arrive remembers a request, and says what is done with it and what it is called.
func (s *Server) arrive(r *http.Request) (known *Request, step Step, name string) {
	s.mu.Lock()
	known = &Request{Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Key: r.Header.Get("Idempotency-Key")}
	s.requests = append(s.requests, known)
	name = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(s.requests))
	close(s.changed)
	s.changed = make(chan struct{})
	always := s.always
	if len(s.script) > 0 {
		step, s.script, always = s.script[0], s.script[1:], nil
	}
	req := *known
	s.mu.Unlock()
	if always != nil { // which may ask the server something
		step = always(req)
	}
	return known, step, name
}

// learn changes what is remembered of a request.
func (s *Server) learn(known *Request, change func()) Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	return *known
}
