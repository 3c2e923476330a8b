package javascript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/helixd/helixd/reactors/sandbox"
)

// world is what the engine imports: a clock, host calls and timers, of one
// isolate. Host functions find it in the context.
type world struct {
	isolate  *isolate
	now      time.Time // at start
	start    time.Time
	logs     io.Writer
	hostCall func(name string, request []byte) (uint32, error)

	waiting map[uint32]bool   // host calls without a reply
	timers  map[int]time.Time // when they are due
}

type worldKey struct{}

// mostTimers are under way at a time.
const mostTimers = 10_000

// refused is the host call of a top level: it is evaluated once, and not for
// any call.
func refused(string, []byte) (uint32, error) {
	return 0, sandbox.Errorf(sandbox.Exception, "Host calls are possible in the tool's function only, not while its source is evaluated.")
}

func newWorld(now time.Time, logs io.Writer, hostCall func(string, []byte) (uint32, error)) *world {
	return &world{
		now: now, start: time.Now(), logs: logs, hostCall: hostCall,
		waiting: map[uint32]bool{}, timers: map[int]time.Time{},
	}
}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

type hostFunc struct {
	params  []api.ValueType
	results []api.ValueType
	serve   func(w *world, mem api.Memory, stack []uint64)
}

// badFile is EBADF of WASI: the engine has no files.
const badFile = 8

var one = []api.ValueType{i32}

func badFileFunc(params ...api.ValueType) hostFunc {
	return hostFunc{params, one, func(_ *world, _ api.Memory, stack []uint64) { stack[0] = badFile }}
}

var hostModules map[string]map[string]hostFunc

func init() { // not a literal: host calls call back into the engine
	hostModules = map[string]map[string]hostFunc{
		"wasi_snapshot_preview1": {
			"clock_time_get": {[]api.ValueType{i32, i64, i32}, one, clock},
			"fd_close":       badFileFunc(i32),
			"fd_fdstat_get":  badFileFunc(i32, i32),
			"fd_seek":        badFileFunc(i32, i64, i32, i32),
			"fd_write":       badFileFunc(i32, i32, i32, i32),
			"random_get": {[]api.ValueType{i32, i32}, one, func(_ *world, mem api.Memory, stack []uint64) {
				if b, ok := mem.Read(uint32(stack[0]), uint32(stack[1])); ok {
					clear(b) // Math.random is the prelude's
				}
				stack[0] = 0
			}},
		},
		"env": {
			"host_get_timezone_offset": {[]api.ValueType{i32, i32}, one, func(_ *world, _ api.Memory, stack []uint64) { stack[0] = 0 }}, // UTC
			"host_interrupt":           {nil, one, func(_ *world, _ api.Memory, stack []uint64) { stack[0] = 0 }},
			"host_promise_rejection":   {[]api.ValueType{i32, i32, i32}, nil, func(*world, api.Memory, []uint64) {}},
			"host_module_normalize":    {[]api.ValueType{i32, i32}, one, refuseImport},
			"host_module_load":         {[]api.ValueType{i32, i32}, one, refuseImport},
			"host_call":                {[]api.ValueType{i32, i32, i32, i32, i32}, one, hostCall},
		},
	}
}

// instantiateHosts makes the host modules.
func instantiateHosts(ctx context.Context, rt wazero.Runtime) (map[string]api.Module, error) {
	return sandbox.HostModules(ctx, rt, hostModules, func(f hostFunc) (api.GoModuleFunc, []api.ValueType, []api.ValueType) {
		return func(ctx context.Context, mod api.Module, stack []uint64) {
			f.serve(ctx.Value(worldKey{}).(*world), mod.Memory(), stack)
		}, f.params, f.results
	})
}

// resolving lets an instance of the engine find its host modules and world.
func resolving(ctx context.Context, hosts map[string]api.Module, w *world) context.Context {
	ctx = experimental.WithImportResolver(ctx, func(name string) api.Module { return hosts[name] })
	return context.WithValue(ctx, worldKey{}, w)
}

// clock advances as the machine's does, from what the call's clock says. The
// monotonic clock starts at 0.
func clock(w *world, mem api.Memory, stack []uint64) {
	nanos := time.Since(w.start)
	if uint32(stack[0]) == 0 {
		nanos += time.Duration(w.now.UnixNano())
	}
	mem.WriteUint64Le(uint32(stack[2]), uint64(nanos))
	stack[0] = 0
}

