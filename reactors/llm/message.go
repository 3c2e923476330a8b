package llm

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/helixd/helixd/reactors/outbound"
)

// message is what Anthropic streams of one.
type message struct {
	text   strings.Builder // of its text
	input  strings.Builder // of the tool
	used   bool            // the tool
	stop   string          // why it ended
	tokens Tokens
}

var (
	errEnded  = errors.New("it ends before it is whole")
	errStream = errors.New("it is no stream of events")
	errEmpty  = errors.New("it is empty")
)

// statuses are those of Anthropic's errors, which in a stream have none.
var statuses = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

// readMessage reads a stream to its end. What it has read before an error was
// paid for, too.
func readMessage(x *exchange, resp *http.Response) (*message, error) {
	m := &message{}
	if !streams(resp) {
		return m, errStream
	}
	for e, err := range events(resp.Body) {
		if err != nil {
			return m, err
		}
		ended, err := m.take(e, x)
		if err != nil || ended {
			return m, err
		}
	}
	return m, errEnded
}

// take adds an event, and reports whether it is the last one. It reads no list,
// which may have a million empty elements. Events of kinds that are not known are
// to be ignored.
func (m *message) take(e event, x *exchange) (ended bool, err error) {
	var said struct {
		Type    string `json:"type"`
		Message struct {
			Usage claudeUsage `json:"usage"`
		} `json:"message"`
		Block struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content_block"`
		Delta struct {
			Type    string `json:"type"`
			Text    string `json:"text"`
			Partial string `json:"partial_json"`
			Stop    string `json:"stop_reason"`
		} `json:"delta"`
		Usage claudeUsage `json:"usage"`
		Error struct {
			Type string `json:"type"`
		} `json:"error"`
	}
	if err := json.Unmarshal(e.data, &said); err != nil {
		return false, err
	}
	switch said.Type {
	case "error":
		status := statuses[said.Error.Type]
		if status == 0 {
			status = http.StatusInternalServerError
		}
		return false, x.Refused(status, http.Header{}, e.data)
	case "message_start":
		m.tokens = Tokens{Input: said.Message.Usage.input(), Output: said.Message.Usage.Output}
	case "content_block_start":
		m.used = m.used || said.Block.Type == "tool_use"
		m.text.WriteString(said.Block.Text)
	case "content_block_delta":
		if said.Delta.Type == "text_delta" {
			m.text.WriteString(said.Delta.Text)
		}
		m.input.WriteString(said.Delta.Partial)
		if m.text.Len()+m.input.Len() > maxAnswer {
			return false, errTooLong
		}
	case "message_delta":
		m.stop = said.Delta.Stop
		m.tokens.Output = max(m.tokens.Output, said.Usage.Output)
		m.tokens.Input = max(m.tokens.Input, said.Usage.input())
	case "message_stop":
		return true, nil
	}
	return false, nil
}

// claudeUsage counts tokens so far. What came from a cache was read, too.
type claudeUsage struct {
	Input   int64 `json:"input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

func (u claudeUsage) input() int64 { return u.Input + u.Created + u.Read }

// stopped is what the reason of the end comes to.
func (m *message) stopped(x *exchange) error {
	switch m.stop {
	case "":
		return errEnded
	case "refusal":
		return x.declined()
	case "max_tokens", "model_context_window_exceeded":
		return x.truncated()
	}
	if m.text.Len()+m.input.Len() == 0 {
		return errEmpty
	}
	return nil
}

// object is the answer to a request with a schema.
func (m *message) object() (json.RawMessage, error) {
	if m.used {
		return object(m.input.String())
	}
	return object(m.text.String())
}

// declined is the Error of a model that does not answer. What it says instead may
// repeat what it was told.
func (x *exchange) declined() error {
	return &outbound.Error{Code: outbound.Refused, Message: "the model declines to answer", Status: http.StatusOK, Sent: true}
}

func (x *exchange) truncated() error {
	return &outbound.Error{Code: outbound.Truncated, Message: "the answer is longer than it may be", Status: http.StatusOK, Sent: true}
}

// streams reports whether an answer is a stream of events.
func streams(resp *http.Response) bool {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
}
