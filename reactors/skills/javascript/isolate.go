package javascript

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

// isolate is one instance of the engine. Its methods follow the JavaScript host
// of quickjs-wasi (dist/index.js): a value is a handle, the address of a JSValue.
type isolate struct {
	ctx   context.Context // has the world
	mod   api.Module
	mem   api.Memory
	funcs map[string]api.Function
	// broken is true after a trap: the engine was left in the middle of something.
	broken bool
	limit  int64 // bytes of memory
}

// value is a handle.
type value uint32

// Flags of qjs_eval: EvalFlags of quickjs-wasi.
const (
	evalScript      = 0
	evalModule      = 1 << 0
	evalCompileOnly = 1 << 5
)

// toolFile is how a tool's source is called in stacks.
const toolFile = "tool.js"

// do calls an export. Its error is wazero's: a trap.
func (s *isolate) do(name string, args ...uint64) (uint32, error) {
	result, err := s.raw(name, args...)
	return uint32(result), err
}

func (s *isolate) raw(name string, args ...uint64) (uint64, error) {
	f := s.funcs[name]
	if f == nil {
		if f = s.mod.ExportedFunction(name); f == nil {
			return 0, fmt.Errorf("the engine has no %s", name)
		}
		s.funcs[name] = f
	}
	var stack [8]uint64
	copy(stack[:], args)
	if err := f.CallWithStack(s.ctx, stack[:]); err != nil {
		s.broken = true
		return 0, trapped(err)
	}
	return stack[0], nil
}

// write puts text into the engine's memory, with a NUL after it. The caller
// frees it.
func (s *isolate) write(text []byte) (uint32, error) {
	at, err := s.do("wasm_malloc", uint64(len(text))+1)
	if err != nil {
		return 0, err
	}
	if at == 0 || !s.mem.Write(at, text) || !s.mem.WriteByte(at+uint32(len(text)), 0) {
		return 0, outOfMemory
	}
	return at, nil
}

var outOfMemory = sandbox.Errorf(sandbox.MemoryExceeded, "The tool needs more memory than it may have.")

func (s *isolate) newString(text []byte) (value, error) {
	at, err := s.write(text)
	if err != nil {
		return 0, err
	}
	v, err := s.do("qjs_new_string", uint64(at), uint64(len(text)))
	if err != nil {
		return 0, err
	}
	_, err = s.do("wasm_free", uint64(at))
	return value(v), err
}

// text reads a value that is a string: of another this would run the tool's
// code. It is no copy and holds until the engine runs again; it may hold
// surrogates, each as three bytes.
func (s *isolate) text(v value) (content []byte, free func() error, err error) {
	at, err := s.do("qjs_get_string_len", uint64(v), uint64(s.scratch()))
	if err != nil {
		return nil, nil, err
	}
	if at == 0 {
		return nil, nil, outOfMemory
	}
	n, _ := s.mem.ReadUint32Le(s.scratch())
	content, ok := s.mem.Read(at, n)
	if !ok {
		return nil, nil, fmt.Errorf("a string of %d bytes at %d is outside of memory", n, at)
	}
	return content, func() error { _, err := s.do("qjs_free_cstring", uint64(at)); return err }, nil
}

// copied reads a value that is a string.
func (s *isolate) copied(v value) ([]byte, error) {
	content, free, err := s.text(v)
	if err != nil {
		return nil, err
	}
	content = append([]byte(nil), content...)
	return content, free()
}

func (s *isolate) float(v value) (float64, error) {
	bits, err := s.raw("qjs_get_float64", uint64(v))
	return api.DecodeF64(bits), err
}

func (s *isolate) number(n float64) (value, error) {
	v, err := s.do("qjs_new_number", api.EncodeF64(n))
	return value(v), err
}

func (s *isolate) free(v value) error {
	_, err := s.do("qjs_free_value", uint64(v))
	return err
}

// throw makes an Error the exception that the engine is in.
func (s *isolate) throw(message string) error {
	text, err := s.newString([]byte(message))
	if err != nil {
		return err
	}
	e, err := s.do("qjs_new_error")
	if err != nil {
		return err
	}
	name, err := s.write([]byte("message"))
	if err != nil {
		return err
	}
	if _, err := s.do("qjs_set_prop_string", uint64(e), uint64(name), uint64(text)); err != nil {
		return err
	}
	_, err = s.do("qjs_throw", uint64(e))
	return err
}

