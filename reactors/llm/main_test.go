package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/outbound"
)

// TestMain names a proxy that nobody can reach, since loopback is not asked for
// through one, and an account that is not to be used. Afterwards it looks for
// requests that are still under way.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"HTTPS_PROXY": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1",
		"ANTHROPIC_API_KEY": "of-the-environment", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_AUTH_TOKEN": "of-the-environment"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	if left := leaked(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines are left:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leaked waits for goroutines of requests to end, and gives those that do not.
func leaked() string {
	var left string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); runtime.Gosched() {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left = ""
		for _, s := range strings.Split(string(stacks), "\n\n") {
			if strings.Contains(s, "net/http.") || strings.Contains(s, "reactors/llm.") {
				left += s + "\n\n"
			}
		}
		if left == "" {
			return ""
		}
	}
	return left
}

// schema is of an answer, with keywords that providers refuse.
var schema = json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{
	"patterns":{"type":"array","maxItems":10,"items":{"type":"object","properties":{
		"name":{"type":"string","minLength":1,"maxLength":80},"confidence":{"type":"number","minimum":0,"maximum":1},"kind":{"enum":["a","b"]}}}},
	"count":{"type":"integer","minimum":0}}}`)

const (
	user   = "4f1d9a" // a hash
	prompt = "Ada says: \"I'll call <tomorrow> & not today.\" 日本語 🙂"
)

func question() llm.Request {
	return llm.Request{System: "Find patterns.", Prompt: prompt, Schema: schema, Name: "patterns", MaxTokens: 1000, User: user, Key: "key-1", Owner: "owner-1"}
}

// provider is a Model and how it is asked.
type provider struct {
	name string
	new  func(llm.Options) (llm.Model, error)
	tool bool
}

var providers = []provider{
	{"anthropic", llm.NewAnthropic, false},
	{"anthropic with a tool", llm.NewAnthropic, true},
	{"openai", llm.NewOpenAI, false},
}

// each runs a test with a Model of each protocol.
func each(t *testing.T, o llm.Options, test func(t *testing.T, m llm.Model, s *llmtest.Server)) {
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) {
			s := llmtest.New(t)
			m := model(t, p, s, o)
			test(t, m, s)
		})
	}
}

func model(t *testing.T, p provider, s *llmtest.Server, o llm.Options) llm.Model {
	t.Helper()
	o.BaseURL, o.Key, o.Model = s.URL, llmtest.Key, "model-1"
	m, err := p.new(o)
	if err != nil {
		t.Fatal(err)
	}
	if p.tool { // which it learns
		s.Without("output_config")
		var e *outbound.Error
		for range 10 {
			_, err := m.Complete(within(t), question())
			if e = failure(t, err); e.Code != outbound.Unavailable { // a test's own short time-out may come first
				break
			}
		}
		if e.Code != outbound.BadAnswer || !e.Retry || !strings.Contains(e.Message, "output_config") {
			t.Fatalf("%+v", e)
		}
	}
	return m
}

// failure is the *outbound.Error that err has to be, without a secret in it.
func failure(t *testing.T, err error) *outbound.Error {
	t.Helper()
	var e *outbound.Error
	if !errors.As(err, &e) {
		t.Fatalf("the error is %T: %v", err, err)
	}
	noSecret(t, e.Error(), e.Public(), e.RequestID)
	if e.Message == "" || !utf8.ValidString(e.Message) || strings.ContainsAny(e.Message, "\n\r\x00\x1b") || utf8.RuneCountInString(e.Message) > 600 {
		t.Errorf("nobody can read %q", e.Message)
	}
	return e
}

// noSecret fails where the key or a part of it is in a text.
func noSecret(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for i := 0; i+6 <= len(llmtest.Key); i++ {
			if strings.Contains(text, llmtest.Key[i:i+6]) {
				t.Fatalf("the key is in %q", text)
			}
		}
	}
}

// within gives a test's requests a time that no healthy one needs.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}
