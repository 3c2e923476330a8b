package wasm_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/sandbox"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

var (
	callType     = Types{I32, I32, I32, I32}
	callIntoType = Types{I32, I32, I32, I32, I32, I32}
)

// caller is a skill whose output is the response to a host call of that name with
// its input as the request.
func caller(name string) []byte {
	m := &Module{}
	call := m.Import("helix", "call", callType, Types{I64})
	m.Data(0, []byte(name))
	return skill(m, nil, I32Const(0), I32Const(int32(len(name))), LocalGet(0), LocalGet(1), Call(call))
}

func TestHostCalls(t *testing.T) {
	t.Run("give the response in memory that the module allocates", func(t *testing.T) {
		o := run(t, load(t, caller("kv.get")), `{"key":"a"}`)
		if o.output != `{"ok":{"n":1}}` || !slices.Equal(o.calls, []string{`kv.get {"key":"a"}`}) {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("give the code and the message of an error", func(t *testing.T) {
		o := run(t, load(t, caller("refused")), `{}`)
		if o.output != `{"error":{"code":"capability_refused","message":"not \"you\""}}` {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("give the code of one that is not made", func(t *testing.T) {
		o := run(t, load(t, caller("kv.get")), `{}`, func(e *sandbox.Env) {
			e.HostCall = func(string, []byte) (uint32, error) { return 0, sandbox.Errorf(sandbox.InputTooLarge, "no") }
		})
		if o.output != `{"error":{"code":"input_too_large","message":"no"}}` {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("end the run at their limit", func(t *testing.T) {
		o := run(t, load(t, caller("kv.get")), `{}`, func(e *sandbox.Env) { e.Limits.HostCalls = 0 })
		if o.err == nil || o.err.Code != sandbox.HostCallLimit {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("end the run at their limit when skill_alloc makes them itself", func(t *testing.T) {
		m := &Module{}
		call := m.Import("helix", "call", callType, Types{I64})
		m.Memory(1)
		m.ExportMemory("memory")
		zero := I32Const(0)
		m.ExportFunc("skill_alloc", m.Func("", Types{I32}, Types{I32}, nil, zero, zero, zero, zero, Call(call), Drop, zero))
		m.ExportFunc("skill_run", m.Func("", Types{I32, I32}, Types{I64}, nil, I64Const(0)))
		if o := run(t, load(t, m.Bytes()), `{}`); o.err == nil || o.err.Code != sandbox.HostCallLimit {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("write into a module without skill_alloc, and again where it fits", func(t *testing.T) {
		m := &Module{}
		into := m.Import("helix", "call_into", callIntoType, Types{I32})
		again := m.Import("helix", "last_response", Types{I32, I32}, Types{I32})
		write := m.Import("wasi_snapshot_preview1", "fd_write", Types{I32, I32, I32, I32}, Types{I32})
		m.Memory(1)
		m.Data(0, []byte("kv.get{}"))
		m.ExportFunc("_start", m.Func("", nil, nil, nil,
			// Room for 3 bytes is too little and nothing is written there.
			I32Const(104), I32Const(0), I32Const(6), I32Const(6), I32Const(2), I32Const(200), I32Const(3), Call(into), I32Store(0),
			I32Const(200), I32Load8U(0), If(), Unreachable, End,
			I32Const(100), I32Const(200), I32Store(0),
			I32Const(200), I32Const(104), I32Load(0), Call(again), Drop,
			I32Const(1), I32Const(100), I32Const(1), I32Const(112), Call(write), Drop))
		if o := run(t, load(t, m.Bytes()), `{}`); o.output != `{"ok":{"n":1}}` {
			t.Fatalf("%+v", o)
		}
	})

	// The six operands of call_into, one of them out of range.
	for name, operands := range map[string][6]int32{
		"name":     {-1, 6, 0, 0, 0, 0},
		"length":   {0, -1, 0, 0, 0, 0},
		"request":  {0, 1, 65536, 1, 0, 0},
		"room":     {0, 1, 0, 1, 65530, 100},
		"overflow": {-8, 16, 0, 1, 0, 100},
	} {
		t.Run("trap at a pointer out of range: "+name, func(t *testing.T) {
			m := &Module{}
			into := m.Import("helix", "call_into", callIntoType, Types{I32})
			m.Memory(1)
			var body [][]byte
			for _, o := range operands {
				body = append(body, I32Const(o))
			}
			m.ExportFunc("execute", m.Func("", nil, Types{I32}, nil, append(body, Call(into))...))
			if o := run(t, load(t, m.Bytes()), `{}`); o.err == nil || o.err.Code != sandbox.Trap || !strings.Contains(o.err.Message, "outside of its memory") {
				t.Fatalf("%+v", o)
			}
		})
	}
	t.Run("trap in a module without a memory", func(t *testing.T) {
		m := &Module{}
		again := m.Import("helix", "call_into", callIntoType, Types{I32})
		m.ExportFunc("execute", m.Func("", nil, Types{I32}, nil, bytes.Repeat(I32Const(0), 6), Call(again)))
		if o := run(t, load(t, m.Bytes()), `{}`); o.err == nil || o.err.Code != sandbox.Trap {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("trap when skill_alloc gives room out of range", func(t *testing.T) {
		m := &Module{}
		m.Memory(1)
		m.ExportMemory("memory")
		m.ExportFunc("skill_alloc", m.Func("", Types{I32}, Types{I32}, nil, I32Const(-4)))
		m.ExportFunc("skill_run", m.Func("", Types{I32, I32}, Types{I64}, nil, I64Const(0)))
		if o := run(t, load(t, m.Bytes()), `{"a":1}`); o.err == nil || o.err.Code != sandbox.Trap || o.err.Function != "skill_alloc" {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("trap when skill_run gives output out of range", func(t *testing.T) {
		if o := run(t, load(t, skill(&Module{}, nil, I64Const(-1<<32|5))), `{}`); o.err == nil || o.err.Code != sandbox.Trap || o.err.Function != "skill_run" {
			t.Fatalf("%+v", o)
		}
	})
}
