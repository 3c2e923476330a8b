package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

func TestRun(t *testing.T) {
	p := newPool(t)

	t.Run("a module gets its input and gives its output", func(t *testing.T) {
		r := mustRun(t, p, run(echo(), `{"a":[1,"ü"]}`))
		if string(r.Output) != `{"a":[1,"ü"]}` || r.PeakMemory != 64<<10 || r.Wall <= 0 || r.CPU <= 0 || r.HostErrors != nil {
			t.Errorf("%+v, output %s", r, r.Output)
		}
	})

	t.Run("a call that ended well leaves the worker to the next one of its tenant", func(t *testing.T) {
		first, second := mustRun(t, p, do(deed{Do: "pid"})), mustRun(t, p, do(deed{Do: "pid"}))
		if string(first.Output) != string(second.Output) {
			t.Errorf("workers %s and %s", first.Output, second.Output)
		}
	})

	t.Run("a worker never serves a second tenant", func(t *testing.T) {
		of := map[string]string{}
		for i := range 12 {
			call := do(deed{Do: "pid"})
			call.Tenant = fmt.Sprint(i % 4)
			pid := string(mustRun(t, p, call).Output)
			if before, ok := of[pid]; ok && before != call.Tenant {
				t.Fatalf("worker %s served %s and %s", pid, before, call.Tenant)
			}
			of[pid] = call.Tenant
		}
	})

	t.Run("a memory is zero in every call", func(t *testing.T) {
		for range 3 {
			r := mustRun(t, p, do(deed{Do: "memory", N: 200}))
			if r.PeakMemory != 200<<16 {
				t.Errorf("peak %d", r.PeakMemory)
			}
		}
	})

	t.Run("logs are of the call, bounded and text", func(t *testing.T) {
		r := mustRun(t, p, do(deed{Do: "log", N: 3, Text: "a\x00b\n"}))
		if r.Logs != "a�b\na�b\na�b\n" {
			t.Errorf("%q", r.Logs)
		}
		r = mustRun(t, p, do(deed{Do: "log", N: 5000, Text: "0123456789"}))
		if len(r.Logs) != testLimits.Logs || !strings.HasPrefix(r.Logs, "01234567890") {
			t.Errorf("%d bytes of logs", len(r.Logs))
		}
	})

	t.Run("more programs than a worker keeps are loaded in turns", func(t *testing.T) {
		for range 2 {
			for i := range 10 {
				call := run(execute(I32Const(int32(i))), `null`)
				if r := mustRun(t, p, call); string(r.Output) != fmt.Sprint(i) {
					t.Fatalf("program %d gave %s", i, r.Output)
				}
			}
		}
	})
}

// dyingArg makes this binary a child each other one of which is killed as it starts.
const dyingArg = "dying-child"

