package embedding_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/embedding"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/usage"
)

// TestFailures: whatever a provider does, memories wait, say why, and go on.
func TestFailures(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	for _, test := range []struct {
		name, code string
		steps      []llmtest.Step // of requests in a row
	}{
		{"402", "provider_payment_required", []llmtest.Step{{Status: http.StatusPaymentRequired}}},
		{"401", "provider_unauthorized", []llmtest.Step{{Status: http.StatusUnauthorized}}},
		{"404", "provider_not_found", []llmtest.Step{{Status: http.StatusNotFound}}},
		{"429", "provider_rate_limited", []llmtest.Step{{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"30"}}}}},
		{"500", "provider_unavailable", []llmtest.Step{{Status: 500}, {Status: 500}, {Status: 500}}},
		{"Hang", "provider_unavailable", []llmtest.Step{{Hang: true}, {Hang: true}, {Hang: true}}},
		{"Malformed", "provider_answer_invalid", []llmtest.Step{{Body: []byte("{")}, {Body: []byte("{")}, {Body: []byte("{")}}},
		{"TooFew", "provider_answer_invalid", []llmtest.Step{few, few, few}},
		{"NaN", "provider_answer_invalid", []llmtest.Step{nan, nan, nan}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.server.Script(test.steps...)
			p := &process{}
			if test.steps[0].Hang {
				p.timeout = time.Second
			}
			stop := b.work(t, p)
			user := b.User(t)
			// Of one transaction, so that they are in one request.
			ids := get[[]uuid.UUID](t, b.Admin, `with m as (insert into memories (user_id, content) values ($1, $2), ($1, $2 || ' two') returning id, content)
				select array_agg(id order by content) from m`, user, test.name)
			b.waits(t, user, test.code)
			if got := get[int](t, b.Admin, "select count(*)::int from memories where user_id = $1 and embedding is not null", user); got != 0 {
				t.Errorf("%d have an embedding", got)
			}
			if said := get[string](t, b.Admin, "select reason ->> 'message' from helix.embedding_queues where user_id = $1", user); strings.Contains(said, llmtest.Key) {
				t.Errorf("it says the key: %s", said)
			}
			// Another process has not been told to wait.
			stop()
			b.again(t, user)
			b.work(t, &process{})
			for i, id := range ids {
				b.embedded(t, id, []string{test.name, test.name + " two"}[i])
			}
			if !get[bool](t, b.Admin, "select tries = 0 and reason is null and retry_at is null from helix.embedding_queues where user_id = $1", user) {
				t.Error("the queue still says why")
			}
		})
	}
}

var (
	few = llmtest.Step{Answer: [][]float32{make([]float32, dimensions)}}
	nan = llmtest.Step{Body: []byte(fmt.Sprintf(`{"data": [{"index": 0, "embedding": [%s1e999]}, {"index": 1, "embedding": [%[1]s1]}]}`, strings.Repeat("0.5, ", dimensions-1)))}
)

// TestNotConfigured: without a provider memories wait, and helix_status says so.
func TestNotConfigured(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	p := &process{none: true}
	stop := b.work(t, p)
	user := b.User(t)
	id := b.remember(t, user, "patient")
	b.waits(t, user, embedding.CodeNotConfigured)
	reactor, details := p.service.Details()
	if reactor != "embedding" || details["healthy"] != false || !strings.Contains(fmt.Sprint(details["reason"]), "EMBEDDINGS_API_KEY") {
		t.Errorf("details: %v", details)
	}
	stop()
	b.work(t, &process{})
	b.embedded(t, id, "patient")
}

// TestDimensions: a model that does not fit the column stops everything, and loses
// nothing.
func TestDimensions(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.server.Answer(func(r llmtest.Request) any { return [][]float32{llmtest.Vector(r.Texts[0], 1024)} })
	p := &process{}
	stop := b.work(t, p)
	one, two := b.User(t), b.User(t)
	first := b.remember(t, one, "does not fit")
	b.waits(t, one, embedding.CodeDimensions)
	second := b.remember(t, two, "is not asked")
	b.waits(t, two, embedding.CodeDimensions)
	_, details := p.service.Details()
	reason := fmt.Sprint(details["reason"])
	if details["healthy"] != false || !strings.Contains(reason, "1024") || !strings.Contains(reason, "1536") || !strings.Contains(reason, "EMBEDDINGS_MODEL") {
		t.Errorf("details: %v", details)
	}
	if n := b.server.Count(); n != 1 {
		t.Errorf("%d requests", n)
	}
	stop()
	b.server.Answer(nil)
	b.work(t, &process{})
	b.embedded(t, first, "does not fit")
	b.embedded(t, second, "is not asked")
}

