package embedding_test

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/embedding"
	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/usage"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	patience   = 2 * time.Minute
	dimensions = 1536
)

// bench is a project with helixd's stream and jobs in this process, and a provider.
type bench struct {
	reactortest.Project
	server *llmtest.Server
	url    string // "": the server's
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{Project: reactortest.NewProject(t), server: llmtest.New(t)}
}

// emptyBench is one of a project that helixd has not met.
func emptyBench(t testing.TB) *bench {
	t.Helper()
	return &bench{Project: reactortest.EmptyProject(t), server: llmtest.New(t)}
}

// process is a process's worth of jobs.
type process struct {
	config embedding.Config
	budget usage.Budget
	key    string // another one than the server accepts
	none   bool   // no provider is set
	// timeout is a request's; 0: one that no request needs.
	timeout time.Duration

	service *embedding.Service
}

// config is the default one with a delay for tests.
func config() embedding.Config {
	c := embedding.DefaultConfig
	c.Delay = 20 * time.Millisecond
	return c
}

// work lets jobs be done, until stop or the test's end.
func (b *bench) work(t testing.TB, p *process) (stop func()) {
	t.Helper()
	if p.config.Batch == 0 {
		p.config = config()
	}
	if p.key == "" {
		p.key = llmtest.Key
	}
	pool, log := b.DB.Pool(t, "postgres"), zerolog.New(zerolog.NewTestWriter(t))
	ledger := usage.NewLedger(pool, map[string]usage.Budget{"embedding": p.budget}, nil)
	var client embedding.Embedder
	if !p.none {
		e, err := llm.NewEmbedder(llm.Options{BaseURL: cmp.Or(b.url, b.server.URL), Key: p.key, Timeout: p.timeout})
		if err != nil {
			t.Fatal(err)
		}
		client = llm.NewEmbedClient(e, llm.ClientConfig{Concurrency: 4, Log: log})
	}
	p.service = embedding.NewService(p.config, pool, client, ledger, log)
	return reactortest.Work(t, pool, reactors.With(p.service))
}

// stream lets the reactor see what is there, and what is written from now on.
func (b *bench) stream(t testing.TB) {
	t.Helper()
	reactortest.Stream(t, b.DB, b.Pool, embedding.Reactor{Delay: config().Delay})
}

// refuse puts before the provider what answers 400 where a word is sent.
func (b *bench) refuse(t testing.TB, word string) {
	t.Helper()
	behind, err := url.Parse(b.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte(word)) {
			http.Error(w, `{"error": {"message": "no", "type": "invalid_request_error"}}`, http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	b.url = front.URL
}

// remember inserts a memory of a user's.
func (b *bench) remember(t testing.TB, user uuid.UUID, content string) uuid.UUID {
	t.Helper()
	return get[uuid.UUID](t, b.Admin, "insert into memories (user_id, content) values ($1, $2) returning id", user, content)
}

// embedded waits until a memory has the embedding of a text.
func (b *bench) embedded(t testing.TB, id uuid.UUID, text string) {
	t.Helper()
	b.until(t, "the embedding of "+text, `select coalesce(embedding <=> $2::float4[]::vector < 1e-6, false) and not embedding_stale
		and not exists (select from helix.embedding_work w where w.memory_id = m.id) from memories m where id = $1`, id, llmtest.Vector(text, dimensions))
}

// waits waits until the user's memories wait for a reason.
func (b *bench) waits(t testing.TB, user uuid.UUID, code string) {
	t.Helper()
	b.until(t, "the reason "+code, `select exists (select from helix.embedding_queues q where user_id = $1 and reason ->> 'code' = $2
		and reason ->> 'message' like '%.' and exists (select from helix.embedding_work w where w.user_id = q.user_id))`, user, code)
}

// again lets a user's wait be over.
func (b *bench) again(t testing.TB, user uuid.UUID) {
	t.Helper()
	b.Exec(t, "update helix.embedding_queues set retry_at = now() where user_id = $1", user)
	b.Exec(t, "update helix.embedding_work set retry_at = now() where user_id = $1 and retry_at < 'infinity'", user)
}

// sent is how often a text was sent.
func (b *bench) sent(text string) (n int) {
	for _, r := range b.server.Requests() {
		for _, t := range r.Texts {
			if t == text {
				n++
			}
		}
	}
	return n
}

func get[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

// until polls a condition.
func (b *bench) until(t testing.TB, what, sql string, args ...any) {
	t.Helper()
	testenv.Until(t, patience, what, func() bool { return get[bool](t, b.Admin, sql, args...) })
}
