package analysis_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/redact"
)

// TestMergeOfDeclined: what package local finds in texts that the model declines is in
// their own words, however it writes an address there, and is not sent to be merged.
func TestMergeOfDeclined(t *testing.T) {
	b, s := newBench(t), llmtest.New(t)
	s.Answer(goals(t))
	s.Script(llmtest.Step{Refuse: true})
	c := config()
	c.Redact = redact.Rules{Kinds: redact.Kinds(), Names: []string{"Titania Smith"}}
	b.work(t, c, client(t, s, llmtest.OpenAI), nil)
	b.stream(t)
	var texts []string
	for range 8 {
		texts = append(texts, "Whenever I read a mail from puck@wood.example I feel anxious and angry.", "Every time I see 203.0.113.77 in the log I feel sick with fear.",
			"I argued with Titania Smith again about puck@wood.example.")
	}
	for range 60 {
		texts = append(texts, "My goal is nothing special. "+strings.Repeat("night ", 100))
	}
	job := b.order(t, b.User(t), "full_synthesis", diary(texts...))
	r := b.done(t, job)
	if r.Provider != "openai planted-1 and local (declined)" {
		t.Errorf("%+v", r)
	}
	own, theirs := 0, 0
	for _, p := range b.patterns(t, job) {
		if strings.Contains(p.Description, "puck wood example") {
			own++
		}
		if p.Description == "You want to run a marathon." {
			theirs++
		}
	}
	if own == 0 || theirs != 1 {
		t.Errorf("%d patterns of package local, %d of the model: %+v", own, theirs, b.patterns(t, job))
	}
	merged := 0
	for _, asked := range s.Requests() {
		if merges(asked) {
			merged++
		}
		for _, private := range []string{"puck", "wood", "203", "titania"} {
			if strings.Contains(strings.ToLower(string(asked.Prompt)), private) {
				t.Errorf("%s left", private)
			}
		}
	}
	if merged != 1 {
		t.Errorf("%d merges", merged)
	}
}

// TestCutRedacted: what stands where a text is cut is redacted as a whole.
func TestCutRedacted(t *testing.T) {
	b, s := newBench(t), llmtest.New(t)
	s.Answer(goals(t))
	c := config()
	c.ChunkTokens = 20_000
	c.Redact = redact.Rules{Kinds: redact.Kinds(), Names: []string{"Titania Smith"}}
	b.work(t, c, client(t, s, llmtest.OpenAI), nil)
	b.stream(t)
	user := b.User(t)
	const most = 32 << 10
	for _, private := range []string{"4111 1111 1111 1111", "titania@wood.example", "DE89 3704 0044 0532 0130 00", "Titania Smith", "+44 20 7946 0958"} {
		for _, cut := range []int{4, len(private) / 2, len(private) - 2} {
			text := strings.Repeat("my goal, ", most)[:most-cut-1] + " " + private + strings.Repeat(" and more", 1000)
			for _, kind := range []any{diary(text), nil} {
				if kind == nil {
					b.Exec(t, "delete from memories")
					b.Exec(t, "insert into memories (user_id, content) values ($1, $2)", user, text)
				}
				r := b.done(t, b.order(t, user, "prospective_self", kind))
				if r.Analysis["texts"].(map[string]any)["cut"] != 1.0 {
					t.Errorf("%v", r.Analysis["texts"])
				}
				asked := s.Last().Prompt
				if strings.Contains(asked, " "+private[:4]) || strings.Contains(asked, "more") || len(asked) < most-2048 {
					t.Errorf("of %q, cut after %d, is left …%q", private, cut, asked[len(asked)-80:])
				}
			}
		}
	}
}

// TestPrivacyMeanwhile: who opts out while a model is asked, or has a name taken out,
// is heeded from the next request on; a request that gets no answer is not made again.
func TestPrivacyMeanwhile(t *testing.T) {
	for name, sql := range map[string]string{
		"OptOut":  "insert into privacy_settings (user_id, opt_out) values ($1, '{memory_synthesis_jobs.conversations}')",
		"Waiting": "insert into privacy_settings (user_id, opt_out) values ($1, '{memory_synthesis_jobs.conversations}')",
		"Names":   "insert into privacy_settings (user_id, redact_names) values ($1, '{herons}')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, s := newBench(t), llmtest.New(t)
			hold := make(chan struct{})
			s.Answer(goals(t))
			s.Script(llmtest.Step{}, llmtest.Step{Hold: hold})
			b.work(t, config(), client(t, s, llmtest.OpenAI), nil)
			b.stream(t)
			job := b.order(t, b.User(t), "prospective_self", thousand()[:300])
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := s.Await(ctx, 2); err != nil {
				t.Fatal(err)
			}
			b.Exec(t, sql, get[string](t, b, "select user_id::text from memory_synthesis_jobs"))
			if name == "Waiting" {
				defer close(hold)
			} else {
				close(hold)
			}
			r := b.done(t, job)
			if name != "Names" {
				if r.Provider != "local (opted out)" || s.Count() != 2 || len(b.patterns(t, job)) == 0 {
					t.Errorf("%d requests: %+v", s.Count(), r)
				}
				return
			}
			if r.Provider != "openai planted-1" || !slices.ContainsFunc(s.Requests()[:2], func(r llmtest.Request) bool { return strings.Contains(r.Prompt, "herons") }) {
				t.Errorf("%+v", r)
			}
			for _, asked := range s.Requests()[2:] {
				if strings.Contains(asked.Prompt, "herons") {
					t.Error("a name left that was taken out")
				}
			}
		})
	}
}
