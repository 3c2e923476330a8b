package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/outbound/outboundtest"
)

func TestComplete(t *testing.T) {
	want := `{"count":1,"patterns":[{"confidence":0.5,"kind":"a","name":"text"}]}`
	for name, step := range map[string]llmtest.Step{
		"at once": {}, "after thinking": {Thinking: true}, "in bytes": {Chunk: 1}, "with CR LF and comments": {CRLF: true}, "in bytes with CR LF": {CRLF: true, Chunk: 1},
		"whole": {Whole: true}, "in a fence": {Answer: "```json\n" + want + "\n```"},
	} {
		each(t, llm.Options{}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
			t.Run(name, func(t *testing.T) {
				before := s.Count()
				s.Script(step)
				a, err := m.Complete(within(t), question())
				if err != nil {
					t.Fatal(err)
				}
				if string(a.JSON) != want {
					t.Errorf("the answer is %s", a.JSON)
				}
				r := s.Last()
				if a.Tokens != (llm.Tokens{Input: int64(llmtest.Count(r.System + r.Prompt)), Output: int64(llmtest.Count(text(step, want)))}) {
					t.Errorf("%+v", a.Tokens)
				}
				if a.RequestID != fmt.Sprintf("req_%06d", before+1) || s.Count() != before+1 {
					t.Errorf("%d requests, %s", s.Count()-before, a.RequestID)
				}
			})
		})
	}
	each(t, llm.Options{}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
		t.Run("any text", func(t *testing.T) {
			q := question()
			q.Schema = nil
			a, err := m.Complete(within(t), q)
			if err != nil || a.Text != "You said: "+prompt || a.JSON != nil {
				t.Errorf("%+v %v", a, err)
			}
		})
		t.Run("tokens that are not told are estimated", func(t *testing.T) {
			s.Script(llmtest.Step{NoUsage: true})
			a, err := m.Complete(within(t), question())
			if err != nil || a.Tokens.Input < int64(len(prompt))/3 || a.Tokens.Output < 1 {
				t.Errorf("%+v %v", a, err)
			}
		})
	})
}

func text(step llmtest.Step, usual string) string {
	if said, ok := step.Answer.(string); ok {
		return said
	}
	return usual
}

// TestRequest: what is sent, and that Render gives exactly that.
func TestRequest(t *testing.T) {
	each(t, llm.Options{}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
		before := s.Count()
		rendered, err := m.Render(within(t), question())
		if err != nil {
			t.Fatal(err)
		}
		if s.Count() != before {
			t.Fatal("it was sent")
		}
		if _, err := m.Complete(within(t), question()); err != nil {
			t.Fatal(err)
		}
		r := s.Last()
		if !bytes.Equal(rendered.Body, r.Body) {
			t.Errorf("it would send\n%s\nand sends\n%s", rendered.Body, r.Body)
		}
		if path := map[string]string{llmtest.Anthropic: "/v1/messages", llmtest.OpenAI: "/v1/chat/completions"}[r.Protocol]; rendered.Method != "POST" || rendered.URL != s.URL+path {
			t.Error(rendered.Method, rendered.URL)
		}
		if r.System != "Find patterns." || r.Prompt != prompt || r.MaxTokens != 1000 || r.Model != "model-1" || !r.Stream || !r.Usage || r.Schema == nil {
			t.Errorf("%+v", r)
		}
		if r.User != user || r.Key != "key-1" || r.Header.Get("User-Agent") != "helixd" {
			t.Errorf("%+v", r)
		}
		if r.Protocol == llmtest.OpenAI && (r.Store == nil || *r.Store) {
			t.Error("it may be kept")
		}
		for _, unwanted := range []string{"owner-1", "cache_control", "batch", "file", "of-the-environment"} {
			if strings.Contains(string(r.Body), unwanted) || strings.Contains(fmt.Sprint(r.Header), unwanted) {
				t.Errorf("%s is sent", unwanted)
			}
		}
		for name := range r.Header {
			if strings.HasPrefix(name, "X-Stainless") {
				t.Errorf("%s is sent", name)
			}
		}
		noSecret(t, string(rendered.Body), rendered.URL, string(r.Body))
		if problems := s.Problems(); len(problems) > 1 || len(problems) == 1 && !strings.HasPrefix(problems[0], "output_config") {
			t.Error(problems)
		}
	})
}

type verdict struct {
	code  outbound.Code
	retry bool
}

