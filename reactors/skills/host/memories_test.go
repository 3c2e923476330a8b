package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/jackc/pgx/v5"
)

func TestMemories(t *testing.T) {
	b := newBench(t)
	alice, bob := b.user(t), b.user(t)
	skill := b.skill(t, alice, "private")
	r := b.run(t, alice, skill, "memories:read", "memories:write")
	vector := func(x, y int) string { return fmt.Sprintf("[%d,%d", x, y) + strings.Repeat(",0", 1534) + "]" }
	b.exec(t, `insert into memories (user_id, type, content, embedding, created_at) values
		($1, 'semantic', 'the cat sat', $3, '2026-01-01Z'), ($1, 'episodic', 'a dog and a cat and a cat', $4, '2026-01-02Z'), ($1, 'semantic', null, null, '2026-01-03Z'),
		($1, 'semantic', 'nothing of it', $5, '2026-01-04Z'), ($2, 'semantic', 'bob''s cat', $3, '2026-01-05Z')`, alice, bob, vector(1, 0), vector(1, 1), vector(0, 0))
	contents := func(t *testing.T, response string) string {
		t.Helper()
		var found []struct {
			ID, Type, Content string
			CreatedAt         string `json:"created_at"`
			Similarity        *float64
		}
		if err := json.Unmarshal([]byte(response), &found); err != nil {
			t.Fatalf("%s: %v", response, err)
		}
		var all []string
		for _, m := range found {
			text := m.Content
			if m.Similarity != nil {
				text += fmt.Sprintf(" %.2f", *m.Similarity)
			}
			all = append(all, text)
		}
		return strings.Join(all, "|")
	}
	t.Run("are the user's own, the newest first", func(t *testing.T) {
		same(t, contents(t, call(t, r, "memories.list", `{}`)), "nothing of it||a dog and a cat and a cat|the cat sat")
		same(t, contents(t, call(t, r, "memories.list", `{"before": "2026-01-03T00:00:00Z", "limit": 1}`)), "a dog and a cat and a cat")
	})
	t.Run("are found by words", func(t *testing.T) {
		got := contents(t, call(t, r, "memories.search", `{"query": "CAT"}`))
		if !strings.HasPrefix(got, "a dog and a cat and a cat") || !strings.Contains(got, "|the cat sat") || strings.Contains(got, "bob") {
			t.Errorf("found %s", got)
		}
		if got := contents(t, call(t, r, "memories.search", `{"query": "cat", "types": ["semantic"]}`)); !strings.HasPrefix(got, "the cat sat") || strings.Contains(got, "|") {
			t.Errorf("found %s", got)
		}
		same(t, contents(t, call(t, r, "memories.search", `{"query": "') or true --"}`)), "")
	})
	t.Run("are found by embedding", func(t *testing.T) {
		same(t, contents(t, call(t, r, "memories.search", `{"embedding": `+vector(2, 0)+`}`)), "the cat sat 1.00|a dog and a cat and a cat 0.71")
		same(t, contents(t, call(t, r, "memories.search", `{"embedding": `+vector(2, 0)+`, "limit": 1, "types": ["episodic"]}`)), "a dog and a cat and a cat 0.71")
		same(t, call(t, r, "memories.search", `{"embedding": [1, 2]}`), "!invalid_request")
	})
	t.Run("are not found by what is no question", func(t *testing.T) {
		for _, request := range []string{`{}`, `{"query": "x", "embedding": [1]}`, `{"query": "x", "limit": 101}`, `{"query": "x", "user_id": "` + bob.String() + `"}`, `{"query": "\u0000"}`, `{"query": "` + strings.Repeat("x", 1001) + `"}`, `{"embedding": []}`} {
			if got := call(t, r, "memories.search", request); got != "!invalid_request" {
				t.Errorf("%.100s gives %s", request, got)
			}
		}
	})
	t.Run("are written once however often a run is tried", func(t *testing.T) {
		write := `{"type": "semantic", "content": "it rained", "emotional_valence": -0.5}`
		subject := r.Subject()
		subject.Run = uuid.New()
		again := func() *host.Run { return b.services.Run(subject, nil) }
		first := again()
		one, two := call(t, first, "memories.write", write), call(t, first, "memories.write", write)
		step := call(t, first.Step("s"), "memories.write", write)
		for _, other := range []string{two, step} {
			if one == other {
				t.Errorf("%s was written twice", one)
			}
		}
		second := again()
		same(t, call(t, second, "memories.write", write), one)
		same(t, call(t, second.Step("s"), "memories.write", write), step)
		same(t, call(t, second.Step("s"), "memories.write", write), step)
		if n := get[int](t, b, "select count(*) from memories where user_id = $1 and type = 'semantic' and content = 'it rained' and emotional_valence = -0.5", alice); n != 3 {
			t.Errorf("%d memories were written", n)
		}
		for _, request := range []string{`{"type": "semantic"}`, `{"type": "other", "content": "x"}`, `{"type": "semantic", "content": "x", "emotional_valence": 2}`, `{"type": "semantic", "content": "\u0000"}`,
			`{"type": "semantic", "content": "` + strings.Repeat("x", 65<<10) + `"}`, `{"type": "semantic", "content": "x", "user_id": "` + bob.String() + `"}`} {
			if got := call(t, r, "memories.write", request); got != "!invalid_request" {
				t.Errorf("%.100s gives %s", request, got)
			}
		}
	})
	t.Run("are written once by nested skills in whatever order they come", func(t *testing.T) {
		subject := r.Subject()
		subject.Run = uuid.New()
		nested := func(ctx context.Context, caller *host.Run, request []byte) ([]byte, error) {
			n, err := caller.Nested(ctx, skill, []string{"memories:write"})
			if err != nil {
				return nil, err
			}
			return n.Call(ctx, "memories.write", request)
		}
		const one, two = `{"type": "semantic", "content": "nested one"}`, `{"type": "semantic", "content": "nested two"}`
		for _, order := range [][]string{{one, two, two}, {two, one, two}} {
			run := b.services.Run(subject, nested)
			for _, request := range order {
				call(t, run, "skill.run", request)
			}
		}
		if n := get[int](t, b, "select count(*) from memories where content like 'nested %'"); n != 3 {
			t.Errorf("%d memories were written", n)
		}
	})
	t.Run("are marked as helixd's in the write-ahead log", func(t *testing.T) {
		slot := b.db.SlotName("mark")
		b.exec(t, "select pg_create_logical_replication_slot($1, 'pgoutput')", slot)
		b.exec(t, "create publication marked for table memories")
		call(t, r, "memories.write", `{"type": "semantic", "content": "marked"}`)
		secret := get[string](t, b, "select secret from helix.instance")
		rows, err := b.conn.Query(t.Context(), "select data from pg_logical_slot_get_binary_changes($1, null, null, 'proto_version', '1', 'publication_names', 'marked', 'messages', 'true')", slot)
		if err != nil {
			t.Fatal(err)
		}
		data, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
		b.exec(t, "select pg_drop_replication_slot($1)", slot)
		if err != nil || len(data) < 4 || data[1][0] != 'M' {
			t.Fatalf("%d messages, %v", len(data), err)
		}
		if message := string(data[1]); !strings.Contains(message, secret) || !strings.Contains(message, `"writes": {"skills": ["public.memories"]}`) {
			t.Errorf("the mark is %q", message)
		}
	})
	t.Run("are bounded in bytes", func(t *testing.T) {
		b.exec(t, "insert into memories (user_id, type, content, created_at) select $1, 'semantic', repeat('y', 100000), now() from generate_series(1, 20)", alice)
		if got := call(t, r, "memories.list", `{"limit": 100}`); len(got) > 600_000 || !strings.Contains(got, "yyy") {
			t.Errorf("%d bytes", len(got))
		}
	})
}
