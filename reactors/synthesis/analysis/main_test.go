package analysis_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/synthesis/analysis"
	"github.com/helixd/helixd/reactors/usage"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const patience = 2 * time.Minute

// bench is a project with helixd's stream and jobs in this process.
type bench struct {
	reactortest.Project
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{Project: reactortest.NewProject(t)}
}

// work lets a process's worth of jobs be done, until stop or the test's end.
func (b *bench) work(t testing.TB, c analysis.Config, model analysis.Model, budgets map[string]usage.Budget) (stop func()) {
	t.Helper()
	pool := b.DB.Pool(t, "postgres")
	service := analysis.NewService(c, pool, model, usage.NewLedger(pool, budgets, nil), zerolog.New(zerolog.NewTestWriter(t)))
	return reactortest.Work(t, pool, reactors.With(service))
}

// stream lets the reactor see what is written from now on.
func (b *bench) stream(t testing.TB) {
	t.Helper()
	reactortest.Stream(t, b.DB, b.Pool, analysis.Reactor{})
}

func get[T any](t testing.TB, b *bench, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, b.Admin, sql, args...)
}

// until polls a condition.
func (b *bench) until(t testing.TB, what, sql string, args ...any) {
	t.Helper()
	err := testenv.Poll(t.Context(), patience, 5*time.Millisecond, what, func() (bool, error) { return get[bool](t, b, sql, args...), nil })
	if err != nil {
		t.Fatalf("%v; rows: %s; jobs: %s", err, get[string](t, b, "select coalesce(string_agg(concat_ws(' ', status, progress, provider, error), '; '), '') from memory_synthesis_jobs"),
			get[string](t, b, "select coalesce(jsonb_agg(jsonb_build_object('s', state, 'e', errors, 'a', scheduled_at))::text, '') from (select * from helix.river_job where queue = 'analysis' order by id desc limit 5) j"))
	}
}

// row is a row of memory_synthesis_jobs.
type row struct {
	Status   string         `json:"status"`
	Progress float64        `json:"progress"`
	Analysis map[string]any `json:"analysis"`
	Summary  string         `json:"summary"`
	Layer    *int           `json:"layer"`
	Provider string         `json:"provider"`
	Input    int64          `json:"input_tokens"`
	Output   int64          `json:"output_tokens"`
	Took     *int64         `json:"execution_time_ms"`
	Error    *struct {
		Code      string     `json:"code"`
		Message   string     `json:"message"`
		Retryable bool       `json:"retryable"`
		NextTry   *time.Time `json:"next_try"`
	} `json:"error"`
	Finished *time.Time `json:"finished_at"`
}

func (b *bench) row(t testing.TB, id uuid.UUID) (r row) {
	t.Helper()
	if err := json.Unmarshal(get[[]byte](t, b, "select to_jsonb(j) from memory_synthesis_jobs j where id = $1", id), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// pattern is a row of memory_patterns, with its recommendation.
type pattern struct {
	Type        string         `json:"pattern_type"`
	Description string         `json:"description"`
	Layer       int            `json:"layer"`
	Evidence    []string       `json:"evidence"`
	Confidence  float64        `json:"confidence"`
	Content     map[string]any `json:"content"`
	Advice      *string        `json:"recommendation"`
}

func (b *bench) patterns(t testing.TB, job uuid.UUID) (all []pattern) {
	t.Helper()
	raw := get[[]byte](t, b, `select coalesce(jsonb_agg(to_jsonb(p) || jsonb_build_object('recommendation', r.recommendation) order by p.confidence desc, p.description), '[]')
		from memory_patterns p left join synthesis_recommendations r on r.pattern_id = p.id where p.job_id = $1`, job)
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// conversation is an entry of conversations.
type conversation struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	Timestamp string `json:"timestamp,omitempty"`
}

// order inserts a row; conversations may be anything.
func (b *bench) order(t testing.TB, user uuid.UUID, kind string, conversations any) uuid.UUID {
	t.Helper()
	var raw *string
	switch c := conversations.(type) {
	case nil:
	case string:
		raw = &c
	default:
		text, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		s := string(text)
		raw = &s
	}
	return get[uuid.UUID](t, b, "insert into memory_synthesis_jobs (user_id, synthesis_type, conversations) values ($1, $2, $3::jsonb) returning id", user, kind, raw)
}

// ended waits for a row's end and gives it.
func (b *bench) ended(t testing.TB, job uuid.UUID) row {
	t.Helper()
	b.until(t, "the analysis", "select status in ('done', 'failed') from memory_synthesis_jobs where id = $1", job)
	return b.row(t, job)
}

func (b *bench) done(t testing.TB, job uuid.UUID) row {
	t.Helper()
	r := b.ended(t, job)
	if r.Status != "done" || r.Error != nil || r.Progress != 1 || r.Finished == nil || r.Took == nil || r.Summary == "" || r.Provider == "" || r.Analysis == nil {
		t.Errorf("the row is not whole: %+v", r)
	}
	return r
}

// diary is conversations a day apart.
func diary(texts ...string) (all []conversation) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for i, text := range texts {
		all = append(all, conversation{fmt.Sprintf("talk-%d", i+1), text, at.AddDate(0, 0, i).Format(time.RFC3339)})
	}
	return all
}

func contains(t testing.TB, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %.2000s", want, text)
		}
	}
}
