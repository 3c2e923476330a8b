package analysis_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/usage"
)

// thousand are conversations of three subjects, of which each tenth has the word.
func thousand() []conversation {
	var texts []string
	for i := range 1000 {
		text := []string{"I walked along the quiet river with the old dog and looked at the herons.", "I baked bread with flour, yeast and salt, and it rose well.",
			"The meeting at the office was long and the budget was short again."}[i%3]
		if i%10 == 0 {
			text += " My goal is to run."
		}
		texts = append(texts, fmt.Sprintf("%s Number %d.", text, i))
	}
	return diary(texts...)
}

// TestThousand: a thousand conversations are sent in parts of a bounded size, each
// once, and what is found in them is merged.
func TestThousand(t *testing.T) {
	b, s := newBench(t), llmtest.New(t)
	s.Answer(goals(t))
	c := config()
	b.work(t, c, client(t, s, llmtest.OpenAI), nil)
	b.stream(t)
	job := b.order(t, b.User(t), "prospective_self", thousand())
	last := 0.0
	for r := b.row(t, job); r.Status != "done"; r = b.row(t, job) {
		if r.Progress < last || r.Status == "failed" {
			t.Fatalf("progress %g after %g, %s", r.Progress, last, r.Status)
		}
		last = r.Progress
		if t.Context().Err() != nil {
			t.Fatal("it does not end")
		}
		time.Sleep(time.Millisecond) // between two looks
	}
	r := b.done(t, job)
	seen := map[string]bool{}
	reduced := 0
	for _, asked := range s.Requests() {
		if n := llm.EstimateTokens(asked.Prompt); n > c.ChunkTokens {
			t.Errorf("a prompt of %d tokens", n)
		}
		if merges(asked) {
			reduced++
			continue
		}
		for _, l := range lines(t, asked) {
			if seen[l.ID] {
				t.Errorf("%s was sent twice", l.ID)
			}
			seen[l.ID] = true
		}
	}
	chunks := r.Analysis["chunks"].(map[string]any)
	if len(seen) != 1000 || reduced != 1 || chunks["planned"].(float64)+1 != float64(s.Count()) || chunks["asked"].(float64) != float64(s.Count()) || r.Analysis["merged"] != "model" {
		t.Errorf("%d texts were sent in %d requests, %d merge: %v", len(seen), s.Count(), reduced, chunks)
	}
	found := b.patterns(t, job)
	if len(found) != 1 || len(found[0].Evidence) != 100 || !slices.Contains(found[0].Evidence, "talk-991") {
		t.Errorf("%d patterns: %+v", len(found), found)
	}
}

// TestSelection: of more than fits the most telling of each group are sent, and the
// row says how many.
func TestSelection(t *testing.T) {
	b, s := newBench(t), llmtest.New(t)
	s.Answer(goals(t))
	c := config()
	c.ChunkTokens, c.MostChunks = 2500, 2
	b.work(t, c, client(t, s, llmtest.OpenAI), nil)
	b.stream(t)
	talks := thousand()
	talks[0].Text = strings.Repeat("An endless text about the river. ", 2000)
	job := b.order(t, b.User(t), "prospective_self", talks)
	r := b.done(t, job)
	n := map[string]int{}
	for _, asked := range s.Requests() {
		if !merges(asked) {
			for _, l := range lines(t, asked) {
				for _, subject := range []string{"river", "bread", "office"} {
					if strings.Contains(l.Text, subject) {
						n[subject]++
					}
				}
			}
			contains(t, asked.Prompt, `"groups"`)
		}
	}
	all := n["river"] + n["bread"] + n["office"]
	texts := r.Analysis["texts"].(map[string]any)
	if texts["analysed"] != float64(all) || texts["given"] != 1000.0 || all < 40 || all > 200 {
		t.Errorf("%d texts were sent: %v", all, texts)
	}
	for subject, n := range n {
		if n < all/5 {
			t.Errorf("%d of %d texts are of %s", n, all, subject)
		}
	}

	// One text that is longer than a chunk is cut, and the row says so.
	job = b.order(t, b.User(t), "prospective_self", diary(strings.Repeat("An endless text about a goal. ", 1000)))
	r = b.done(t, job)
	if cut := r.Analysis["texts"].(map[string]any)["cut"]; cut != 1.0 || llm.EstimateTokens(s.Last().Prompt) > c.ChunkTokens {
		t.Errorf("%v", r.Analysis)
	}
}

