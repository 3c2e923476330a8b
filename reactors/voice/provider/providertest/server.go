// Package providertest has servers on loopback that speak the protocols of
// Deepgram and OpenAI over HTTP: they look at what they get as those would, hear
// in a recording its own hash, and do to a request what a test tells them to.
package providertest

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/helixd/helixd/reactors/outbound/outboundtest"
)

// Key is the one that the servers accept.
const Key = outboundtest.Key

// Request is what a server got.
type Request struct {
	outboundtest.Request
	Path  string
	Query url.Values // Deepgram's parameters
	Form  url.Values // OpenAI's

	ContentType string // of the audio
	FileName    string // OpenAI's
	URL         string // that Deepgram fetched the audio from
	Bytes       int64  // of the audio
	SHA256      string // of the audio, in hex; "": it did not come whole
	Seconds     float64
	Transcript  string // what is heard in it
	Interrupted bool   // the body ended early, as when the client is killed
}

// Server is one provider. Its URL is the base URL, Deepgram's without /v1, OpenAI's
// with it. Of an Always the function is called before the body is read.
type Server struct {
	outboundtest.Server[Request, Step]
	protocol protocol
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
	s, err := start(deepgram{}, "")
	return outboundtest.EndWith(t, s, err)
}

// NewOpenAI starts an OpenAI that ends with the test.
func NewOpenAI(t testing.TB) *Server {
	t.Helper()
	s, err := StartOpenAI()
	return outboundtest.EndWith(t, s, err)
}

// StartOpenAI starts one outside of a test.
func StartOpenAI() (*Server, error) { return start(openAI{}, "/v1") }

func start(p protocol, base string) (*Server, error) {
	s := &Server{protocol: p}
	err := s.Serve(s.serve)
	s.URL += base
	return s, err
}

// ByKey counts the requests of each Idempotency-Key.
func (s *Server) ByKey() map[string]int {
	count := map[string]int{}
	for _, r := range s.Requests() {
		count[r.Key]++
	}
	return count
}
