package analysis_test

import (
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/llm/llmtest"
)

// TestCrowdOfOne: whoever orders thousands of analyses at once keeps nobody else
// waiting, and has them looked at as they are worked on, and no more often.
func TestCrowdOfOne(t *testing.T) {
	const crowd = 3000
	b, s := newBench(t), llmtest.New(t)
	hold := make(chan struct{})
	s.Answer(goals(t))
	s.Script(llmtest.Step{Hold: hold}, llmtest.Step{Hold: hold})
	user, other := b.User(t), b.User(t)
	b.stream(t)
	b.Exec(t, `insert into memory_synthesis_jobs (user_id, synthesis_type, conversations)
		select $1, 'prospective_self', '[{"id": "a", "text": "My goal is to run."}]' from generate_series(1, $2)`, user, crowd)
	b.until(t, "the jobs", "select count(*) = $1 from helix.river_job where queue = 'analysis'", crowd)
	b.work(t, config(), client(t, s, llmtest.OpenAI), nil)
	for _, text := range []string{"My goal is to walk.", "My goal is to swim."} {
		at := time.Now()
		b.done(t, b.order(t, other, "prospective_self", diary(text)))
		t.Logf("another user waits for %s", time.Since(at))
	}
	b.until(t, "the crowd to be parked", "select count(*) = 2 from helix.river_job where queue = 'analysis' and state in ('available', 'running', 'retryable')")
	if looks := get[int](t, b, "select sum(coalesce((metadata ->> 'snoozes')::int, 0))::int from helix.river_job where queue = 'analysis'"); looks > 100 {
		t.Errorf("the crowd was looked at %d times", looks)
	}
	// Who changes privacy settings does not bring all of them back.
	b.Exec(t, "insert into privacy_settings (user_id, redact_names) values ($1, '{Oberon}')", user)
	b.done(t, b.order(t, other, "prospective_self", diary("My goal is to rest."))) // it has been seen then
	if n := get[int](t, b, "select count(*)::int from helix.river_job where queue = 'analysis' and state = 'scheduled'"); n < crowd-50 {
		t.Errorf("%d still wait", n)
	}
	close(hold)
	b.until(t, "the crowd to go on", "select count(*) > 10 from memory_synthesis_jobs where user_id = $1 and status = 'done'", user)
}

// Two rows that end while a third finds as many worked on as may be: whom they wake is
// not parked again, and the last of the crowd comes as soon as the first.
func TestCrowdGoesOn(t *testing.T) {
	const crowd = 300
	b, s := newBench(t), llmtest.New(t)
	s.Answer(goals(t))
	user := b.User(t)
	b.stream(t)
	b.Exec(t, `insert into memory_synthesis_jobs (user_id, synthesis_type, conversations)
		select $1, 'prospective_self', '[{"id": "a", "text": "My goal is to run."}]' from generate_series(1, $2)`, user, crowd)
	b.until(t, "the jobs", "select count(*) = $1 from helix.river_job where queue = 'analysis'", crowd)
	b.work(t, config(), client(t, s, llmtest.OpenAI), nil)
	b.until(t, "all to be done", "select count(*) = $1 from memory_synthesis_jobs where status = 'done'", crowd)
}
