package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// skillActs tell how an app's users store skills and run them by inserting rows.
var skillActs = []act{
	{"Ada stores three skills: WebAssembly, JavaScript, and a composite of both", stored},
	{"She runs the composite by inserting a row", ran},
	{"A skill of bob's gets nothing of hers that she has not granted", granted},
	{"A skill that never ends is ended, and another one runs meanwhile", ended},
}

// skillRow is an example's skill.json beside its code.
func (r repo) skillRow(name string) (map[string]any, error) {
	dir := filepath.Join(string(r), "examples", "skills", name)
	content, err := os.ReadFile(filepath.Join(dir, "skill.json"))
	if err != nil {
		return nil, err
	}
	var row map[string]any
	if err := json.Unmarshal(content, &row); err != nil {
		return nil, fmt.Errorf("%s/skill.json: %w", name, err)
	}
	switch row["kind"] {
	case "wasm":
		code, err := os.ReadFile(filepath.Join(dir, name+".wasm"))
		if err != nil {
			return nil, err
		}
		row["wasm_bytecode"] = `\x` + hex.EncodeToString(code) // as PostgREST takes a bytea
	case "javascript":
		code, err := os.ReadFile(filepath.Join(dir, name+".js"))
		if err != nil {
			return nil, err
		}
		row["source"] = string(code)
	}
	return row, nil
}

// insert is what PostgREST makes of supabase-js's .from(table).insert(row): the
// columns that were sent, and no others.
func (s *session) insert(st *stage, table string, row map[string]any) error {
	body, err := json.Marshal(row)
	if err != nil {
		return err
	}
	columns := ""
	for name := range row {
		if columns != "" {
			columns += ", "
		}
		columns += pgx.Identifier{name}.Sanitize()
	}
	return s.request(st.ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(st.ctx, fmt.Sprintf("insert into public.%[1]s (%[2]s) select %[2]s from json_populate_record(null::public.%[1]s, $1::json)",
			table, columns), string(body))
		return err
	})
}

// store inserts a skill and waits until helixd has checked it.
func (s *stage) store(as *session, who string, row map[string]any) (id string, err error) {
	id = uuid.NewString()
	row["id"] = id
	if err := as.insert(s, "skills", row); err != nil {
		return "", err
	}
	sent := time.Now()
	var status string
	var why *string
	err = testenv.Poll(s.ctx, patience, watchEvery, "wait until the skill is checked", func() (bool, error) {
		err := s.admin.QueryRow(s.ctx, "select status, error::text from public.skills where id = $1", id).Scan(&status, &why)
		return status != "pending", err
	})
	if err != nil {
		return "", err
	}
	var diff differences
	diff.check("status", "ready", status)
	if why != nil {
		diff.check("error", "", *why)
	}
	if err := diff.err(fmt.Sprintf("skill %v", row["name"])); err != nil {
		return "", err
	}
	s.out.line("   %-7s stores %-10s %-11s → ready after %s", who, row["name"], row["kind"], milliseconds(time.Since(sent)))
	return id, nil
}

// skillRun is a row of skill_runs.
type skillRun struct {
	id     string
	status string
	output string
	code   string // of the error
	steps  int
	took   time.Duration
}

// start inserts a run.
func (s *stage) start(skill, input string) (skillRun, time.Time, error) {
	run := skillRun{id: uuid.NewString()}
	s.out.line("   ada     inserts into skill_runs  %s", s.out.dim(input))
	err := s.phone.insert(s, "skill_runs", map[string]any{"id": run.id, "skill_id": skill, "input": json.RawMessage(input)})
	return run, time.Now(), err
}

// finish waits until a run has ended.
func (s *stage) finish(run skillRun, sent time.Time) (skillRun, error) {
	var finished bool
	err := testenv.Poll(s.ctx, 20*time.Second, watchEvery, "wait until the run has ended", func() (bool, error) {
		err := s.watcher.conn.QueryRow(s.ctx, `select status, coalesce(output::text, ''), coalesce(error ->> 'code', ''),
				coalesce(steps_completed, 0), finished_at is not null
			from public.skill_runs where id = $1`, run.id).Scan(&run.status, &run.output, &run.code, &run.steps, &finished)
		return finished, err
	})
	run.took = time.Since(sent)
	return run, err
}

