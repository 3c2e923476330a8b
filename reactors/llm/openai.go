package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/helixd/helixd/reactors/outbound"
)

// chat is https://platform.openai.com/docs/api-reference/chat, and the many servers
// that speak the same.
//
// It asks for nothing to be kept with store, and says whose request it is, as a
// hash, with safety_identifier and its older name user. A server that refuses one
// of these, or what else not all know, is asked without it from then on: see dialect.
type chat struct {
	endpoint *endpoint
	model    string
	dialect  dialect
}

// NewOpenAI makes a Model of OpenAI's chat completions, or of a server that speaks
// the same.
func NewOpenAI(o Options) (Model, error) {
	e, err := newEndpoint(o, outbound.Service{Name: "openai", KeySetting: "HELIX_LLM_KEY", URLSetting: "HELIX_LLM_URL",
		ModelSetting: "HELIX_LLM_MODEL", Sending: "the text", Later: "the requests are made again by themselves"}, "https://api.openai.com/v1", "/chat/completions")
	if err == nil && o.Model == "" && o.BaseURL != "" {
		err = errors.New("HELIX_LLM_URL needs HELIX_LLM_MODEL")
	}
	if err != nil {
		return nil, fmt.Errorf("make a model: %w", err)
	}
	c := &chat{endpoint: e, model: o.Model}
	if c.model == "" {
		c.model = "gpt-4.1-mini"
	}
	return c, nil
}

// Name implements Model.
func (c *chat) Name() string { return "openai " + c.model }

// Complete implements Model.
func (c *chat) Complete(ctx context.Context, r Request) (Answer, error) {
	d := c.dialect.now()
	body, failure := c.body(r, d)
	if failure != nil {
		return Answer{}, failure
	}
	x := c.endpoint.begin(ctx, maxStream)
	defer x.end()
	if d["stream"] { // nothing comes before all of it
		x.idling.Reset(x.timeout)
	}
	resp, err := x.post(body, r.Key)
	if err != nil {
		return Answer{}, c.dialect.adapt(d, x.failed(err), "response_format", "stream_options", "stream", "store", "safety_identifier", "user", "max_completion_tokens")
	}
	defer resp.Body.Close() // all that is wanted was read
	said, err := readCompletion(x, resp)
	a := Answer{Text: said.text.String(), Tokens: said.tokens, RequestID: x.Identify("", resp.Header)}
	a.estimate(r, a.Text)
	if err == nil {
		err = said.stopped(x)
	}
	if err == nil && r.Schema != nil {
		a.JSON, err = object(a.Text)
	}
	if err != nil {
		return Answer{Tokens: a.Tokens, RequestID: a.RequestID}, x.unread(err, resp.Header)
	}
	return a, nil
}

// Render implements Model.
func (c *chat) Render(_ context.Context, r Request) (Rendered, error) {
	body, failure := c.body(r, c.dialect.now())
	if failure != nil {
		return Rendered{}, fmt.Errorf("render a request: %w", failure)
	}
	return Rendered{Method: http.MethodPost, URL: c.endpoint.url.String(), Body: body}, nil
}

type chatRequest struct {
	Model               string         `json:"model"`
	Messages            []chatMessage  `json:"messages"`
	ResponseFormat      any            `json:"response_format,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"` // its older name
	Stream              bool           `json:"stream,omitempty"`
	StreamOptions       map[string]any `json:"stream_options,omitempty"`
	Store               *bool          `json:"store,omitempty"`
	SafetyIdentifier    string         `json:"safety_identifier,omitempty"`
	User                string         `json:"user,omitempty"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// body is the request, without what d leaves out.
func (c *chat) body(r Request, d map[string]bool) ([]byte, error) {
	q := chatRequest{Model: c.model, MaxCompletionTokens: r.MaxTokens, Store: new(bool), SafetyIdentifier: r.User, User: r.User}
	system := r.System
	if r.Schema != nil {
		schema, err := strict(r.Schema)
		if err != nil {
			return nil, &outbound.Error{Code: outbound.Rejected, Message: fmt.Sprintf("the schema of the answer is unusable: %s", err)}
		}
		if d["response_format"] {
			text, err := encode(schema)
			if err != nil {
				return nil, err
			}
			system += "\n\nAnswer with one JSON object and nothing else. This JSON Schema describes it:\n" + string(text)
		} else {
			q.ResponseFormat = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": r.schemaName(), "schema": schema, "strict": true}}
		}
	}
	if system != "" {
		q.Messages = append(q.Messages, chatMessage{"system", system})
	}
	q.Messages = append(q.Messages, chatMessage{"user", r.Prompt})
	if !d["stream"] {
		q.Stream = true
		if !d["stream_options"] {
			q.StreamOptions = map[string]any{"include_usage": true}
		}
	}
	if d["store"] {
		q.Store = nil
	}
	if d["safety_identifier"] {
		q.SafetyIdentifier = ""
	}
	if d["user"] {
		q.User = ""
	}
	if d["max_completion_tokens"] {
		q.MaxTokens, q.MaxCompletionTokens = q.MaxCompletionTokens, 0
	}
	return encode(q)
}

// encode writes JSON as it is read, < and & too.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, &outbound.Error{Code: outbound.Rejected, Message: "the request cannot be made"}
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
