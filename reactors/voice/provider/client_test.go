package provider_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
)

// clock is one that stands still until it is told.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

// lines is a log that several may write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) levels() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for line := range strings.Lines(l.b.String()) {
		_, level, _ := strings.Cut(line, `"level":"`)
		level, _, _ = strings.Cut(level, `"`)
		all = append(all, level)
	}
	return all
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// bench is a Client of a Deepgram, with a clock that stands still and no jitter.
type bench struct {
	*provider.Client
	*clock
	log    *lines
	server *providertest.Server
}

func newBench(t *testing.T, o provider.ClientOptions) *bench {
	b := &bench{clock: newClock(), log: &lines{}, server: providertest.NewDeepgram(t)}
	o.Log, o.Now, o.Sleep, o.Random = zerolog.New(b.log), b.Now, b.clock.Sleep, func() float64 { return 0 }
	b.Client = provider.NewClient(provider.NewDeepgram(provider.Options{BaseURL: b.server.URL, Key: providertest.Key}), o)
	t.Cleanup(func() { noSecret(t, b.log.String()) })
	return b
}

// ask makes a request and says what it came to.
func (b *bench) ask(t *testing.T, steps ...providertest.Step) *provider.Error {
	t.Helper()
	b.server.Script(steps...)
	return b.askFor(t, "")
}

// askFor makes a request for an owner.
func (b *bench) askFor(t *testing.T, owner string) *provider.Error {
	t.Helper()
	r := request(wav(0.1, 1))
	r.Owner = owner
	a, err := b.Transcribe(within(t), r)
	if err == nil {
		if a.Transcript != providertest.Transcript(wav(0.1, 1)) {
			t.Errorf("the transcript is %q", a.Transcript)
		}
		return nil
	}
	return refusal(t, err)
}

// paused fails if a request is made in the next while.
func (b *bench) paused(t *testing.T, code provider.Code, length time.Duration) {
	t.Helper()
	at, why := b.Ready()
	if got := at.Sub(b.Now()); at.IsZero() || got != length || why.Code != code {
		t.Fatalf("it is ready in %v, because of %v; not in %v", got, why, length)
	}
	before := b.server.Count()
	b.Advance(length - 1)
	if e := b.ask(t); e == nil || e.Code != code || e.Sent || !e.Retry || e.After != 1 || b.server.Count() != before {
		t.Fatalf("in the pause: %+v", e)
	}
	b.Advance(1)
	if at, why := b.Ready(); !at.IsZero() || why != nil {
		t.Fatalf("after the pause it is ready at %v: %v", at, why)
	}
}

func (b *bench) healthy(t *testing.T, want bool) {
	t.Helper()
	healthy, reason := b.Health()
	noSecret(t, reason)
	if healthy != want || healthy != (reason == "") {
		t.Errorf("healthy: %v, %q", healthy, reason)
	}
}

