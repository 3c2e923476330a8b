package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// demoSteps are what the user does, one after the other.
var demoSteps = []struct {
	name string
	do   func(context.Context, *demoUser) (demoResult, error)
}{
	{"note", demoNote}, {"skill", demoSkill}, {"memories", demoMemories}, {"analysis", demoAnalysis},
}

// await measures from now, which is when the last write has committed.
func (u *demoUser) await(ctx context.Context, table string, look func() (bool, error)) (demoResult, error) {
	began := time.Now()
	err := demoUntil(ctx, look)
	took := time.Since(began)
	return demoResult{Milliseconds: float64(took.Microseconds()) / 1000, Broadcasts: u.broadcasts(ctx, table)}, err
}

// demoNote: a phone and a laptop edit different fields of a note, neither having
// seen the other's, and both edits stand.
func demoNote(ctx context.Context, u *demoUser) (demoResult, error) {
	note := uuid.New()
	write := func(device, clock, data string) error {
		return u.exec(ctx, `insert into public.sync_state (entity_type, entity_id, device_id, vector_clock, data, last_modified)
			values ('note', $1, $2, $3, $4, now()) on conflict (user_id, entity_type, entity_id, device_id)
			do update set vector_clock = excluded.vector_clock, data = excluded.data, last_modified = excluded.last_modified`, note, device, clock, data)
	}
	var title, text string
	merged := func(wantTitle, wantText string) func() (bool, error) {
		return func() (bool, error) {
			found, err := u.find(ctx, []any{&title, &text}, "select coalesce(data->>'title', ''), coalesce(data->>'text', '') from public.sync_entities where entity_id = $1", note)
			return found && title == wantTitle && text == wantText, err
		}
	}
	if err := u.exec(ctx, "insert into public.sync_policies (entity_type, strategy) values ('note', 'merge')"); err != nil {
		return demoResult{}, err
	}
	if err := write("phone", `{"phone": 1}`, `{"title": "", "text": ""}`); err != nil {
		return demoResult{}, err
	}
	if err := demoUntil(ctx, merged("", "")); err != nil {
		return demoResult{}, err
	}
	if err := write("laptop", `{"phone": 1, "laptop": 1}`, `{"title": "", "text": "milk, bread"}`); err != nil {
		return demoResult{}, err
	}
	if err := write("phone", `{"phone": 2}`, `{"title": "Shopping", "text": ""}`); err != nil {
		return demoResult{}, err
	}
	r, err := u.await(ctx, "sync_entities", merged("Shopping", "milk, bread"))
	r.Result = fmt.Sprintf("two devices' edits are one: %s: %s", title, text)
	return r, err
}

// demoSkill runs JavaScript, in the sandbox.
func demoSkill(ctx context.Context, u *demoUser) (demoResult, error) {
	id := uuid.New()
	err := u.exec(ctx, `insert into public.skill_runs (id, definition, input) values ($1, $2, '{"name": "Ada"}')`, id,
		`{"kind": "javascript", "source": "export default ({ name }) => `+"`Hello, ${name}: 6 × 7 is ${6 * 7}`"+`"}`)
	if err != nil {
		return demoResult{}, err
	}
	var status, output string
	var failure *string
	r, err := u.await(ctx, "skill_runs", func() (bool, error) {
		_, err := u.find(ctx, []any{&status, &output, &failure}, "select status, coalesce(output #>> '{}', ''), error->>'message' from public.skill_runs where id = $1", id)
		return failure != nil || status == "succeeded", err
	})
	if err == nil && failure != nil {
		err = errors.New(*failure)
	}
	r.Result = output
	return r, err
}

// demoTopics are of what the user's memories tell.
var demoTopics = []struct{ what, words string }{
	{"river", "Walked along the river|Sat by the river at dusk|The river was high today|Watched boats on the river|Ran along the river before work|" +
		"A heron stood in the river|The river path was quiet|Threw stones into the river"},
	{"piano", "Practised the piano for an hour|The piano needs tuning|Played a waltz on the piano|Learned a new piece on the piano|" +
		"Piano lesson with Clara|My hands hurt from the piano|Bought sheet music for the piano|The piano sounded warm tonight"},
	{"garden", "Planted beans in the garden|The garden needs water|Found a hedgehog in the garden|Ate lunch in the garden|Cut the hedge of the garden|" +
		"Tomatoes from the garden|The garden is full of bees|Built a bench for the garden"},
}

// demoMemories writes memories, with embeddings as a model would give them:
// those of one topic lie close together.
func demoMemories(ctx context.Context, u *demoUser) (demoResult, error) {
	random := rand.New(rand.NewPCG(1, 2))
	err := u.do(ctx, func(tx pgx.Tx) error {
		var batch pgx.Batch
		for i, topic := range demoTopics {
			for j, content := range strings.Split(topic.words, "|") {
				batch.Queue(`insert into public.memories (type, content, embedding, emotional_valence, created_at) values ('episodic', $1, $2::text::vector, 0.3, $3)`,
					content, demoVector(random, i), time.Now().UTC().Add(-time.Duration(i+3*j)*7*time.Hour))
			}
		}
		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return demoResult{}, err
	}
	var patterns int
	var content string
	r, err := u.await(ctx, "memory_synthesis", func() (bool, error) {
		found, err := u.find(ctx, []any{&patterns, &content}, `select count(*) over (), synthesis_content from public.memory_synthesis
			where pattern_type = 'semantic_cluster' order by confidence_score desc limit 1`)
		return found, err
	})
	r.Result = fmt.Sprintf("%d topics in 24 memories: %s", patterns, content)
	return r, err
}

// demoVector is a unit vector near that of its topic, as text.
func demoVector(random *rand.Rand, topic int) string {
	const dimensions = 1536
	v, sum := make([]float64, dimensions), 0.0
	for i := range v {
		v[i] = random.NormFloat64() * 0.4
		if i%len(demoTopics) == topic {
			v[i]++
		}
		sum += v[i] * v[i]
	}
	for i := range v {
		v[i] = math.Round(v[i]/math.Sqrt(sum)*1e6) / 1e6
	}
	text, _ := json.Marshal(v) // of numbers
	return string(text)
}

// demoAnalysis has conversations analysed, on this machine.
func demoAnalysis(ctx context.Context, u *demoUser) (demoResult, error) {
	id := uuid.New()
	err := u.exec(ctx, `insert into public.memory_synthesis_jobs (id, synthesis_type, conversations) values ($1, 'emotional_patterns', $2)`, id,
		`[{"id": "monday", "text": "Whenever my manager calls me in without a word of why, I get terribly anxious. I could not eat before it."},
		{"id": "wednesday", "text": "My manager asked me into her office again and I was anxious all the way down the corridor. It turned out to be the holiday plan."},
		{"id": "thursday", "text": "When I am that tense I go for a long run along the river, and it calms me down."}]`)
	if err != nil {
		return demoResult{}, err
	}
	var status, summary string
	var failure *string
	r, err := u.await(ctx, "memory_synthesis_jobs", func() (bool, error) {
		_, err := u.find(ctx, []any{&status, &summary, &failure}, "select status, coalesce(summary, ''), error->>'message' from public.memory_synthesis_jobs where id = $1", id)
		return status == "done" || status == "failed", err
	})
	if err == nil && status == "failed" && failure != nil {
		err = errors.New(*failure)
	}
	r.Result = summary
	return r, err
}