// runs starts a skill and compares how it ends.
func (s *stage) runs(skill, input string, want skillRun) error {
	run, sent, err := s.start(skill, input)
	if err != nil {
		return err
	}
	if run, err = s.finish(run, sent); err != nil {
		return err
	}
	return s.ends(run, want)
}

func (s *stage) ends(run, want skillRun) error {
	var diff differences
	diff.check("status", want.status, run.status)
	diff.check("output", want.output, run.output)
	diff.check("error", want.code, run.code)
	diff.check("steps_completed", want.steps, run.steps)
	if err := diff.err("skill_runs"); err != nil {
		return err
	}
	said := run.output
	if said == "" {
		said = run.code
	}
	s.out.line("   helixd  → %-9s %8s       %s", run.status, milliseconds(run.took), said)
	return nil
}

func stored(s *stage) error {
	s.skills = map[string]string{}
	for _, name := range []string{"wordcount", "streak", "journal"} {
		row, err := s.repo.skillRow(name)
		if err != nil {
			return err
		}
		if s.skills[name], err = s.store(s.phone.session, "ada", row); err != nil {
			return err
		}
	}
	return nil
}

func ran(s *stage) error {
	short := skillRun{status: "succeeded", steps: 2, output: `{"words": 3, "streak": null, "favourites": ["it", "rained", "today"]}`}
	if err := s.runs(s.skills["journal"], `{"entry": "It rained today.", "date": "2026-03-01"}`, short); err != nil {
		return err
	}
	long := skillRun{status: "succeeded", steps: 2, output: `{"words": 21, "streak": 1, "favourites": ["the", "was", "river"]}`}
	return s.runs(s.skills["journal"], `{"entry": "The river was high, the river was brown, the river was loud, and the old bridge by the mill was closed.", "date": "2026-03-02"}`, long)
}

func granted(s *stage) error {
	bob, err := signIn(s.ctx, s.db, s.stranger)
	if err != nil {
		return err
	}
	defer func() { _ = bob.close() }()
	nosy, err := s.store(bob, "bob", map[string]any{"name": "nosy", "kind": "javascript", "visibility": "public",
		"capabilities": []string{"memories:read"},
		"source":       "export default async (input, helix) => (await helix.memories.list()).length"})
	if err != nil {
		return err
	}
	if err := s.runs(nosy, `{}`, skillRun{status: "failed", code: "capability_not_granted"}); err != nil {
		return err
	}
	s.out.line("   ada     grants it memories:read, for this code only")
	var sha string
	if err := s.admin.QueryRow(s.ctx, "select sha256 from public.skills where id = $1", nosy).Scan(&sha); err != nil {
		return err
	}
	err = s.phone.insert(s, "skill_grants", map[string]any{"skill_id": nosy, "sha256": sha, "capability": "memories:read"})
	if err != nil {
		return err
	}
	return s.runs(nosy, `{}`, skillRun{status: "succeeded", output: "0"})
}

func ended(s *stage) error {
	loop, err := s.store(s.phone.session, "ada", map[string]any{"name": "loop", "kind": "javascript",
		"limits": map[string]any{"cpu_ms": 500, "wall_ms": 5000}, "source": "export default () => { for (;;); }"})
	if err != nil {
		return err
	}
	endless, sent, err := s.start(loop, `{}`)
	if err != nil {
		return err
	}
	count := skillRun{status: "succeeded", output: `{"top": [{"word": "on", "count": 2}], "words": 4, "unique": 3, "sentences": 1, "characters": 14}`}
	if err := s.runs(s.skills["wordcount"], `{"text": "on and on they", "top": 1}`, count); err != nil {
		return err
	}
	if endless, err = s.finish(endless, sent); err != nil {
		return err
	}
	return s.ends(endless, skillRun{status: "timed_out", code: "cpu_time_exceeded"})
}
