// Package llmtest has a server on loopback that speaks the protocols of language and
// embedding models over HTTP: Anthropic's Messages, OpenAI's chat completions and
// embeddings. It looks at what it gets as those would, answers with what a function
// makes of the request, and does to a request what a test tells it to.
package llmtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the one that the server accepts. Where it turns up in an error or in a
// log, a secret has got out.
const Key = "canary-5b0e9d27c4a1f86372de"

// Protocols, each at its own path.
const (
	Anthropic  = "anthropic"  // POST /v1/messages
	OpenAI     = "openai"     // POST /v1/chat/completions
	Embeddings = "embeddings" // POST /v1/embeddings
)

// Request is what the server got.
type Request struct {
	Protocol string
	Header   http.Header
	Key      string          // of the header Idempotency-Key
	Body     json.RawMessage // as it came

	Model      string
	System     string
	Prompt     string
	User       string // the hash that stands for one
	MaxTokens  int
	Schema     json.RawMessage // that the answer has to have; nil: any text
	SchemaName string
	Tool       bool // the schema is that of a tool
	Stream     bool
	Usage      bool  // the stream is to tell the usage
	Store      *bool // OpenAI's: whether the answer is to be kept; nil: not told

	Texts      []string // of embeddings
	Dimensions int

	Problem string // what the provider finds wrong with the request
	Status  int    // of the answer that was begun; 0: none
	Length  int    // of the whole answer, in bytes
}

// Server is all three providers.
type Server struct {
	URL string // the base URL, without /v1

	http   *http.Server
	served chan struct{}
	ended  context.CancelFunc

	mu       sync.Mutex
	script   []Step
	always   func(Request) Step
	answer   func(Request) any
	without  []string
	requests []*Request
	changed  chan struct{} // closed and made anew with each request
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Start starts one outside of a test.
func Start() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start a provider: %w", err)
	}
	s := &Server{URL: "http://" + listener.Addr().String(), served: make(chan struct{}), changed: make(chan struct{})}
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

// Always says what is done with each request that no Script is for; nil: it is answered well.
func (s *Server) Always(step func(Request) Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = step
}

// Answer says what a request is answered: a string is the text as it is, anything
// else is text in JSON, and [][]float32 are the vectors of embeddings. Without it, or where it
// gives nil, a request with a schema is answered an Instance of it, another one
// with what it said, and texts with their Vectors.
func (s *Server) Answer(answer func(Request) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// Without makes it a lesser server, which refuses parameters.
func (s *Server) Without(parameters ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.without = append(s.without, parameters...)
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

// Last is the request that came last.
func (s *Server) Last() Request {
	all := s.Requests()
	if len(all) == 0 {
		return Request{}
	}
	return all[len(all)-1]
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

// protocol is what differs between providers.
type protocol interface {
	// read fills in what the body says; problem is why it is refused.
	read(body []byte, without []string, r *Request) (problem string)
	// authorised is the header, and its value with Key.
	authorised() (header, value string)
	// write makes the body of the answer.
	write(r Request, step Step, said any, name string) (contentType string, body []byte)
	// failure is the documented body of a status.
	failure(status int, problem, name string) []byte
}

var protocols = map[string]struct {
	name string
	protocol
}{
	"/v1/messages":         {Anthropic, anthropic{}},
	"/v1/chat/completions": {OpenAI, openAI{}},
	"/v1/embeddings":       {Embeddings, embeddings{}},
}

const mostBody = 32 << 20

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	p, ok := protocols[r.URL.Path]
	if !ok {
		p = protocols["/v1/chat/completions"]
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, mostBody+1))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req := &Request{Protocol: p.name, Header: r.Header.Clone(), Key: r.Header.Get("Idempotency-Key"), Body: body}
	s.mu.Lock()
	without := slices.Clone(s.without)
	s.mu.Unlock()
	status := http.StatusBadRequest
	header, value := p.authorised()
	switch {
	case !ok:
		status, req.Problem = http.StatusNotFound, "there is no "+r.URL.Path
	case r.Method != http.MethodPost:
		status, req.Problem = http.StatusMethodNotAllowed, "the method is "+r.Method
	case r.Header.Get(header) != value:
		status, req.Problem = http.StatusUnauthorized, "invalid "+strings.ToLower(header)
	case len(body) > mostBody:
		status, req.Problem = http.StatusRequestEntityTooLarge, "Request exceeds the maximum size"
	case r.Header.Get("Content-Type") != "application/json":
		req.Problem = "the Content-Type is " + r.Header.Get("Content-Type")
	case p.name == Anthropic && r.Header.Get("Anthropic-Version") != "2023-06-01":
		req.Problem = "anthropic-version: header is required"
	default:
		req.Problem = p.read(body, without, req)
	}
	step, answer, name := s.arrive(req)
	if req.Problem != "" {
		step = Step{Status: status}
	}
	if step.Status == 0 {
		step.Status = http.StatusOK
	}
	contentType := "application/json"
	if step.Body == nil && step.Status != http.StatusOK {
		step.Body = p.failure(step.Status, req.Problem, name)
	}
	if step.Body == nil {
		said := step.Answer
		if said == nil && answer != nil {
			said = answer(*req)
		}
		contentType, step.Body = p.write(*req, step, said, name)
	}
	s.mu.Lock()
	req.Status, req.Length = step.Status, len(step.Body)
	s.mu.Unlock()
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Request-Id", name)
	step.send(w, r)
}

// arrive remembers a request, and says what is done with it.
func (s *Server) arrive(r *Request) (step Step, answer func(Request) any, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	close(s.changed)
	s.changed = make(chan struct{})
	if len(s.script) > 0 {
		step, s.script = s.script[0], s.script[1:]
	} else if s.always != nil {
		step = s.always(*r)
	}
	return step, s.answer, fmt.Sprintf("req_%06d", len(s.requests))
}
