package voice_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) {
	if sandbox.IsChild() {
		os.Exit(sandbox.RunChild(map[string]sandbox.Guest{decode.Kind: decode.Guest{}}))
	}
	testenv.Main(m)
}

const patience = 60 * time.Second

// raw is a Decoder for recordings that are samples already, for what lanes do
// whatever a recording is.
type raw struct{ refuse *decode.Error }

func (d raw) Decode(ctx context.Context, opts decode.Options, in decode.Input, out io.Writer) (decode.Info, error) {
	if d.refuse != nil {
		return decode.Info{}, d.refuse
	}
	n, err := io.Copy(out, io.NewSectionReader(in, 0, in.Size()))
	return decode.Info{Samples: n / 2}, err
}

// ear is a Transcriber made of functions, which counts what it is asked.
type ear struct {
	mostBytes    int64
	mostDuration time.Duration
	url          bool
	hear         func(ctx context.Context, r provider.Request, body []byte) (provider.Answer, error)
	ready        func() (time.Time, *provider.Error)

	mu       sync.Mutex
	requests map[string]int // by the body, or the URL
	total    int
	now      int // under way
	peak     int
}

func (e *ear) Name() string                { return "ear" }
func (e *ear) MostBytes() int64            { return e.mostBytes }
func (e *ear) MostDuration() time.Duration { return e.mostDuration }
func (e *ear) TakesURL() bool              { return e.url }

func (e *ear) Ready() (time.Time, *provider.Error) {
	if e.ready == nil {
		return time.Time{}, nil
	}
	return e.ready()
}

func (e *ear) Transcribe(ctx context.Context, r provider.Request) (provider.Answer, error) {
	var body []byte
	if r.Open != nil {
		f, err := r.Open()
		if err != nil {
			return provider.Answer{}, err
		}
		if body, err = io.ReadAll(f); err != nil {
			return provider.Answer{}, err
		}
		if int64(len(body)) != r.Size {
			return provider.Answer{}, fmt.Errorf("the body has %d bytes, and was to have %d", len(body), r.Size)
		}
	}
	e.mu.Lock()
	if e.requests == nil {
		e.requests = map[string]int{}
	}
	e.requests[string(body)+r.URL]++
	e.total++
	e.now++
	e.peak = max(e.peak, e.now)
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		e.now--
		e.mu.Unlock()
	}()
	if e.hear == nil {
		return provider.Answer{Transcript: "hello"}, nil
	}
	return e.hear(ctx, r, body)
}

func (e *ear) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.total
}

// pcm is audio of n samples, all of one value.
func pcm(samples int, value byte) []byte { return bytes.Repeat([]byte{value, 0}, samples) }

// bench is a project with helixd's stream and jobs in this process.
type bench struct {
	reactortest.Project
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{Project: reactortest.NewProject(t)}
}

// parts are what a process's worth of jobs is made of.
type parts struct {
	config  voice.Config // zero: the default one
	decoder voice.Decoder
	ear     voice.Transcriber
	objects voice.Objects
}

// work lets a process's worth of jobs be done, until stop or the test's end.
func (b *bench) work(t testing.TB, p parts) (stop func()) {
	t.Helper()
	if p.config == (voice.Config{}) {
		p.config = voice.DefaultConfig
	}
	pool := b.DB.Pool(t, "postgres")
	service := voice.NewService(p.config, pool, p.decoder, p.ear, p.objects, zerolog.New(zerolog.NewTestWriter(t)))
	return reactortest.Work(t, pool, reactors.With(service))
}

// stream lets the reactor see what is written from now on.
func (b *bench) stream(t testing.TB) {
	t.Helper()
	reactortest.Stream(t, b.DB, b.Pool, voice.Reactor{})
}

// unswept keeps the sweep from doing anything: what lanes promise they keep without it.
func (b *bench) unswept(t testing.TB) {
	t.Helper()
	if _, err := b.DB.Connect(t, "postgres").Exec(t.Context(), "select pg_advisory_lock($1)", 0x766f69636573); err != nil {
		t.Fatal(err)
	}
}

// record inserts a recording of a user's.
func (b *bench) record(t testing.TB, user uuid.UUID, audio []byte) uuid.UUID {
	t.Helper()
	return get[uuid.UUID](t, b.Admin, "insert into voice_recordings (user_id, audio_data) values ($1, $2) returning id", user, audio)
}

// row is what a recording's row says.
type row struct {
	Status     string     `json:"status"`
	Transcript *string    `json:"transcript"`
	Confidence *float64   `json:"transcript_confidence"`
	Words      []word     `json:"words"`
	Language   *string    `json:"detected_language"`
	Duration   *int64     `json:"duration_ms"`
	Provider   *string    `json:"provider"`
	Attempts   int        `json:"attempts"`
	Processed  *time.Time `json:"processed_at"`
	Error      *struct {
		Code      string     `json:"code"`
		Message   string     `json:"message"`
		Retryable bool       `json:"retryable"`
		RetryAt   *time.Time `json:"retry_at"`
	} `json:"error"`
}

type word struct {
	Word  string  `json:"word"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

func (r row) code() string {
	if r.Error == nil {
		return r.Status
	}
	return r.Status + " " + r.Error.Code
}

func (b *bench) row(t testing.TB, id uuid.UUID) (r row) {
	t.Helper()
	raw := get[[]byte](t, b.Admin, "select to_jsonb(r) - 'audio_data' - 'processed_audio' from voice_recordings r where id = $1", id)
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// ended waits for a recording's end and gives its row.
func (b *bench) ended(t testing.TB, id uuid.UUID) row {
	t.Helper()
	b.until(t, "the recording to end", "select status in ('done', 'failed') from voice_recordings where id = $1", id)
	return b.row(t, id)
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
		t.Fatalf("%v; recordings: %s", err, get[string](t, b.Admin,
			`select coalesce(jsonb_agg(jsonb_build_object('s', status, 'e', error, 'n', attempts))::text, '') from (select * from voice_recordings limit 20) r`))
	}
}

// clear waits until nothing of the work is left.
func (b *bench) clear(t testing.TB) {
	t.Helper()
	b.until(t, "the work to be gone", `select not exists (select from helix.voice_work) and not exists (select from helix.voice_answers)
		and not exists (select from helix.river_job where queue = 'voice' and state in ('available', 'running', 'retryable', 'scheduled'))`)
}

// errUnavailable is an error that a provider gets over.
var errUnavailable = &provider.Error{Code: provider.Unavailable, Message: "It is away.", Retry: true, Sent: true}

// wait lets a test hold requests.
func wait(ctx context.Context, gate <-chan struct{}) error {
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience):
		return errors.New("the test never let the request go on")
	}
}
