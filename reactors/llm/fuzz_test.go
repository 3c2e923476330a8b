package llm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/outbound"
)

// says is a server that answers everything the same.
type says struct {
	status int
	kind   string
	body   []byte
}

func (s says) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Header: http.Header{"Content-Type": {s.kind}}, Body: io.NopCloser(bytes.NewReader(s.body)), Request: r}, nil
}

// FuzzComplete: whatever a server answers, there is a JSON object or an error that
// can be shown.
func FuzzComplete(f *testing.F) {
	for _, body := range []string{
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"{}\"}}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"{}\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		`{"choices":[{"message":{"content":"{}","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded ` + llmtest.Key + `"}}`,
		"data: {\"error\":{\"code\":502,\"message\":\"x\"}}\n\n",
	} {
		for _, status := range []int{200, 400, 529} {
			f.Add(status, true, []byte(body))
			f.Add(status, false, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, status int, stream bool, body []byte) {
		s := says{status: 200 + (status%400+400)%400, kind: "application/json", body: body}
		if stream {
			s.kind = "text/event-stream"
		}
		for _, p := range []provider{providers[0], providers[2]} {
			m, err := p.new(llm.Options{BaseURL: "http://127.0.0.1:1", Key: llmtest.Key, Model: "m", HTTP: &http.Client{Transport: s}})
			if err != nil {
				t.Fatal(err)
			}
			a, err := m.Complete(t.Context(), question())
			if err == nil {
				var o map[string]json.RawMessage
				if json.Unmarshal(a.JSON, &o) != nil || a.Tokens.Input <= 0 || a.Tokens.Output <= 0 || a.Tokens.Input+a.Tokens.Output > 1<<33 {
					t.Fatalf("%+v", a)
				}
				continue
			}
			var e *outbound.Error
			if !errors.As(err, &e) || a.JSON != nil {
				t.Fatal(err)
			}
			failure(t, err)
		}
	})
}
