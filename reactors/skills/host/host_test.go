package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/helixd/helixd/reactors/skills/host/audit"
	"github.com/helixd/helixd/reactors/skills/host/broker/brokertest"
	"github.com/helixd/helixd/reactors/skills/host/secrets"
	"github.com/helixd/helixd/reactors/skills/rights"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

var digest = strings.Repeat("a", 64)

type bench struct {
	db       *testenv.Database
	conn     *pgx.Conn
	internet *brokertest.Internet
	secrets  *secrets.Store
	services *host.Services
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{db: testenv.New(t), internet: brokertest.New(t)}
	b.conn = b.db.Connect(t, "postgres")
	if err := migrations.Up(t.Context(), b.conn, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	pool, err := pgxpool.New(t.Context(), b.db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if b.secrets, err = secrets.New(pool, identity.String()); err != nil {
		t.Fatal(err)
	}
	policy, err := rights.NewPolicy(rights.DefaultPolicy, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.services = host.New(pool, host.Options{Policy: policy, Broker: b.internet.Broker, Secrets: b.secrets})
	return b
}

func (b *bench) user(t *testing.T) uuid.UUID {
	t.Helper()
	return uuid.MustParse(b.db.NewUser(t).ID)
}

func (b *bench) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func get[T any](t *testing.T, b *bench, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, b.conn, sql, args...)
}

// skill makes one of the owner's.
func (b *bench) skill(t *testing.T, owner uuid.UUID, visibility string) rights.Skill {
	t.Helper()
	id := get[uuid.UUID](t, b, "insert into skills (user_id, name, kind, visibility) values ($1, 'x', 'javascript', $2) returning id", owner, visibility)
	return rights.Skill{ID: id, Owner: owner, SHA256: digest, Kind: "javascript", Visibility: visibility}
}

// run begins a run of the user.
func (b *bench) run(t *testing.T, user uuid.UUID, skill rights.Skill, asked ...string) *host.Run {
	t.Helper()
	may, denials, err := b.services.Decide(t.Context(), user, skill, asked, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.services.Run(host.Subject{Run: uuid.New(), User: user, Skill: skill, May: may, Denials: denials}, nil)
}

// call gives a call's response, or "!" and the code of its error.
func call(t *testing.T, r *host.Run, name, request string) string {
	t.Helper()
	response, err := r.Call(t.Context(), name, []byte(request))
	var e *sandbox.Error
	switch {
	case errors.As(err, &e):
		return "!" + string(e.Code)
	case err != nil:
		t.Fatalf("%s: %v", name, err)
	case !json.Valid(response):
		t.Fatalf("%s gives %q", name, response)
	}
	return strings.TrimSpace(string(response))
}

// outcomes are "call outcome" of each host call.
func outcomes(r *host.Run) (all []string) {
	for _, e := range r.Audit() {
		all = append(all, strings.Join(strings.Fields(e.Event.Kind+" "+e.Event.Call+" "+e.Event.Capability+" "+e.Event.Outcome), " "))
	}
	return all
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRights(t *testing.T) {
	b := newBench(t)
	alice, bob := b.user(t), b.user(t)
	t.Run("of nobody's calls are served without them, and each is noted", func(t *testing.T) {
		r := b.run(t, alice, b.skill(t, alice, "private"))
		requests := map[string]string{"kv.get": `{"key": "k"}`, "kv.set": `{"key": "k", "value": 1}`, "kv.delete": `{"key": "k"}`, "kv.list": `{}`,
			"memories.search": `{"query": "x"}`, "memories.list": `{}`, "memories.write": `{"type": "semantic", "content": "x"}`,
			"llm.complete": `{"prompt": "x"}`}
		for name, request := range requests {
			same(t, call(t, r, name, request), "!capability_not_granted")
		}
		same(t, call(t, r, "http.fetch", `{"url": "https://x.example/"}`), "!host_not_allowed")
		same(t, call(t, r, "skill.run", `{}`), "!unknown_host_call")
		if n := len(r.Audit()); n != len(requests)+2 || r.Calls() != n {
			t.Errorf("%d entries of %d calls", n, r.Calls())
		}
		same(t, call(t, r, "exec", `{}`), "!unknown_host_call")
	})
	t.Run("come from the runner's grants to this code", func(t *testing.T) {
		skill := b.skill(t, alice, "public")
		as := b.db.AsUser(t, bob.String())
		for _, grant := range [][2]string{{digest, "kv"}, {strings.Repeat("b", 64), "memories:read"}} {
			if _, err := as.Exec(t.Context(), "insert into skill_grants (skill_id, sha256, capability) values ($1, $2, $3)", skill.ID, grant[0], grant[1]); err != nil {
				t.Fatal(err)
			}
		}
		r := b.run(t, bob, skill, "kv", "memories:read", "filesystem:read")
		same(t, call(t, r, "kv.list", `{}`), `{"keys":[]}`)
		same(t, call(t, r, "memories.list", `{}`), "!capability_not_granted")
		same(t, fmt.Sprint(outcomes(r)), "[denied filesystem:read capability_refused denied memories:read capability_not_granted host_call kv.list ok host_call memories.list memories:read capability_not_granted]")
		other := b.user(t)
		same(t, call(t, b.run(t, other, skill, "kv"), "kv.list", `{}`), "!capability_not_granted")
	})
	t.Run("of nested skills are their callers' at most, and depth is bounded", func(t *testing.T) {
		r := b.run(t, alice, b.skill(t, alice, "private"), "kv")
		n, err := r.Nested(t.Context(), b.skill(t, alice, "private"), []string{"kv", "memories:read"})
		if err != nil {
			t.Fatal(err)
		}
		same(t, call(t, n, "kv.list", `{}`), `{"keys":[]}`)
		same(t, call(t, n, "memories.list", `{}`), "!capability_not_granted")
		none, err := r.Nested(t.Context(), b.skill(t, bob, "public"), []string{"kv"})
		if err != nil {
			t.Fatal(err)
		}
		same(t, call(t, none, "kv.list", `{}`), "!capability_not_granted") // nobody granted it
		if r.Calls() != 3 || len(r.Audit()) != 5 || len(n.Audit()) != 5 {
			t.Errorf("%d calls, %v", r.Calls(), outcomes(r))
		}
		for n.Depth() < host.MaxDepth {
			if n, err = n.Nested(t.Context(), b.skill(t, alice, "private"), nil); err != nil {
				t.Fatal(err)
			}
		}
		var e *sandbox.Error
		if _, err := n.Nested(t.Context(), b.skill(t, alice, "private"), nil); !errors.As(err, &e) || e.Code != host.TooDeep {
			t.Error(err)
		}
	})
	t.Run("to run skills are the caller's to serve", func(t *testing.T) {
		skill := b.skill(t, alice, "private")
		r := b.services.Run(host.Subject{Run: uuid.New(), User: alice, Skill: skill}, func(ctx context.Context, caller *host.Run, request []byte) ([]byte, error) {
			if caller.Subject().User != alice || caller.Depth() != 1 {
				t.Errorf("called by %+v", caller.Subject())
			}
			return request, nil
		})
		same(t, call(t, r, "skill.run", `{"skill": "x"}`), `{"skill": "x"}`)
	})
	t.Run("are not asked for without end by steps that call skills", func(t *testing.T) {
		skill := b.skill(t, alice, "private")
		r := b.run(t, alice, skill)
		var asked []string
		for i := range 100 {
			asked = append(asked, fmt.Sprintf("secrets:s%d", i))
		}
		var err error
		for n := 0; err == nil; n++ {
			if _, err = r.Nested(t.Context(), skill, asked); n > 1000 {
				t.Fatalf("%d skills were called, and the audit has %d entries", n, len(r.Audit()))
			}
		}
		var e *sandbox.Error
		if !errors.As(err, &e) || e.Code != sandbox.HostCallLimit || len(r.Audit()) > 5100 {
			t.Errorf("%v after %d entries", err, len(r.Audit()))
		}
	})
	t.Run("do not last for ever", func(t *testing.T) {
		r := b.run(t, alice, b.skill(t, alice, "private"))
		for range 1000 {
			call(t, r, "kv.get", `{}`)
		}
		same(t, call(t, r, "kv.get", `{}`), "!host_call_limit")
		if n := len(r.Audit()); n != 1000 {
			t.Errorf("%d entries", n)
		}
	})
}

func TestKV(t *testing.T) {
	b := newBench(t)
	alice, bob := b.user(t), b.user(t)
	skill := b.skill(t, alice, "public")
	b.exec(t, "insert into skill_grants (user_id, skill_id, sha256, capability) values ($1, $2, $3, 'kv')", bob, skill.ID, digest)
	a, o := b.run(t, alice, skill, "kv"), b.run(t, bob, skill, "kv")
	t.Run("keeps values for each user and skill", func(t *testing.T) {
		same(t, call(t, a, "kv.get", `{"key": "k"}`), `{"value":null}`)
		same(t, call(t, a, "kv.set", `{"key": "k", "value": {"n": 1}}`), `{}`)
		same(t, call(t, a, "kv.set", `{"key": "k", "value": [2, "é"]}`), `{}`)
		same(t, call(t, a, "kv.set", `{"key": "k_2", "value": null}`), `{}`)
		same(t, call(t, a, "kv.set", `{"key": "k_2", "value": [1e100, -2.5e-7, "x", {"a": []}]}`), `{}`)
		same(t, call(t, a, "kv.get", `{"key": "k"}`), `{"value":[2, "é"]}`)
		same(t, call(t, o, "kv.get", `{"key": "k"}`), `{"value":null}`)
		same(t, call(t, b.run(t, alice, b.skill(t, alice, "private"), "kv"), "kv.list", `{}`), `{"keys":[]}`)
		same(t, call(t, a, "kv.list", `{"prefix": "k_"}`), `{"keys":["k_2"]}`)
		same(t, call(t, a, "kv.list", `{"prefix": "%"}`), `{"keys":[]}`)
		same(t, call(t, a, "kv.list", `{"limit": 1}`), `{"keys":["k"]}`)
		same(t, call(t, o, "kv.delete", `{"key": "k"}`), `{}`)
		same(t, call(t, a, "kv.delete", `{"key": "k"}`), `{}`)
		same(t, call(t, a, "kv.get", `{"key": "k"}`), `{"value":null}`)
	})
	t.Run("refuses what it does not keep", func(t *testing.T) {
		for request, name := range map[string]string{
			`{"key": ""}`: "kv.get", `{}`: "kv.get", `{"key": "` + strings.Repeat("é", 257) + `"}`: "kv.get", `{"key": "a\u0000"}`: "kv.get", `{"key": 1}`: "kv.get", `{"key": "a"} {}`: "kv.get", `{"key": "a", "user_id": "x"}`: "kv.get", ``: "kv.get", `[`: "kv.get",
			`{"key": "a"}`: "kv.set", `{"key": "a", "value": "` + strings.Repeat("x", 64<<10) + `"}`: "kv.set", `{"key": "a", "value": "\u0000"}`: "kv.set", `{"key": "a", "value": "\ud800"}`: "kv.set",
			`{"key": "a", "value": [1e99999]}`: "kv.set", `{"key": "a", "value": [1e999` + strings.Repeat(", 1e999", 200) + `]}`: "kv.set", // gets a thousand times as long in Postgres
			`{"limit": 0}`: "kv.list", `{"limit": 1001}`: "kv.list", `{"prefix": "\u0000"}`: "kv.list",
		} {
			if got := call(t, a, name, request); got != "!invalid_request" {
				t.Errorf("%s %.100s gives %.100s", name, request, got)
			}
		}
		inline := b.services.Run(host.Subject{Run: uuid.New(), User: alice, May: rights.NewSet(rights.Capability{Kind: rights.KV})}, nil)
		same(t, call(t, inline, "kv.set", `{"key": "a", "value": 1}`), "!invalid_request")
	})
	t.Run("keeps a thousand keys", func(t *testing.T) {
		b.exec(t, "insert into helix.skill_kv (user_id, skill_id, key, value) select $1, $2, 'n' || n, '1' from generate_series(1, 999) n", alice, skill.ID) // and k_2
		same(t, call(t, a, "kv.set", `{"key": "more", "value": 1}`), "!invalid_request")
		same(t, call(t, a, "kv.set", `{"key": "n1", "value": 2}`), `{}`)
		same(t, call(t, o, "kv.set", `{"key": "more", "value": 1}`), `{}`)
	})
	t.Run("does not wait for long, and says that it may succeed later", func(t *testing.T) {
		tx, err := b.conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback(context.Background()) //nolint:errcheck // it only locks
		if _, err := tx.Exec(t.Context(), "lock table helix.skill_kv in access exclusive mode"); err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		for name, request := range map[string]string{"kv.get": `{"key": "k"}`, "kv.set": `{"key": "k", "value": 1}`, "kv.delete": `{"key": "k"}`, "kv.list": `{}`} {
			calls.Go(func() {
				_, err := a.Call(t.Context(), name, []byte(request))
				var e *sandbox.Error
				if !errors.As(err, &e) || e.Code != host.StatementTimeout || !e.Retryable() {
					t.Errorf("%s gives %v", name, err)
				}
			})
		}
		calls.Wait()
	})
	t.Run("forgets with the skill", func(t *testing.T) {
		b.exec(t, "delete from skills where id = $1", skill.ID)
		if n := get[int](t, b, "select count(*) from helix.skill_kv"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

func TestFetch(t *testing.T) {
	b := newBench(t)
	alice, bob := b.user(t), b.user(t)
	var mu sync.Mutex
	var seen []string
	hosts := b.internet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen = append(seen, r.Header.Get("Authorization")+" "+r.Header.Get("Idempotency-Key"))
		mu.Unlock()
		w.WriteHeader(http.StatusTeapot)
		w.Write(append([]byte(r.Header.Get("Authorization")+" "), body...)) //nolint:errcheck // the client's end says it
	}), "api.example", "other.example")
	skill := b.skill(t, alice, "private")
	for user, value := range map[uuid.UUID]string{alice: "alice-secret", bob: "bob-secret"} {
		if err := b.secrets.Set(t.Context(), user, "key", value, []string{"api.example"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.secrets.Set(t.Context(), alice, "unasked", "unasked-secret", nil); err != nil {
		t.Fatal(err)
	}
	r := b.run(t, alice, skill, "network:https:"+hosts[0], "network:https:"+hosts[1], "secrets:key", "secrets:none")
	fetch := func(t *testing.T, r *host.Run, host, rest string) string {
		t.Helper()
		return call(t, r, "http.fetch", fmt.Sprintf(`{"url": "https://%s/path?q=private"%s}`, host, rest))
	}
	t.Run("gives what came", func(t *testing.T) {
		got := fetch(t, r, hosts[0], `, "method": "POST", "body": "<body>"`)
		if !strings.Contains(got, `"status":418`) || !strings.Contains(got, `"body":" <body>"`) || strings.Contains(got, "bodyEncoding") {
			t.Errorf("got %s", got)
		}
		got = fetch(t, r, hosts[0], `, "method": "POST", "body": "AP8=", "bodyEncoding": "base64"`)
		if !strings.Contains(got, `"body":"IAD/","bodyEncoding":"base64"`) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("sends the run's user's secret and shows it to nobody", func(t *testing.T) {
		got := fetch(t, r, hosts[0], `, "headers": {"Authorization": "Bearer {{secret:key}}"}`)
		if !strings.Contains(got, `"body":"Bearer *** "`) || strings.Contains(got, "alice") {
			t.Errorf("got %s", got)
		}
		mu.Lock()
		defer mu.Unlock()
		same(t, seen[len(seen)-1], "Bearer alice-secret ")
	})
	t.Run("sends no secret that is not the skill's to use", func(t *testing.T) {
		same(t, fetch(t, r, hosts[1], `, "headers": {"Authorization": "{{secret:key}}"}`), "!host_not_allowed")
		same(t, fetch(t, r, hosts[0], `, "headers": {"Authorization": "{{secret:none}}"}`), "!secret_not_found")
		same(t, fetch(t, r, hosts[0], `, "headers": {"Authorization": "{{secret:unasked}}"}`), "!capability_not_granted")
		same(t, fetch(t, r, hosts[0], `, "headers": {"Authorization": "{{secret:../`+bob.String()+`/key}}"}`), "!secret_not_found")
	})
	t.Run("reaches no other host", func(t *testing.T) {
		same(t, fetch(t, r, "elsewhere.example", ""), "!host_not_allowed")
		same(t, fetch(t, r, "api.example", ""), "!host_not_allowed") // at the port of another capability
	})
	t.Run("gives a step that is tried again the same idempotency key", func(t *testing.T) {
		mu.Lock()
		seen = nil
		mu.Unlock()
		for _, part := range []*host.Run{r.Step("a"), r.Step("a"), r.Step("b")} {
			fetch(t, part, hosts[0], `, "method": "POST"`)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(seen) != 3 || seen[0] != seen[1] || seen[1] == seen[2] || strings.TrimSpace(seen[0]) == "" {
			t.Errorf("keys %v", seen)
		}
	})
	t.Run("is in the audit without what was said", func(t *testing.T) {
		entries := r.Audit()
		if err := pgx.BeginFunc(t.Context(), b.conn, func(tx pgx.Tx) error { return audit.Append(t.Context(), tx, entries) }); err != nil {
			t.Fatal(err)
		}
		log, err := audit.Log(entries)
		if err != nil {
			t.Fatal(err)
		}
		text := get[string](t, b, "select string_agg(event::text, ' ') from helix.audit where user_id = $1", alice) + string(log)
		for _, private := range []string{"alice-secret", "body", "/path", "q=", "Bearer"} {
			if strings.Contains(text, private) {
				t.Errorf("%s is in the audit", private)
			}
		}
		used := slices.IndexFunc(entries, func(e audit.Entry) bool { return len(e.Event.Secrets) > 0 })
		if e := entries[used]; e.Event.Target != hosts[0] || e.Event.Status != 418 || e.Event.Secrets[0] != "key" || e.Event.Outcome != audit.OK || e.User != alice || e.Skill != skill.ID {
			t.Errorf("entry %+v", e)
		}
	})
}

// TestAtOnce is for the race detector, and for the counters.
func TestAtOnce(t *testing.T) {
	b := newBench(t)
	alice := b.user(t)
	r := b.run(t, alice, b.skill(t, alice, "private"), "kv")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			part := r.Step(fmt.Sprint(i))
			if _, err := part.Call(t.Context(), "kv.set", fmt.Appendf(nil, `{"key": "%d", "value": 1}`, i)); err != nil {
				t.Error(err)
			}
			if _, err := r.Call(t.Context(), "kv.list", []byte(`{}`)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if r.Calls() != 40 || len(r.Audit()) != 40 {
		t.Errorf("%d calls, %d entries", r.Calls(), len(r.Audit()))
	}
}
