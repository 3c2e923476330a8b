package attack_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/wasm"
	"github.com/helixd/helixd/reactors/skills/javascript"
)

func TestMain(m *testing.M) {
	if sandbox.IsChild() {
		os.Exit(sandbox.RunChild(map[string]sandbox.Guest{
			sandbox.KindWASM: wasm.Guest{}, sandbox.KindJavaScript: javascript.Guest{},
		}))
	}
	os.Exit(m.Run())
}

// small are the limits that the attacks run at; three of them run at the defaults.
var small = func() sandbox.Limits {
	l := sandbox.DefaultLimits
	l.Wall, l.CPU = time.Second, 500*time.Millisecond
	return l
}()

// late is how much later than its limit a call may end, on a machine that has
// more to do: a child to end, another to start.
const late = 10 * time.Second

func TestAttack(t *testing.T) {
	corpus := store(t, append(modules(), scripts(t)...))
	dir := t.TempDir()
	pool := newPool(t, dir)
	neighbours := meet(t, pool)
	before := residentSet(t)
	var grown atomic.Int64
	t.Run("ends with its own error", func(t *testing.T) {
		for _, a := range corpus {
			t.Run(a.kind+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				a.run(t, pool)
				now := residentSet(t) - before
				for was := grown.Load(); now > was && !grown.CompareAndSwap(was, now); was = grown.Load() {
				}
			})
		}
	})
	neighbours.leave(t)
	if len(children(t)) == 0 {
		t.Error("no child is seen where some are")
	}
	if err := pool.Close(); err != nil {
		t.Errorf("close the pool: %v", err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("left behind: children %v", left)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind in the cache's directory: %v (%v)", left, err)
	}
	t.Logf("%d attacks; the daemon grew by at most %d MB; %d runs of others meanwhile", len(corpus), grown.Load()/mega, neighbours.runs())
	if !raceDetector && grown.Load() >= 32*mega {
		t.Errorf("the daemon grew by %d MB, and 32 are permitted", grown.Load()/mega)
	}
}

// stored is an attack whose code is in a file: what it is made of is not part
// of the daemon's memory.
type stored struct {
	attack
	program sandbox.Program
}

// store writes the attacks into files, the slowest first. Without HELIX_TEST_LONG
// the costly ones are left out.
func store(t *testing.T, attacks []attack) []stored {
	t.Helper()
	slices.SortStableFunc(attacks, func(a, b attack) int { return b.cost() - a.cost() })
	dir := t.TempDir()
	var list []stored
	for n, a := range attacks {
		if a.long && os.Getenv("HELIX_TEST_LONG") == "" {
			continue
		}
		code := a.code()
		path := filepath.Join(dir, fmt.Sprint(n))
		if err := os.WriteFile(path, code, 0o600); err != nil {
			t.Fatal(err)
		}
		if a.kind == "" {
			a.kind = sandbox.KindWASM
		}
		a.code = nil
		list = append(list, stored{a, sandbox.Program{Kind: a.kind, SHA256: sha256.Sum256(code), Code: reads(path)}})
	}
	return list
}

func (a attack) cost() int {
	switch {
	case a.long:
		return 2
	case a.defaults:
		return 1
	}
	return 0
}

