package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/testenv"
)

// asking are the settings of a process that asks a test's server.
func asking(s *llmtest.Server, more ...string) []string {
	return append([]string{"HELIX_LLM=openai", "HELIX_LLM_URL=" + s.URL + "/v1", "HELIX_LLM_KEY=" + llmtest.Key, "HELIX_LLM_MODEL=planted-1", "ANTHROPIC_API_KEY=",
		"HELIX_LLM_CHUNK_TOKENS=4000"}, more...)
}

// talks are conversations, some of which have a goal, as a file.
func talks(t *testing.T, n int) (path, raw string) {
	t.Helper()
	var all []map[string]string
	for i := range n {
		all = append(all, map[string]string{"id": fmt.Sprint("talk-", i), "timestamp": "2026-05-01T10:00:00Z",
			"text": fmt.Sprintf("My goal is to run %d miles with the dog along the quiet river before the summer ends, and to write to puck@wood.example.", i)})
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "talks.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}

// goals answers with a goal that all of a request's texts, or findings, show.
func goals(r llmtest.Request) any {
	var ids []string
	for line := range strings.Lines(r.Prompt) {
		var l struct{ ID string }
		if json.Unmarshal([]byte(line), &l) == nil && l.ID != "" {
			ids = append(ids, l.ID)
		}
	}
	return map[string]any{"summary": "You want to run.", "patterns": []any{map[string]any{"pattern_type": "goal", "description": "You want to run.", "evidence": ids,
		"confidence": 0.9, "content": []any{}, "recommendation": "Run."}}}
}

// TestAnalyze: the dry run prints what the run then sends, and sends nothing; the run
// follows its row.
func TestAnalyze(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	s := llmtest.New(t)
	s.Answer(goals)
	path, _ := talks(t, 5)
	run := func(env []string, args ...string) (string, string, int) {
		return command(t, db.URL("postgres"), "", env, append([]string{"analyze", "--user", user, "--type", "prospective_self"}, args...)...)
	}
	out, errs, status := run(asking(s, "HELIX_LLM_PRICE=openai=2/10"), "--conversations", path, "--dry-run")
	if status != 0 || s.Count() != 0 || get[int](t, admin, "select count(*)::int from memory_synthesis_jobs") != 0 {
		t.Fatalf("exit status %d, %d requests: %s%s", status, s.Count(), out, errs)
	}
	head, body, _ := strings.Cut(out, "\n")
	if head != "POST "+s.URL+"/v1/chat/completions" || strings.Contains(out, "puck@") || !strings.Contains(out, "[EMAIL_") || strings.Contains(out, llmtest.Key) {
		t.Errorf("%s", out)
	}
	for _, want := range []string{"5 texts would be sent to openai planted-1 in 1 request", "USD", "Redacted: ", " email"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not in %s", want, errs)
		}
	}
	for _, c := range []struct {
		env   []string
		args  []string
		wants string
	}{
		{[]string{"HELIX_LLM=local"}, []string{"--conversations", path}, "HELIX_LLM is local"},
		{[]string{"HELIX_LLM_URL=", "HELIX_LLM_KEY=", "ANTHROPIC_API_KEY="}, []string{"--conversations", path}, "no key is set"},
		{asking(s), nil, "There is no text to analyse"},
		{asking(s, "HELIX_LLM_USER_DAILY_REQUESTS=50"), []string{"--conversations", path}, "budget"},
	} {
		if c.wants == "budget" {
			exec1(t, admin, "insert into helix.usage (user_id, day, purpose, provider, requests) values ($1, (now() at time zone 'utc')::date, 'analysis', 'x', 46)", user)
		}
		out, errs, status := run(c.env, append(c.args, "--dry-run")...)
		if status != 0 || out != "" || !strings.Contains(errs, "Nothing would be sent") || !strings.Contains(errs, c.wants) {
			t.Errorf("exit status %d: %s%s", status, out, errs)
		}
	}
	if _, errs, status := run(asking(s), "--type", "relational_dynamics", "--conversations", path, "--dry-run"); status != 0 { // a former name, as rows have it
		t.Errorf("exit status %d: %s", status, errs)
	}
	if _, errs, status := run(asking(s), "--since", "yesterday"); status != 2 {
		t.Errorf("exit status %d: %s", status, errs)
	}
	if _, errs, status := run(asking(s), "--timeout", "300ms"); status != 1 || !strings.Contains(errs, "no helixd works jobs") || !strings.Contains(errs, "goes on without this command") {
		t.Errorf("exit status %d: %s", status, errs)
	}
	exec1(t, admin, "delete from memory_synthesis_jobs")
	exec1(t, admin, "delete from helix.usage")

	p := start(t, db.URL("postgres"), asking(s), "run", "--slot", db.SlotName("analysis"))
	defer p.stop(t)
	until(t, "the stream", func() bool { return p.says(`"streaming"`) })
	out, errs, status = run(asking(s), "--conversations", path, "--timeout", "2m")
	if status != 0 || !strings.Contains(out, "You want to run.") || !strings.Contains(out, "provider: openai planted-1") || !strings.Contains(errs, "done, 100%") {
		t.Fatalf("exit status %d: %s%s", status, out, errs)
	}
	var said, sent any
	if err := json.Unmarshal([]byte(body), &said); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(s.Last().Body, &sent); err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(said), fmt.Sprint(sent); a != b {
		t.Errorf("printed\n%s\nsent\n%s", a, b)
	}
	if _, errs, _ := run(asking(s), "--conversations", path, "--dry-run"); !strings.Contains(errs, "answered before") || !strings.Contains(errs, "Nothing would be sent") {
		t.Errorf("%s", errs)
	}
}

// TestDryRunIsText: what a user wrote does nothing to the operator's terminal, and the
// JSON is what is sent all the same.
func TestDryRunIsText(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	migrated(t, db)
	s := llmtest.New(t)
	const hostile = "My goal \u009b2J\u009d0;x\u007f\u202e\u2066\U000e0041 is rest."
	b, err := json.Marshal([]map[string]string{{"id": "a", "text": hostile}})
	if err != nil {
		t.Fatal(err)
	}
	out, errs, status := command(t, db.URL("postgres"), string(b), asking(s), "analyze", "--user", db.NewUser(t).ID, "--type", "prospective_self", "--conversations", "-", "--dry-run")
	_, body, _ := strings.Cut(out, "\n")
	var sent struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal([]byte(body), &sent); status != 0 || err != nil || len(sent.Messages) != 2 {
		t.Fatalf("%v: %d %s%s", err, status, out, errs)
	}
	if strings.ContainsAny(out, "\u009b\u009d\u007f\u202e\u2066\U000e0041") || !strings.Contains(sent.Messages[1].Content, "\u009b2J\u009d0;x\u007f\u202e\u2066\U000e0041") {
		t.Errorf("%q", out)
	}
}

// TestAnalysisSurvivesKill: helixd is killed, or frozen until another one has taken
// over, at each step of an analysis; each row ends once, with the same patterns, and
// of requests that were answered none is made again.
func TestAnalysisSurvivesKill(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	s := llmtest.New(t)
	s.Answer(goals)
	slot := db.SlotName("analysis")
	run := func(failpoint string) *process {
		p := start(t, db.URL("postgres"), asking(s, "HELIX_FAILPOINT="+failpoint, "HELIX_LLM_DAILY_TOKENS=0", "HELIX_LLM_USER_DAILY_TOKENS=0"), "run", "--slot", slot)
		return p
	}
	exec1(t, admin, `create table ends (id uuid, status text);
		create function note_end() returns trigger language plpgsql security definer as $$ begin insert into public.ends values (new.id, new.status); return new; end $$;
		create trigger note_end after update on memory_synthesis_jobs for each row
			when (old.status in ('pending', 'processing') and new.status in ('done', 'failed')) execute function note_end()`)
	_, raw := talks(t, 200)
	order := func() uuid.UUID {
		user := db.NewUser(t).ID
		return get[uuid.UUID](t, admin, "insert into memory_synthesis_jobs (user_id, synthesis_type, conversations) values ($1, 'prospective_self', $2::jsonb) returning id", user, raw)
	}
	// What a kill costs: the one request whose answer was not kept.
	points := map[string]int{"analysis-claimed": 0, "analysis-answered": 1, "analysis-kept:2": 0, "analysis-found": 0, "analysis-written": 0}
	lost := 0
	for point, costs := range points {
		t.Log(point)
		if !strings.Contains(point, ":") {
			point += ":1"
		}
		p := run(point)
		order()
		p.wait(t)
		lost += costs
		next := run("")
		until(t, "the rows", func() bool {
			return get[bool](t, admin, "select not exists (select from memory_synthesis_jobs where status <> 'done')")
		})
		next.stop(t)
		frozen := run(point + ":stop")
		order()
		until(t, "helixd to be frozen", func() bool { return strings.Contains(frozen.log.String(), "failpoint: stopped") })
		lost += costs
		other := run("")
		until(t, "another one to go on", func() bool {
			return get[bool](t, admin, "select not exists (select from memory_synthesis_jobs where status <> 'done')")
		})
		frozen.signal(t, syscall.SIGCONT)
		frozen.stop(t)
		other.stop(t)
	}
	orders := 2 * len(points)
	if n := get[int](t, admin, "select count(*)::int from ends"); n != orders {
		t.Errorf("%d rows ended %d times", orders, n)
	}
	if n := get[int](t, admin, "select count(*)::int from memory_patterns where cardinality(evidence) = 200"); n != orders {
		t.Errorf("%d patterns of %d rows", n, orders)
	}
	if n := get[int](t, admin, "select count(*)::int from memory_patterns"); n != orders {
		t.Errorf("%d patterns of %d rows", n, orders)
	}
	once := get[int](t, admin, "select (analysis -> 'chunks' ->> 'planned')::int + 1 from memory_synthesis_jobs limit 1")
	if once < 3 || s.Count() > orders*once+lost {
		t.Errorf("%d requests for %d rows of %d each, and %d answers that were lost", s.Count(), orders, once, lost)
	}
	if get[bool](t, admin, "select exists (select from helix.analysis_work) or exists (select from helix.river_job where queue = 'analysis' and state not in ('completed', 'cancelled'))") {
		t.Error("work is left")
	}
	if wrong := get[string](t, admin, "select coalesce(string_agg(analysis::text, '; '), '') from memory_synthesis_jobs where (analysis ->> 'cached')::bool or input_tokens is null or input_tokens = 0"); wrong != "" {
		t.Errorf("%s", wrong)
	}
}

// TestAnalysisSettings: a setting that cannot be meant ends helixd at once, and a key
// never goes where it may not be meant to go.
func TestAnalysisSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		settings []string
		wants    []string
	}{
		"Provider":        {[]string{"HELIX_LLM=gpt"}, []string{"--llm", "auto, anthropic, openai or local"}},
		"TwoKeys":         {[]string{"ANTHROPIC_API_KEY=a", "HELIX_LLM_KEY=b"}, []string{"both set", "say anthropic, openai or local"}},
		"NoConcurrency":   {[]string{"HELIX_LLM_CONCURRENCY=0"}, []string{"--llm-concurrency", "from 1 to"}},
		"SmallChunks":     {[]string{"HELIX_LLM_CHUNK_TOKENS=10"}, []string{"--llm-chunk-tokens", "from 2000 to"}},
		"Timeout":         {[]string{"HELIX_LLM_TIMEOUT=10"}, []string{"--llm-timeout", "such as 10m"}},
		"URL":             {[]string{"HELIX_LLM_URL=localhost"}, []string{"--llm-url", "address"}},
		"URLWithPassword": {[]string{"HELIX_ANTHROPIC_URL=https://me:secret@example.com"}, []string{"--anthropic-url", "password"}},
		"Redact":          {[]string{"HELIX_REDACT=everything"}, []string{"--redact", "email"}},
		"HalfAPrice":      {[]string{"HELIX_LLM_PRICE=openai=1/2,anthropic=3"}, []string{"--llm-price", "anthropic=3", "of output, too"}},
		"PriceOfNobody":   {[]string{"HELIX_LLM_PRICE=antropic=3/15"}, []string{"antropic", "is no provider"}},
		"EmbeddingsPrice": {[]string{"HELIX_EMBEDDINGS_PRICE=cheap"}, []string{"--embeddings-price", "or 0.02 of embeddings"}},
		"Names":           {[]string{"HELIX_REDACT_NAMES=/nowhere/names"}, []string{"--redact-names", "no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "postgresql://h/d", append([]string{"ANTHROPIC_API_KEY=", "HELIX_LLM_KEY=", "HELIX_LLM_URL="}, c.settings...), "run")
			if status := p.wait(t); status != 2 {
				t.Errorf("exit status %d", status)
			}
			for _, want := range c.wants {
				if !strings.Contains(p.log.String(), want) {
					t.Errorf("%q is not in:\n%s", want, p.log)
				}
			}
			if strings.Contains(p.log.String(), "secret") {
				t.Error("a password is in the log")
			}
		})
	}
}