func TestClient(t *testing.T) {
	t.Run("is a Provider like the one behind it", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		if b.Name() != "deepgram nova-3" || !b.TakesURL() || b.MostBytes() != 2_000_000_000 || b.MostDuration() != 0 {
			t.Error(b.Name())
		}
		if e := b.ask(t); e != nil {
			t.Error(e)
		}
		b.healthy(t, true)
	})
	t.Run("pauses after five failures in a row, longer each time, until an answer", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		down := providertest.Step{Status: 503}
		for range 4 {
			b.ask(t, down)
		}
		b.ask(t) // an answer: the row begins anew
		for range 4 {
			b.ask(t, down)
		}
		b.ask(t, providertest.Step{Status: 400}) // the provider works
		for range 4 {
			b.ask(t, down)
			b.ask(t, providertest.Step{Body: []byte("garbage")}) // which says nothing
			b.healthy(t, true)
		}
		b.ask(t, down)
		for _, length := range []int{5, 10, 20, 40, 80, 160, 300, 300} {
			b.healthy(t, false)
			b.paused(t, provider.Unavailable, time.Duration(length)*time.Second)
			if e := b.ask(t, down); !e.Sent {
				t.Fatalf("nothing was tried: %v", e)
			}
		}
		b.paused(t, provider.Unavailable, 300*time.Second)
		if e := b.ask(t); e != nil {
			t.Error(e)
		}
		b.healthy(t, true)
		for range 5 {
			b.ask(t, down)
		}
		b.paused(t, provider.Unavailable, 5*time.Second)
		if got := b.log.levels(); !slices.Equal(got, []string{"warn", "info", "warn"}) {
			t.Errorf("log: %s", b.log)
		}
	})
	t.Run("does not pause for what one owner sends, while others ask", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		b.askFor(t, "alice")
		fail := func(owner string) {
			t.Helper()
			b.server.Script(providertest.Step{Status: 500})
			if e := b.askFor(t, owner); e == nil || !e.Sent {
				t.Fatalf("of %s nothing was tried: %v", owner, e)
			}
		}
		for range 20 {
			fail("mallory")
		}
		b.healthy(t, true)
		if e := b.askFor(t, "alice"); e != nil {
			t.Error(e)
		}
		for range 5 {
			fail("mallory")
		}
		fail("alice") // another one's: it is the provider
		b.paused(t, provider.Unavailable, 5*time.Second)
		if e := b.askFor(t, "alice"); e != nil {
			t.Error(e)
		}
		b.Advance(11 * time.Minute) // nobody else has asked for long
		for range 5 {
			fail("mallory")
		}
		b.paused(t, provider.Unavailable, 5*time.Second)
	})
	t.Run("pauses for everybody where it must be paid, and says it once", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		if e := b.ask(t, providertest.Step{Status: 402}); e.Code != provider.PaymentRequired || !e.Sent {
			t.Error(e)
		}
		for _, minutes := range []int{5, 10, 20, 40, 60} {
			b.healthy(t, false)
			b.paused(t, provider.PaymentRequired, time.Duration(minutes)*time.Minute)
			b.ask(t, providertest.Step{Status: 402})
		}
		b.paused(t, provider.PaymentRequired, time.Hour)
		b.ask(t)
		b.healthy(t, true)
		b.ask(t, providertest.Step{Status: 402})
		if got := b.log.levels(); !slices.Equal(got, []string{"error", "info", "error"}) {
			t.Errorf("log: %s", b.log)
		}
	})
	t.Run("pauses for Retry-After, and without it longer each time", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		limited := func(after string) providertest.Step {
			s := providertest.Step{Status: 429}
			if after != "" {
				s.Header = http.Header{"Retry-After": {after}}
			}
			return s
		}
		b.ask(t, limited("37"))
		b.paused(t, provider.RateLimited, 37*time.Second)
		for _, seconds := range []int{2, 4, 8, 16, 32, 60, 60} {
			b.ask(t, limited(""))
			b.healthy(t, true)
			b.paused(t, provider.RateLimited, time.Duration(seconds)*time.Second)
		}
		b.ask(t)
		b.ask(t, limited(""))
		b.paused(t, provider.RateLimited, time.Second)
		if got := b.log.String(); got != "" {
			t.Errorf("log: %s", got)
		}
	})
	t.Run("is unhealthy without a key that is good, says it once, and goes on", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		for _, status := range []int{401, 403, 401} {
			if e := b.ask(t, providertest.Step{Status: status}); e.Code != provider.Unauthorized || !e.Sent {
				t.Error(e)
			}
			b.healthy(t, false)
		}
		b.ask(t)
		b.healthy(t, true)
		if got := b.log.levels(); !slices.Equal(got, []string{"error", "info"}) {
			t.Errorf("log: %s", b.log)
		}
	})
	t.Run("tells all users, and the log, nothing of what a provider says to one", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		for _, status := range []int{402, 404, 403, 401} {
			e := b.ask(t, providertest.Step{Status: status, Body: []byte(`{"err_msg":"the words of one user"}`)})
			if !strings.Contains(e.Message, "the words") {
				t.Errorf("the row says %s", e.Message)
			}
			if healthy, reason := b.Health(); healthy || strings.Contains(reason, "words") {
				t.Errorf("after %d all are told %q", status, reason)
			}
			b.Advance(time.Hour)
		}
		if strings.Contains(b.log.String(), "words") {
			t.Errorf("log: %s", b.log)
		}
	})
	t.Run("lets one request through after a pause, and all after an answer", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		b.ask(t, providertest.Step{Status: 402})
		b.Advance(5 * time.Minute)
		hold := make(chan struct{})
		b.server.Always(func(providertest.Request) providertest.Step { return providertest.Step{Hold: hold} })
		done := make(chan error)
		go func() {
			_, err := b.Transcribe(within(t), request(wav(0.1, 1)))
			done <- err
		}()
		if err := b.server.Await(within(t), 2); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if e := b.ask(t); e == nil || e.Sent || e.After != time.Second || e.Code != provider.PaymentRequired {
				t.Errorf("beside the probe: %+v", e)
			}
		}
		if at, why := b.Ready(); at.Sub(b.Now()) != time.Second || why.Code != provider.PaymentRequired {
			t.Errorf("ready at %v: %v", at, why)
		}
		close(hold)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if e := b.ask(t); e != nil {
			t.Error(e)
		}
		if n := b.server.Count(); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
	t.Run("lets another request through where the probe says nothing", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		b.ask(t, providertest.Step{Status: 402})
		b.Advance(5 * time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		b.server.Script(providertest.Step{Hold: make(chan struct{})})
		go func() {
			b.server.Await(within(t), 2) // the test ends below if not
			cancel()
		}()
		if _, err := b.Transcribe(ctx, request(wav(0.1, 1))); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		large := request(wav(0.1, 1))
		large.Size = 3e9
		if _, err := b.Transcribe(within(t), large); err == nil {
			t.Error("it is not too large")
		}
		b.healthy(t, false)
		if e := b.ask(t); e != nil {
			t.Error(e)
		}
	})
	t.Run("keeps to the longest pause that requests under way are told", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		holds := []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}
		done := make(chan error)
		for i, step := range []providertest.Step{{Status: 402}, {Status: 429, Header: http.Header{"Retry-After": {"900"}}}, {}} {
			step.Hold = holds[i]
			b.server.Script(step)
			go func() {
				_, err := b.Transcribe(within(t), request(wav(0.1, 1)))
				done <- err
			}()
			if err := b.server.Await(within(t), i+1); err != nil {
				t.Fatal(err)
			}
		}
		for _, hold := range holds {
			close(hold)
			<-done
		}
		b.paused(t, provider.RateLimited, 15*time.Minute)
	})
	t.Run("makes so many requests at a time", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{Concurrency: 2})
		hold := make(chan struct{})
		b.server.Always(func(providertest.Request) providertest.Step { return providertest.Step{Hold: hold} })
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { b.Transcribe(within(t), request(wav(0.1, 1))) })
		}
		if err := b.server.Await(within(t), 2); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan error)
		go func() {
			_, err := b.Transcribe(ctx, request(wav(0.1, 1)))
			waiting <- err
		}()
		cancel()
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if n := b.server.Count(); n != 2 {
			t.Errorf("%d requests", n)
		}
		all.Go(func() { b.Transcribe(within(t), request(wav(0.1, 1))) })
		close(hold)
		all.Wait()
		if n := b.server.Count(); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
	t.Run("goes on after a panic", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{Concurrency: 1})
		b.ask(t, providertest.Step{Status: 402})
		b.Advance(5 * time.Minute)
		func() {
			defer func() { recover() }()
			b.Transcribe(within(t), provider.Request{Size: 1}) // which has no Open
			t.Error("it does not panic")
		}()
		if e := b.ask(t); e != nil {
			t.Error(e)
		}
	})
}

