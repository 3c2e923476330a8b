// Package llm asks language models for answers and embedding models for vectors.
// Each Model and Embedder makes one HTTP request a call; a Client in front of one
// knows how many may be under way, when to ask again and when not to ask at all.
package llm

import (
	"context"
	"encoding/json"
)

// Model is a language model behind an API.
type Model interface {
	// Name goes into the rows, such as "anthropic claude-sonnet-4-5".
	Name() string
	// Complete makes one request. Its error is an *outbound.Error, or ctx's.
	Complete(ctx context.Context, r Request) (Answer, error)
	// Render is the request that Complete would make, without its key.
	Render(ctx context.Context, r Request) (Rendered, error)
}

// Request is one question.
type Request struct {
	System    string          // what the model is to do
	Prompt    string          // what it is to do it with: foreign text
	Schema    json.RawMessage // JSON Schema of the answer, an object; nil: any text. See strict for what is sent of it
	Name      string          // of the schema, [a-z_]+
	MaxTokens int             // of the answer
	User      string          // a hash that stands for the user, see usage.Ledger.Pseudonym
	Key       string          // the same for each repetition of this request
	Owner     string          // user_id, of whom what is sent may be what fails; never sent
	Purpose   string          // as in helix.usage, for metrics; never sent
}

// schemaName is Name, or another.
func (r Request) schemaName() string {
	if r.Name == "" {
		return "answer"
	}
	return r.Name
}

// Answer is what a model said. Beside an error it has only what was paid for it.
type Answer struct {
	Text      string
	JSON      json.RawMessage // where Request.Schema was given: an object, not yet checked against it
	Tokens    Tokens
	Requests  int // that a Client has made for it
	RequestID string
}

// mostTokens is more than any request has: what a server tells is added up.
const mostTokens = 1 << 32

// estimate fills in the Tokens that a server does not tell, of what it wrote.
func (a *Answer) estimate(r Request, written string) {
	if a.Tokens.Input <= 0 {
		a.Tokens.Input = r.input()
	}
	if a.Tokens.Output < 0 || a.Tokens.Output == 0 && written != "" {
		a.Tokens.Output = EstimateTokens(written)
	}
	a.Tokens.Input, a.Tokens.Output = min(a.Tokens.Input, mostTokens), min(a.Tokens.Output, mostTokens)
}

// input is how many tokens the model reads, at the most.
func (r Request) input() int64 {
	return EstimateTokens(r.System) + EstimateTokens(r.Prompt) + EstimateTokens(string(r.Schema))
}

// Tokens are what a request cost.
type Tokens struct{ Input, Output int64 }

// Rendered is a request as it goes over the wire.
type Rendered struct {
	Method string
	URL    string
	Body   json.RawMessage
}

// Embedder is an embedding model behind an API.
type Embedder interface {
	// Name goes into usage, such as "openai text-embedding-3-small".
	Name() string
	// Embed makes one request for a vector a text, each of the given number of
	// dimensions. Its error is an *outbound.Error, or ctx's.
	Embed(ctx context.Context, r EmbedRequest) (Embedded, error)
}

// EmbedRequest asks for the vectors of texts.
type EmbedRequest struct {
	Texts      []string // none empty
	Dimensions int
	User       string // as in Request
	Key        string
	Owner      string
	Purpose    string
}

// Embedded are vectors, in the order of the texts.
type Embedded struct {
	Vectors  [][]float32
	Tokens   Tokens
	Requests int // that an EmbedClient has made for them
}

// EstimateTokens is no less than most tokenisers make of a text: what is asked is
// bounded by it before anybody has counted.
func EstimateTokens(text string) int64 {
	return int64(len(text)/3 + 1)
}
