package llm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/outbound"
)

// bench is a Client whose time passes only when it waits.
type bench struct {
	*llm.Client
	server *llmtest.Server
	log    *syncBuffer

	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

type syncBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *bench) config() llm.ClientConfig {
	b.log, b.now = &syncBuffer{}, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return llm.ClientConfig{Log: zerolog.New(b.log), Random: func() float64 { return 0 },
		Now: func() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.now },
		Sleep: func(_ context.Context, d time.Duration) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.now = b.now.Add(d)
			b.slept = append(b.slept, d)
			return nil
		}}
}

func newBench(t *testing.T, change func(*llm.ClientConfig)) *bench {
	t.Helper()
	b := &bench{server: llmtest.New(t)}
	c := b.config()
	if change != nil {
		change(&c)
	}
	b.Client = llm.NewClient(model(t, providers[0], b.server, llm.Options{}), c)
	t.Cleanup(func() { noSecret(t, b.log.String()) })
	return b
}

// ask is a question that is answered by so many requests; nil: with an answer.
func (b *bench) ask(t *testing.T, requests int, steps ...llmtest.Step) *outbound.Error {
	t.Helper()
	return b.askFor(t, "owner-1", requests, steps...)
}

func (b *bench) askFor(t *testing.T, owner string, requests int, steps ...llmtest.Step) *outbound.Error {
	t.Helper()
	before := b.server.Count()
	b.server.Script(steps...)
	q := question()
	q.Owner = owner
	a, err := b.Complete(within(t), q)
	if got := b.server.Count() - before; got != requests {
		t.Fatalf("%d requests, and not %d: %v", got, requests, err)
	}
	if err == nil {
		if a.JSON == nil {
			t.Fatal("there is no answer")
		}
		return nil
	}
	return failure(t, err)
}

func (b *bench) paused(t *testing.T, code outbound.Code, wait time.Duration) {
	t.Helper()
	why := b.Trouble()
	if why == nil || why.Code != code || b.Ready() != b.now.Add(wait) {
		t.Fatalf("%v until %v, now it is %v", why, b.Ready(), b.now)
	}
	if e := b.ask(t, 0); e.Code != code || e.Sent || !e.Retry || e.After != wait {
		t.Fatalf("%+v", e)
	}
	b.now = b.now.Add(wait)
}

func (b *bench) open(t *testing.T) {
	t.Helper()
	if why := b.Trouble(); why != nil || !b.Ready().IsZero() {
		t.Fatalf("%v until %v", why, b.Ready())
	}
}

