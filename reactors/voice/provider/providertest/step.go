package providertest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/helixd/helixd/reactors/outbound/outboundtest"
)

// Step is what is done with one request. The zero Step answers it well.
type Step struct {
	Status int // 0: 200
	Header http.Header
	Body   []byte // nil: the one that is documented for the Status
	Repeat int    // the Body comes so many times more; -1: without end
	// Pace is the pause after each byte of the answer.
	Pace time.Duration
	// Hold keeps back the answer until it is closed. The request is read before.
	Hold <-chan struct{}
	Drop Drop
}

// Drop says when the connection ends.
type Drop int

// Drops.
const (
	Never        Drop = iota
	BeforeBody        // once the header of the request is there
	WithinBody        // when half of its body is
	AfterBody         // when all of it is
	WithinAnswer      // when half of the answer is sent
)

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	known := &Request{Request: outboundtest.NewRequest(r), Path: r.URL.Path, Query: r.URL.Query()}
	req := *known
	step, number := s.Arrive(known)
	name := fmt.Sprintf("00000000-0000-4000-8000-%012d", number)
	if step.Drop == BeforeBody {
		panic(http.ErrAbortHandler)
	}
	if step.Drop == WithinBody {
		io.CopyN(io.Discard, r.Body, r.ContentLength/2) // it ends anyway
		panic(http.ErrAbortHandler)
	}
	status, problem := s.check(r, &req)
	s.Learn(func() { *known = req })
	if step.Drop == AfterBody {
		panic(http.ErrAbortHandler)
	}
	outboundtest.Hold(r, step.Hold)
	if problem != "" {
		step = Step{Status: status}
	}
	if step.Status == 0 {
		step.Status = http.StatusOK
	}
	s.Learn(func() { known.Status = step.Status })
	if step.Body == nil {
		body, err := json.Marshal(s.protocol.answer(step.Status, problem, req, name))
		if err != nil {
			panic(err)
		}
		step.Body = body
	}
	step.write(w)
}

// check does what a provider does before it listens.
func (s *Server) check(r *http.Request, req *Request) (int, string) {
	status, problem := 0, ""
	switch {
	case r.URL.Path != s.protocol.path():
		status, problem = http.StatusNotFound, "there is no "+r.URL.Path
	case r.Method != http.MethodPost:
		status, problem = http.StatusMethodNotAllowed, "the method is "+r.Method
	case r.Header.Get("Authorization") != s.protocol.authorization():
		status, problem = http.StatusUnauthorized, "Invalid credentials."
	case r.ContentLength <= 0:
		status, problem = http.StatusLengthRequired, "there is no Content-Length"
	case r.Header.Get("User-Agent") != "helixd":
		status, problem = http.StatusForbidden, "the User-Agent is not helixd"
	default:
		status, problem = s.protocol.read(r, req)
	}
	if !req.Interrupted {
		req.Problem = problem
	}
	return status, problem
}

// write sends the answer.
func (step Step) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	maps.Copy(w.Header(), step.Header)
	if step.Drop == WithinAnswer {
		// The length is that of the whole, so that the client misses the rest.
		w.Header().Set("Content-Length", strconv.Itoa(len(step.Body)))
		w.WriteHeader(step.Status)
		w.Write(step.Body[:len(step.Body)/2])
		http.NewResponseController(w).Flush() // the connection ends in any case
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(step.Status)
	for i := 0; step.Repeat < 0 || i <= step.Repeat; i++ {
		if !step.writeOnce(w) {
			return
		}
	}
}

// writeOnce reports whether the client still listens.
func (step Step) writeOnce(w http.ResponseWriter) bool {
	if step.Pace == 0 {
		_, err := w.Write(step.Body)
		return err == nil
	}
	for i := range step.Body {
		if _, err := w.Write(step.Body[i : i+1]); err != nil {
			return false
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return false
		}
		time.Sleep(step.Pace) // is what a slow provider is
	}
	return true
}