func TestStatus(t *testing.T) {
	all := map[int]verdict{
		301: {outbound.NotFound, false}, 307: {outbound.NotFound, false},
		400: {outbound.Rejected, false}, 401: {outbound.Unauthorized, false}, 402: {outbound.PaymentRequired, true}, 403: {outbound.Unauthorized, false},
		404: {outbound.NotFound, false}, 405: {outbound.NotFound, false}, 408: {outbound.Unavailable, true}, 409: {outbound.Unavailable, true}, 413: {outbound.TooLarge, false},
		422: {outbound.Rejected, false}, 429: {outbound.RateLimited, true}, 500: {outbound.Unavailable, true}, 502: {outbound.Unavailable, true}, 503: {outbound.Unavailable, true}, 529: {outbound.Unavailable, true},
	}
	check := func(t *testing.T, s *llmtest.Server, ask func() error) {
		for status, want := range all {
			t.Run(fmt.Sprintf("%d is %s", status, want.code), func(t *testing.T) {
				before := s.Count()
				s.Script(llmtest.Step{Status: status, Header: http.Header{"Retry-After": {"7"}, "Location": {s.URL + "/v1/elsewhere"}}})
				e := failure(t, ask())
				if e.Code != want.code || e.Retry != want.retry || e.Status != status || !e.Sent || e.After != 7*time.Second || e.RequestID != fmt.Sprintf("req_%06d", before+1) {
					t.Errorf("%+v", e)
				}
				if s.Count() != before+1 {
					t.Errorf("it took %d requests", s.Count()-before)
				}
			})
		}
	}
	each(t, llm.Options{}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
		check(t, s, func() error { _, err := m.Complete(within(t), question()); return err })
	})
	t.Run("embeddings", func(t *testing.T) {
		s := llmtest.New(t)
		m := embedder(t, s)
		check(t, s, func() error { _, err := m.Embed(within(t), texts()); return err })
	})
}

// TestWrongKey: a server's own words for it have parts of the key in them.
func TestWrongKey(t *testing.T) {
	each(t, llm.Options{}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
		s.Script(llmtest.Step{Status: 401, Body: []byte(`{"error":{"message":"x-api-key ` + llmtest.Key + ` is wrong"}}`)}, llmtest.Step{Status: 401})
		for range 2 {
			_, err := m.Complete(within(t), question())
			e := failure(t, err)
			if e.Code != outbound.Unauthorized || strings.Contains(e.Message, llmtest.Key[len(llmtest.Key)-4:]) || !strings.Contains(e.Message, "_KEY") {
				t.Error(e)
			}
		}
	})
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		step llmtest.Step
		verdict
	}{
		"a refusal":                  {llmtest.Step{Refuse: true}, verdict{outbound.Refused, false}},
		"an answer without an end":   {llmtest.Step{Long: true}, verdict{outbound.Truncated, false}},
		"malformed JSON":             {llmtest.Step{Answer: `{"patterns": [`}, verdict{outbound.BadAnswer, true}},
		"a list":                     {llmtest.Step{Answer: `[]`}, verdict{outbound.BadAnswer, true}},
		"prose":                      {llmtest.Step{Answer: `I found nothing.`}, verdict{outbound.BadAnswer, true}},
		"two objects":                {llmtest.Step{Answer: `{} {}`}, verdict{outbound.BadAnswer, true}},
		"no text":                    {llmtest.Step{Answer: ``}, verdict{outbound.BadAnswer, true}},
		"a page":                     {llmtest.Step{Body: []byte("<html>")}, verdict{outbound.BadAnswer, true}},
		"nothing":                    {llmtest.Step{Cut: -1}, verdict{outbound.BadAnswer, true}},
		"an endless answer":          {llmtest.Step{Answer: strings.Repeat("a", llm.MaxAnswer)}, verdict{outbound.BadAnswer, true}},
		"a lost connection":          {llmtest.Step{Drop: true}, verdict{outbound.Unavailable, true}},
		"one that is lost at once":   {llmtest.Step{Drop: true, Cut: -1}, verdict{outbound.Unavailable, true}},
		"an overload in the middle":  {llmtest.Step{Error: "overloaded_error"}, verdict{outbound.Unavailable, true}},
		"a limit in the middle":      {llmtest.Step{Error: "rate_limit_error"}, verdict{outbound.RateLimited, true}},
		"an error of a new kind":     {llmtest.Step{Error: "strange_error"}, verdict{outbound.Unavailable, true}},
		"an account without credit":  {llmtest.Step{Status: 429, Body: outboundtest.Quota}, verdict{outbound.PaymentRequired, true}},
		"that, in Anthropic's words": {llmtest.Step{Status: 400, Body: []byte(`{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`)}, verdict{outbound.PaymentRequired, true}},
		"more than the model takes":  {llmtest.Step{Status: 400, Body: []byte(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200251 tokens > 200000 maximum"}}`)}, verdict{outbound.TooLarge, false}},
		"that, in OpenAI's words":    {llmtest.Step{Status: 400, Body: []byte(`{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`)}, verdict{outbound.TooLarge, false}},
		"a filter of what was sent":  {llmtest.Step{Status: 400, Body: []byte(`{"error":{"message":"The response was filtered.","code":"content_filter"}}`)}, verdict{outbound.Refused, false}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, llm.Options{}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
				s.Script(c.step)
				a, err := m.Complete(within(t), question())
				e := failure(t, err)
				if e.Code != c.code || e.Retry != c.retry || !e.Sent || e.RequestID == "" && !c.step.Drop {
					t.Errorf("%+v", e)
				}
				if a.JSON != nil || a.Text != "" {
					t.Errorf("there is an answer: %+v", a)
				}
				if paid := c.step.Refuse || c.step.Long; paid && a.Tokens.Input == 0 {
					t.Error("what was paid is not told")
				}
				if strings.Contains(e.Message, "sorry") {
					t.Errorf("it repeats the model: %s", e.Message)
				}
			})
		})
	}
}

