package llm_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/outbound/outboundtest"
)

func embedder(t *testing.T, s *llmtest.Server) llm.Embedder {
	t.Helper()
	return impatient(t, s, 0)
}

// impatient is one that gives up a request sooner; 0 is as usual.
func impatient(t *testing.T, s *llmtest.Server, idle time.Duration) llm.Embedder {
	t.Helper()
	m, err := llm.NewEmbedder(llm.Options{BaseURL: s.URL, Key: llmtest.Key, IdleTimeout: idle})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func texts() llm.EmbedRequest {
	return llm.EmbedRequest{Texts: []string{"one <b>", "two 日本", "three"}, Dimensions: 8, User: user, Key: "key-1", Owner: "owner-1"}
}

func TestEmbed(t *testing.T) {
	want := [][]float32{llmtest.Vector("one <b>", 8), llmtest.Vector("two 日本", 8), llmtest.Vector("three", 8)}
	for name, step := range map[string]llmtest.Step{"at once": {}, "in bytes": {Chunk: 1}} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t)
			m := embedder(t, s)
			s.Script(step)
			a, err := m.Embed(within(t), texts())
			if err != nil || !reflect.DeepEqual(a.Vectors, want) {
				t.Fatal(a, err)
			}
			r := s.Last()
			if tokens := llmtest.Count("one <b>") + llmtest.Count("two 日本") + llmtest.Count("three"); a.Tokens != (llm.Tokens{Input: int64(tokens)}) {
				t.Errorf("%+v", a.Tokens)
			}
			if r.Model != "text-embedding-3-small" || r.User != user || r.Key != "key-1" || r.Dimensions != 8 || strings.Contains(string(r.Body), "owner-1") || m.Name() != "openai text-embedding-3-small" {
				t.Errorf("%+v", r)
			}
			noSecret(t, string(r.Body))
		})
	}
	t.Run("nothing is not asked for", func(t *testing.T) {
		s := llmtest.New(t)
		if a, err := embedder(t, s).Embed(within(t), llm.EmbedRequest{Dimensions: 8}); err != nil || a.Vectors != nil || s.Count() > 0 {
			t.Error(a, err)
		}
	})
	t.Run("a model that has its dimensions is not asked for others", func(t *testing.T) {
		s := llmtest.New(t)
		s.Without("dimensions")
		m := embedder(t, s)
		q := texts()
		q.Dimensions = 1536
		_, err := m.Embed(within(t), q)
		if e := failure(t, err); e.Code != outbound.BadAnswer || !e.Retry || !strings.Contains(e.Message, "dimensions") {
			t.Errorf("%+v", e)
		}
		if a, err := m.Embed(within(t), q); err != nil || len(a.Vectors) != 3 || len(a.Vectors[0]) != 1536 || s.Last().Dimensions != 0 {
			t.Error(err)
		}
		q.Dimensions = 768
		_, err = m.Embed(within(t), q)
		if e := failure(t, err); e.Code != outbound.BadAnswer || e.Retry || !strings.Contains(e.Message, "1536") || !strings.Contains(e.Message, "768") || !strings.Contains(e.Message, "EMBEDDINGS_MODEL") {
			t.Errorf("%+v", e)
		}
	})
}

