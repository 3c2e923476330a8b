package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
)

// anthropic is https://platform.claude.com/docs/en/api/messages.
type anthropic struct{}

func (anthropic) authorised() (string, string) { return "X-Api-Key", Key }

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (anthropic) read(body []byte, without []string, r *Request) string {
	_, problem := unknown(body, "model max_tokens messages system metadata output_config tools tool_choice stream", without)
	if problem != "" {
		return problem
	}
	type block struct{ Type, Text string }
	var q struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Messages  []struct {
			Role    string
			Content []block
		}
		System   []block
		Metadata struct {
			User string `json:"user_id"`
		}
		Output struct {
			Format *struct {
				Type   string
				Schema json.RawMessage
			}
		} `json:"output_config"`
		Tools []struct {
			Name   string
			Schema json.RawMessage `json:"input_schema"`
		}
		Choice struct{ Type, Name string } `json:"tool_choice"`
		Stream bool
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return "the body is not as documented"
	}
	r.Model, r.MaxTokens, r.User, r.Stream, r.Usage = q.Model, q.MaxTokens, q.Metadata.User, q.Stream, true
	for _, b := range q.System {
		r.System += b.Text
		if b.Type != "text" || b.Text == "" {
			return "system.0: text content blocks must be non-empty"
		}
	}
	if len(q.Messages) != 1 || q.Messages[0].Role != "user" || len(q.Messages[0].Content) != 1 || q.Messages[0].Content[0].Type != "text" {
		return "messages: one of the user's, with one block of text, is all that this server takes"
	}
	r.Prompt = q.Messages[0].Content[0].Text
	switch {
	case q.Model == "":
		return "model: Field required"
	case q.MaxTokens < 1:
		return "max_tokens: must be greater than or equal to 1"
	case r.Prompt == "":
		return "messages: text content blocks must be non-empty"
	case len(q.Metadata.User) > 256:
		return "metadata.user_id: String should have at most 256 characters"
	case q.Output.Format != nil && q.Output.Format.Type != "json_schema":
		return "output_config.format.type: should be 'json_schema'"
	case q.Output.Format != nil:
		r.Schema = q.Output.Format.Schema
	case len(q.Tools) == 1 && toolName.MatchString(q.Tools[0].Name):
		r.Schema, r.SchemaName, r.Tool = q.Tools[0].Schema, q.Tools[0].Name, true
		if q.Choice.Type != "tool" || q.Choice.Name != r.SchemaName {
			return "tool_choice: this server has its tool used"
		}
	case len(q.Tools) > 0:
		return "tools: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'"
	}
	if r.Schema != nil {
		return checkSchema(r.Schema)
	}
	return ""
}

func (anthropic) write(r Request, step Step, said any, name string) (string, []byte) {
	content := text(r, said)
	input, output, stop := Count(r.System+r.Prompt), Count(content), "end_turn"
	if r.Tool {
		stop = "tool_use"
	}
	switch {
	case step.Refuse:
		content, stop = "", "refusal"
	case step.Long:
		content, stop = string([]rune(content)[:len([]rune(content))/2]), "max_tokens"
	}
	usage := map[string]any{"input_tokens": input, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	last := map[string]any{"output_tokens": output}
	if step.NoUsage {
		usage, last = nil, nil
	}
	s := &stream{step: step, names: true}
	add := func(kind string, more map[string]any) {
		more["type"] = kind
		s.add(kind, more)
	}
	add("message_start", map[string]any{"message": map[string]any{"id": "msg_" + name, "type": "message", "role": "assistant", "content": []any{},
		"model": r.Model, "stop_reason": nil, "stop_sequence": nil, "usage": usage}})
	index := 0
	if step.Thinking {
		add("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "thinking", "thinking": "", "signature": ""}})
		add("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "thinking_delta", "thinking": "Let me see."}})
		add("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "signature_delta", "signature": "c2ln"}})
		add("content_block_stop", map[string]any{"index": index})
		index++
	}
	block, delta, member := map[string]any{"type": "text", "text": ""}, "text_delta", "text"
	if r.Tool {
		block, delta, member = map[string]any{"type": "tool_use", "id": "toolu_" + name, "name": r.SchemaName, "input": map[string]any{}}, "input_json_delta", "partial_json"
	}
	if !step.Refuse {
		add("content_block_start", map[string]any{"index": index, "content_block": block})
		add("ping", map[string]any{})
		all := append([]string{""}, pieces(content)...)
		for i, piece := range all {
			if step.Error != "" && i == len(all)/2 {
				add("error", map[string]any{"error": map[string]any{"type": step.Error, "message": "Overloaded"}})
				return "text/event-stream; charset=utf-8", s.Bytes()
			}
			add("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": delta, member: piece}})
		}
		add("content_block_stop", map[string]any{"index": index})
	}
	add("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": last})
	add("message_stop", map[string]any{})
	return "text/event-stream; charset=utf-8", s.Bytes()
}

// claudeErrors are documented.
var claudeErrors = map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error"}

func (anthropic) failure(status int, problem, name string) []byte {
	kind, ok := claudeErrors[status]
	if !ok {
		kind = "api_error"
	}
	if problem == "" {
		problem = fmt.Sprintf("This is a %d %s.", status, http.StatusText(status))
	}
	return encode(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": problem}, "request_id": name})
}
