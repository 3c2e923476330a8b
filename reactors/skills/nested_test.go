package skills_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"filippo.io/age"
	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/reactors/skills/host/broker/brokertest"
	"github.com/helixd/helixd/reactors/skills/host/secrets"
	"github.com/helixd/helixd/reactors/skills/rights"
)

// nosy tries all that it may ask for, and tells what came of it.
const nosy = `export default async (input, helix) => {
	const told = {}
	const attempt = async (what, f) => { try { told[what] = await f() } catch (e) { told[what] = e.code } }
	await attempt("read", async () => (await helix.memories.list()).length)
	await attempt("fetch", async () => (await helix.fetch(input.url)).status)
	await attempt("secret", async () => (await helix.fetch(input.url, {headers: {authorization: "{{secret:" + input.secret + "}}"}})).status)
	return told
}`

// calls calls the skill that its input names, with the rest of it.
const calls = `export default async (input, helix) => {
	try { return await helix.run(input.path[0], {...input, path: input.path.slice(1)}) } catch (e) { return e.code }
}`

// TestNestedRights: what another user wrote gets what its runner has granted to
// this very code, and no more than whoever calls it has.
func TestNestedRights(t *testing.T) {
	b := newBench(t)
	internet := brokertest.New(t)
	var mu sync.Mutex
	sent := map[string]int{} // values of authorization
	address := internet.Serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		sent[r.Header.Get("Authorization")]++
	}), "api.example.com")[0]
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if b.host.Secrets, err = secrets.New(b.DB.Pool(t, "postgres"), identity.String()); err != nil {
		t.Fatal(err)
	}
	if b.host.Policy, err = rights.NewPolicy(rights.DefaultPolicy, []string{address}); err != nil {
		t.Fatal(err)
	}
	b.host.Broker = internet.Broker
	b.work(t, skills.DefaultConfig, boxes(t))
	b.stream(t)

	ada, bob := b.User(t), b.User(t)
	b.Exec(t, "insert into memories (user_id, type, content) values ($1, 'episodic', 'of ada'), ($2, 'episodic', 'of bob'), ($2, 'episodic', 'too')", ada, bob)
	for user, name := range map[uuid.UUID]string{ada: "of-ada", bob: "of-bob"} {
		if err := b.host.Secrets.Set(t.Context(), user, name, "the value "+name, nil); err != nil {
			t.Fatal(err)
		}
	}
	public := b.skill(t, bob, "kind = 'javascript', visibility = 'public', source = $1, capabilities = '{memories:read,network:https,secrets:of-ada,secrets:of-bob}'", nosy)
	deputy := b.skill(t, bob, "kind = 'javascript', visibility = 'public', source = $1", calls)
	step := fmt.Sprintf(`[{"stepId": "a", "skillName": "%s", "inputMapping": {"url": "$.input.url", "secret": "$.input.secret"}}]`, public)
	composite := b.skill(t, ada, "kind = 'composite', steps = $1, capabilities = '{memories:read}'", step)
	bare := b.skill(t, ada, "kind = 'composite', steps = $1", step)
	script := b.skill(t, ada, "kind = 'javascript', source = $1, capabilities = '{memories:read}'", calls)
	own := b.skill(t, ada, "kind = 'javascript', source = $1, capabilities = '{memories:read,network:https,secrets:of-ada,secrets:of-bob}'", nosy)

	// told runs a skill, or a path of skills that call each other.
	told := func(t *testing.T, user uuid.UUID, secret string, path ...uuid.UUID) string {
		t.Helper()
		input, err := json.Marshal(map[string]any{"url": "https://" + address + "/", "secret": secret, "path": path[1:]})
		if err != nil {
			t.Fatal(err)
		}
		run := b.run(t, user, path[0], string(input))
		if got := b.ended(t, run); got != "succeeded" {
			t.Fatalf("it ended with %q: %s", got, b.fault(t, run))
		}
		return get[string](t, b.Admin, "select concat_ws(' ', output ->> 'read', output ->> 'fetch', output ->> 'secret') from skill_runs where id = $1", run)
	}
	type way struct {
		name string
		path []uuid.UUID
		want string // once all is granted
	}
	const nothing = "capability_not_granted host_not_allowed host_not_allowed"
	ways := []way{
		{"Directly", []uuid.UUID{public}, "1 200 200"},
		{"FromAStep", []uuid.UUID{composite}, "1 host_not_allowed host_not_allowed"},
		{"FromAStepOfWhatMayNothing", []uuid.UUID{bare}, nothing},
		{"FromHerScript", []uuid.UUID{script, public}, "1 host_not_allowed host_not_allowed"},
		{"TwoDeep", []uuid.UUID{script, script, public}, "1 host_not_allowed host_not_allowed"},
		{"TwoDeepThroughAStep", []uuid.UUID{script, composite}, "1 host_not_allowed host_not_allowed"},
		{"ThroughWhatMayNothing", []uuid.UUID{script, deputy, public}, nothing},
		{"HerOwnThroughWhatMayNothing", []uuid.UUID{deputy, own}, nothing},
	}
	for _, w := range ways {
		t.Run("NotGranted"+w.name, func(t *testing.T) {
			if got := told(t, ada, "of-ada", w.path...); got != nothing {
				t.Errorf("it got %s", got)
			}
		})
	}
	for _, capability := range []string{"memories:read", "network:https", "secrets:of-ada", "secrets:of-bob"} {
		b.grant(t, ada, public, capability)
	}
	for _, w := range ways {
		t.Run("Granted"+w.name, func(t *testing.T) {
			if got := told(t, ada, "of-ada", w.path...); got != w.want {
				t.Errorf("it got %s, want %s", got, w.want)
			}
		})
	}
	t.Run("ToOneUserOnly", func(t *testing.T) {
		if got := told(t, b.User(t), "of-ada", public); got != nothing {
			t.Errorf("it got %s", got)
		}
	})
	t.Run("SecretsOfOthers", func(t *testing.T) {
		for _, skill := range []uuid.UUID{own, public} {
			if got := told(t, ada, "of-bob", skill); got != "1 200 secret_not_found" {
				t.Errorf("with bob's secret it got %s", got)
			}
			if got := told(t, ada, "../of-bob", skill); got != "1 200 secret_not_found" {
				t.Errorf("with what is no secret's name it got %s", got)
			}
		}
	})
	b.Exec(t, "update skills set source = source || ' // changed' where id = $1", public)
	b.ready(t, public)
	for _, w := range ways {
		t.Run("Changed"+w.name, func(t *testing.T) {
			if got := told(t, ada, "of-ada", w.path...); got != nothing {
				t.Errorf("it got %s", got)
			}
		})
	}
	mu.Lock()
	defer mu.Unlock()
	if sent["the value of-ada"] != 1 || len(sent) != 2 { // and none
		t.Errorf("the server was sent %v", sent)
	}
}
