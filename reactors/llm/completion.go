package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// completion is what OpenAI says of one, whole or in a stream.
type completion struct {
	text    strings.Builder
	refusal bool
	finish  string
	tokens  Tokens
}

// chunk is a completion, or a piece of one.
type chunk struct {
	Choices only        `json:"choices"`
	Usage   openAIUsage `json:"usage"`
	Error   *struct {
		Type string          `json:"type"`
		Code json.RawMessage `json:"code"`
	} `json:"error"`
}

type openAIUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
}

// only is a list's first element: no more than one choice is asked for.
type only struct {
	Delta   said    `json:"delta"`
	Message said    `json:"message"`
	Finish  *string `json:"finish_reason"`
}

type said struct {
	Content *string `json:"content"`
	Refusal *string `json:"refusal"`
}

var errList = errors.New("it has something else where a list belongs")

func (o *only) UnmarshalJSON(list []byte) error {
	type plain only
	d := json.NewDecoder(bytes.NewReader(list))
	switch begin, err := d.Token(); {
	case err != nil:
		return err
	case begin == nil: // null
		return nil
	case begin != json.Delim('['):
		return errList
	case !d.More():
		return nil
	}
	return d.Decode((*plain)(o))
}

// readCompletion reads a stream to its end, or an answer of a server that does not
// stream.
func readCompletion(x *exchange, resp *http.Response) (*completion, error) {
	c := &completion{}
	if !streams(resp) {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
		switch {
		case err != nil:
			return c, err
		case len(body) > maxAnswer:
			return c, errTooLong
		}
		return c, c.take(body, x)
	}
	for e, err := range events(resp.Body) {
		if err != nil {
			return c, err
		}
		if string(e.data) == "[DONE]" {
			return c, nil
		}
		if err := c.take(e.data, x); err != nil {
			return c, err
		}
	}
	return c, errEnded
}

func (c *completion) take(data []byte, x *exchange) error {
	var k chunk
	if err := json.Unmarshal(data, &k); err != nil {
		return err
	}
	if k.Error != nil {
		return x.Refused(errorStatus(k.Error.Type, k.Error.Code), http.Header{}, data)
	}
	for _, s := range []said{k.Choices.Delta, k.Choices.Message} {
		if s.Content != nil {
			c.text.WriteString(*s.Content)
		}
		c.refusal = c.refusal || s.Refusal != nil && *s.Refusal != ""
	}
	if c.text.Len() > maxAnswer {
		return errTooLong
	}
	if k.Choices.Finish != nil {
		c.finish = *k.Choices.Finish
	}
	if k.Usage.Prompt+k.Usage.Completion > 0 {
		c.tokens = Tokens{Input: k.Usage.Prompt, Output: k.Usage.Completion}
	}
	return nil
}

// errorStatus is the status of an error in a stream, which some tell as its code.
func errorStatus(kind string, code json.RawMessage) int {
	text := strings.Trim(string(code), `"`)
	if n, err := strconv.Atoi(text); err == nil && n >= 400 && n < 600 {
		return n
	}
	for _, name := range []string{text, kind} {
		switch {
		case strings.Contains(name, "rate_limit"), name == "insufficient_quota":
			return http.StatusTooManyRequests
		case name == "invalid_request_error":
			return http.StatusBadRequest
		}
	}
	return http.StatusInternalServerError
}

// stopped is what the reason of the end comes to.
func (c *completion) stopped(x *exchange) error {
	switch {
	case c.refusal, c.finish == "content_filter":
		return x.declined()
	case c.finish == "length":
		return x.truncated()
	case c.finish == "":
		return errEnded
	case c.text.Len() == 0:
		return errEmpty
	}
	return nil
}
