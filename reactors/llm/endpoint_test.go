package llm_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/outbound"
)

func TestOptions(t *testing.T) {
	embedder := func(o llm.Options) (llm.Model, error) { _, err := llm.NewEmbedder(o); return nil, err }
	for name, new := range map[string]func(llm.Options) (llm.Model, error){"anthropic": llm.NewAnthropic, "openai": llm.NewOpenAI, "embeddings": embedder} {
		for about, c := range map[string]struct {
			o    llm.Options
			says string
		}{
			"no key":                  {llm.Options{}, "_KEY"},
			"a key of two lines":      {llm.Options{Key: "a\nb"}, "_KEY"},
			"no URL":                  {llm.Options{BaseURL: "localhost:8080", Key: "k", Model: "m"}, "_URL"},
			"a URL with the key":      {llm.Options{BaseURL: "http://u:" + llmtest.Key + "@h/v1", Model: "m"}, "_URL"},
			"a URL with a parameter":  {llm.Options{BaseURL: "http://h/v1?key=" + llmtest.Key, Model: "m"}, "_URL"},
			"a URL that is a scheme":  {llm.Options{BaseURL: "file:///etc/passwd", Model: "m"}, "_URL"},
			"what it needs, and more": {llm.Options{BaseURL: "http://h/proxy/v1/", Key: " k ", Model: "m"}, ""},
			"no key for one's own":    {llm.Options{BaseURL: "http://h", Model: "m"}, ""},
		} {
			t.Run(name+" with "+about, func(t *testing.T) {
				_, err := new(c.o)
				if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Error(err)
				}
				if err != nil {
					noSecret(t, err.Error())
				}
			})
		}
	}
	m, err := llm.NewAnthropic(llm.Options{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Render(t.Context(), question())
	if err != nil || r.URL != "https://api.anthropic.com/v1/messages" || !strings.HasPrefix(m.Name(), "anthropic claude-") {
		t.Error(r.URL, m.Name(), err)
	}
	m, err = llm.NewAnthropic(llm.Options{BaseURL: "http://h/proxy/v1/messages", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := m.Render(t.Context(), question()); err != nil || r.URL != "http://h/proxy/v1/messages" {
		t.Error(r.URL, err)
	}
	q := question()
	q.Schema = json.RawMessage(`{"type":"array"}`)
	_, err = m.Complete(t.Context(), q)
	if e := failure(t, err); e.Code != outbound.Rejected || e.Retry || e.Sent {
		t.Errorf("%+v", e)
	}
}

// TestRedirect: neither the key nor the text goes elsewhere.
func TestRedirect(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("it is asked: %s", r.URL) }))
	defer elsewhere.Close()
	each(t, llm.Options{HTTP: &http.Client{Transport: outbound.Transport()}}, func(t *testing.T, m llm.Model, s *llmtest.Server) {
		for _, status := range []int{301, 302, 303, 307, 308} {
			s.Script(llmtest.Step{Status: status, Header: http.Header{"Location": {elsewhere.URL}}})
			_, err := m.Complete(within(t), question())
			if e := failure(t, err); e.Code != outbound.NotFound || !strings.Contains(e.Message, "_URL") {
				t.Errorf("%+v", e)
			}
		}
	})
}

// TestUnreachable: nothing listens there.
func TestUnreachable(t *testing.T) {
	s := llmtest.New(t)
	s.Close()
	for _, p := range slices.Concat(providers[:1], providers[2:]) {
		m := model(t, p, s, llm.Options{})
		_, err := m.Complete(within(t), question())
		if e := failure(t, err); e.Code != outbound.Unavailable || e.Sent || !e.Retry || strings.Contains(e.Message, s.URL) {
			t.Errorf("%+v", e)
		}
	}
}