// TestTree: findings that do not fit into one request are merged in steps.
func TestTree(t *testing.T) {
	b, s := newBench(t), llmtest.New(t)
	s.Answer(func(r llmtest.Request) any {
		if merges(r) {
			return goals(t)(r)
		}
		var all []map[string]any
		for i, l := range lines(t, r) {
			if i < 20 {
				all = append(all, shows("goal", fmt.Sprintf("You want %s: %s", l.ID, strings.Repeat("a long wish ", 25)), []string{l.ID}, "goal", l.ID))
			}
		}
		return says("", all...)
	})
	c := config()
	c.ChunkTokens = 3000
	b.work(t, c, client(t, s, llmtest.Anthropic), nil)
	b.stream(t)
	job := b.order(t, b.User(t), "prospective_self", thousand()[:400])
	r := b.done(t, job)
	reduced := 0
	for _, asked := range s.Requests() {
		if merges(asked) {
			reduced++
			if n := llm.EstimateTokens(asked.Prompt); n > c.ChunkTokens {
				t.Errorf("a prompt of %d tokens", n)
			}
		}
	}
	planned := int(r.Analysis["chunks"].(map[string]any)["planned"].(float64))
	found := b.patterns(t, job)
	if reduced < 3 || len(found) != 1 || len(found[0].Evidence) != min(200, 20*planned) {
		t.Errorf("%d merges, %d chunks, patterns %+v", reduced, planned, found)
	}
}

// TestBudget: where the budget is spent package local answers, for all or for what is
// left, and the row says so.
func TestBudget(t *testing.T) {
	b, s := newBench(t), llmtest.New(t)
	s.Answer(goals(t))
	b.work(t, config(), client(t, s, llmtest.OpenAI), map[string]usage.Budget{"analysis": {UserRequests: 3}})
	b.stream(t)
	user := b.User(t)
	job := b.order(t, user, "prospective_self", thousand()[:200])
	r := b.done(t, job)
	chunks := r.Analysis["chunks"].(map[string]any)
	if r.Provider != "openai planted-1 and local (budget spent)" || s.Count() != 2 || chunks["asked"] != 2.0 || chunks["local"] != chunks["planned"].(float64)-2 {
		t.Errorf("%d requests: %+v", s.Count(), r)
	}
	contains(t, r.Analysis["reason"].(string), "budget")
	if found := b.patterns(t, job); len(found) == 0 {
		t.Error("no pattern")
	}
	r = b.done(t, b.order(t, user, "prospective_self", diary("My goal is to run.")))
	if r.Provider != "local (budget spent)" || s.Count() != 2 || r.Input != 0 {
		t.Errorf("%d requests: %+v", s.Count(), r)
	}
	r = b.done(t, b.order(t, b.User(t), "prospective_self", diary("My goal is to run.")))
	if r.Provider != "openai planted-1" {
		t.Errorf("another user: %+v", r)
	}
}

// TestOptOut: of what a user has opted out nothing leaves, and what waits for a
// provider need not wait any more.
func TestOptOut(t *testing.T) {
	b, s := newBench(t), llmtest.New(t)
	s.Answer(goals(t))
	s.Script(llmtest.Step{Status: 401})
	b.work(t, config(), client(t, s, llmtest.OpenAI), nil)
	b.stream(t)
	user := b.User(t)
	b.Exec(t, "insert into memories (user_id, content) values ($1, 'My goal is to run.')", user)
	job := b.order(t, user, "prospective_self", nil)
	b.until(t, "it to wait", "select status = 'pending' and error is not null from memory_synthesis_jobs where id = $1", job)
	b.Exec(t, "insert into privacy_settings (user_id, opt_out) values ($1, '{memories.content}')", user)
	r := b.done(t, job)
	if r.Provider != "local (opted out)" || s.Count() != 1 {
		t.Errorf("%d requests: %+v", s.Count(), r)
	}
	contains(t, r.Analysis["reason"].(string), "memories.content")
	if r = b.done(t, b.order(t, user, "prospective_self", diary("My goal is to run."))); r.Provider != "openai planted-1" || s.Count() != 2 {
		t.Errorf("%d requests: %+v", s.Count(), r)
	}
	b.Exec(t, "update privacy_settings set opt_out = '{memory_synthesis_jobs.conversations}'")
	if r = b.done(t, b.order(t, user, "prospective_self", diary("My goal is to walk."))); r.Provider != "local (opted out)" || s.Count() != 2 {
		t.Errorf("%d requests: %+v", s.Count(), r)
	}
}