// TestPoison: a text that the provider refuses keeps no other from it, is tried a
// few times, and anew when it changes.
func TestPoison(t *testing.T) {
	b := newBench(t)
	b.refuse(t, "poison")
	user := b.User(t)
	b.Exec(t, "insert into memories (user_id, content) select $1, 'good ' || n from generate_series(1, 60) n", user)
	bad := b.remember(t, user, "poison")
	b.Exec(t, "insert into memories (user_id, content) select $1, 'also good ' || n from generate_series(1, 60) n", user)
	b.stream(t)
	b.work(t, &process{})
	b.until(t, "the good ones", "select count(*) = 120 from memories where content like '%good%' and embedding is not null")
	b.until(t, "the reason", "select exists (select from helix.embedding_work where memory_id = $1 and tries = 1 and reason ->> 'code' = 'provider_rejected' and retry_at > now() + interval '20 minutes')", bad)
	for tries := 2; tries <= 3; tries++ {
		b.again(t, user) // the next insert finds it
		b.remember(t, user, fmt.Sprintf("another good one %d", tries))
		b.until(t, "another try", "select tries = $2 from helix.embedding_work where memory_id = $1", bad, tries)
	}
	if !get[bool](t, b.Admin, "select retry_at = 'infinity' from helix.embedding_work where memory_id = $1", bad) {
		t.Error("it is tried for ever")
	}
	b.Exec(t, "update memories set content = 'wholesome' where id = $1", bad)
	b.embedded(t, bad, "wholesome")
}

func TestOptOut(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	p := &process{}
	b.work(t, p)
	user := b.User(t)
	app := b.DB.AsUser(t, user.String())
	if _, err := app.Exec(t.Context(), "insert into privacy_settings (opt_out) values ('{memories.content}')"); err != nil {
		t.Fatal(err)
	}
	id := b.remember(t, user, "private")
	b.waits(t, user, embedding.CodeOptedOut)
	if n := b.server.Count(); n != 0 {
		t.Errorf("%d requests", n)
	}
	if _, details := p.service.Details(); details["healthy"] != true {
		t.Errorf("details: %v", details)
	}
	if _, err := app.Exec(t.Context(), "update privacy_settings set opt_out = '{}'"); err != nil {
		t.Fatal(err)
	}
	b.embedded(t, id, "private")
}

func TestBudget(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	stop := b.work(t, &process{budget: usage.Budget{UserRequests: 2, Setting: "HELIX_EMBEDDINGS"}}) // it stops at 90%
	user, other := b.User(t), b.User(t)
	b.embedded(t, b.remember(t, user, "one"), "one")
	last := b.remember(t, user, "two")
	b.waits(t, user, embedding.CodeBudget)
	if said := get[string](t, b.Admin, "select reason ->> 'message' from helix.embedding_queues where user_id = $1", user); !strings.Contains(said, "HELIX_EMBEDDINGS_USER_DAILY_REQUESTS") {
		t.Errorf("it says %q", said)
	}
	b.embedded(t, b.remember(t, other, "another's"), "another's")
	if !get[bool](t, b.Admin, "select retry_at = date_trunc('day', now(), 'utc') + interval '1 day' from helix.embedding_queues where user_id = $1", user) {
		t.Error("it does not wait for the next day")
	}
	stop()
	b.work(t, &process{}) // an operator has raised it
	b.embedded(t, last, "two")
}

// TestRate: no more texts are sent than an operator permits, by however many processes.
func TestRate(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	c := config()
	c.Rate = 4
	b.work(t, &process{config: c})
	b.work(t, &process{config: c})
	one, two := b.User(t), b.User(t)
	b.Exec(t, "insert into memories (user_id, content) select u, 'text ' || n from unnest($1::uuid[]) u, generate_series(1, 10) n", []uuid.UUID{one, two})
	b.until(t, "both to wait", "select count(*) = 2 from helix.embedding_queues where reason ->> 'code' = $1", embedding.CodeRate)
	texts := 0
	for _, r := range b.server.Requests() {
		texts += len(r.Texts)
	}
	if texts < 1 || texts > 4 {
		t.Errorf("%d texts were sent", texts)
	}
	free := get[float64](t, b.Admin, "select extract(epoch from free_at - now())::float8 from helix.embedding_pace")
	if want := float64(texts) * 15; math.Abs(free-want) > 14 {
		t.Errorf("the next ones may be sent in %.0f s, want some %.0f", free, want)
	}
}