// TestSettingsTold: what would otherwise go unseen is in the log at the start: a key
// that is missing, a name that is misspelt, who is asked, and where others may listen.
func TestSettingsTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings    []string
		wants, none []string
	}{
		{[]string{"HELIX_LLM=anthropic", "ANTHROPIC_API_KEY=", "HELIX_LLM_DAILY_TOKEN=5", "HELIX_REDACT_NAME=x", "HELIX_TEST_LONG="},
			[]string{"ANTHROPIC_API_KEY is not set", `"HELIX_LLM_DAILY_TOKEN"`, `"HELIX_REDACT_NAME"`}, []string{"HELIX_TEST_LONG", `"HELIX_LLM"`}},
		{[]string{"ANTHROPIC_API_KEY=", "HELIX_LLM_URL=http://llm.example.com/v1", "HELIX_LLM_MODEL=m", "HELIX_LLM_KEY=canary-key"},
			[]string{`"address":"http://llm.example.com/v1"`, "use https"}, []string{"canary-key"}},
		{[]string{"ANTHROPIC_API_KEY=", "HELIX_LLM_URL=http://ollama:11434/v1", "HELIX_LLM_MODEL=m"},
			[]string{`"address":"http://ollama:11434/v1"`}, []string{"use https"}},
	} {
		p := start(t, "postgresql://h/d", c.settings, "run")
		p.wait(t)
		for _, want := range c.wants {
			if !strings.Contains(p.log.String(), want) {
				t.Errorf("%q is not in:\n%s", want, p.log)
			}
		}
		for _, not := range c.none {
			if strings.Contains(p.log.String(), not) {
				t.Errorf("%q is in:\n%s", not, p.log)
			}
		}
	}
}
