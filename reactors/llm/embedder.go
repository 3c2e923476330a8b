package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"

	"github.com/helixd/helixd/reactors/outbound"
)

// embeddings is https://platform.openai.com/docs/api-reference/embeddings, and the
// many servers that speak the same. Numbers come as such: base64 is shorter, and
// not all servers know it.
type embeddings struct {
	endpoint *endpoint
	model    string
	dialect  dialect
}

// perNumber is how many bytes a number of a vector has in JSON, at the most.
const perNumber = 40

// NewEmbedder makes an Embedder of OpenAI's, or of a server that speaks the same.
// Without a model it is text-embedding-3-small.
func NewEmbedder(o Options) (Embedder, error) {
	e, err := newEndpoint(o, outbound.Service{Name: "openai", KeySetting: "EMBEDDINGS_API_KEY", URLSetting: "EMBEDDINGS_URL",
		ModelSetting: "EMBEDDINGS_MODEL", Sending: "the text", Later: "the requests are made again by themselves"}, "https://api.openai.com/v1", "/embeddings")
	if err != nil {
		return nil, fmt.Errorf("make an embedder: %w", err)
	}
	m := &embeddings{endpoint: e, model: o.Model}
	if m.model == "" {
		m.model = "text-embedding-3-small"
	}
	return m, nil
}

// Name implements Embedder.
func (m *embeddings) Name() string { return "openai " + m.model }

// Embed implements Embedder. A model that does not know dimensions is asked without
// them from then on: it may have as many as are wanted.
func (m *embeddings) Embed(ctx context.Context, r EmbedRequest) (Embedded, error) {
	if len(r.Texts) == 0 {
		return Embedded{}, nil
	}
	d := m.dialect.now()
	body := map[string]any{"model": m.model, "input": r.Texts, "encoding_format": "float", "dimensions": r.Dimensions, "user": r.User}
	for parameter := range d {
		delete(body, parameter)
	}
	if r.User == "" {
		delete(body, "user")
	}
	text, err := encode(body)
	if err != nil {
		return Embedded{}, err
	}
	most := int64(len(r.Texts))*(int64(r.Dimensions)*perNumber+1<<10) + 64<<10
	x := m.endpoint.begin(ctx, most)
	defer x.end()
	resp, err := x.post(text, r.Key)
	if err != nil {
		return Embedded{}, m.dialect.adapt(d, x.failed(err), "dimensions", "user", "encoding_format")
	}
	defer resp.Body.Close() // all that is wanted was read
	a, err := readVectors(resp, r)
	var size wrongSize
	if errors.As(err, &size) {
		return Embedded{Tokens: a.Tokens}, m.misfit(x, resp, r.Dimensions, int(size))
	}
	if err != nil {
		return Embedded{Tokens: a.Tokens}, x.unread(err, resp.Header)
	}
	return a, nil
}

// misfit is the Error of vectors that the column does not take, whoever asks again.
func (m *embeddings) misfit(x *exchange, resp *http.Response, want, got int) error {
	return &outbound.Error{Code: outbound.BadAnswer, Status: http.StatusOK, RequestID: x.Identify("", resp.Header), Sent: true,
		Message: fmt.Sprintf("the model %s has vectors of %d dimensions, and memories.embedding takes %d; set EMBEDDINGS_MODEL to a model that has %d", outbound.Printable(m.model, 100), got, want, want)}
}

// wrongSize is the number of dimensions of a vector that has others than were asked for.
type wrongSize int

func (w wrongSize) Error() string { return fmt.Sprintf("it has a vector of %d dimensions", int(w)) }

// readVectors reads an answer, and puts each vector where its text is. Beside an
// error it has what was paid.
func readVectors(resp *http.Response, r EmbedRequest) (Embedded, error) {
	var a Embedded
	var said struct {
		Data []struct {
			Index  *int      `json:"index"`
			Vector []float32 `json:"embedding"`
		} `json:"data"`
		Usage struct {
			Prompt int64 `json:"prompt_tokens"`
			Total  int64 `json:"total_tokens"`
		} `json:"usage"`
	}
	for _, t := range r.Texts {
		a.Tokens.Input += EstimateTokens(t)
	}
	body, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(body, &said)
	}
	if err != nil {
		return a, err
	}
	if told := max(said.Usage.Prompt, said.Usage.Total); told > 0 {
		a.Tokens.Input = min(told, mostTokens)
	}
	if len(said.Data) != len(r.Texts) {
		return a, fmt.Errorf("it has %d vectors for %d texts", len(said.Data), len(r.Texts))
	}
	vectors, other := make([][]float32, len(r.Texts)), 0
	for i, v := range said.Data {
		at := i // some servers have no index
		if v.Index != nil {
			at = *v.Index
		}
		switch {
		case at < 0 || at >= len(vectors) || vectors[at] != nil:
			return a, errors.New("it has two vectors for one text")
		case len(v.Vector) == 0:
			return a, errors.New("it has no vector for a text")
		case len(v.Vector) != len(said.Data[0].Vector):
			return a, errors.New("it has vectors of several sizes")
		case len(v.Vector) != r.Dimensions:
			other = len(v.Vector)
		}
		for _, n := range v.Vector {
			if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
				return a, errors.New("it has a vector with what is no number")
			}
		}
		vectors[at] = v.Vector
	}
	if other != 0 { // all are: it is the model, and not one of the texts
		return a, wrongSize(other)
	}
	a.Vectors = vectors
	return a, nil
}