// reads gives a file in parts.
func reads(path string) func(context.Context, func([]byte) error) error {
	return func(ctx context.Context, write func([]byte) error) error {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		part := make([]byte, 64<<10)
		for {
			n, err := file.Read(part)
			if err := write(part[:n]); err != nil {
				return err
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	}
}

func newPool(t *testing.T, dir string) *sandbox.Pool {
	t.Helper()
	// A child is of another user, who must find the way to the cache.
	for d := dir; strings.HasPrefix(d, os.TempDir()+string(filepath.Separator)); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	pool, err := sandbox.NewPool(t.Context(), sandbox.Config{
		Dir: dir, Workers: runtime.GOMAXPROCS(0) + 2, Limits: sandbox.DefaultLimits, Log: zerolog.New(zerolog.NewTestWriter(t)).Level(zerolog.WarnLevel),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

func (a stored) run(t *testing.T, pool *sandbox.Pool) {
	limits := small
	if a.defaults {
		limits = sandbox.DefaultLimits
	}
	start := time.Now()
	_, err := pool.Check(t.Context(), "attacker", a.program)
	if err != nil {
		a.judge(t, sandbox.Result{}, err, limits)
		t.Logf("checked in %v: %v", time.Since(start).Round(time.Millisecond), err)
		return
	}
	checked := time.Since(start)
	var result sandbox.Result
	var took time.Duration
	for {
		start = time.Now()
		result, err = pool.Run(t.Context(), sandbox.Call{
			Tenant: "attacker", Program: a.program, Input: []byte(`{}`), Limits: limits, Now: time.Unix(1_800_000_000, 0), Host: shelf{},
		})
		took = time.Since(start)
		if !a.starved(err, result, limits) || limits.Wall >= 8*small.Wall {
			break
		}
		limits.Wall *= 2
	}
	a.judge(t, result, err, limits)
	if took > limits.Wall+late {
		t.Errorf("it took %v, where %v are permitted", took, limits.Wall)
	}
	t.Logf("checked in %v, ran %v with %v CPU: %.100s %v", checked.Round(time.Millisecond), took.Round(time.Millisecond), result.CPU.Round(time.Millisecond), result.Output, err)
}

// judge compares an end with what was expected.
func (a stored) judge(t *testing.T, result sandbox.Result, err error, limits sandbox.Limits) {
	t.Helper()
	var known *sandbox.Error
	switch {
	case err == nil && a.output == "" && len(a.expect) > 0:
		t.Errorf("it ended well, with %.200s; want one of %v", result.Output, a.expect)
	case err == nil && a.output != "" && string(result.Output) != a.output:
		t.Errorf("it gave %.200s, want %s", result.Output, a.output)
	case err == nil:
		if !json.Valid(result.Output) || len(result.Output) > limits.Output {
			t.Errorf("its output is none: %d bytes, %.200q", len(result.Output), result.Output)
		}
	case !errors.As(err, &known):
		t.Errorf("it ended with %v, which is no *sandbox.Error", err)
	case !slices.Contains(a.expect, known.Code) && !a.unwinding(known.Code):
		t.Errorf("it ended with %v; want one of %v %s", known, a.expect, a.output)
	case len(known.Message) > 4<<10 || !utf8.ValidString(known.Message) || strings.ContainsRune(known.Message, 0):
		t.Errorf("its message is no sentence: %d bytes, %.200q", len(known.Message), known.Message)
	}
	if len(result.Logs) > limits.Logs || !utf8.ValidString(result.Logs) || strings.ContainsRune(result.Logs, 0) {
		t.Errorf("its logs are %d bytes, of %d permitted, or no text", len(result.Logs), limits.Logs)
	}
	if result.HostCalls > limits.HostCalls {
		t.Errorf("it made %d host calls, of %d permitted", result.HostCalls, limits.HostCalls)
	}
}

// starved tells whether the clock ended a program before it had the CPU time that
// it may have: the machine had other things to do, and that says nothing.
func (a stored) starved(err error, result sandbox.Result, limits sandbox.Limits) bool {
	var known *sandbox.Error
	return errors.As(err, &known) && known.Code == sandbox.WallTimeExceeded &&
		!slices.Contains(a.expect, sandbox.WallTimeExceeded) && result.CPU < limits.CPU
}

// unwinding tells whether a busy machine, or the race detector in the child, took
// all of the CPU time for a deep stack.
func (a stored) unwinding(code sandbox.Code) bool {
	return code == sandbox.CPUTimeExceeded && slices.Contains(a.expect, sandbox.StackOverflow)
}

// shelf is a Host that has nothing.
type shelf struct{}

func (shelf) Call(_ context.Context, name string, request []byte) ([]byte, error) {
	if !json.Valid(request) {
		return nil, fmt.Errorf("request of %q is not JSON", name)
	}
	switch name {
	case "kv.get":
		return []byte(`{"value":null}`), nil
	case "boom":
		return nil, errors.New("password=hunter2 host=postgres: goroutine 1 [running]")
	default:
		return nil, sandbox.Errorf("host_call_unknown", "There is no host call %q.", name)
	}
}