func dyingChild(dir string) int {
	if mark := filepath.Join(dir, "killed"); os.Mkdir(mark, 0o700) != nil && os.Remove(mark) == nil {
		return child()
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	return 1
}

// A child that is killed before it has anything to do is nobody's fault: no call hears of it.
func TestKilledAtStart(t *testing.T) {
	dir := openDir(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, func(c *sandbox.Config) { c.Command = []string{"/proc/self/exe", dyingArg, dir} })
	for range 4 {
		// This child ends, so that the next call needs another one.
		if r, err := p.Run(context.Background(), do(deed{Do: "exit"})); err == nil || strings.Contains(err.Error(), "start a child") {
			t.Fatalf("%+v, %v", r, err)
		}
		if r, err := p.Run(context.Background(), run(echo(), `"here"`)); err != nil || string(r.Output) != `"here"` {
			t.Fatalf("%s, %v", r.Output, err)
		}
	}
}

func TestManyCalls(t *testing.T) {
	p := newPool(t, func(c *sandbox.Config) { c.Workers = 3 })
	var calls sync.WaitGroup
	for i := range 60 {
		calls.Go(func() {
			call := run(echo(), fmt.Sprint(i))
			call.Tenant = fmt.Sprint(i % 5)
			if i%10 == 9 {
				call = do(deed{Do: "exit", N: 1})
				if _, err := p.Run(context.Background(), call); err == nil {
					t.Errorf("call %d: a worker that exits gave no error", i)
				}
				return
			}
			r, err := p.Run(context.Background(), call)
			if err != nil || string(r.Output) != fmt.Sprint(i) {
				t.Errorf("call %d: %s, %v", i, r.Output, err)
			}
		})
	}
	calls.Wait()
	// What was killed may be there still, but not beyond the number of workers.
	if n := len(children(t)); n < 1 || n > 3 {
		t.Errorf("%d children", n)
	}
}

func TestStaff(t *testing.T) {
	p := newPool(t, func(c *sandbox.Config) { c.Workers = 3 })
	none := len(children(t))
	if _, err := p.Check(context.Background(), "ada", hostileCode("good")); err != nil {
		t.Fatal(err)
	}
	if n := len(children(t)); n != none {
		t.Errorf("%d children before the first call", n-none)
	}

	mustRun(t, p, do(deed{Do: "echo"}))
	waitFor(t, func() bool { return len(children(t)) == none+2 }) // and a spare

	// A second tenant gets the spare, a third one a place, and a fourth one that of
	// the tenant who idles for longest, which is the first.
	first := string(mustRun(t, p, do(deed{Do: "pid"})).Output)
	pids := map[string]bool{}
	for _, tenant := range []string{"b", "c", "d", "e"} {
		call := do(deed{Do: "pid"})
		call.Tenant = tenant
		pids[string(mustRun(t, p, call).Output)] = true
	}
	if pids[first] || len(pids) != 4 {
		t.Errorf("first %s, then %v", first, pids)
	}
	if n := p.Staffed(); n > 3 {
		t.Errorf("%d children", n)
	}
	if again := string(mustRun(t, p, do(deed{Do: "pid"})).Output); again == first {
		t.Error("the first tenant's worker was not the one to go")
	}

	p.SetIdleTime(20 * time.Millisecond)
	call := do(deed{Do: "echo"})
	for _, tenant := range []string{"a", "b", "c", "d", "e"} { // whose timers are set anew
		call.Tenant = tenant
		mustRun(t, p, call)
	}
	waitFor(t, func() bool { return p.Staffed() == 0 && len(children(t)) == none })
	mustRun(t, p, do(deed{Do: "echo"}))
}

func TestTurns(t *testing.T) {
	p := newPool(t, func(c *sandbox.Config) { c.Workers = 1 })
	held, release := make(chan struct{}), make(chan struct{})
	hold := do(deed{Do: "host", N: 1, Text: "hold"})
	hold.Host = hostFunc(func(context.Context, string, []byte) ([]byte, error) {
		close(held)
		<-release
		return []byte(`1`), nil
	})
	var calls sync.WaitGroup
	calls.Go(func() { mustRun(t, p, hold) })
	<-held

	// The greedy tenant stands in line with ten calls before the modest one comes. Each
	// counts while it has the worker: who hears first of its end is the machine's affair.
	var served atomic.Int32
	lined := func(tenant string, n int) {
		calls.Go(func() {
			call := do(deed{Do: "host", N: 1, Text: "turn"})
			call.Tenant = tenant
			call.Host = hostFunc(func(context.Context, string, []byte) ([]byte, error) {
				if place := served.Add(1); tenant == "modest" && place > 3 {
					t.Errorf("the modest tenant was served at place %d", place)
				}
				return []byte(`1`), nil
			})
			mustRun(t, p, call)
		})
		waitFor(t, func() bool { return p.Waiting() == n })
	}
	for i := range 10 {
		lined("greedy", i+1)
	}
	lined("modest", 11)
	close(release)
	calls.Wait()
}

func TestWaiting(t *testing.T) {
	p := newPool(t, func(c *sandbox.Config) { c.Workers = 1 })
	ctx, cancel := context.WithCancel(context.Background())
	started := make(chan struct{})
	busy := do(deed{Do: "host", N: 1, Text: "block"})
	busy.Host = hostFunc(func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	var calls sync.WaitGroup
	calls.Go(func() {
		_, err := p.Run(ctx, busy)
		wantCode(t, err, sandbox.Cancelled)
	})
	<-started

	t.Run("ends with its context", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		defer cancel()
		call := do(deed{Do: "echo"})
		call.Tenant = "b"
		_, err := p.Run(ctx, call)
		wantCode(t, err, sandbox.Cancelled)
		if n := p.Waiting(); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
	cancel()
	calls.Wait()

	t.Run("a cancelled call leaves a pool that works", func(t *testing.T) {
		mustRun(t, p, do(deed{Do: "echo"}))
	})
}

func TestClose(t *testing.T) {
	t.Run("ends the calls, the children and the caches", func(t *testing.T) {
		p := newPool(t)
		before := children(t)
		started := make(chan struct{})
		call := do(deed{Do: "host", N: 1, Text: "block"})
		call.Host = hostFunc(func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
			close(started)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		var calls sync.WaitGroup
		calls.Go(func() {
			_, err := p.Run(context.Background(), call)
			wantCode(t, err, sandbox.Unavailable)
		})
		<-started
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		calls.Wait()
		if after := children(t); len(after) > len(before) {
			t.Errorf("children are left: %v", after)
		}
		_, err := p.Run(context.Background(), do(deed{Do: "echo"}))
		wantCode(t, err, sandbox.Unavailable)
		if _, err := p.Check(context.Background(), "ada", hostileCode("other")); err == nil {
			t.Error("a closed pool checks")
		}
	})

	t.Run("is not needed for the sockets of workers that ended by themselves", func(t *testing.T) {
		defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which closes what nobody holds
		p := newPool(t, func(c *sandbox.Config) { c.Workers = 1 })
		exit := func() {
			if _, err := p.Run(context.Background(), do(deed{Do: "exit"})); err == nil {
				t.Fatal("it did not exit")
			}
			waitFor(t, func() bool { return p.Staffed() == 0 })
		}
		exit()
		_, before := counts(t)
		for range 5 {
			exit()
		}
		if _, after := counts(t); after > before {
			t.Errorf("%d descriptors, and %d after five workers more", before, after)
		}
	})

	t.Run("leaves no goroutine and no descriptor", func(t *testing.T) {
		newPool(t).Close() // what the first pool makes for good is there
		goroutines, descriptors := counts(t)
		p := newPool(t)
		for i := range 5 {
			call := do(deed{Do: "echo"})
			call.Tenant = fmt.Sprint(i)
			mustRun(t, p, call)
		}
		call := do(deed{Do: "loop"})
		call.Limits.Wall = 50 * time.Millisecond
		_, err := p.Run(context.Background(), call)
		wantCode(t, err, sandbox.WallTimeExceeded)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		waitFor(t, func() bool {
			g, d := counts(t)
			return g <= goroutines && d <= descriptors
		})
	})
}

// hostFunc is a Host.
type hostFunc func(ctx context.Context, name string, request []byte) ([]byte, error)

func (f hostFunc) Call(ctx context.Context, name string, request []byte) ([]byte, error) {
	return f(ctx, name, request)
}

// holder is a Host that does something once the program has each reply.
type holder struct{ after, nested chan bool }

func (h *holder) Call(ctx context.Context, _ string, _ []byte) ([]byte, error) {
	h.nested <- sandbox.AfterReply(ctx, &holder{}, func() { panic("of another host") })
	if !sandbox.AfterReply(ctx, h, func() { h.after <- true }) {
		return nil, errors.New("it is never done")
	}
	return []byte(strings.Repeat("1", 100<<10)), nil
}

func TestAfterReply(t *testing.T) {
	p := newPool(t)
	h := &holder{make(chan bool, 4), make(chan bool, 4)}
	call := do(deed{Do: "host", N: 4, Text: "large"})
	call.Host = h
	if _, err := p.Run(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	if len(h.after) != 4 {
		t.Errorf("%d of 4 replies were told to be out of the way", len(h.after))
	}
	for range 4 {
		if <-h.nested {
			t.Error("a reply is promised to a host that does not give it")
		}
	}
}

func TestHostCalls(t *testing.T) {
	p := newPool(t)

	t.Run("are answered in any order", func(t *testing.T) {
		call := do(deed{Do: "host", N: 10, Text: "kv.get"})
		var n atomic.Int32
		call.Host = hostFunc(func(_ context.Context, name string, request []byte) ([]byte, error) {
			if name != "kv.get" || string(request) != `{"a":1}` {
				t.Errorf("%s %s", name, request)
			}
			return []byte(fmt.Sprint(n.Add(1))), nil
		})
		r := mustRun(t, p, call)
		var responses map[string]int
		if err := json.Unmarshal(r.Output, &responses); err != nil || len(responses) != 10 || r.HostCalls != 10 {
			t.Errorf("%s, %d calls, %v", r.Output, r.HostCalls, err)
		}
	})

	t.Run("large responses do not stall a program that asks first and reads later", func(t *testing.T) {
		call := do(deed{Do: "host", N: 10, Text: "large"})
		call.Host = hostFunc(func(context.Context, string, []byte) ([]byte, error) {
			return []byte(`"` + strings.Repeat("x", 90<<10) + `"`), nil
		})
		if r := mustRun(t, p, call); len(r.Output) < 10*90<<10 {
			t.Errorf("%d bytes", len(r.Output))
		}
	})

	t.Run("beyond the limit end the call", func(t *testing.T) {
		call := do(deed{Do: "host", N: 11, Text: "kv.get"})
		call.Host = hostFunc(func(context.Context, string, []byte) ([]byte, error) { return []byte(`1`), nil })
		_, err := p.Run(context.Background(), call)
		wantCode(t, err, sandbox.HostCallLimit)
	})

	for name, c := range map[string]struct {
		host    hostFunc
		code    sandbox.Code
		message string
		private string
	}{
		"an error's code and message go to the program": {
			host: func(context.Context, string, []byte) ([]byte, error) {
				return nil, sandbox.Errorf("host_not_allowed", "no")
			}, code: "host_not_allowed", message: "no",
		},
		"other errors do not": {
			host: func(context.Context, string, []byte) ([]byte, error) { return nil, errors.New("password 123") },
			code: "internal", message: "The host call failed.", private: "password 123",
		},
		"a panic is contained": {
			host: func(context.Context, string, []byte) ([]byte, error) { panic("of a bug") },
			code: "internal", message: "The host call failed.", private: "of a bug",
		},
		"a response that is too large is an error": {
			host: func(context.Context, string, []byte) ([]byte, error) { return make([]byte, 9<<20), nil },
			code: "response_too_large", message: "The response has more than 8 MB.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			call := do(deed{Do: "host", N: 1, Text: "x"})
			call.Host = c.host
			r, err := p.Run(context.Background(), call)
			if got := wantCode(t, err, c.code); got.Message != c.message {
				t.Errorf("message %q", got.Message)
			}
			if private := fmt.Sprint(r.HostErrors); (c.private != "") != (len(r.HostErrors) == 1) || !strings.Contains(private, c.private) {
				t.Errorf("host errors %s", private)
			}
		})
	}

	t.Run("of a module are refused where they are too long", func(t *testing.T) {
		for _, c := range []struct {
			name, request int32
			want          string
		}{{65, 2, "unknown_host_call"}, {6, 1<<20 + 1, "input_too_large"}} {
			var m Module
			call := m.Import("helix", "call", Types{I32, I32, I32, I32}, Types{I64})
			m.Memory(20)
			m.ExportMemory("memory")
			m.ExportFunc("skill_alloc", m.Func("alloc", Types{I32}, Types{I32}, nil, I32Const(1024)))
			m.ExportFunc("skill_run", m.Func("run", Types{I32, I32}, Types{I64}, nil,
				I32Const(0), I32Const(c.name), I32Const(0), I32Const(c.request), Call(call)))
			if r := mustRun(t, p, run(m.Bytes(), `null`)); !strings.Contains(string(r.Output), `"code":"`+c.want+`"`) {
				t.Errorf("output %s, want %s", r.Output, c.want)
			}
		}
	})

	t.Run("without a host fail", func(t *testing.T) {
		_, err := p.Run(context.Background(), do(deed{Do: "host", N: 1, Text: "x"}))
		wantCode(t, err, "unknown_host_call")
	})
}