func TestPersist(t *testing.T) {
	down := providertest.Step{Status: 503}
	persist := func(t *testing.T, b *bench, tries int) error {
		t.Helper()
		_, err := b.Persist(within(t), request(wav(0.1, 1)), tries)
		return err
	}
	t.Run("asks again until there is an answer", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		b.server.Script(down, providertest.Step{Body: []byte("garbage")}, providertest.Step{Status: 429, Header: http.Header{"Retry-After": {"3"}}}, providertest.Step{Drop: providertest.AfterBody})
		if err := persist(t, b, 8); err != nil {
			t.Error(err)
		}
		// The last is the second pause without an answer in between.
		if want := []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, 3 * time.Second, 10 * time.Second}; !slices.Equal(b.slept, want) || b.server.Count() != 5 {
			t.Errorf("it slept %v", b.slept)
		}
		for _, r := range b.server.Requests() {
			if r.Key != "key-1" {
				t.Errorf("a repetition has the key %q", r.Key)
			}
		}
	})
	t.Run("waits for the end of a pause", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		b.server.Script(down, down, down, down, down, down)
		if err := persist(t, b, 7); err != nil {
			t.Error(err)
		}
		if b.slept[4] < 5*time.Second || b.slept[5] < 10*time.Second {
			t.Errorf("it slept %v", b.slept)
		}
	})
	for name, step := range map[string]providertest.Step{
		"what will never work": {Status: 400}, "a wrong key": {Status: 401}, "an empty account": {Status: 402}, "what takes an hour": {Status: 429, Header: http.Header{"Retry-After": {"3600"}}},
	} {
		t.Run("gives up on "+name, func(t *testing.T) {
			b := newBench(t, provider.ClientOptions{})
			b.server.Script(step)
			if err := persist(t, b, 8); err == nil || b.server.Count() != 1 || len(b.slept) > 0 {
				t.Errorf("%v after %d requests", err, b.server.Count())
			}
		})
	}
	t.Run("waits by the machine's clock", func(t *testing.T) {
		s := providertest.NewOpenAI(t)
		c := provider.NewClient(provider.NewOpenAI(provider.Options{BaseURL: s.URL, Key: providertest.Key}), provider.ClientOptions{Log: zerolog.Nop()})
		s.Script(down)
		if _, err := c.Persist(within(t), request(wav(0.1, 1)), 2); err != nil || s.Count() != 2 || c.TakesURL() || c.MostDuration() != 0 {
			t.Errorf("%v after %d requests", err, s.Count())
		}
		s.Script(providertest.Step{Status: 429, Header: http.Header{"Retry-After": {"60"}}})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			s.Await(within(t), 3) // the test ends below if not
			cancel()
		}()
		if _, err := c.Persist(ctx, request(wav(0.1, 1)), 2); !errors.Is(err, context.Canceled) || s.Count() != 3 {
			t.Errorf("%v after %d requests", err, s.Count())
		}
	})
	t.Run("gives up after so many tries, and with its context", func(t *testing.T) {
		b := newBench(t, provider.ClientOptions{})
		b.server.Script(down, down, down)
		if err := persist(t, b, 2); refusal(t, err).Code != provider.Unavailable || b.server.Count() != 2 {
			t.Errorf("%v after %d requests", err, b.server.Count())
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := b.Persist(ctx, request(wav(0.1, 1)), 2); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// TestSecondAnswerIsNobodyElses: a server, or a proxy, that answers each request
// twice.
func TestSecondAnswerIsNobodyElses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	serve := func(conn net.Conn) {
		defer conn.Close()
		for r := bufio.NewReader(conn); ; {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			body := fmt.Sprintf(`{"text": %q}`, req.Header.Get("Idempotency-Key"))
			answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			_, _ = io.WriteString(conn, answer+answer)
		}
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	p := provider.NewOpenAI(provider.Options{BaseURL: "http://" + listener.Addr().String(), Key: providertest.Key})
	var users sync.WaitGroup
	for user := range 16 {
		users.Go(func() {
			for i := range 100 {
				r := request(wav(0.1, 1))
				r.Key = fmt.Sprintf("%d-%d", user, i)
				if a, err := p.Transcribe(t.Context(), r); err != nil || a.Transcript != r.Key {
					t.Errorf("%s was answered with %q, %v", r.Key, a.Transcript, err)
				}
			}
		})
	}
	users.Wait()
}