func TestClient(t *testing.T) {
	down, garbage := llmtest.Step{Status: 500}, llmtest.Step{Answer: "prose"}
	t.Run("asks again where that helps at once, and tells what all of it cost", func(t *testing.T) {
		b := newBench(t, nil)
		b.server.Script(down, llmtest.Step{Answer: `{"a":`})
		a, err := b.Complete(within(t), question())
		if err != nil || !reflect.DeepEqual(b.slept, []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}) {
			t.Fatal(b.slept, err)
		}
		all := b.server.Requests()
		if len(all) != 3 || all[0].Key != "key-1" || all[1].Key != "key-1" || all[2].Key != "key-1" {
			t.Errorf("%d requests", len(all))
		}
		if a.Tokens.Input != 2*int64(llmtest.Count(all[0].System+all[0].Prompt)) {
			t.Errorf("%+v", a.Tokens)
		}
		b.open(t)
		if e := b.ask(t, 3, down, garbage, down); e.Code != outbound.Unavailable {
			t.Error(e)
		}
		if b.log.Len() > 0 {
			t.Error(b.log)
		}
	})
	t.Run("does not ask again where that does not help", func(t *testing.T) {
		b := newBench(t, nil)
		for _, step := range []llmtest.Step{{Refuse: true}, {Long: true}, {Status: 400}, {Status: 403}, {Status: 413}} {
			if e := b.ask(t, 1, step); e.Retry {
				t.Error(e)
			}
			b.open(t)
		}
		if said := b.log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, `"status":403`) || !strings.Contains(said, "does not permit a request; others are still made") {
			t.Error(b.log)
		}
	})
	t.Run("pauses where nobody gets an answer before something is mended", func(t *testing.T) {
		for code, step := range map[outbound.Code]llmtest.Step{outbound.Unauthorized: {Status: 401}, outbound.NotFound: {Status: 404}, outbound.PaymentRequired: {Status: 402}} {
			b := newBench(t, nil)
			first := time.Minute
			if code == outbound.PaymentRequired {
				first = 5 * time.Minute
			}
			b.ask(t, 1, step)
			b.paused(t, code, first)
			b.ask(t, 1, step)
			b.paused(t, code, 2*first)
			if e := b.ask(t, 1); e != nil {
				t.Error(e)
			}
			b.open(t)
			if lines := strings.Split(b.log.String(), "\n"); len(lines) != 3 || !strings.Contains(lines[0], string(code)) || !strings.Contains(lines[1], "again") {
				t.Error(b.log)
			}
		}
	})
	t.Run("waits as long as Retry-After says, and leaves longer to the database", func(t *testing.T) {
		b := newBench(t, nil)
		limited := func(after string) llmtest.Step {
			return llmtest.Step{Status: 429, Header: http.Header{"Retry-After": {after}}}
		}
		if e := b.ask(t, 2, limited("7")); e != nil || !reflect.DeepEqual(b.slept, []time.Duration{7 * time.Second}) {
			t.Error(e, b.slept)
		}
		if e := b.ask(t, 1, limited("60")); e.After != time.Minute || e.Code != outbound.RateLimited {
			t.Error(e)
		}
		b.paused(t, outbound.RateLimited, time.Minute)
		if e := b.ask(t, 2, llmtest.Step{Status: 529, Header: http.Header{"Retry-After": {"9"}}}); e != nil {
			t.Error(e)
		}
	})
	t.Run("pauses after five failures in a row, and tells others nothing of what one sent", func(t *testing.T) {
		b := newBench(t, nil)
		echo := llmtest.Step{Status: 500, Body: []byte(`{"error":{"message":"I cannot do ` + prompt[:8] + `"}}`)}
		if e := b.ask(t, 3, echo, echo, echo); !strings.Contains(e.Message, prompt[:8]) {
			t.Error(e)
		}
		if e := b.ask(t, 3, echo, echo, echo); e.Code != outbound.Unavailable { // the fifth pauses for 5 s, the sixth is the probe
			t.Error(e)
		}
		if b.Trouble() == nil || b.Ready() != b.now.Add(10*time.Second) {
			t.Fatal(b.Trouble(), b.Ready())
		}
		if strings.Contains(b.Trouble().Message, prompt[:8]) || strings.Contains(b.log.String(), prompt[:8]) {
			t.Errorf("%v, %s", b.Trouble(), b.log)
		}
		if e := b.ask(t, 1); e != nil {
			t.Error(e)
		}
		b.open(t)
	})
	t.Run("does not pause for what one owner sends, while others ask", func(t *testing.T) {
		b := newBench(t, nil)
		b.askFor(t, "alice", 1)
		for range 5 {
			b.askFor(t, "mallory", 3, down, down, down)
		}
		b.open(t)
		if e := b.askFor(t, "alice", 1); e != nil {
			t.Error(e)
		}
	})
	t.Run("gives up where its context would end", func(t *testing.T) {
		b := newBench(t, func(c *llm.ClientConfig) { c.Now = time.Now })
		b.server.Script(llmtest.Step{Status: 429, Header: http.Header{"Retry-After": {"8"}}})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := b.Complete(ctx, question())
		if e := failure(t, err); e.Code != outbound.RateLimited || len(b.slept) > 0 {
			t.Error(e, b.slept)
		}
		cancel()
		if _, err := b.Complete(ctx, question()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Run("makes so many requests at a time", func(t *testing.T) {
		b := newBench(t, func(c *llm.ClientConfig) { c.Concurrency = 2 })
		hold := make(chan struct{})
		for range 6 {
			b.server.Script(llmtest.Step{Hold: hold})
		}
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if _, err := b.Complete(within(t), question()); err != nil {
					t.Error(err)
				}
			})
		}
		if err := b.server.Await(within(t), 2); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if err := b.server.Await(ctx, 3); err == nil {
			t.Error("a third request came")
		}
		close(hold)
		all.Wait()
		if b.server.Count() != 6 {
			t.Error(b.server.Count())
		}
	})
	t.Run("goes on after a panic", func(t *testing.T) {
		b := newBench(t, nil)
		b.ask(t, 1, llmtest.Step{Status: 401})
		b.now = b.now.Add(time.Minute)
		c := llm.NewClient(panics{b.Model}, llm.ClientConfig{Concurrency: 1})
		for range 2 {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("there was none")
					}
				}()
				c.Complete(within(t), question()) // panics
			}()
		}
	})
}

