package main_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/testenv"
)

// TestSkillsAskModel: the model, the budget and the redaction are those of the
// daemon's settings; without a key there is none.
func TestSkillsAskModel(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	server := llmtest.New(t)
	user, other := db.NewUser(t).ID, db.NewUser(t).ID
	const definition = `{"kind": "composite", "capabilities": ["llm"],
		"steps": [{"stepId": "a", "toolName": "llm", "inputMapping": {"prompt": "Write to ada@example.com", "max_tokens": 100}}]}`
	ends := func(user string) string {
		run := get[uuid.UUID](t, admin, "insert into skill_runs (user_id, definition) values ($1, $2) returning id", user, definition)
		until(t, "the run to end", func() bool {
			return get[bool](t, admin, "select finished_at is not null from skill_runs where id = $1", run)
		})
		return get[string](t, admin, "select concat_ws(' ', status, step_results -> 0 -> 'error' ->> 'code', output ->> 'text') from skill_runs where id = $1", run)
	}
	slot := db.SlotName("skills")
	p := start(t, db.URL("postgres"), []string{"ANTHROPIC_API_KEY=" + llmtest.Key, "HELIX_ANTHROPIC_URL=" + server.URL, "HELIX_LLM_USER_DAILY_REQUESTS=2"}, "run", "--slot", slot)
	for i, want := range []string{"succeeded You said: Write to ada@example.com", "failed llm_budget_spent"} {
		if got := ends(user); got != want {
			t.Errorf("run %d ended with %q, want %q", i+1, got, want)
		}
	}
	if sent := server.Requests(); len(sent) != 1 || strings.Contains(sent[0].Prompt, "ada@") || len(sent[0].User) != 64 {
		t.Errorf("sent %+v", sent)
	}
	p.stop(t)
	p = start(t, db.URL("postgres"), []string{"ANTHROPIC_API_KEY=", "HELIX_LLM_URL=", "HELIX_LLM_KEY="}, "run", "--slot", slot)
	if got := ends(other); got != "failed llm_unavailable" {
		t.Errorf("without a key it ended with %q", got)
	}
	p.stop(t)
}