// TestBoundaries: an answer is the same wherever it is split, and none wherever it ends.
func TestBoundaries(t *testing.T) {
	q := question()
	q.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	answer := map[string]string{"a": "é🙂\n"}
	want, _ := json.Marshal(answer)
	for _, crlf := range []bool{false, true} {
		t.Run(fmt.Sprintf("CR LF is %t", crlf), func(t *testing.T) {
			each(t, llm.Options{}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
				s.Answer(func(llmtest.Request) any { return answer })
				s.Script(llmtest.Step{CRLF: crlf})
				if _, err := m.Complete(within(t), q); err != nil {
					t.Fatal(err)
				}
				length := s.Last().Length
				for at := 1; at < length; at++ {
					if crlf && at%3 > 0 { // the lines differ, not what is in them
						continue
					}
					s.Script(llmtest.Step{CRLF: crlf, Split: at})
					a, err := m.Complete(within(t), q)
					if err != nil || string(a.JSON) != string(want) {
						t.Fatalf("split after %d bytes: %s, %v", at, a.JSON, err)
					}
					if at == length-1 { // with CR LF the last line has its end
						continue
					}
					s.Script(llmtest.Step{CRLF: crlf, Cut: at, Drop: at%2 == 0})
					a, err = m.Complete(within(t), q)
					if err == nil && crlf && at >= length-2 {
						continue
					}
					e := failure(t, err)
					if !e.Retry || e.Code != outbound.BadAnswer && e.Code != outbound.Unavailable || a.JSON != nil {
						t.Fatalf("ended after %d of %d bytes: %+v, %+v", at, length, a, e)
					}
				}
			})
		})
	}
}

func TestHang(t *testing.T) {
	for name, step := range map[string]llmtest.Step{"before the answer": {Hang: true, Cut: -1}, "within it": {Hang: true}, "before its header": {Hold: make(chan struct{})}} {
		t.Run(name, func(t *testing.T) {
			each(t, llm.Options{IdleTimeout: 300 * time.Millisecond}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
				s.Script(step)
				_, err := m.Complete(within(t), question())
				if e := failure(t, err); e.Code != outbound.Unavailable || !e.Retry || !strings.Contains(e.Message, "in time") {
					t.Errorf("%+v", e)
				}
			})
			each(t, llm.Options{Timeout: 300 * time.Millisecond}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
				s.Script(step)
				_, err := m.Complete(within(t), question())
				if e := failure(t, err); e.Code != outbound.Unavailable || !strings.Contains(e.Message, "in time") {
					t.Errorf("%+v", e)
				}
			})
			each(t, llm.Options{}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
				before := s.Count()
				s.Script(step)
				ctx, cancel := context.WithCancel(within(t))
				done := make(chan error)
				go func() { _, err := m.Complete(ctx, question()); done <- err }()
				if err := s.Await(within(t), before+1); err != nil {
					t.Error(err)
				}
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("the caller's end is %v", err)
				}
			})
		})
	}
}

// TestForeignBytes: what is no answer is an error that can be shown, whatever it is.
func TestForeignBytes(t *testing.T) {
	bodies := []string{"data: \n\n", "data: {}\n\n", "data: null\n\n", "data: []\n\n", "data: {\"choices\":{}}\n\n", "data: {\"choices\":[1]}\n\n", "event: error\ndata: x\n\n",
		"data: {\"type\":\"message_stop\"}\n\n", "data: [DONE]\n\n", "data: {\"type\":5}\n\n", "data: {\"error\":{\"code\":\"429\"}}\n\n", "data: {\"error\":\"x\"}\n\n",
		"data: " + strings.Repeat("[", 100_000) + "\n\n", "data: " + strings.Repeat("x", llm.MaxLine+1), strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", llm.MaxEvent/1000)}
	for _, p := range providers[:3] {
		t.Run(p.name, func(t *testing.T) {
			for _, body := range bodies {
				s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					io.WriteString(w, body) // the client may be gone
				}))
				m, err := p.new(llm.Options{BaseURL: s.URL, Key: llmtest.Key, Model: "m"})
				if err != nil {
					t.Fatal(err)
				}
				_, err = m.Complete(within(t), question())
				if e := failure(t, err); !e.Retry {
					t.Errorf("%.40q: %+v", body, e)
				}
				s.Close()
			}
		})
	}
}