// hostCall serves the functions that the prelude gets.
func hostCall(w *world, mem api.Memory, stack []uint64) {
	name, _ := mem.Read(uint32(stack[0]), uint32(stack[1]))
	var args [3]value
	for i := range min(len(args), int(uint32(stack[3]))) {
		arg, _ := mem.ReadUint32Le(uint32(stack[4]) + uint32(4*i))
		args[i] = value(arg)
	}
	v, err := w.serve(string(name), args)
	if err != nil {
		panic(hostFailure{err})
	}
	stack[0] = uint64(v)
}

// refuseImport throws: there is nothing to import.
func refuseImport(w *world, _ api.Memory, stack []uint64) {
	stack[0] = 0
	if err := w.isolate.throw("import is not available: a tool is one file, and gets all it may use as globals and as helix"); err != nil {
		panic(hostFailure{err})
	}
}

// hostFailure is what ended a host function and with it the call: wazero makes
// the panic the error of the call into the engine.
type hostFailure struct{ error }

// primitives are the functions that the prelude gets, in its order.
var primitives = [numPrimitives]string{"send", "log", "timer", "encode", "decode"}

const (
	primitiveEncode = 3
	primitiveDecode = 4
	numPrimitives   = 5
)

func (w *world) serve(name string, args [3]value) (value, error) {
	s := w.isolate
	switch name {
	case "send":
		target, err := s.copied(args[0])
		if err != nil {
			return 0, err
		}
		request, err := s.copied(args[1])
		if err != nil {
			return 0, err
		}
		id, err := w.hostCall(string(bytes.ToValidUTF8(target, []byte("\ufffd"))), request)
		if err != nil {
			known, failure := errorText(err)
			if !known {
				return 0, err
			}
			return s.newString(failure)
		}
		w.waiting[id] = true
		return s.number(float64(id))
	case "log":
		level, err := s.copied(args[0])
		if err != nil {
			return 0, err
		}
		text, err := s.copied(args[1])
		if err != nil {
			return 0, err
		}
		line := strings.ReplaceAll(strings.ToValidUTF8(string(text), "\ufffd"), "\x00", "\ufffd") + "\n"
		if len(level) > 0 {
			line = string(level) + ": " + line
		}
		_, _ = io.WriteString(w.logs, line) // it never fails
	case "timer":
		id, err := s.float(args[0])
		if err != nil {
			return 0, err
		}
		delay, err := s.float(args[1])
		if err != nil {
			return 0, err
		}
		switch {
		case delay < 0:
			delete(w.timers, int(id))
		case len(w.timers) >= mostTimers:
			return 0, sandbox.Errorf(sandbox.Exception, "The tool has more than %d timers.", mostTimers)
		default:
			w.timers[int(id)] = time.Now().Add(time.Duration(min(delay, math.MaxInt32) * float64(time.Millisecond)))
		}
	case "encode":
		text, err := s.copied(args[0])
		if err != nil {
			return 0, err
		}
		return s.newBytes(wellFormed(text))
	case "decode":
		content, err := s.bytes(args[0])
		if err != nil {
			return 0, err
		}
		if !utf8.Valid(content) {
			fatal, err := s.do("qjs_get_bool", uint64(args[1]))
			if err != nil {
				return 0, err
			}
			if fatal != 0 {
				break // undefined
			}
			content = []byte(string([]rune(string(content))))
		}
		return s.newString(content)
	}
	v, err := s.do("qjs_get_undefined")
	return value(v), err
}

// wellFormed makes UTF-8 of what the engine has, in which a surrogate without
// its other half is three bytes.
func wellFormed(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 && len(text) >= 3 && text[0] == 0xed {
			n = 3
		}
		out = utf8.AppendRune(out, r)
		text = text[n:]
	}
	return out
}

// errorText is what a tool learns of a failed host call; known says that it may.
func errorText(err error) (known bool, text []byte) {
	var failed *sandbox.Error
	if !errors.As(err, &failed) {
		return false, nil
	}
	text, err = json.Marshal(struct {
		Code    sandbox.Code `json:"code"`
		Message string       `json:"message"`
	}{failed.Code, failed.Message})
	return err == nil, text
}
