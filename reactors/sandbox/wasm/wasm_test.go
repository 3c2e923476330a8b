package wasm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/wasm"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

var now = time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)

// noCache is the cache of a guest that keeps nothing in it.
type noCache struct{}

func (noCache) Read(string) ([]byte, error) { return nil, fs.ErrNotExist }
func (noCache) Write(name string, _ []byte) error {
	return fmt.Errorf("wrote %q", name)
}

func newRuntime(t testing.TB) wazero.Runtime {
	t.Helper()
	rt := wazero.NewRuntimeWithConfig(t.Context(), sandbox.RuntimeConfig)
	t.Cleanup(func() {
		if err := rt.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// load checks and loads a module.
func load(t testing.TB, code []byte) sandbox.Loaded {
	t.Helper()
	rt := newRuntime(t)
	if _, err := (wasm.Guest{}).Check(t.Context(), rt, code, noCache{}); err != nil {
		t.Fatalf("check: %v", err)
	}
	loaded, err := wasm.Guest{}.Load(t.Context(), rt, code, noCache{})
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	t.Cleanup(func() {
		if err := loaded.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return loaded
}

// outcome is what one run came to.
type outcome struct {
	output string
	err    *sandbox.Error
	logs   string
	memory int64
	calls  []string // "name request"
}

// run runs a module once, changed being the differences from a usual Env.
func run(t testing.TB, loaded sandbox.Loaded, input string, changed ...func(*sandbox.Env)) outcome {
	t.Helper()
	return runWith(t, experimental.WithMemoryAllocator(t.Context(), &goMemory{}), loaded, input, changed...)
}

func runWith(t testing.TB, ctx context.Context, loaded sandbox.Loaded, input string, changed ...func(*sandbox.Env)) outcome {
	t.Helper()
	var o outcome
	var logs bytes.Buffer
	env := &sandbox.Env{
		Input: []byte(input), Limits: sandbox.DefaultLimits, Seed: [32]byte{1}, Now: now, Logs: &logs,
		Memory: func(n int64) { o.memory = n },
	}
	env.HostCall = func(name string, request []byte) (uint32, error) {
		o.calls = append(o.calls, name+" "+string(request))
		if len(o.calls) > env.Limits.HostCalls {
			return 0, sandbox.Errorf(sandbox.HostCallLimit, "too many host calls")
		}
		return uint32(len(o.calls)), nil
	}
	env.Reply = func() (uint32, []byte, error) {
		if strings.HasPrefix(o.calls[len(o.calls)-1], "refused ") {
			return uint32(len(o.calls)), nil, sandbox.Errorf("capability_refused", `not "you"`)
		}
		return uint32(len(o.calls)), []byte(`{"n":1}`), nil
	}
	for _, change := range changed {
		change(env)
	}
	output, err := loaded.Run(ctx, env)
	o.output, o.logs = string(output), logs.String()
	if err != nil && !errors.As(err, &o.err) {
		t.Fatalf("the error of a run is no *sandbox.Error: %v", err)
	}
	return o
}

// skill is a module of kind run: skill_alloc gives the same place always, and
// body is skill_run, whose parameters are locals 0 and 1.
func skill(m *Module, locals Types, body ...[]byte) []byte {
	m.Memory(1)
	m.ExportMemory("memory")
	m.ExportFunc("skill_alloc", m.Func("skill_alloc", Types{I32}, Types{I32}, nil, I32Const(4096)))
	m.ExportFunc("skill_run", m.Func("skill_run", Types{I32, I32}, Types{I64}, locals, body...))
	return m.Bytes()
}

// pack makes ptr<<32 | len of two i32 expressions.
func pack(ptr, size []byte) []byte {
	return bytes.Join([][]byte{ptr, I64ExtendU, I64Const(32), I64Shl, size, I64ExtendU, I64Or}, nil)
}

// echo gives its input back.
func echo() []byte { return skill(&Module{}, nil, pack(LocalGet(0), LocalGet(1))) }

// counting is an allocator in a child's place.
type counting struct {
	allocated, freed int
	max              uint64
	buffer           []byte
}

func (c *counting) context(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, c)
}

func (c *counting) Allocate(_, max uint64) experimental.LinearMemory {
	c.allocated++
	c.max, c.buffer = max, make([]byte, max)
	return c
}

func (c *counting) Reallocate(size uint64) []byte { return c.buffer[:size] }
func (c *counting) Free()                         { c.freed++ }

// goMemory is an allocator of plain memory.
type goMemory struct{ buffer []byte }

func (*goMemory) Allocate(capacity, _ uint64) experimental.LinearMemory {
	return &goMemory{make([]byte, 0, capacity)}
}

func (g *goMemory) Reallocate(size uint64) []byte {
	if n := uint64(len(g.buffer)); size > n {
		g.buffer = append(g.buffer, make([]byte, size-n)...)
	}
	return g.buffer
}

func (g *goMemory) Free() { g.buffer = nil }
