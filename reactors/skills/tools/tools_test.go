package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/skills/tools"
	"github.com/helixd/helixd/reactors/skills/workflow"
)

// fails checks that err is a *workflow.Error with a code and words.
func fails(t *testing.T, err error, code, words string) {
	t.Helper()
	var e *workflow.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Message, words) {
		t.Fatalf("got %v, want %s with %q", err, code, words)
	}
}

func TestFormat(t *testing.T) {
	call := func(input string) (string, error) {
		out, err := (&tools.Tools{}).Call(t.Context(), "format", json.RawMessage(input), "k")
		return string(out), err
	}
	for input, want := range map[string]string{
		`{"template":"Hello {{name}}!","name":"Ada"}`:                    `"Hello Ada!"`,
		`{"template":"{{ a.b }}","a":{"b":"x"}}`:                         `"x"`,
		`{"template":"{{n}} {{o}} {{z}}","n":1.50,"o":{"a":1},"z":null}`: `"1.50 {\"a\":1} null"`,
		`{"template":"{{l}}","l":["a","b"]}`:                             `"a\nb"`,
		`{"template":"{{l}}","l":["a",1]}`:                               `"[\"a\",1]"`,
		`{"template":"{{l}}","l":[]}`:                                    `""`,
		`{"template":"{{a}}","a":"{{b}}","b":"never"}`:                   `"{{b}}"`,
		`{"template":"}} {"}`:                                            `"}} {"`,
	} {
		if got, err := call(input); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", input, got, err, want)
		}
	}
	for input, words := range map[string]string{
		`{}`: "needs a template", `[]`: "needs a template", `{"template":"{{a"}`: "without }}", `{"template":"{{a.b}}","a":1}`: `no "a.b"`, `{`: "not JSON",
	} {
		_, err := call(input)
		fails(t, err, "input_invalid", words)
	}
	_, err := call(`{"template":"` + strings.Repeat("{{a}}", 2000) + `","a":"` + strings.Repeat("x", 2000) + `"}`)
	fails(t, err, "output_too_large", "longer")
}

func TestFormatGivesBackPlainText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.ReplaceAll(rapid.String().Draw(rt, "text"), "\x00", "")
		input, _ := json.Marshal(map[string]string{"template": "{{x}}", "x": text})
		out, err := (&tools.Tools{}).Call(t.Context(), "format", input, "k")
		var got string
		if err != nil || json.Unmarshal(out, &got) != nil || got != text {
			rt.Fatalf("%q became %s, %v", text, out, err)
		}
	})
}

