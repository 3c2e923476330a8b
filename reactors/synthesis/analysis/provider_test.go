package analysis_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/synthesis/analysis"
)

var protocols = []string{llmtest.Anthropic, llmtest.OpenAI}

// client asks a test's server in its protocol, and does not rest between tries.
func client(t testing.TB, s *llmtest.Server, protocol string) *llm.Client {
	t.Helper()
	return impatient(t, s, protocol, patience)
}

// impatient is a client that waits so long for an answer.
func impatient(t testing.TB, s *llmtest.Server, protocol string, timeout time.Duration) *llm.Client {
	t.Helper()
	o := llm.Options{BaseURL: s.URL, Key: llmtest.Key, Model: "planted-1", Timeout: timeout, IdleTimeout: timeout}
	make := llm.NewAnthropic
	if protocol == llmtest.OpenAI {
		make = llm.NewOpenAI
	}
	m, err := make(o)
	if err != nil {
		t.Fatal(err)
	}
	return llm.NewClient(m, llm.ClientConfig{Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
}

// sent is a line of a prompt.
type sent struct {
	ID          string `json:"id"`
	Text        string `json:"text"`
	Type        string `json:"pattern_type"`
	Description string `json:"description"`
}

// lines are the texts, or findings, of a prompt. Every other line is no JSON or has
// no id: what a text holds cannot make one.
func lines(t testing.TB, r llmtest.Request) (all []sent) {
	t.Helper()
	for _, line := range strings.Split(r.Prompt, "\n") {
		var s sent
		if strings.HasPrefix(line, "{") {
			if err := json.Unmarshal([]byte(line), &s); err != nil {
				t.Errorf("a line is no JSON: %v: %.200s", err, line)
			}
		}
		if s.ID != "" {
			all = append(all, s)
		}
	}
	return all
}

func merges(r llmtest.Request) bool { return strings.Contains(r.System, "helixd merge of") }

// says is an answer.
func says(summary string, patterns ...map[string]any) map[string]any {
	if patterns == nil {
		patterns = []map[string]any{}
	}
	return map[string]any{"patterns": patterns, "summary": summary}
}

// shows is a pattern of an answer.
func shows(typ, description string, evidence []string, content ...string) map[string]any {
	pairs := []map[string]string{}
	for i := 0; i+1 < len(content); i += 2 {
		pairs = append(pairs, map[string]string{"name": content[i], "value": content[i+1]})
	}
	return map[string]any{"pattern_type": typ, "description": description, "evidence": evidence, "confidence": 0.8, "content": pairs, "recommendation": "Keep at it."}
}

// goals answers with one goal, which each text shows that has the word, and merges
// what says the same.
func goals(t testing.TB) func(llmtest.Request) any {
	return func(r llmtest.Request) any {
		var ids []string
		for _, s := range lines(t, r) {
			if merges(r) || strings.Contains(s.Text, "goal") {
				ids = append(ids, s.ID)
			}
		}
		if ids == nil {
			return says("Nothing of the kind.")
		}
		return says("You want to run.", shows("goal", "You want to run a marathon.", ids, "goal", "a marathon", "horizon", "next year"))
	}
}

func config() analysis.Config {
	c := analysis.DefaultConfig
	c.ChunkTokens, c.AnswerTokens = 4000, 1000
	return c
}

// TestModel: a model's answer becomes patterns, under the ids that the app knows, and
// what leaves says nothing of who it is about.
func TestModel(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			b, s := newBench(t), llmtest.New(t)
			s.Answer(goals(t))
			b.work(t, config(), client(t, s, protocol), nil)
			b.stream(t)
			user := b.User(t)
			job := b.order(t, user, "prospective_self", diary("My goal is to run.", "It rained.", "Still my goal."))
			r := b.done(t, job)
			if r.Provider != protocol+" planted-1" || r.Input == 0 || r.Output == 0 || *r.Layer != 4 || r.Summary != "You want to run." || r.Analysis["cached"] != false {
				t.Errorf("%+v", r)
			}
			found := b.patterns(t, job)
			if len(found) != 1 {
				t.Fatalf("%+v", found)
			}
			p := found[0]
			if p.Type != "goal" || p.Layer != 4 || p.Description != "You want to run a marathon." || !slices.Equal(p.Evidence, []string{"talk-1", "talk-3"}) ||
				p.Confidence != 0.8 || len(p.Content) != 2 || p.Content["goal"] != "a marathon" || p.Advice == nil || *p.Advice != "Keep at it." {
				t.Errorf("%+v", p)
			}
			if problems := s.Problems(); len(problems) > 0 || s.Count() != 1 {
				t.Fatalf("%d requests, problems %v", s.Count(), problems)
			}
			asked := s.Last()
			whole := string(asked.Body) + asked.Key
			for _, private := range []string{user.String(), job.String(), "talk-1", b.DB.NewUser(t).ID} {
				if strings.Contains(whole, private) {
					t.Errorf("the request has %s", private)
				}
			}
			if len(asked.User) != 64 || asked.Key == "" || asked.MaxTokens != 1000 || !asked.Stream {
				t.Errorf("user %q, key %q", asked.User, asked.Key)
			}
			if protocol == llmtest.OpenAI && (asked.Store == nil || *asked.Store) {
				t.Error("the provider may keep the answer")
			}
			if n := get[int](t, b, "select count(*)::int from helix.usage where user_id = $1 and purpose = 'analysis' and requests = 1 and input_tokens = $2 and output_tokens = $3 and held_tokens = 0", user, r.Input, r.Output); n != 1 {
				t.Errorf("usage: %s", get[string](t, b, "select coalesce(jsonb_agg(u)::text, '') from helix.usage u"))
			}

			// The same again, and of another user.
			again := b.done(t, b.order(t, user, "prospective_self", diary("My goal is to run.", "It rained.", "Still my goal.")))
			if s.Count() != 1 || again.Input != 0 || again.Output != 0 || again.Analysis["cached"] != true || again.Summary != r.Summary {
				t.Errorf("%d requests: %+v", s.Count(), again)
			}
			b.done(t, b.order(t, b.User(t), "prospective_self", diary("My goal is to run.", "It rained.", "Still my goal.")))
			if s.Count() != 2 {
				t.Errorf("%d requests: an answer was given to another user", s.Count())
			}
			b.done(t, b.order(t, user, "full_synthesis", diary("My goal is to run.", "It rained.", "Still my goal.")))
			if s.Count() != 3 {
				t.Errorf("%d requests: an answer was given to another question", s.Count())
			}
		})
	}
}