func TestEmbedAnswers(t *testing.T) {
	eight := `[1,2,3,4,5,6,7,8]`
	data := func(vectors ...string) []byte {
		var all []string
		for i, v := range vectors {
			all = append(all, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, v))
		}
		return []byte(`{"data":[` + strings.Join(all, ",") + `]}`)
	}
	for name, c := range map[string]struct {
		step llmtest.Step
		verdict
	}{
		"too few":              {llmtest.Step{Body: data(eight, eight)}, verdict{outbound.BadAnswer, true}},
		"too many":             {llmtest.Step{Body: data(eight, eight, eight, eight)}, verdict{outbound.BadAnswer, true}},
		"other dimensions":     {llmtest.Step{Body: data(`[1,2]`, `[1,2]`, `[1,2]`)}, verdict{outbound.BadAnswer, false}},
		"several dimensions":   {llmtest.Step{Body: data(eight, eight, `[1,2]`)}, verdict{outbound.BadAnswer, true}},
		"an empty one":         {llmtest.Step{Body: data(eight, eight, `[]`)}, verdict{outbound.BadAnswer, true}},
		"only empty ones":      {llmtest.Step{Body: data(`[]`, `[]`, `[]`)}, verdict{outbound.BadAnswer, true}},
		"an infinite number":   {llmtest.Step{Body: data(eight, eight, `[1,2,3,4,5,6,7,1e39]`)}, verdict{outbound.BadAnswer, true}},
		"a very infinite one":  {llmtest.Step{Body: data(eight, eight, `[1,2,3,4,5,6,7,1e999]`)}, verdict{outbound.BadAnswer, true}},
		"no number":            {llmtest.Step{Body: data(eight, eight, `[1,2,3,4,5,6,7,NaN]`)}, verdict{outbound.BadAnswer, true}},
		"base64":               {llmtest.Step{Body: data(eight, eight, `"AACAPw=="`)}, verdict{outbound.BadAnswer, true}},
		"two of one index":     {llmtest.Step{Body: []byte(`{"data":[{"index":0,"embedding":` + eight + `},{"index":0,"embedding":` + eight + `},{"index":1,"embedding":` + eight + `}]}`)}, verdict{outbound.BadAnswer, true}},
		"an index below":       {llmtest.Step{Body: []byte(`{"data":[{"index":-1,"embedding":` + eight + `},{"index":0,"embedding":` + eight + `},{"index":1,"embedding":` + eight + `}]}`)}, verdict{outbound.BadAnswer, true}},
		"an index above":       {llmtest.Step{Body: []byte(`{"data":[{"index":3,"embedding":` + eight + `},{"index":0,"embedding":` + eight + `},{"index":1,"embedding":` + eight + `}]}`)}, verdict{outbound.BadAnswer, true}},
		"malformed JSON":       {llmtest.Step{Body: []byte(`{"data":`)}, verdict{outbound.BadAnswer, true}},
		"another shape":        {llmtest.Step{Body: []byte(`{"data":{"a":1}}`)}, verdict{outbound.BadAnswer, true}},
		"null":                 {llmtest.Step{Body: []byte(`null`)}, verdict{outbound.BadAnswer, true}},
		"an endless answer":    {llmtest.Step{Body: []byte(strings.Repeat(" ", 1<<20) + "{}")}, verdict{outbound.BadAnswer, true}},
		"one that ends":        {llmtest.Step{Cut: 100}, verdict{outbound.BadAnswer, true}},
		"a lost connection":    {llmtest.Step{Drop: true}, verdict{outbound.Unavailable, true}},
		"a hang":               {llmtest.Step{Hang: true}, verdict{outbound.Unavailable, true}},
		"a text that is long":  {llmtest.Step{Status: 400, Body: []byte(`{"error":{"message":"This model's maximum context length is 8192 tokens, however you requested 9000."}}`)}, verdict{outbound.TooLarge, false}},
		"an unpaid account":    {llmtest.Step{Status: 429, Body: outboundtest.Quota}, verdict{outbound.PaymentRequired, true}},
		"words of what it got": {llmtest.Step{Status: 422, Body: []byte(`{"detail":[{"type":"string_type","loc":["body","input",0],"msg":"Input should be a valid string","input":"one <b>"}]}`)}, verdict{outbound.Rejected, false}},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.New(t)
			s.Script(c.step)
			m := embedder(t, s)
			if c.step.Hang {
				m = impatient(t, s, time.Second)
			}
			a, err := m.Embed(within(t), texts())
			e := failure(t, err)
			if e.Code != c.code || e.Retry != c.retry || !e.Sent || a.Vectors != nil {
				t.Errorf("%+v", e)
			}
			if strings.Contains(e.Message, "<b>") {
				t.Errorf("it repeats what was sent: %s", e.Message)
			}
		})
	}
	t.Run("without an index the order is that of the texts", func(t *testing.T) {
		s := llmtest.New(t)
		s.Script(llmtest.Step{Body: []byte(`{"data":[{"embedding":[1]},{"embedding":[2]},{"embedding":[3]}]}`)})
		q := texts()
		q.Dimensions = 1
		a, err := embedder(t, s).Embed(within(t), q)
		if err != nil || !reflect.DeepEqual(a.Vectors, [][]float32{{1}, {2}, {3}}) || a.Tokens.Input == 0 {
			t.Error(a, err)
		}
	})
}

// TestEmbedBoundaries: an answer is the same wherever it is split, and none wherever it ends.
func TestEmbedBoundaries(t *testing.T) {
	s := llmtest.New(t)
	m := embedder(t, s)
	q := llm.EmbedRequest{Texts: []string{"a", "b"}, Dimensions: 3}
	want, err := m.Embed(within(t), q)
	if err != nil {
		t.Fatal(err)
	}
	length := s.Last().Length
	for at := 1; at < length; at++ {
		s.Script(llmtest.Step{Split: at}, llmtest.Step{Cut: at, Drop: at%2 == 0})
		if a, err := m.Embed(within(t), q); err != nil || !reflect.DeepEqual(a, want) {
			t.Fatalf("split after %d bytes: %v", at, err)
		}
		_, err := m.Embed(within(t), q)
		if e := failure(t, err); !e.Retry {
			t.Fatalf("ended after %d bytes: %+v", at, e)
		}
	}
}