// newBytes makes a Uint8Array.
func (s *isolate) newBytes(content []byte) (value, error) {
	at, err := s.write(content)
	if err != nil {
		return 0, err
	}
	v, err := s.do("qjs_new_uint8_array", uint64(at), uint64(len(content)))
	if err != nil {
		return 0, err
	}
	_, err = s.do("wasm_free", uint64(at))
	return value(v), err
}

// bytes copies what a Uint8Array has; nothing of one that is detached.
func (s *isolate) bytes(v value) ([]byte, error) {
	at := s.scratch()
	buffer, err := s.do("qjs_get_typed_array_buffer", uint64(v), uint64(at), uint64(at)+4, uint64(at)+8)
	if err != nil {
		return nil, err
	}
	if _, err := s.checked(buffer); err != nil {
		return nil, nil
	}
	offset, _ := s.mem.ReadUint32Le(at)
	length, _ := s.mem.ReadUint32Le(at + 4)
	start, err := s.do("qjs_get_array_buffer", uint64(buffer), uint64(at)+8)
	if err != nil {
		return nil, err
	}
	whole, _ := s.mem.ReadUint32Le(at + 8)
	var content []byte
	if uint64(offset)+uint64(length) <= uint64(whole) {
		part, _ := s.mem.Read(start+offset, length)
		content = append(content, part...)
	}
	return content, s.free(value(buffer))
}

// scratch is 64 bytes of memory that hold nothing between calls. It is at the
// far end of the engine's stack, which the engine's own limit keeps it from.
func (s *isolate) scratch() uint32 { return 1024 }

// call calls a function. A *thrown is what it threw.
func (s *isolate) call(f value, args ...value) (value, error) {
	at, err := s.do("wasm_malloc", uint64(4*len(args)+4))
	if err != nil {
		return 0, err
	}
	if at == 0 {
		return 0, outOfMemory
	}
	var argv [4]byte
	for i, a := range args {
		binary.LittleEndian.PutUint32(argv[:], uint32(a))
		s.mem.Write(at+uint32(4*i), argv[:])
	}
	undefined, err := s.do("qjs_get_undefined")
	if err != nil {
		return 0, err
	}
	v, err := s.do("qjs_call", uint64(f), uint64(undefined), uint64(len(args)), uint64(at))
	if err != nil {
		return 0, err
	}
	if _, err := s.do("wasm_free", uint64(at)); err != nil {
		return 0, err
	}
	if err := s.free(value(undefined)); err != nil {
		return 0, err
	}
	return s.checked(v)
}

// eval evaluates source.
func (s *isolate) eval(source []byte, file string, flags uint64) (value, error) {
	code, err := s.write(source)
	if err != nil {
		return 0, err
	}
	name, err := s.write([]byte(file))
	if err != nil {
		return 0, err
	}
	v, err := s.do("qjs_eval", uint64(code), uint64(len(source)), uint64(name), flags)
	if err != nil {
		return 0, err
	}
	for _, at := range []uint32{code, name} {
		if _, err := s.do("wasm_free", uint64(at)); err != nil {
			return 0, err
		}
	}
	return s.checked(v)
}

// thrown is an exception, by its value.
type thrown struct{ value value }

func (*thrown) Error() string { return "an exception" }

func (s *isolate) checked(v uint32) (value, error) {
	is, err := s.do("qjs_is_exception", uint64(v))
	if err != nil || is == 0 {
		return value(v), err
	}
	exception, err := s.do("qjs_get_exception")
	if err != nil {
		return 0, err
	}
	return 0, &thrown{value(exception)}
}

// States of a promise.
const (
	promisePending   = 0
	promiseFulfilled = 1
)

// work runs jobs until there are none, or the promise is settled.
func (s *isolate) work(promise value) (state uint32, err error) {
	for {
		if state, err = s.do("qjs_promise_state", uint64(promise)); err != nil || state != promisePending {
			return state, err
		}
		pending, err := s.do("qjs_is_job_pending")
		if err != nil || pending == 0 {
			return state, err
		}
		if _, err := s.do("qjs_execute_pending_job"); err != nil {
			return state, err
		}
	}
}

func (s *isolate) result(promise value) (value, error) {
	v, err := s.do("qjs_promise_result", uint64(promise))
	return value(v), err
}

func (s *isolate) close() error { return s.mod.Close(s.ctx) }