type panics struct{ llm.Model }

func (panics) Complete(context.Context, llm.Request) (llm.Answer, error) { panic("a bug") }

func TestEmbedClient(t *testing.T) {
	b := &bench{server: llmtest.New(t)}
	c := llm.NewEmbedClient(embedder(t, b.server), b.config())
	b.server.Without("dimensions")
	q := texts()
	q.Dimensions = 1536
	b.server.Script(llmtest.Step{}, llmtest.Step{Status: 500}, llmtest.Step{Body: []byte("{}")})
	a, err := c.Embed(within(t), q)
	if err != nil || len(a.Vectors) != 3 || b.server.Count() != 4 || a.Tokens.Input == 0 { // one more, without dimensions
		t.Fatal(err, b.server.Count())
	}
	b.server.Script(llmtest.Step{Status: 401})
	_, err = c.Embed(within(t), q)
	if e := failure(t, err); e.Code != outbound.Unauthorized || c.Trouble() == nil || c.Ready() != b.now.Add(time.Minute) {
		t.Errorf("%+v", e)
	}
	_, err = c.Embed(within(t), q)
	if e := failure(t, err); e.Sent || b.server.Count() != 5 {
		t.Errorf("%+v", e)
	}
	noSecret(t, b.log.String())
}

// TestLesserServers: one that refuses all it may is asked without it, and answers.
func TestLesserServers(t *testing.T) {
	for _, without := range [][]string{{"store"}, {"safety_identifier"}, {"user"}, {"stream"}, {"stream_options"}, {"response_format"}, {"max_completion_tokens"},
		{"store", "safety_identifier", "user", "stream", "stream_options", "response_format", "max_completion_tokens"}} {
		t.Run(strings.Join(without, " "), func(t *testing.T) {
			b := &bench{server: llmtest.New(t)}
			b.server.Without(without...)
			b.server.Answer(func(llmtest.Request) any { return map[string]any{"patterns": []any{}, "count": 0} })
			b.Client = llm.NewClient(model(t, providers[2], b.server, llm.Options{}), b.config())
			if _, err := b.Complete(within(t), question()); err != nil {
				t.Fatal(err)
			}
			learned := b.server.Count()
			if learned > len(without)+1 || len(b.slept) > 0 {
				t.Errorf("%d requests, %v", learned, b.slept)
			}
			if e := b.ask(t, 1); e != nil { // it remembers
				t.Error(e)
			}
			r := b.server.Last()
			if r.Problem != "" || r.MaxTokens != 1000 || r.User == "" && len(without) == 1 || r.Schema == nil && !strings.Contains(r.System, `"patterns"`) {
				t.Errorf("%+v", r)
			}
			if rendered, err := b.Render(within(t), question()); err != nil || !bytes.Equal(rendered.Body, r.Body) {
				t.Error("Render gives something else")
			}
			if !strings.Contains(b.log.String(), without[0]) {
				t.Errorf("the log does not say it: %s", b.log)
			}
		})
	}
	t.Run("a refusal of something else changes nothing", func(t *testing.T) {
		b := &bench{server: llmtest.New(t)}
		b.Client = llm.NewClient(model(t, providers[2], b.server, llm.Options{}), b.config())
		for _, says := range []string{"messages must alternate between user and assistant", "the store is closed", "stream of consciousness"} {
			if e := b.ask(t, 1, llmtest.Step{Status: 400, Body: fmt.Appendf(nil, `{"error":{"message":%q,"param":null}}`, says)}); e.Code != outbound.Rejected {
				t.Errorf("%q: %+v", says, e)
			}
		}
	})
	t.Run("an Anthropic that answers prose is asked with a tool", func(t *testing.T) {
		b := newBench(t, nil)
		if e := b.ask(t, 2, llmtest.Step{Answer: "I found two patterns."}); e != nil || !b.server.Last().Tool {
			t.Error(e)
		}
	})
}
