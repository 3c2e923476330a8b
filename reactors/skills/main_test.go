package skills_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/reactortest"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/wasm"
	"github.com/helixd/helixd/reactors/skills"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/helixd/helixd/reactors/skills/javascript"
	"github.com/helixd/helixd/reactors/skills/rights"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) {
	if sandbox.IsChild() {
		os.Exit(sandbox.RunChild(map[string]sandbox.Guest{sandbox.KindWASM: wasm.Guest{}, sandbox.KindJavaScript: javascript.Guest{}}))
	}
	testenv.Main(m)
}

// boxes are real worker children.
func boxes(t testing.TB) skills.Runner {
	t.Helper()
	dir, err := os.MkdirTemp("", "helixd-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil { // children are another user
		t.Fatal(err)
	}
	pool, err := sandbox.NewPool(t.Context(), sandbox.Config{Dir: dir, Workers: 4, Limits: sandbox.DefaultLimits, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool
}

const patience = 60 * time.Second

// runner is a Runner made of functions, for what lanes do whatever a program is.
type runner struct {
	run   func(ctx context.Context, call sandbox.Call) (sandbox.Result, error)
	check func(ctx context.Context, program sandbox.Program) (sandbox.Report, error)
}

func (r runner) Run(ctx context.Context, call sandbox.Call) (sandbox.Result, error) {
	return r.run(ctx, call)
}

func (r runner) Check(ctx context.Context, _ string, p sandbox.Program) (sandbox.Report, error) {
	if r.check == nil {
		return sandbox.Report{}, nil
	}
	return r.check(ctx, p)
}

// bench is a project with helixd's stream and jobs in this process.
type bench struct {
	reactortest.Project
	host host.Options // a Policy is the default one, unless it is set
}

func newBench(t testing.TB) *bench {
	t.Helper()
	return &bench{Project: reactortest.NewProject(t)}
}

// work lets a process's worth of jobs be done, until stop or the test's end.
func (b *bench) work(t testing.TB, cfg skills.Config, r skills.Runner) (stop func()) {
	t.Helper()
	var err error
	if b.host.Policy == nil {
		if b.host.Policy, err = rights.NewPolicy(rights.DefaultPolicy, nil); err != nil {
			t.Fatal(err)
		}
	}
	pool := b.DB.Pool(t, "postgres")
	log := zerolog.New(zerolog.NewTestWriter(t))
	service := skills.NewService(cfg, pool, r, host.New(pool, b.host), nil, log)
	return reactortest.Work(t, pool, reactors.With(service))
}

// stream lets the reactor see what is written from now on.
func (b *bench) stream(t testing.TB) {
	t.Helper()
	reactortest.Stream(t, b.DB, b.Pool, skills.Reactor{})
}

// skill inserts one of a user's.
func (b *bench) skill(t testing.TB, user uuid.UUID, more string, args ...any) uuid.UUID {
	t.Helper()
	if more == "" {
		more = "kind = 'javascript', source = 'x'"
	}
	id := get[uuid.UUID](t, b.Admin, "insert into skills (user_id, name) values ($1, 'skill') returning id", user)
	b.Exec(t, "update skills set "+more+" where id = '"+id.String()+"'", args...)
	return id
}

// run inserts one.
func (b *bench) run(t testing.TB, user, skill uuid.UUID, input string) uuid.UUID {
	t.Helper()
	return get[uuid.UUID](t, b.Admin, "insert into skill_runs (user_id, skill_id, input) values ($1, $2, $3) returning id", user, skill, input)
}

func get[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) T {
	t.Helper()
	return testenv.Get[T](t, conn, sql, args...)
}

// ended waits for a run's end and gives its status and error code.
func (b *bench) ended(t testing.TB, run uuid.UUID) string {
	t.Helper()
	b.until(t, "the run to end", "select finished_at is not null from skill_runs where id = '"+run.String()+"'")
	return get[string](t, b.Admin, "select concat_ws(' ', status, error ->> 'code') from skill_runs where id = $1", run)
}

// until polls a condition.
func (b *bench) until(t testing.TB, what, sql string, args ...any) {
	t.Helper()
	err := testenv.Poll(t.Context(), patience, 5*time.Millisecond, what, func() (bool, error) { return get[bool](t, b.Admin, sql, args...), nil })
	if err != nil {
		t.Fatalf("%v; runs: %s", err, get[string](t, b.Admin,
			`select coalesce(jsonb_agg(jsonb_build_object('s', status, 'e', error))::text, '') from (select * from skill_runs limit 20) r`))
	}
}
