package provider_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"github.com/helixd/helixd/reactors/voice/provider"
)

// hands is a Provider whose requests end when and how a test says.
type hands struct {
	provider.Provider
	begun chan *call
}

type call struct {
	outcome chan error
	probe   bool // it was let through after a pause, with no answer since
}

func (h *hands) Name() string { return "hands" }

func (h *hands) Transcribe(context.Context, provider.Request) (provider.Answer, error) {
	c := &call{outcome: make(chan error)}
	h.begun <- c
	return provider.Answer{}, <-c.outcome
}

// TestGateLaws: whatever requests come to, and in whatever order,
//   - none begins in a pause that somebody was told of;
//   - after a pause one is under way, until there is an answer of the provider;
//   - all are let through again once the provider works.
func TestGateLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock, h := newClock(), &hands{begun: make(chan *call)}
		jitter := rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "jitter")
		client := provider.NewClient(h, provider.ClientOptions{Concurrency: 100, Log: zerolog.Nop(), Now: clock.Now, Random: func() float64 { return jitter }})

		var under []*call
		returned := make(chan error)
		var until time.Time // of the pauses, at the least
		probing := false    // since a pause, no request has shown that the provider works
		failures := 0       // in a row

		// begin makes a request; nil: the gate refused it.
		begin := func(t *rapid.T) *call {
			at, _ := client.Ready()
			go func() {
				_, err := client.Transcribe(context.Background(), provider.Request{})
				returned <- err
			}()
			select {
			case c := <-h.begun:
				now := clock.Now()
				if !at.IsZero() {
					t.Fatalf("a request begins at %v, and Ready said %v", now, at)
				}
				if now.Before(until) {
					t.Fatalf("a request begins at %v, in the pause until %v", now, until)
				}
				c.probe = probing
				for _, other := range under {
					if probing && other.probe {
						t.Fatalf("a second probe begins at %v", now)
					}
				}
				under = append(under, c)
				return c
			case err := <-returned:
				e, ok := err.(*provider.Error)
				if !ok || e.Sent || !e.Retry || e.After <= 0 {
					t.Fatalf("a refusal %+v", err)
				}
				if at.IsZero() {
					t.Fatalf("Ready said now, and it is refused: %v", e)
				}
				return nil
			}
		}
		// end gives a request its outcome, and says whether it was the probe.
		end := func(i int, err error) bool {
			c := under[i]
			under = append(under[:i], under[i+1:]...)
			c.outcome <- err
			<-returned
			return c.probe
		}
		pause := func(length time.Duration) {
			if at := clock.Now().Add(length); at.After(until) {
				until = at
			}
			probing, failures = true, 0
		}
		actions := map[string]func(*rapid.T){
			"begin": func(t *rapid.T) { begin(t) },
			"advance": func(t *rapid.T) {
				clock.Advance(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
			},
			"end": func(t *rapid.T) {
				if len(under) == 0 {
					t.Skip("none is under way")
				}
				i := rapid.IntRange(0, len(under)-1).Draw(t, "which")
				after := time.Duration(rapid.SampledFrom([]int{0, 0, 1, 30, 3600}).Draw(t, "after")) * time.Second
				outcome := rapid.SampledFrom([]string{"answer", "refusal", "garbage", "cancelled", "pay", "limited", "down", "down", "down"}).Draw(t, "outcome")
				switch outcome {
				case "answer", "refusal":
					probe := end(i, map[string]error{"answer": nil, "refusal": &provider.Error{Code: provider.Rejected, Sent: true}}[outcome])
					if probe || !probing {
						probing, failures = clock.Now().Before(until), 0
					}
				case "garbage", "cancelled":
					end(i, map[string]error{"cancelled": context.Canceled, "garbage": &provider.Error{Code: provider.BadAnswer, Sent: true, Retry: true}}[outcome])
				case "pay":
					end(i, &provider.Error{Code: provider.PaymentRequired, Sent: true, Retry: true, After: after})
					pause(max(5*time.Minute, after))
				case "limited":
					end(i, &provider.Error{Code: provider.RateLimited, Sent: true, Retry: true, After: after})
					pause(max(time.Second, after))
				case "down":
					probe := end(i, &provider.Error{Code: provider.Unavailable, Sent: true, Retry: true, After: after})
					if !probing {
						failures++
					}
					if probe || failures == 5 {
						pause(max(5*time.Second, after))
					}
				}
			},
		}
		t.Repeat(actions)

		// The provider works again.
		for len(under) > 0 {
			end(0, nil)
		}
		clock.Advance(2 * time.Hour)
		if c := begin(t); c == nil {
			t.Fatal("no request is let through after two hours")
		}
		end(len(under)-1, nil)
		probing = false
		for i := range 10 {
			if begin(t) == nil {
				t.Fatal(fmt.Sprint("the provider answers, and request ", i, " is refused"))
			}
		}
		for len(under) > 0 {
			end(0, nil)
		}
		if healthy, reason := client.Health(); !healthy {
			t.Fatal(reason)
		}
	})
}
