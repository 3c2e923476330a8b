package embedding_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/embedding"
	"github.com/helixd/helixd/reactors/llm/llmtest"
)

// answer puts before the provider what answers as it likes where a word is sent.
func (b *bench) answer(t testing.TB, word string, status int, said string) {
	t.Helper()
	behind, err := url.Parse(b.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(behind)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || bytes.Contains(body, []byte(word)) {
			w.WriteHeader(status)
			io.WriteString(w, said) //nolint:errcheck // the client sees it
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	b.url = front.URL
}

// TestDueOnlyWithAJob: who is noted as having a job that has not begun has one; the
// next change would else wait for the sweep.
func TestDueOnlyWithAJob(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.work(t, &process{})
	user := b.User(t)
	hold := make(chan struct{})
	b.server.Script(llmtest.Step{Hold: hold})
	first := b.remember(t, user, "first")
	if err := b.server.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	second := b.remember(t, user, "second")
	b.until(t, "its work", "select exists (select from helix.embedding_work where memory_id = $1)", second)
	close(hold)
	b.embedded(t, first, "first")
	b.embedded(t, second, "second")
	b.until(t, "no job", "select not exists (select from helix.river_job where queue = 'embedding' and finalized_at is null)")
	if get[bool](t, b.Admin, "select due from helix.embedding_queues where user_id = $1", user) {
		t.Error("a job is due, and there is none")
	}
}

// TestMovedToAnotherUser: an app gives a guest's memories to the account that the
// guest makes; whoever's it is then gets its embedding.
func TestMovedToAnotherUser(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	guest, user := b.User(t), b.User(t)
	moved, changed := b.remember(t, guest, "moved"), b.remember(t, guest, "changed")
	b.until(t, "the work", "select count(*) = 2 from helix.embedding_work where user_id = $1", guest)
	b.Exec(t, "update memories set content = 'changed once' where id = $1", changed)
	b.Exec(t, "update memories set user_id = $2 where user_id = $1", guest, user)
	b.until(t, "the change", "select count(*) > 0 from helix.embedding_queues where user_id = $1", user)
	b.work(t, &process{})
	b.embedded(t, moved, "moved")
	b.embedded(t, changed, "changed once")
	b.until(t, "no job", "select not exists (select from helix.river_job where queue = 'embedding' and finalized_at is null)")
}

// TestPoisonAlone: a text that is refused keeps no other from it where the provider
// has failed before, and no other user's show that it works.
func TestPoisonAlone(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusForbidden} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			b := newBench(t)
			b.answer(t, "poison", status, `{"error": {"message": "no", "type": "invalid_request_error"}}`)
			b.stream(t)
			user := b.User(t)
			b.Exec(t, "insert into memories (user_id, content, created_at) select $1, 'good ' || n, now() - interval '1 day' from generate_series(1, 30) n", user)
			b.Exec(t, "insert into memories (user_id, content) select $1, 'poison ' || n from generate_series(1, 3) n", user)
			b.until(t, "the work", "select count(*) = 33 from helix.embedding_work")
			b.Exec(t, "update helix.embedding_queues set tries = 7")
			b.work(t, &process{})
			b.until(t, "the good ones", "select count(*) = 30 from memories where content like 'good%' and embedding is not null")
		})
	}
}

// TestNoVectorForOne: a server that has no vector for one text has others for the rest.
func TestNoVectorForOne(t *testing.T) {
	b := newBench(t)
	b.answer(t, "odd", http.StatusOK, `{"data": [{"index": 0, "embedding": []}], "usage": {"prompt_tokens": 1, "total_tokens": 1}}`)
	b.stream(t)
	p := &process{}
	b.work(t, p)
	odd, user := b.User(t), b.User(t)
	bad := b.remember(t, odd, "odd")
	b.until(t, "the reason", "select exists (select from helix.embedding_work where memory_id = $1 and reason ->> 'code' = 'provider_answer_invalid')", bad)
	b.embedded(t, b.remember(t, user, "plain"), "plain")
	if _, details := p.service.Details(); details["healthy"] != true {
		t.Errorf("details: %v", details)
	}
}

// TestLockedMemory: an app that holds a memory's row has one embedding bought again,
// and not all of the request's.
func TestLockedMemory(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	user := b.User(t)
	b.Exec(t, "insert into memories (user_id, content) select $1, 'free ' || n from generate_series(1, 20) n", user)
	held := b.remember(t, user, "held")
	b.until(t, "the work", "select count(*) = 21 from helix.embedding_work")
	app := b.DB.Connect(t, "postgres")
	tx, err := app.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context()) //nolint:errcheck // it is read only
	if _, err := tx.Exec(t.Context(), "select from memories where id = $1 for update", held); err != nil {
		t.Fatal(err)
	}
	b.work(t, &process{})
	b.until(t, "the others", "select count(*) = 20 from memories where embedding is not null")
	b.until(t, "no job", "select not exists (select from helix.river_job where queue = 'embedding' and finalized_at is null)")
	for _, text := range []string{"free 1", "free 20", "held"} {
		if n := b.sent(text); n != 1 {
			t.Errorf("%s was sent %d times", text, n)
		}
	}
	if n := get[int](t, b.Admin, "select count(*)::int from helix.usage_holds"); n != 0 {
		t.Errorf("%d holds are left", n)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.again(t, user)
	b.embedded(t, b.remember(t, user, "later"), "later")
	b.embedded(t, held, "held")
}

// TestEachTryIsCounted: requests that come to nothing are requests.
func TestEachTryIsCounted(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	b.server.Script(llmtest.Step{Status: 500}, llmtest.Step{Status: 500})
	b.work(t, &process{})
	user := b.User(t)
	b.embedded(t, b.remember(t, user, "third time lucky"), "third time lucky")
	if got, want := get[int64](t, b.Admin, "select sum(requests)::bigint from helix.usage where user_id = $1", user), int64(b.server.Count()); got != want {
		t.Errorf("the ledger has %d requests of %d", got, want)
	}
}

// TestBackfillOfTheSetAside: what was refused too often, by a constraint that is gone
// by now, is asked for again by hand.
func TestBackfillOfTheSetAside(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	user := b.User(t)
	b.Exec(t, "alter table memories add constraint none check (embedding is null)")
	id := b.remember(t, user, "refused")
	b.work(t, &process{})
	b.until(t, "the reason", "select exists (select from helix.embedding_work where memory_id = $1 and tries = 1)", id)
	b.Exec(t, "update helix.embedding_work set tries = 3, retry_at = 'infinity'")
	b.Exec(t, "alter table memories drop constraint none")
	jobs, err := reactors.NewJobs(b.Pool, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := embedding.Choose(t.Context(), b.Admin, &user, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := list.Next(t.Context(), jobs, 10); n != 1 || err != nil {
		t.Fatalf("%d were let wait: %v", n, err)
	}
	b.embedded(t, id, "refused")
}
