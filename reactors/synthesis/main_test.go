package synthesis_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/pgvector/pgvector-go"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/synthesis"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const patience = 3 * time.Minute

// bench is a project with helixd's stream and jobs in this process.
type bench struct {
	reactortest.Project
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{Project: reactortest.NewProject(t)}
}

// config is the default one with a delay for tests.
func config() synthesis.Config {
	c := synthesis.DefaultConfig
	c.Delay = 20 * time.Millisecond
	return c
}

// work lets a process's worth of jobs be done, until stop or the test's end.
func (b *bench) work(t testing.TB, c synthesis.Config) (stop func()) {
	t.Helper()
	pool := b.DB.Pool(t, "postgres")
	return reactortest.Work(t, pool, reactors.With(synthesis.NewService(c, pool, zerolog.New(zerolog.NewTestWriter(t)))))
}

// stream lets the reactor see what is written from now on.
func (b *bench) stream(t testing.TB, c synthesis.Config) {
	t.Helper()
	reactortest.Stream(t, b.DB, b.Pool, synthesis.Reactor{Delay: c.Delay})
}

func get[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

// until polls a condition.
func (b *bench) until(t testing.TB, what, sql string, args ...any) {
	t.Helper()
	err := testenv.Poll(t.Context(), patience, 5*time.Millisecond, what, func() (bool, error) { return get[bool](t, b.Admin, sql, args...), nil })
	if err != nil {
		t.Fatalf("%v; jobs: %s", err, get[string](t, b.Admin,
			"select coalesce(jsonb_agg(jsonb_build_object('s', state, 'e', errors, 'a', scheduled_at))::text, '') from (select * from helix.river_job where queue = 'synthesis' order by id desc limit 5) j"))
	}
}

// settled waits until everything has been streamed and no user is due. The stream is
// past what was committed when a user that a marker row names has been marked.
func (b *bench) settled(t testing.TB) {
	t.Helper()
	marker := b.User(t)
	b.Exec(t, "insert into synthesis_settings (user_id, enabled) values ($1, false)", marker)
	b.until(t, "the stream", "select exists (select from helix.synthesis_work where user_id = $1)", marker)
	b.until(t, "the syntheses", `select not exists (select from helix.synthesis_work where due) and not exists (
		select from helix.river_job where queue = 'synthesis' and state in ('available', 'pending', 'scheduled', 'running', 'retryable'))`)
}

// pattern is what a row of memory_synthesis says.
type pattern struct {
	ID         uuid.UUID      `json:"id"`
	Type       string         `json:"pattern_type"`
	Members    []uuid.UUID    `json:"memory_ids"`
	Content    string         `json:"synthesis_content"`
	Confidence float64        `json:"confidence_score"`
	Details    map[string]any `json:"details"`
	Print      string         `json:"fingerprint"`
	Updated    time.Time      `json:"updated_at"`
}

func (b *bench) patterns(t testing.TB, user uuid.UUID) (all []pattern) {
	t.Helper()
	raw := get[[]byte](t, b.Admin, "select coalesce(jsonb_agg(s order by pattern_type, created_at, id), '[]') from memory_synthesis s where user_id = $1", user)
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// sentence is one of the intents.
type sentence struct {
	text, label string // "oos": none of the intents
	vector      []float32
}

const intentsDir = "testdata/intents/"

// intents are CLINC150's: see their README. Vectors are padded to 1,536.
var intents = sync.OnceValues(func() (all []sentence, err error) {
	lines, err := os.ReadFile(intentsDir + "intents.jsonl")
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(intentsDir + "intents.f32")
	if err != nil {
		return nil, err
	}
	for in := bufio.NewScanner(bytes.NewReader(lines)); in.Scan(); {
		var line struct{ Text, Label string }
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return nil, err
		}
		v := make([]float32, 1536)
		for i := range 512 {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[(len(all)*512+i)*4:]))
		}
		all = append(all, sentence{line.Text, line.Label, v})
	}
	if len(raw) != len(all)*512*4 {
		return nil, fmt.Errorf("%d sentences, %d bytes of vectors", len(all), len(raw))
	}
	return all, nil
})

func mustIntents(t testing.TB) []sentence {
	t.Helper()
	all, err := intents()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// remember inserts sentences as a user's memories, a minute apart, and gives their ids.
func (b *bench) remember(t testing.TB, user uuid.UUID, sentences []sentence) []uuid.UUID {
	t.Helper()
	ids := make([]uuid.UUID, len(sentences))
	rows := make([][]any, len(sentences))
	for i, s := range sentences {
		ids[i] = uuid.New()
		var embedding any
		if s.vector != nil {
			embedding = pgvector.NewVector(s.vector).String()
		}
		rows[i] = []any{ids[i].String(), user.String(), s.text, embedding, time.Now().Add(-time.Duration(len(sentences)-i) * time.Minute).Format(time.RFC3339Nano)}
	}
	// By text, as COPY would take it: pgx need not know pgvector's types.
	for part := range slices.Chunk(rows, 200) {
		var values []string
		var args []any
		for _, r := range part {
			n := len(args)
			values = append(values, fmt.Sprintf("($%d::text::uuid, $%d::text::uuid, $%d, $%d::text::vector, $%d::text::timestamptz)", n+1, n+2, n+3, n+4, n+5))
			args = append(args, r...)
		}
		b.Exec(t, "insert into memories (id, user_id, content, embedding, created_at) values "+strings.Join(values, ", "), args...)
	}
	return ids
}