// TestFailures: whatever the provider does, nothing fails for good. What waits says
// why and until when, and goes on by itself.
func TestFailures(t *testing.T) {
	three := func(step llmtest.Step) []llmtest.Step { return []llmtest.Step{step, step, step} }
	after := map[string][]string{"Retry-After": {"11"}} // longer than a request waits by itself
	for name, c := range map[string]struct {
		steps []llmtest.Step
		waits string // code; "": it does not wait
		local string // code of what is declined; "": the model answers in the end
	}{
		"Refusal":         {[]llmtest.Step{{Refuse: true}}, "", "provider_refused"},
		"TooLong":         {[]llmtest.Step{{Long: true}}, "", "provider_answer_truncated"},
		"NoJSON":          {three(llmtest.Step{Answer: "I found: nothing {"}), "", "provider_answer_invalid"},
		"AnotherSchema":   {three(llmtest.Step{Answer: map[string]any{"patterns": "none", "summary": 1}}), "", "provider_answer_invalid"},
		"BadRequest":      {[]llmtest.Step{{Status: 400}}, "", "provider_rejected"},
		"Unauthorized":    {[]llmtest.Step{{Status: 401}}, "provider_unauthorized", ""},
		"NoSuchModel":     {[]llmtest.Step{{Status: 404}}, "provider_not_found", ""},
		"RateLimited":     {[]llmtest.Step{{Status: 429, Header: after}}, "provider_rate_limited", ""},
		"ServerError":     {three(llmtest.Step{Status: 500}), "provider_unavailable", ""},
		"Overloaded":      {three(llmtest.Step{Status: 529}), "provider_unavailable", ""},
		"TruncatedStream": {three(llmtest.Step{Drop: true}), "provider_unavailable", ""},
		"Hang":            {three(llmtest.Step{Hang: true}), "provider_unavailable", ""},
		"Once":            {[]llmtest.Step{{Status: 503}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, s := newBench(t), llmtest.New(t)
			s.Answer(goals(t))
			s.Script(c.steps...)
			timeout := patience
			if name == "Hang" {
				timeout = time.Second
			}
			b.work(t, config(), impatient(t, s, llmtest.Anthropic, timeout), nil)
			b.stream(t)
			job := b.order(t, b.User(t), "prospective_self", diary("My goal is to run."))
			if c.waits != "" {
				b.until(t, "it to wait", "select status = 'pending' and error is not null from memory_synthesis_jobs where id = $1", job)
				r := b.row(t, job)
				if r.Error.Code != c.waits || !r.Error.Retryable || r.Error.Message == "" || r.Error.NextTry == nil || time.Until(*r.Error.NextTry) > 10*time.Minute || strings.Contains(r.Error.Message, llmtest.Key) {
					t.Errorf("%+v", r.Error)
				}
				b.Exec(t, "update helix.river_job set scheduled_at = now() where queue = 'analysis'") // not to wait for it
			}
			r := b.done(t, job)
			declined, _ := r.Analysis["chunks"].(map[string]any)["declined"].(map[string]any)
			if c.local != "" {
				if r.Provider != "local (anthropic planted-1 declined)" || declined[c.local] != 1.0 || r.Analysis["reason"] == "" {
					t.Errorf("%+v", r)
				}
			} else if r.Provider != "anthropic planted-1" || declined != nil {
				t.Errorf("%+v", r)
			}
			if found := b.patterns(t, job); len(found) == 0 {
				t.Error("no pattern")
			}
			if held := get[int64](t, b, "select coalesce(sum(held_tokens), 0)::bigint from helix.usage"); held != 0 {
				t.Errorf("%d tokens are held for nothing", held)
			}
		})
	}
}
