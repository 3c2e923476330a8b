// Package llmtest has a server on loopback that speaks the protocols of language and
// embedding models over HTTP: Anthropic's Messages, OpenAI's chat completions and
// embeddings. It looks at what it gets as those would, answers with what a function
// makes of the request, and does to a request what a test tells it to.
package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helixd/helixd/reactors/outbound/outboundtest"
)

// Key is the one that the server accepts.
const Key = outboundtest.Key

// Protocols, each at its own path.
const (
	Anthropic  = "anthropic"  // POST /v1/messages
	OpenAI     = "openai"     // POST /v1/chat/completions
	Embeddings = "embeddings" // POST /v1/embeddings
)

// Request is what the server got.
type Request struct {
	outboundtest.Request
	Protocol string
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

	Length int // of the whole answer, in bytes
}

// Server is all three providers. Its URL is the base URL, without /v1.
type Server struct {
	outboundtest.Server[Request, Step]

	mu      sync.Mutex
	answer  func(Request) any
	without []string
}

// New starts a server that ends with the test.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	return outboundtest.EndWith(t, s, s.Serve(s.serve))
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
	req := &Request{Request: outboundtest.NewRequest(r), Protocol: p.name, Body: body}
	s.mu.Lock()
	answer, without := s.answer, slices.Clone(s.without)
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
	step, number := s.Arrive(req)
	name := fmt.Sprintf("req_%06d", number)
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
	s.Learn(func() { req.Status, req.Length = step.Status, len(step.Body) })
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Request-Id", name)
	step.send(w, r)
}
