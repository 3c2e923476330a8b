package sandbox_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/wasm"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

func TestMain(m *testing.M) {
	if sandbox.IsChild() {
		os.Exit(child())
	}
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case lackingArg:
			lackingChild()
			return
		case dyingArg:
			os.Exit(dyingChild(os.Args[2]))
		case parentArg:
			parent()
			return
		}
	}
	os.Exit(m.Run())
}

func child() int {
	return sandbox.RunChild(map[string]sandbox.Guest{kindHostile: hostile{}, sandbox.KindWASM: wasm.Guest{}})
}

var testLimits = sandbox.Limits{
	Wall: 20 * time.Second, CPU: 10 * time.Second, Memory: 16 << 20,
	Input: 1 << 20, Output: 1 << 20, Logs: 4 << 10, HostCalls: 10,
}

func newPool(t testing.TB, change ...func(*sandbox.Config)) *sandbox.Pool {
	t.Helper()
	cfg := sandbox.Config{Dir: openDir(t), Workers: 2, Limits: testLimits, Log: zerolog.New(zerolog.NewTestWriter(t))}
	for _, c := range change {
		c(&cfg)
	}
	p, err := sandbox.NewPool(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// openDir is a directory that a child of another user can go through.
func openDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// hostileCode is a program of kindHostile.
func hostileCode(code string) sandbox.Program {
	return sandbox.Program{Kind: kindHostile, SHA256: sha256.Sum256([]byte(code)), Code: func(_ context.Context, write func([]byte) error) error {
		return write([]byte(code))
	}}
}

// module is a program of kind wasm.
func module(code []byte) sandbox.Program {
	return sandbox.Program{Kind: sandbox.KindWASM, SHA256: sha256.Sum256(code), Code: func(_ context.Context, write func([]byte) error) error {
		for part := range slices.Chunk(code, 7) {
			if err := write(part); err != nil {
				return err
			}
		}
		return nil
	}}
}

// echo is a module that gives its input back.
func echo() []byte {
	var m Module
	m.Memory(1)
	m.ExportMemory("memory")
	m.ExportFunc("skill_alloc", m.Func("alloc", Types{I32}, Types{I32}, nil, I32Const(1024)))
	m.ExportFunc("skill_run", m.Func("run", Types{I32, I32}, Types{I64}, nil,
		LocalGet(0), I64ExtendU, I64Const(32), I64Shl, LocalGet(1), I64ExtendU, I64Or))
	return m.Bytes()
}

// execute is a module that does what body says; that ends with an i32.
func execute(body ...[]byte) []byte {
	var m Module
	m.Memory(1)
	m.ExportMemory("memory")
	m.ExportFunc("execute", m.Func("execute", nil, Types{I32}, nil, body...))
	return m.Bytes()
}

func run(code []byte, input string) sandbox.Call {
	return sandbox.Call{Tenant: "a", Program: module(code), Input: []byte(input), Limits: testLimits, Now: time.Unix(1, 0)}
}

func do(d deed) sandbox.Call {
	input, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return sandbox.Call{Tenant: "a", Program: hostileCode("good"), Input: input, Limits: testLimits, Now: time.Unix(1, 0)}
}

func wantCode(t *testing.T, err error, want sandbox.Code) *sandbox.Error {
	t.Helper()
	var got *sandbox.Error
	if !errors.As(err, &got) || got.Code != want {
		t.Fatalf("got %v, want %s", err, want)
	}
	return got
}

func mustRun(t testing.TB, p *sandbox.Pool, call sandbox.Call) sandbox.Result {
	t.Helper()
	r, err := p.Run(context.Background(), call)
	if err != nil {
		t.Fatalf("%s: %v", call.Input, err)
	}
	return r
}

// waitFor waits for what other goroutines or the kernel do.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen in 10 s")
		}
		time.Sleep(time.Millisecond) // between two looks
	}
}

// children are the pids of this process' children.
func children(t *testing.T) (pids []string) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		content, err := os.ReadFile(task)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
		pids = append(pids, strings.Fields(string(content))...)
	}
	return pids
}

func counts(t *testing.T) (goroutines, descriptors int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return runtime.NumGoroutine(), len(fds)
}
