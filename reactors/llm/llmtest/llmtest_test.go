package llmtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/llm/llmtest"
)

// post sends a body as a client of the protocol does, with headers that are changed.
func post(t *testing.T, s *llmtest.Server, path, body string, change func(http.Header)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if path == "/v1/messages" {
		r.Header.Set("X-Api-Key", llmtest.Key)
		r.Header.Set("Anthropic-Version", "2023-06-01")
	} else {
		r.Header.Set("Authorization", "Bearer "+llmtest.Key)
	}
	if change != nil {
		change(r.Header)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(said)
}

const (
	message    = `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]}`
	completion = `{"model":"m","max_completion_tokens":9,"stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Hi"}]}`
	vectors    = `{"model":"m","input":["a","b"],"encoding_format":"float","dimensions":4}`
)

func TestProtocols(t *testing.T) {
	s := llmtest.New(t)
	status, said := post(t, s, "/v1/messages", message, nil)
	if status != 200 || !strings.HasPrefix(said, "event: message_start\ndata: {") || !strings.HasSuffix(said, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n") || !strings.Contains(said, `"You sai"`) {
		t.Error(status, said)
	}
	status, said = post(t, s, "/v1/chat/completions", completion, nil)
	if status != 200 || !strings.HasPrefix(said, "data: {") || !strings.HasSuffix(said, "data: [DONE]\n\n") || !strings.Contains(said, `"total_tokens"`) {
		t.Error(status, said)
	}
	status, said = post(t, s, "/v1/embeddings", vectors, nil)
	var answer struct {
		Data []struct {
			Index     int
			Embedding []float64
		}
	}
	if err := json.Unmarshal([]byte(said), &answer); err != nil || status != 200 || len(answer.Data) != 2 || answer.Data[0].Index != 1 || len(answer.Data[0].Embedding) != 4 {
		t.Error(status, said)
	}
	if all := s.Requests(); len(all) != 3 || all[0].Prompt != "Hi" || all[1].MaxTokens != 9 || len(all[2].Texts) != 2 || len(s.Problems()) > 0 {
		t.Errorf("%+v", all)
	}
	s.Answer(func(r llmtest.Request) any { return map[string]string{"said": r.Prompt} })
	if _, said := post(t, s, "/v1/chat/completions", strings.Replace(completion, `"stream":true,"stream_options":{"include_usage":true},`, "", 1), nil); !strings.Contains(said, `"content":"{\"said\":\"Hi\"}"`) {
		t.Error(said)
	}
}

// TestStrict: each request differs in one thing from one that is answered.
func TestStrict(t *testing.T) {
	s := llmtest.New(t)
	for name, c := range map[string]struct {
		path, body, old, new string
		status               int
		change               func(http.Header)
	}{
		"no key":                    {"/v1/messages", message, "", "", 401, func(h http.Header) { h.Del("X-Api-Key") }},
		"a key of another kind":     {"/v1/messages", message, "", "", 401, func(h http.Header) { h.Del("X-Api-Key"); h.Set("Authorization", "Bearer "+llmtest.Key) }},
		"no version":                {"/v1/messages", message, "", "", 400, func(h http.Header) { h.Del("Anthropic-Version") }},
		"another type":              {"/v1/messages", message, "", "", 400, func(h http.Header) { h.Set("Content-Type", "text/plain") }},
		"no max_tokens":             {"/v1/messages", message, `"max_tokens":9,`, "", 400, nil},
		"no text":                   {"/v1/messages", message, `"Hi"`, `""`, 400, nil},
		"what is to be cached":      {"/v1/messages", message, `{"model"`, `{"cache_control":{"type":"ephemeral"},"model"`, 400, nil},
		"OpenAI's store":            {"/v1/messages", message, `{"model"`, `{"store":false,"model"`, 400, nil},
		"a tool that may be used":   {"/v1/messages", message, `{"model"`, `{"tools":[{"name":"a","input_schema":{"type":"object","properties":{},"additionalProperties":false}}],"model"`, 400, nil},
		"a long user_id":            {"/v1/messages", message, `{"model"`, `{"metadata":{"user_id":"` + strings.Repeat("x", 257) + `"},"model"`, 400, nil},
		"a schema of a list":        {"/v1/messages", message, `{"model"`, `{"output_config":{"format":{"type":"json_schema","schema":{"type":"array"}}},"model"`, 400, nil},
		"a schema with more":        {"/v1/messages", message, `{"model"`, `{"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{}}}},"model"`, 400, nil},
		"another path":              {"/v1/complete", completion, "", "", 404, nil},
		"a bad bearer":              {"/v1/chat/completions", completion, "", "", 401, func(h http.Header) { h.Set("Authorization", "Bearer x") }},
		"no model":                  {"/v1/chat/completions", completion, `"model":"m",`, "", 400, nil},
		"usage without stream":      {"/v1/chat/completions", completion, `"stream":true,`, "", 400, nil},
		"an unknown parameter":      {"/v1/chat/completions", completion, `{"model"`, `{"cache":true,"model"`, 400, nil},
		"a long safety_identifier":  {"/v1/chat/completions", completion, `{"model"`, `{"safety_identifier":"` + strings.Repeat("x", 65) + `","model"`, 400, nil},
		"a schema without required": {"/v1/chat/completions", completion, `{"model"`, `{"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}},"model"`, 400, nil},
		"a schema with a minimum":   {"/v1/chat/completions", completion, `{"model"`, `{"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":{"type":"object","properties":{"a":{"type":"array","items":{"type":"number","minimum":0}}},"required":["a"],"additionalProperties":false}}},"model"`, 400, nil},
		"no texts":                  {"/v1/embeddings", vectors, `"a","b"`, "", 400, nil},
		"an empty text":             {"/v1/embeddings", vectors, `"a"`, `""`, 400, nil},
		"another encoding":          {"/v1/embeddings", vectors, "float", "base64", 400, nil},
		"no JSON":                   {"/v1/embeddings", vectors, "{", "", 400, nil},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(c.body, c.old, c.new, 1)
			if c.old != "" && body == c.body {
				t.Fatal("nothing differs")
			}
			status, said := post(t, s, c.path, body, c.change)
			if status != c.status || !json.Valid([]byte(said)) || !strings.Contains(said, `"error"`) {
				t.Error(status, said)
			}
			if r := s.Last(); r.Problem == "" || r.Status != status {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestVector(t *testing.T) {
	near := func(a, b string) (sum float64) {
		x, y := llmtest.Vector(a, 64), llmtest.Vector(b, 64)
		for i := range x {
			sum += float64(x[i]) * float64(y[i])
		}
		return sum
	}
	if one := near("the sea", "the sea"); math.Abs(one-1) > 1e-5 {
		t.Error(one)
	}
	if a, b := near("the cold sea", "the warm sea"), near("the cold sea", "my old bicycle"); a <= b {
		t.Error(a, b)
	}
	if !bytes.Equal(json.RawMessage(`{"a":"text"}`), must(json.Marshal(llmtest.Instance(json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`))))) {
		t.Error("an Instance is something else")
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
