package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/helixd/helixd/reactors/outbound/outboundtest"
)

// openAI is https://platform.openai.com/docs/api-reference/chat.
type openAI struct{}

func (openAI) authorised() (string, string) { return "Authorization", outboundtest.Bearer }

func (openAI) read(body []byte, without []string, r *Request) string {
	_, problem := unknown(body, "model messages response_format max_completion_tokens max_tokens stream stream_options store safety_identifier user", without)
	if problem != "" {
		return problem
	}
	var q struct {
		Model    string
		Messages []struct{ Role, Content string }
		Format   *struct {
			Type   string
			Schema struct {
				Name   string
				Schema json.RawMessage
				Strict bool
			} `json:"json_schema"`
		} `json:"response_format"`
		Most    int `json:"max_completion_tokens"`
		OldMost int `json:"max_tokens"`
		Stream  bool
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Store *bool
		Safe  string `json:"safety_identifier"`
		User  string
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return "the body is not as documented"
	}
	r.Model, r.MaxTokens, r.User, r.Stream, r.Usage, r.Store = q.Model, max(q.Most, q.OldMost), q.Safe, q.Stream, q.Options.Usage, q.Store
	if r.User == "" {
		r.User = q.User
	}
	for _, m := range q.Messages {
		switch {
		case m.Role == "system" && r.Prompt == "":
			r.System += m.Content
		case m.Role == "user" && r.Prompt == "":
			r.Prompt = m.Content
		default:
			return "messages: a system's and a user's are all that this server takes"
		}
	}
	switch {
	case q.Model == "":
		return "you must provide a model parameter"
	case r.Prompt == "":
		return "messages: content is required"
	case r.MaxTokens < 1:
		return "max_completion_tokens is too low"
	case len(q.Safe) > 64 || len(q.User) > 64:
		return "Invalid 'safety_identifier': string too long. Expected a string with maximum length 64."
	case q.Options.Usage && !q.Stream:
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	case q.Format == nil:
		return ""
	case q.Format.Type != "json_schema" || !q.Format.Schema.Strict || !toolName.MatchString(q.Format.Schema.Name):
		return "Invalid value for 'response_format': a strict json_schema with a name is all that this server takes"
	}
	r.Schema, r.SchemaName = q.Format.Schema.Schema, q.Format.Schema.Name
	if problem := checkSchema(r.Schema); problem != "" {
		return fmt.Sprintf("Invalid schema for response_format '%s': %s", r.SchemaName, problem)
	}
	return ""
}

func (openAI) write(r Request, step Step, said any, name string) (string, []byte) {
	content := text(r, said)
	usage := map[string]any{"prompt_tokens": Count(r.System + r.Prompt), "completion_tokens": Count(content), "total_tokens": Count(r.System+r.Prompt) + Count(content)}
	finish := "stop"
	var refusal any
	switch {
	case step.Refuse:
		content, refusal = "", "I'm sorry, I cannot assist with that request."
	case step.Long:
		content, finish = string([]rune(content)[:len([]rune(content))/2]), "length"
	}
	head := func(object string, choices []any) map[string]any {
		return map[string]any{"id": "chatcmpl-" + name, "object": object, "created": 1_790_000_000, "model": r.Model, "choices": choices}
	}
	if !r.Stream || step.Whole {
		message := map[string]any{"role": "assistant", "content": content, "refusal": refusal}
		if refusal != nil {
			message["content"] = nil
		}
		whole := head("chat.completion", []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": finish}})
		if !step.NoUsage {
			whole["usage"] = usage
		}
		return "application/json", encode(whole)
	}
	s := &stream{step: step}
	add := func(delta map[string]any, finish any) {
		c := head("chat.completion.chunk", []any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}})
		if r.Usage {
			c["usage"] = nil
		}
		s.add("", c)
	}
	add(map[string]any{"role": "assistant", "content": "", "refusal": nil}, nil)
	if refusal != nil {
		add(map[string]any{"refusal": refusal}, nil)
	}
	all := pieces(content)
	for i, piece := range all {
		if step.Error != "" && i == len(all)/2 {
			s.add("", map[string]any{"error": map[string]any{"type": step.Error, "message": "The server had an error.", "param": nil, "code": nil}})
			return "text/event-stream", s.Bytes()
		}
		add(map[string]any{"content": piece}, nil)
	}
	add(map[string]any{}, finish)
	if r.Usage && !step.NoUsage {
		last := head("chat.completion.chunk", []any{})
		last["usage"] = usage
		s.add("", last)
	}
	s.add("", "[DONE]")
	return "text/event-stream", s.Bytes()
}

func (openAI) failure(status int, problem, _ string) []byte {
	return encode(map[string]any{"error": outboundtest.OpenAIError(status, problem)})
}

// embeddings is https://platform.openai.com/docs/api-reference/embeddings.
type embeddings struct{ openAI }

func (embeddings) read(body []byte, without []string, r *Request) string {
	members, problem := unknown(body, "model input encoding_format dimensions user", nil)
	if problem != "" {
		return problem
	}
	if _, ok := members["dimensions"]; ok && slices.Contains(without, "dimensions") {
		return "This model does not support specifying dimensions."
	}
	var q struct {
		Model      string
		Input      []string
		Format     string `json:"encoding_format"`
		Dimensions int
		User       string
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return "the body is not as documented"
	}
	r.Model, r.Texts, r.Dimensions, r.User = q.Model, q.Input, q.Dimensions, q.User
	switch {
	case q.Model == "":
		return "you must provide a model parameter"
	case len(q.Input) == 0 || len(q.Input) > 2048 || slices.Contains(q.Input, ""):
		return "'$.input' is invalid."
	case q.Format != "float":
		return "encoding_format: this server takes float"
	case q.Dimensions < 0:
		return "Invalid value for 'dimensions' = 0. Must be greater than 0."
	}
	return ""
}

// usual is the size of text-embedding-3-small's vectors.
const usual = 1536

func (embeddings) write(r Request, step Step, said any, _ string) (string, []byte) {
	vectors, ok := said.([][]float32)
	if !ok {
		size := r.Dimensions
		if size == 0 {
			size = usual
		}
		for _, t := range r.Texts {
			vectors = append(vectors, Vector(t, size))
		}
	}
	var data []any
	tokens := 0
	for i := range vectors {
		i = len(vectors) - 1 - i // the index says which one it is, not its place
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": vectors[i]})
	}
	for _, t := range r.Texts {
		tokens += Count(t)
	}
	whole := map[string]any{"object": "list", "data": data, "model": r.Model}
	if !step.NoUsage {
		whole["usage"] = map[string]any{"prompt_tokens": tokens, "total_tokens": tokens}
	}
	return "application/json", encode(whole)
}
