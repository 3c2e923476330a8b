package llmtest

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"strings"

	"github.com/helixd/helixd/reactors/outbound/outboundtest"
)

// Step is what is done with one request that nothing is wrong with. The zero Step
// answers it well.
type Step struct {
	Status int // 0: 200
	Header http.Header
	Body   []byte // nil: the one that is documented for the Status
	Answer any    // nil: as Server.Answer says

	Refuse   bool   // the model declines
	Long     bool   // the answer is longer than it may be
	Error    string // Anthropic's or OpenAI's name of an error, as an event in the middle
	Thinking bool   // Anthropic's: the model shows what it thinks before it answers
	Whole    bool   // OpenAI's: no stream, even if one was asked for
	NoUsage  bool   // the tokens are not told
	CRLF     bool   // lines of the stream end so, and comments are between its events

	Chunk int  // bytes that are sent at a time; 0: all
	Split int  // the answer is sent in two pieces: so many bytes, and the rest; 0: one
	Cut   int  // the answer ends after so many bytes, as if it were whole; 0: it does not; -1: at once
	Drop  bool // at Cut, or in the middle, the connection is lost
	Hang  bool // at Cut, or in the middle, nothing comes any more, until the client goes
	// Hold keeps back the answer until it is closed.
	Hold <-chan struct{}
}

// send writes the answer.
func (step Step) send(w http.ResponseWriter, r *http.Request) {
	outboundtest.Hold(r, step.Hold)
	body := step.Body
	end := len(body)
	switch {
	case step.Cut > 0:
		end = min(end, step.Cut)
	case step.Cut < 0:
		end = 0
	case step.Drop || step.Hang:
		end /= 2
	}
	maps.Copy(w.Header(), step.Header)
	w.WriteHeader(step.Status)
	flush := http.NewResponseController(w)
	rest := body[:end]
	for len(rest) > 0 {
		n := len(rest)
		switch {
		case step.Chunk > 0:
			n = min(n, step.Chunk)
		case step.Split > 0 && len(rest) == end:
			n = min(n, step.Split)
		}
		if _, err := w.Write(rest[:n]); err != nil {
			return
		}
		if err := flush.Flush(); err != nil {
			return
		}
		rest = rest[n:]
	}
	if step.Hang {
		flush.Flush() // the client is gone otherwise
		<-r.Context().Done()
	}
	if step.Hang || step.Drop {
		flush.Flush() // as above
		panic(http.ErrAbortHandler)
	}
}

// stream is a body of server-sent events.
type stream struct {
	bytes.Buffer
	step  Step
	names bool // events have them
}

// add writes an event, named after its type.
func (s *stream) add(kind string, data any) {
	end := "\n"
	if s.step.CRLF {
		end = "\r\n"
		s.WriteString(": ping" + end + end)
	}
	if s.names {
		s.WriteString("event: " + kind + end)
	}
	if text, ok := data.(string); ok {
		s.WriteString("data: " + text + end + end)
		return
	}
	s.WriteString("data: " + string(encode(data)) + end + end)
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // what a test answers is JSON
	}
	return b
}

// text is what is said, as text.
func text(r Request, said any) string {
	switch said := said.(type) {
	case string:
		return said
	case nil:
		if r.Schema != nil {
			return string(encode(Instance(r.Schema)))
		}
		return "You said: " + r.Prompt
	}
	return string(encode(said))
}

// pieces are what a text is streamed in: a few characters each, also parts of
// words, and no more than a thousand.
func pieces(text string) []string {
	var all []string
	runes := []rune(text)
	size := max(7, len(runes)/1000)
	for i := 0; i < len(runes); i += size {
		all = append(all, string(runes[i:min(i+size, len(runes))]))
	}
	return all
}

// Count is how many tokens this server's models make of a text.
func Count(text string) int { return len(strings.Fields(text)) + len(text)/8 + 1 }
