package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/helixd/helixd/reactors/skills/schema"
	"github.com/helixd/helixd/reactors/skills/workflow"
)

// Bounds of MCP.
const (
	maxMCPResponse = 5 << 20 // bytes that one call may read, all its requests together
	maxMCPResult   = 1 << 20 // bytes of its result
	mcpTimeout     = 30 * time.Second
)

// MCP calls the tools of Model Context Protocol servers, over streamable HTTP. Each
// call has a session of its own, so that nothing passes from one run to another.
type MCP struct {
	servers   map[string]string
	transport http.RoundTripper
}

// NewMCP takes an operator's servers, https URLs by name, and what carries the
// requests: the broker's, which refuses private addresses.
func NewMCP(servers map[string]string, transport http.RoundTripper) (*MCP, error) {
	for name, address := range servers {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return nil, fmt.Errorf("MCP server %q: its address must be an https URL without a password", name)
		}
		if name == "" || strings.Contains(name, "/") {
			return nil, fmt.Errorf("MCP server %q: a name cannot be empty or hold a slash", name)
		}
	}
	return &MCP{servers: servers, transport: transport}, nil
}

func (m *MCP) has(server string) bool {
	return m != nil && m.servers[server] != ""
}

// call gives a tool's structured content, else its one text (as JSON, where it is
// JSON), else its content as MCP writes it.
func (m *MCP) call(ctx context.Context, server, tool string, input json.RawMessage, idempotencyKey string) (json.RawMessage, error) {
	var arguments map[string]json.RawMessage
	if err := json.Unmarshal(input, &arguments); err != nil {
		return nil, failure(workflow.InputInvalid, "an MCP tool's input is an object")
	}
	ctx, cancel := context.WithTimeout(ctx, mcpTimeout)
	defer cancel()
	bounded := &boundedTransport{next: m.transport, key: idempotencyKey}
	bounded.left.Store(maxMCPResponse)
	client := mcp.NewClient(&mcp.Implementation{Name: "helixd", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: m.servers[server],
		// A redirect would leave the operator's list.
		HTTPClient: &http.Client{Transport: bounded, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		MaxRetries: -1,
	}, nil)
	if err != nil {
		return nil, bounded.explain(ctx, server, err)
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return nil, bounded.explain(ctx, server, err)
	}
	output, err := outputOf(result)
	switch {
	case err != nil:
		return nil, failure("mcp_failed", "the MCP server %q gave a result that cannot be read", server)
	case result.IsError:
		return nil, failure("mcp_tool_failed", "the tool says: %s", schema.Clip(string(output)))
	case len(output) > maxMCPResult:
		return nil, failure("response_too_large", "the result is larger than %d bytes", maxMCPResult)
	}
	return output, nil
}

func outputOf(result *mcp.CallToolResult) (json.RawMessage, error) {
	if result.StructuredContent != nil {
		return json.Marshal(result.StructuredContent)
	}
	if len(result.Content) == 1 {
		if text, ok := result.Content[0].(*mcp.TextContent); ok {
			if _, err := schema.Decode([]byte(text.Text)); err == nil {
				return json.RawMessage(text.Text), nil
			}
			return json.Marshal(text.Text)
		}
	}
	return json.Marshal(result.Content)
}

var errMCPLarge = errors.New("the MCP server's answer is too large")

// boundedTransport counts what a call reads. The SDK reads a response as a whole.
type boundedTransport struct {
	next http.RoundTripper
	key  string
	left atomic.Int64
	// What the transport failed with: the SDK's own error does not hold it.
	failed atomic.Pointer[error]
}

// read is how many bytes came.
func (t *boundedTransport) read() int64 { return maxMCPResponse - t.left.Load() }

func (t *boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		// The SDK asks for a stream of what the server has to say by itself, and would
		// wait on it for the whole session. Nothing is to be said.
		return &http.Response{Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
	r = r.Clone(r.Context())
	r.Header.Set("Idempotency-Key", t.key)
	response, err := t.next.RoundTrip(r)
	if err != nil {
		t.failed.Store(&err)
		return nil, err
	}
	response.Body = &boundedBody{ReadCloser: response.Body, transport: t}
	return response, nil
}

type boundedBody struct {
	io.ReadCloser
	transport *boundedTransport
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.transport.left.Add(-int64(n)) < 0 {
		return 0, errMCPLarge
	}
	return n, err
}

// explain makes the step's error. An error of the transport that has a code of its
// own (the broker's host_not_allowed and the like) stays as it is.
func (t *boundedTransport) explain(ctx context.Context, server string, err error) error {
	var (
		known *workflow.Error
		wire  *jsonrpc.Error
	)
	if failed := t.failed.Load(); failed != nil {
		err = fmt.Errorf("%w: %w", *failed, err)
	}
	switch {
	case t.read() > maxMCPResult: // the SDK ends earlier than this transport on a large event
		return failure("response_too_large", "the MCP server %q sent more than %d bytes", server, maxMCPResult)
	case errors.As(err, &known):
		return known
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return failure(workflow.StepTimeout, "the MCP server %q did not answer in time", server)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case t.failed.Load() == nil && errors.As(err, &wire):
		if wire.Code == jsonrpc.CodeInvalidParams || wire.Code == jsonrpc.CodeMethodNotFound {
			return failure(workflow.InputInvalid, "the MCP server %q refuses the call: %s", server, schema.Clip(wire.Message))
		}
		return failure("mcp_failed", "the MCP server %q says: %s", server, schema.Clip(wire.Message))
	default:
		return &callError{server: server, err: err}
	}
}

// callError is an mcp_failed that keeps what the transport said for the log: its
// addresses are not for the row.
type callError struct {
	server string
	err    error
}

func (e *callError) Error() string { return fmt.Sprintf("call MCP server %q: %s", e.server, e.err) }

func (e *callError) Unwrap() error { return e.err }

// As gives the row's side of the error.
func (e *callError) As(target any) bool {
	known, ok := target.(**workflow.Error)
	if ok {
		*known = failure("mcp_failed", "the MCP server %q could not be called", e.server)
	}
	return ok
}