// TestRedaction: what identifies people never leaves, and is back in what is written.
func TestRedaction(t *testing.T) {
	b, s := newBench(t), llmtest.New(t)
	s.Answer(func(r llmtest.Request) any {
		all := lines(t, r)
		ids := []string{all[0].ID}
		if merges(r) {
			return says("About "+all[0].Description, shows("goal", all[0].Description, ids))
		}
		return says("About "+all[0].Text, shows("goal", all[0].Text, ids, "goal", all[0].Text))
	})
	c := config()
	c.Redact = redact.Rules{Kinds: redact.Kinds(), Names: []string{"Oberon"}}
	b.work(t, c, client(t, s, llmtest.OpenAI), nil)
	b.stream(t)
	user := b.User(t)
	b.Exec(t, "insert into privacy_settings (user_id, redact_names) values ($1, '{Titania}')", user)
	private := []string{"puck@wood.example", "Oberon", "Titania", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "203.0.113.77"}
	text := "My goal: write to puck@wood.example about Oberon and Titania, pay by 4111 1111 1111 1111 or DE89 3704 0044 0532 0130 00 from 203.0.113.77."
	texts := []string{text}
	for i := range 60 { // so that there are groups and key phrases, and several parts
		texts = append(texts, fmt.Sprintf("Oberon wrote to puck@wood.example and Titania %d times about the wood and the night.", i))
	}
	for _, talks := range [][]conversation{diary(text), diary(append(texts, strings.Repeat("night ", 2000))...)} {
		job := b.order(t, user, "prospective_self", talks)
		r := b.done(t, job)
		for _, asked := range s.Requests() {
			body := strings.ReplaceAll(string(asked.Body), asked.User, "") // a hash, in which any digits may be
			for _, p := range private {
				if strings.Contains(strings.ToLower(body), strings.ToLower(p)) {
					t.Errorf("%s left", p)
				}
			}
			for _, part := range []string{"puck", "4111", "0044"} {
				if strings.Contains(body, part) {
					t.Errorf("%s left", part)
				}
			}
		}
		found := b.patterns(t, job)
		if len(found) != 1 {
			t.Fatalf("%+v", found)
		}
		contains(t, found[0].Description, private...)
		contains(t, r.Summary, "puck@wood.example")
		if counts, _ := r.Analysis["redacted"].(map[string]any); counts["email"] == nil || counts["name"] == nil {
			t.Errorf("%v", r.Analysis["redacted"])
		}
	}
	if kept := get[string](t, b, "select string_agg(answer::text, ' ') from helix.analysis_cache"); strings.Contains(kept, "puck") {
		t.Error("what was redacted is in the cache")
	}
}

// TestDeletedMeanwhile: the work on a row, or for an account, that is deleted while
// the provider is asked is dropped: nothing more is asked, and nothing is left.
func TestDeletedMeanwhile(t *testing.T) {
	for name, sql := range map[string]string{"Row": "delete from public.memory_synthesis_jobs", "Account": "delete from auth.users"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, s := newBench(t), llmtest.New(t)
			hold := make(chan struct{})
			defer close(hold)
			s.Answer(goals(t))
			s.Script(llmtest.Step{}, llmtest.Step{Hold: hold})
			b.work(t, config(), client(t, s, llmtest.OpenAI), nil)
			b.stream(t)
			b.order(t, b.User(t), "prospective_self", thousand()[:300])
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if err := s.Await(ctx, 2); err != nil {
				t.Fatal(err)
			}
			b.DB.Exec(t, "supabase_admin", sql)
			b.until(t, "the job's end", "select not exists (select from helix.river_job where queue = 'analysis' and state not in ('completed'))")
			if s.Count() != 2 {
				t.Errorf("%d requests", s.Count())
			}
			tables := []string{"public.memory_synthesis_jobs", "public.memory_patterns", "helix.analysis_work"}
			if name == "Account" {
				tables = append(tables, "helix.analysis_cache", "helix.usage")
			}
			for _, table := range tables {
				if n := get[int](t, b, "select count(*)::int from "+table); n != 0 {
					t.Errorf("%d rows of %s", n, table)
				}
			}
		})
	}
}

// TestStop: a process that ends gives the row back, and the next one asks only what
// was not answered.
func TestStop(t *testing.T) {
	b, s := newBench(t), llmtest.New(t)
	hold := make(chan struct{})
	defer close(hold)
	s.Answer(goals(t))
	s.Script(llmtest.Step{}, llmtest.Step{}, llmtest.Step{Hold: hold})
	stop := b.work(t, config(), client(t, s, llmtest.Anthropic), nil)
	b.stream(t)
	job := b.order(t, b.User(t), "prospective_self", thousand()[:300])
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Await(ctx, 3); err != nil {
		t.Fatal(err)
	}
	stop()
	if r := b.row(t, job); r.Status != "pending" || r.Error != nil || r.Progress == 0 {
		t.Errorf("%+v", r)
	}
	b.work(t, config(), client(t, s, llmtest.Anthropic), nil)
	r := b.done(t, job)
	keys := map[string]int{}
	for _, asked := range s.Requests() {
		keys[asked.Prompt]++
	}
	chunks := r.Analysis["chunks"].(map[string]any)
	if len(keys) != s.Count()-1 || keys[s.Requests()[2].Prompt] != 2 || chunks["cached"] != 0.0 || chunks["asked"].(float64) != float64(s.Count()-1) || r.Analysis["cached"] != false {
		t.Errorf("%d requests for %d prompts: %v", s.Count(), len(keys), chunks)
	}
	if r.Input == 0 || r.Input != get[int64](t, b, "select sum(input_tokens)::bigint from helix.analysis_cache c, helix.usage u")/int64(len(keys)) {
		t.Logf("tokens %d", r.Input)
	}
}
