package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/helixd/helixd/reactors/outbound"
)

// messages is https://platform.claude.com/docs/en/api/messages, asked with
// Anthropic's SDK.
//
// The schema goes into output_config.format, which every model that is not retired
// keeps to while it writes, whether it thinks or not. A server that refuses that, or
// does not know it and answers in prose, is asked with a tool that the model must
// use: proxies and other makers' servers know that, and it is the second choice
// because some refuse a forced tool where a model thinks.
//
// No field of a request asks Anthropic to keep nothing: that is agreed on for an
// account. So nothing is asked that keeps more than a request does: no caching of
// prompts, no files, no batches.
type messages struct {
	endpoint *endpoint
	client   anthropic.Client
	model    string
	tool     atomic.Bool // the schema is that of a tool
}

// NewAnthropic makes a Model of Anthropic's, or of a server that speaks the same.
func NewAnthropic(o Options) (Model, error) {
	e, err := newEndpoint(o, outbound.Service{Name: "anthropic", KeySetting: "ANTHROPIC_API_KEY", URLSetting: "HELIX_ANTHROPIC_URL",
		ModelSetting: "HELIX_LLM_MODEL", Sending: "the text", Later: "the requests are made again by themselves"}, "https://api.anthropic.com", "/messages")
	if err != nil {
		return nil, fmt.Errorf("make a model: %w", err)
	}
	m := &messages{endpoint: e, model: o.Model}
	if m.model == "" {
		m.model = anthropic.ModelClaudeSonnet5_5
	}
	// The environment is cmd/helixd's to read, and the Client's to count is each request.
	options := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithMaxRetries(0)}
	if e.Key != "" {
		options = append(options, option.WithAPIKey(e.Key))
	}
	m.client = anthropic.NewClient(options...)
	return m, nil
}

// Name implements Model.
func (m *messages) Name() string { return "anthropic " + m.model }

// Complete implements Model.
func (m *messages) Complete(ctx context.Context, r Request) (Answer, error) {
	tool := m.tool.Load()
	x := m.endpoint.begin(ctx, maxStream)
	defer x.end()
	resp, err := m.send(x.ctx, r, tool, x)
	if err != nil {
		return Answer{}, m.adapt(tool, x.failed(err))
	}
	defer resp.Body.Close() // all that is wanted was read
	said, err := readMessage(x, resp)
	a := Answer{Text: said.text.String(), Tokens: said.tokens, RequestID: x.Identify("", resp.Header)}
	a.estimate(r, a.Text+said.input.String())
	if err == nil {
		err = said.stopped(x)
	}
	if err == nil && r.Schema != nil {
		a.JSON, err = said.object()
		if err != nil && !tool && said.text.Len() > 0 && said.text.String()[0] != '{' {
			m.tool.Store(true)
		}
	}
	if err != nil {
		return Answer{Tokens: a.Tokens, RequestID: a.RequestID}, x.unread(err, resp.Header)
	}
	return a, nil
}

// adapt makes of a refusal of output_config the next request's other form.
func (m *messages) adapt(tool bool, err error) error {
	var refused *outbound.Error
	if tool || !errors.As(err, &refused) || !refused.Unknown("output_config") && !(refused.Status == http.StatusBadRequest && refused.Names("output format", "structured output")) {
		return err
	}
	m.tool.Store(true)
	return otherwise(refused, "anthropic's model "+m.model+" does not know output_config; it is asked again with a tool")
}

// Render implements Model: the SDK makes the request, and nobody sends it.
func (m *messages) Render(ctx context.Context, r Request) (Rendered, error) {
	var c capture
	if _, err := m.send(ctx, r, m.tool.Load(), &c); err != nil && !errors.Is(err, errCaptured) {
		return Rendered{}, fmt.Errorf("render a request: %w", err)
	}
	return c.rendered, nil
}

// send makes the request with the SDK, which gives the answer as it is: its own
// reader of streams has no bounds that would be of use.
func (m *messages) send(ctx context.Context, r Request, tool bool, by option.HTTPClient) (*http.Response, error) {
	params, err := m.params(r, tool)
	if err != nil {
		return nil, &outbound.Error{Code: outbound.Rejected, Message: fmt.Sprintf("the schema of the answer is unusable: %s", err)}
	}
	options := []option.RequestOption{option.WithHTTPClient(by), option.WithJSONSet("stream", true)}
	if r.Key != "" && outbound.ValidKey(r.Key) {
		options = append(options, option.WithHeader("Idempotency-Key", r.Key))
	}
	var resp *http.Response
	err = m.client.Post(ctx, m.endpoint.url.String(), params, &resp, options...)
	return resp, err
}

func (m *messages) params(r Request, tool bool) (anthropic.MessageNewParams, error) {
	p := anthropic.MessageNewParams{Model: m.model, MaxTokens: int64(r.MaxTokens),
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(r.Prompt))}}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	if r.User != "" {
		p.Metadata.UserID = param.NewOpt(r.User)
	}
	if r.Schema == nil {
		return p, nil
	}
	schema, err := strict(r.Schema)
	if err != nil {
		return p, err
	}
	if !tool {
		p.OutputConfig.Format.Schema = schema
		return p, nil
	}
	raw, err := encode(schema) // as it is: the SDK's own order of its parts changes from request to request
	if err != nil {
		return p, err
	}
	p.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{Name: r.schemaName(), Description: param.NewOpt("Takes the answer."),
		InputSchema: param.Override[anthropic.ToolInputSchemaParam](json.RawMessage(raw))}}}
	p.ToolChoice = anthropic.ToolChoiceUnionParam{OfTool: &anthropic.ToolChoiceToolParam{Name: r.schemaName(), DisableParallelToolUse: param.NewOpt(true)}}
	return p, nil
}

// capture takes a request in place of the network.
type capture struct{ rendered Rendered }

var errCaptured = errors.New("the request is not sent")

func (c *capture) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	c.rendered = Rendered{Method: req.Method, URL: req.URL.String(), Body: json.RawMessage(bytes.TrimRight(body, "\n"))}
	return nil, errCaptured
}