func TestBuiltInToolsAreHostCalls(t *testing.T) {
	refused := errors.New("refused")
	var got []string
	set := &tools.Tools{Host: func(_ context.Context, name string, request []byte) ([]byte, error) {
		got = append(got, name+" "+string(request))
		if name == "memories.write" {
			return nil, refused
		}
		return []byte(`[]`), nil
	}}
	for _, name := range []string{"http", "memory.search", "memory.write", "llm"} {
		_, err := set.Call(t.Context(), name, json.RawMessage(`{"a":1}`), "k")
		if (name == "memory.write") != errors.Is(err, refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if want := []string{`http.fetch {"a":1}`, `memories.search {"a":1}`, `memories.write {"a":1}`, `llm.complete {"a":1}`}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, name := range []string{"shell", "mcp:none/x", "mcp:none", ""} {
		_, err := set.Call(t.Context(), name, json.RawMessage(`{}`), "k")
		fails(t, err, "tool_not_found", "")
		if tools.Known(name, nil) {
			t.Errorf("%q is known", name)
		}
	}
	for _, name := range []string{"http", "format", "memory.search", "memory.write", "llm"} {
		if !tools.Known(name, nil) {
			t.Errorf("%q is not known", name)
		}
	}
}

type question struct {
	Text string `json:"text"`
}

type answer struct {
	Text string `json:"text"`
}

// server is a real MCP server over TLS; sessions counts those that are open.
func server(t *testing.T) (*httptest.Server, *atomic.Int64, *atomic.Pointer[http.Header]) {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, q question) (*mcp.CallToolResult, answer, error) {
		return nil, answer(q), nil
	})
	text := func(name string, make func(q question) (string, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name}, func(_ context.Context, _ *mcp.CallToolRequest, q question) (*mcp.CallToolResult, any, error) {
			text, err := make(q)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
		})
	}
	text("text", func(q question) (string, error) { return q.Text, nil })
	text("large", func(question) (string, error) { return strings.Repeat("x", 2<<20), nil })
	text("huge", func(question) (string, error) { return strings.Repeat("x", 8<<20), nil })
	text("fails", func(question) (string, error) { return "", errors.New("there is no such city") })
	mcp.AddTool(s, &mcp.Tool{Name: "waits"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ question) (*mcp.CallToolResult, any, error) {
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	var open atomic.Int64
	var header atomic.Pointer[http.Header]
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch h := r.Header.Clone(); {
		case r.Method == http.MethodDelete:
			open.Add(-1)
		case r.Header.Get("Mcp-Session-Id") == "":
			open.Add(1)
			header.Store(&h)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	return web, &open, &header
}

func TestMCP(t *testing.T) {
	web, open, header := server(t)
	servers, err := tools.NewMCP(map[string]string{"test": web.URL}, web.Client().Transport)
	if err != nil {
		t.Fatal(err)
	}
	set := &tools.Tools{MCP: servers}
	if !tools.Known("mcp:test/echo", servers) || tools.Known("mcp:other/echo", servers) {
		t.Error("the wrong servers are known")
	}
	call := func(tool, input string) (string, error) {
		out, err := set.Call(t.Context(), "mcp:test/"+tool, json.RawMessage(input), "run/step")
		return string(out), err
	}
	for _, c := range []struct{ tool, input, want string }{
		{"echo", `{"text":"hi"}`, `{"text":"hi"}`},
		{"text", `{"text":"plain"}`, `"plain"`},
		{"text", `{"text":"{\"a\":[1]}"}`, `{"a":[1]}`},
	} {
		if got, err := call(c.tool, c.input); err != nil || got != c.want {
			t.Errorf("%s %s: got %s, %v", c.tool, c.input, got, err)
		}
	}
	if h := header.Load(); h.Get("Idempotency-Key") != "run/step" {
		t.Errorf("the idempotency key is %q", h.Get("Idempotency-Key"))
	}
	for _, c := range []struct{ tool, input, code, words string }{
		{"fails", `{"text":""}`, "mcp_tool_failed", "no such city"},
		{"none", `{}`, "input_invalid", "none"},
		{"echo", `[]`, "input_invalid", "object"},
		{"large", `{"text":""}`, "response_too_large", "sent"},
		{"huge", `{"text":""}`, "response_too_large", "sent"},
	} {
		_, err := call(c.tool, c.input)
		fails(t, err, c.code, c.words)
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d sessions are open", n)
	}
}

func TestMCPEndsWithItsContext(t *testing.T) {
	web, _, _ := server(t)
	servers, err := tools.NewMCP(map[string]string{"test": web.URL}, web.Client().Transport)
	if err != nil {
		t.Fatal(err)
	}
	reason := errors.New("cancelled by its user")
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(reason)
	if _, err := (&tools.Tools{MCP: servers}).Call(ctx, "mcp:test/waits", json.RawMessage(`{"text":""}`), "k"); !errors.Is(err, reason) {
		t.Errorf("got %v", err)
	}
}

func TestMCPRefuses(t *testing.T) {
	for _, address := range []string{"http://example.com", "https://", "file:///etc/passwd", "https://a:b@example.com", "::"} {
		if _, err := tools.NewMCP(map[string]string{"x": address}, nil); err == nil {
			t.Errorf("%s was taken", address)
		}
	}
	web, _, _ := server(t)
	call := func(transport http.RoundTripper, address string) error {
		servers, err := tools.NewMCP(map[string]string{"x": address}, transport)
		if err != nil {
			t.Fatal(err)
		}
		_, err = (&tools.Tools{MCP: servers}).Call(t.Context(), "mcp:x/echo", json.RawMessage(`{"text":"hi"}`), "k")
		return err
	}
	t.Run("another CA", func(t *testing.T) {
		err := call(http.DefaultTransport, web.URL)
		fails(t, err, "mcp_failed", "could not be called")
		if !strings.Contains(fmt.Sprint(err), "certificate") {
			t.Errorf("the log does not say why: %v", err)
		}
	})
	t.Run("a redirect", func(t *testing.T) {
		away := httptest.NewTLSServer(http.RedirectHandler(web.URL, http.StatusTemporaryRedirect))
		defer away.Close()
		fails(t, call(away.Client().Transport, away.URL), "mcp_failed", "")
	})
	t.Run("what the broker refuses", func(t *testing.T) {
		refuse := roundTripper(func(*http.Request) (*http.Response, error) {
			return nil, &workflow.Error{Code: "address_forbidden", Message: "a private address"}
		})
		fails(t, call(refuse, web.URL), "address_forbidden", "private")
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
