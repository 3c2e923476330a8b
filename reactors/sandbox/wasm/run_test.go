package wasm_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/sandbox"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

func TestRun(t *testing.T) {
	t.Run("gives the input back, each time in a fresh instance", func(t *testing.T) {
		m := &Module{}
		count := m.Global(I32, true, I32Const(0))
		loaded := load(t, skill(m, nil,
			GlobalGet(count), I32Const(1), I32Add, GlobalSet(count),
			// The second call in one instance would give one byte less.
			pack(LocalGet(0), bytes.Join([][]byte{LocalGet(1), I32Const(1), I32Add, GlobalGet(count), I32Sub}, nil))))
		for _, input := range []string{`{"a":1}`, `[]`} {
			if o := run(t, loaded, input); o.err != nil || o.output != input || o.memory != 65536 {
				t.Fatalf("%+v", o)
			}
		}
	})
	t.Run("is null when the output is empty", func(t *testing.T) {
		if o := run(t, load(t, skill(&Module{}, nil, I64Const(0))), `{}`); o.output != "null" {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("takes the line's end off the output", func(t *testing.T) {
		if o := run(t, load(t, echo()), "[]\r\n"); o.output != "[]" {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("calls _initialize first", func(t *testing.T) {
		m := &Module{}
		ready := m.Global(I32, true, I32Const(0))
		m.ExportFunc("_initialize", m.Func("", nil, nil, nil, I32Const(7), GlobalSet(ready)))
		m.ExportFunc("execute", m.Func("", nil, Types{I32}, nil, GlobalGet(ready)))
		if o := run(t, load(t, m.Bytes()), `{}`); o.output != "7" {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("calls _start first in a skill, and takes its exit for its end", func(t *testing.T) {
		m := &Module{}
		exit := m.Import("wasi_snapshot_preview1", "proc_exit", Types{I32}, nil)
		ready := m.Global(I32, true, I32Const(0))
		m.ExportFunc("_start", m.Func("", nil, nil, nil, I32Const(2), GlobalSet(ready), I32Const(0), Call(exit)))
		o := run(t, load(t, skill(m, nil, pack(LocalGet(0), GlobalGet(ready)))), `12345`)
		if o.output != "12" {
			t.Fatalf("%+v", o)
		}
	})
	for name, limit := range map[string]struct {
		change func(*sandbox.Env)
		code   sandbox.Code
	}{
		"refuses too large an input":                  {func(e *sandbox.Env) { e.Limits.Input = 3 }, sandbox.InputTooLarge},
		"refuses too large an output":                 {func(e *sandbox.Env) { e.Limits.Output = 3 }, sandbox.OutputTooLarge},
		"refuses a memory whose minimum is too large": {func(e *sandbox.Env) { e.Limits.Memory = 65535 }, sandbox.MemoryExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			if o := run(t, load(t, echo()), `1234`, limit.change); o.err == nil || o.err.Code != limit.code {
				t.Fatalf("%+v", o)
			}
		})
	}
}

func TestExecute(t *testing.T) {
	for name, c := range map[string]struct {
		result Type
		body   []byte
		output string
	}{
		"i32": {I32, I32Const(-42), "-42"},
		"i64": {I64, I64Const(-1 << 62), "-4611686018427387904"},
		"f32": {F32, F32Const(0.1), "0.1"},
		"f64": {F64, F64Const(1e300), "1e+300"},
	} {
		t.Run("gives an "+name+" as JSON", func(t *testing.T) {
			m := &Module{}
			m.ExportFunc("execute", m.Func("", nil, Types{c.result}, nil, c.body))
			if o := run(t, load(t, m.Bytes()), `{}`); o.output != c.output {
				t.Fatalf("%+v", o)
			}
		})
	}
	t.Run("has no JSON for what is no number", func(t *testing.T) {
		m := &Module{}
		m.ExportFunc("execute", m.Func("", nil, Types{F64}, nil, F64Const(0), F64Const(0), Op(0xa3)))
		if o := run(t, load(t, m.Bytes()), `{}`); o.err == nil || o.err.Code != sandbox.InvalidOutput {
			t.Fatalf("%+v", o)
		}
	})
}

func TestTraps(t *testing.T) {
	for name, c := range map[string]struct {
		body []byte
		code sandbox.Code
		says string
	}{
		"unreachable":       {Unreachable, sandbox.Trap, "the module trapped: unreachable code reached in function parse"},
		"out of bounds":     {bytes.Join([][]byte{I32Const(-8), I32Load(0), Drop}, nil), sandbox.Trap, "the module trapped: out of bounds memory access in function parse"},
		"division by zero":  {bytes.Join([][]byte{I32Const(1), I32Const(0), I32DivS, Drop}, nil), sandbox.Trap, "the module trapped: integer divided by zero in function parse"},
		"indirect mismatch": {bytes.Join([][]byte{I32Const(0), CallIndirect(1), Drop}, nil), sandbox.Trap, "the module trapped: indirect call of a function of another type in function parse"},
		"no such element":   {bytes.Join([][]byte{I32Const(9), CallIndirect(0)}, nil), sandbox.Trap, "the module trapped: indirect call of an element that the table does not have in function parse"},
		"call without end":  {Call(0), sandbox.StackOverflow, "the module trapped: stack overflow"},
		"conversion of NaN": {bytes.Join([][]byte{F64Const(0), F64Const(0), Op(0xa3), Op(0xaa), Drop}, nil), sandbox.Trap, "a float that is no number"},
		"a refused growth":  {bytes.Join([][]byte{I32Const(5000), MemoryGrow, I32Const(-1), I32Eq, If(), Unreachable, End}, nil), sandbox.MemoryExceeded, "more than its 128 MB"},
	} {
		t.Run("names "+name, func(t *testing.T) {
			m := &Module{}
			m.Type(nil, nil)
			m.Type(nil, Types{I32})
			parse := m.Func("parse", nil, nil, nil, c.body)
			m.Table(1)
			m.Elem(0, parse)
			m.ExportFunc("_start", parse)
			m.Memory(1)
			m.Custom("producers", nil)
			o := run(t, load(t, m.Bytes()), `{}`)
			if o.err == nil || o.err.Code != c.code || !strings.Contains(o.err.Message, c.says) {
				t.Fatalf("%+v", o)
			}
			if c.code == sandbox.Trap && o.err.Function != "parse" {
				t.Errorf("function %q", o.err.Function)
			}
		})
	}
	t.Run("bounds what the module says of itself", func(t *testing.T) {
		m := &Module{}
		m.ExportFunc("_start", m.Func(strings.Repeat("é\n(", 10_000), nil, nil, nil, Unreachable))
		o := run(t, load(t, m.Bytes()), `{}`)
		if o.err == nil || len(o.err.Message) > 500 || strings.Contains(o.err.Message, "\n") {
			t.Fatalf("%d bytes: %+v", len(o.err.Message), o)
		}
	})
	t.Run("of the start function frees its memory", func(t *testing.T) {
		m := &Module{}
		m.Memory(2)
		boom := m.Func("boom", nil, nil, nil, Unreachable)
		m.Start(boom)
		m.ExportFunc("_start", boom)
		loaded := load(t, m.Bytes())
		allocator := &counting{}
		o := runWith(t, allocator.context(t.Context()), loaded, `{}`)
		if o.err == nil || o.err.Function != "boom" || o.memory != 2<<16 || allocator.allocated != 1 || allocator.freed != 1 {
			t.Fatalf("%+v, %+v", o, allocator)
		}
	})
	t.Run("of a segment outside of the memory is one", func(t *testing.T) {
		m := &Module{}
		m.Memory(1)
		m.Data(65536, []byte("x"))
		m.ExportFunc("_start", m.Func("", nil, nil, nil))
		if o := run(t, load(t, m.Bytes()), `{}`); o.err == nil || o.err.Code != sandbox.Trap {
			t.Fatalf("%+v", o)
		}
	})
}

func TestMemory(t *testing.T) {
	// Grows to one page more than the limit, and says what memory.grow gave.
	grow := func(pages int32) []byte {
		m := &Module{}
		m.Memory(1)
		m.ExportFunc("execute", m.Func("", nil, Types{I32}, nil, I32Const(pages), MemoryGrow))
		return m.Bytes()
	}
	limit := func(e *sandbox.Env) { e.Limits.Memory = 4 << 16 }
	t.Run("grows to the limit", func(t *testing.T) {
		if o := run(t, load(t, grow(3)), `{}`, limit); o.output != "1" || o.memory != 4<<16 {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("does not grow beyond, and goes on", func(t *testing.T) {
		if o := run(t, load(t, grow(4)), `{}`, limit); o.output != "-1" || o.memory != 1<<16 {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("comes from the context's allocator and is given back", func(t *testing.T) {
		allocator := &counting{}
		o := runWith(t, allocator.context(t.Context()), load(t, grow(3)), `{}`, limit)
		if o.output != "1" || allocator.allocated != 1 || allocator.freed != 1 || allocator.max != 4<<16 {
			t.Fatalf("%+v, %+v", o, allocator)
		}
	})
}
