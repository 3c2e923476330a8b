package wasm_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
	. "github.com/helixd/helixd/reactors/sandbox/wasmtest"
)

// goCommand builds testdata/gocommand.
func goCommand(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "command.wasm")
	cmd := exec.Command("go", "build", "-o", path, "./testdata/gocommand")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	code, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestGoCommand(t *testing.T) {
	loaded := load(t, goCommand(t))
	t.Run("sees its input, the clock, the seed and nothing else", func(t *testing.T) {
		o := run(t, loaded, `{"Sleep":2000000}`)
		if o.err != nil {
			t.Fatalf("%+v", o)
		}
		var got struct {
			Args, Env        []string
			Now              string
			Slept, File, Dir bool
			Random           [4]byte
		}
		if err := json.Unmarshal([]byte(o.output), &got); err != nil {
			t.Fatalf("%v: %s", err, o.output)
		}
		if len(got.Args) != 1 || got.Args[0] != "skill" || len(got.Env) != 0 || got.Now != now.Format(time.DateTime) ||
			!got.Slept || !got.File || !got.Dir || o.logs != "logged\n" {
			t.Fatalf("%+v, %q", got, o.logs)
		}
		same, other := run(t, loaded, `{}`), run(t, loaded, `{}`, func(e *sandbox.Env) { e.Seed[0]++ })
		random := func(o outcome) string { return o.output[strings.Index(o.output, `"random"`):] }
		if random(same) != random(o) || random(other) == random(o) {
			t.Errorf("the random numbers are not those of the seed: %s, %s, %s", o.output, same.output, other.output)
		}
	})
	t.Run("ends with a status", func(t *testing.T) {
		if o := run(t, loaded, `{"Exit":7}`); o.err == nil || o.err.Code != sandbox.ExitStatus || !strings.Contains(o.err.Message, "7") {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("ends by its limit of memory, whatever it says itself", func(t *testing.T) {
		o := run(t, loaded, `{"Grow":100000000}`, func(e *sandbox.Env) { e.Limits.Memory = 32 << 20 })
		if o.err == nil || o.err.Code != sandbox.MemoryExceeded || o.memory > 32<<20 {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("sleeps no longer than its call may take", func(t *testing.T) {
		o := run(t, loaded, `{"Sleep":3600000000000}`, func(e *sandbox.Env) { e.Limits.Wall = 50 * time.Millisecond })
		if o.err == nil || o.err.Code != sandbox.WallTimeExceeded {
			t.Fatalf("%+v", o)
		}
	})
}

// wasiCall is a module of kind execute whose output is the errno of one call; its
// memory begins with content.
func wasiCall(name string, params Types, content []byte, operands ...[]byte) []byte {
	m := &Module{}
	f := m.Import("wasi_snapshot_preview1", name, params, Types{I32})
	m.Memory(1600)
	m.Data(0, content)
	m.ExportFunc("execute", m.Func("", nil, Types{I32}, nil, append(operands, Call(f))...))
	return m.Bytes()
}

func TestWASIErrors(t *testing.T) {
	four := Types{I32, I32, I32, I32}
	n := I32Const
	for name, c := range map[string]struct {
		code  []byte
		errno string
	}{
		"millions of vectors to write":      {wasiCall("fd_write", four, nil, n(2), n(0), n(4<<20), n(0)), "28"},
		"millions of vectors to read":       {wasiCall("fd_read", four, nil, n(0), n(0), n(4<<20), n(0)), "28"},
		"a count that overflows 32 bits":    {wasiCall("poll_oneoff", four, nil, n(0), n(0), n(0x10000000), n(0)), "28"},
		"a vector out of range":             {wasiCall("fd_write", four, []byte("\xff\xff\xff\xff\x01\x00\x00\x00"), n(2), n(0), n(1), n(0)), "21"},
		"a list of vectors out of range":    {wasiCall("fd_write", four, nil, n(2), n(-4), n(1), n(0)), "21"},
		"a result out of range":             {wasiCall("fd_write", four, nil, n(2), n(0), n(0), n(-2)), "21"},
		"writing to stdin":                  {wasiCall("fd_write", four, nil, n(0), n(0), n(0), n(0)), "8"},
		"reading from stdout":               {wasiCall("fd_read", four, nil, n(1), n(0), n(0), n(0)), "8"},
		"a negative descriptor":             {wasiCall("fd_write", four, nil, n(-1), n(0), n(0), n(0)), "8"},
		"a directory, of which none exists": {wasiCall("fd_prestat_get", Types{I32, I32}, nil, n(3), n(0)), "8"},
		"seeking in a stream":               {wasiCall("fd_seek", Types{I32, I64, I32, I32}, nil, n(0), I64Const(0), n(0), n(0)), "70"},
		"a clock that does not exist":       {wasiCall("clock_time_get", Types{I32, I64, I32}, nil, n(4), I64Const(0), n(0)), "28"},
		"random bytes out of range":         {wasiCall("random_get", Types{I32, I32}, nil, n(0), n(-1)), "21"},
		"a poll for nothing":                {wasiCall("poll_oneoff", four, nil, n(0), n(0), n(0), n(0)), "28"},
		"a poll for an unknown event":       {wasiCall("poll_oneoff", four, []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x09"), n(0), n(512), n(1), n(600)), "28"},
		"nothing, when stdin is polled":     {wasiCall("poll_oneoff", four, []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x01"), n(0), n(0), n(1), n(600)), "0"},
	} {
		t.Run("is for "+name, func(t *testing.T) {
			if o := run(t, load(t, c.code), `{}`); o.output != c.errno {
				t.Fatalf("%+v, want %s", o, c.errno)
			}
		})
	}
}

func TestStreams(t *testing.T) {
	// writes bytes of zeros to a stream, times over.
	writer := func(fd, size, times int32) []byte {
		m := &Module{}
		write := m.Import("wasi_snapshot_preview1", "fd_write", Types{I32, I32, I32, I32}, Types{I32})
		m.Memory(32)
		m.ExportFunc("_start", m.Func("", nil, nil, Types{I32},
			I32Const(4), I32Const(size), I32Store(0),
			I32Const(times), LocalSet(0),
			Loop(),
			I32Const(fd), I32Const(0), I32Const(1), I32Const(8), Call(write), Drop,
			LocalGet(0), I32Const(1), I32Sub, LocalTee(0), BrIf(0),
			End))
		return m.Bytes()
	}
	limit := func(e *sandbox.Env) { e.Limits.Output = 100_000 }
	t.Run("stdout holds what the limit says", func(t *testing.T) {
		if o := run(t, load(t, writer(1, 10_000, 10)), `{}`, limit); o.err != nil || len(o.output) != 100_000 {
			t.Fatalf("%d bytes, %v", len(o.output), o.err)
		}
	})
	t.Run("stdout holds no more", func(t *testing.T) {
		for _, code := range [][]byte{writer(1, 1, 100_001), writer(1, 1<<20, 1)} {
			if o := run(t, load(t, code), `{}`, limit); o.err == nil || o.err.Code != sandbox.OutputTooLarge {
				t.Fatalf("%d bytes, %v", len(o.output), o.err)
			}
		}
	})
	t.Run("a write to the logs is cut to what they hold", func(t *testing.T) {
		o := run(t, load(t, writer(2, 1<<20, 1)), `{}`, func(e *sandbox.Env) { e.Limits.Logs = 100 })
		if o.err != nil || len(o.logs) != 101 {
			t.Fatalf("%d bytes, %v", len(o.logs), o.err)
		}
	})
}
