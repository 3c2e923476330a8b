package decode_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/voice/decode"
)

// failing cannot be read.
type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
func (failing) Size() int64                         { return 1000 }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestInputOrOutputThatFailsIsNotTheRecordingsFault(t *testing.T) {
	lost := errors.New("lost")
	_, err := decoder.Decode(t.Context(), ordinary, failing{lost}, io.Discard)
	if codeOf(err) != decode.Unavailable || !errors.Is(err, lost) {
		t.Errorf("an input: %v", err)
	}
	_, err = decoder.Decode(t.Context(), ordinary, bytes.NewReader(append(wavHeader(1, 1, 16000, 16, 3200), make([]byte, 3200)...)), failing{lost})
	if codeOf(err) != decode.Unavailable || !errors.Is(err, lost) {
		t.Errorf("an output: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = decoder.Decode(ctx, ordinary, failing{lost}, io.Discard)
	if codeOf(err) != decode.Unavailable || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestErrorsOfTheSandboxAreSorted(t *testing.T) {
	for code, want := range map[sandbox.Code]decode.Code{
		sandbox.CPUTimeExceeded: decode.TooHard, sandbox.WallTimeExceeded: decode.TooHard, sandbox.MemoryExceeded: decode.TooHard,
		sandbox.HostCallLimit: decode.TooHard, sandbox.Trap: decode.Undecodable, sandbox.StackOverflow: decode.Undecodable,
		sandbox.WorkerLost: decode.Unavailable, sandbox.Unavailable: decode.Unavailable, sandbox.CompileLimit: decode.Unavailable,
	} {
		_, err := decode.New(ends{err: sandbox.Errorf(code, "over")}).Decode(t.Context(), ordinary, failing{}, io.Discard)
		var cause *sandbox.Error
		if codeOf(err) != want || !errors.As(err, &cause) || cause.Code != code {
			t.Errorf("%s: got %v", code, err)
		}
	}
}

// ends is a Runner whose child ends, or says what it likes.
type ends struct {
	call func(sandbox.Host) []byte
	err  error
}

func (e ends) Run(_ context.Context, call sandbox.Call) (result sandbox.Result, err error) {
	if e.call != nil {
		result.Output = e.call(call.Host)
	}
	return result, e.err
}

func TestChildIsNotTrusted(t *testing.T) {
	read := func(offset uint64, length uint32) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, offset), length)
	}
	recording := bytes.NewReader(make([]byte, 1000))
	t.Run("with the recording", func(t *testing.T) {
		decode.New(ends{call: func(h sandbox.Host) []byte {
			if content, err := h.Call(t.Context(), "read", read(990, 10)); err != nil || len(content) != 10 {
				t.Errorf("its end: %v", err)
			}
			for _, request := range [][]byte{read(1000, 1), read(990, 11), read(1<<63, 1), read(1<<64-1, 2), read(0, 1<<31), nil, {1}} {
				if _, err := h.Call(t.Context(), "read", request); err == nil {
					t.Errorf("read %x is served", request)
				}
			}
			if _, err := h.Call(t.Context(), "exec", nil); err == nil {
				t.Error("a call that there is not is served")
			}
			return nil
		}}).Decode(t.Context(), ordinary, recording, io.Discard)
	})
	t.Run("with the daemon's time", func(t *testing.T) {
		refused := false
		decode.New(ends{call: func(h sandbox.Host) []byte {
			for range 1_000 {
				_, err := h.Call(t.Context(), "read", read(0, 256<<10))
				refused = refused || err != nil
			}
			return nil
		}}).Decode(t.Context(), ordinary, bytes.NewReader(make([]byte, 1<<20)), io.Discard)
		if !refused {
			t.Error("it reads the recording 250 times")
		}
	})
	t.Run("with the output", func(t *testing.T) {
		opts := ordinary
		opts.Longest = time.Second
		var out bytes.Buffer
		decode.New(ends{call: func(h sandbox.Host) []byte {
			for range 100 {
				_, _ = h.Call(t.Context(), "write", make([]byte, 999))
				_, _ = h.Call(t.Context(), "write", make([]byte, 1000))
			}
			return nil
		}}).Decode(t.Context(), opts, recording, &out)
		if out.Len() != 2*decode.Rate {
			t.Errorf("it wrote %d bytes", out.Len())
		}
	})
	for _, output := range []string{
		``, `{}x`, `{"status":0,"samples":5}`, `{"status":0,"codec":"<script>"}`, `{"status":0,"bad":-1}`,
		`{"status":0,"channels":-1}`, `{"status":0,"packets":9e15}`, `{"status":-1}`, `{"status":77}`,
	} {
		t.Run("with "+output, func(t *testing.T) {
			_, err := decode.New(ends{call: func(sandbox.Host) []byte { return []byte(output) }}).Decode(t.Context(), ordinary, recording, io.Discard)
			if codeOf(err) != decode.Undecodable {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestModuleOfOnesOwnIsRun(t *testing.T) {
	dir := t.TempDir()
	own := decode.New(pool)
	if err := own.Use(filepath.Join(dir, "none.wasm")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	recording := bytes.NewReader(append(wavHeader(1, 1, 16000, 16, 3200), make([]byte, 3200)...))
	for name, c := range map[string]struct {
		module []byte
		want   decode.Code
	}{
		// the same with a custom section, so of another sha256
		"another build":   {append(read(t, "assets/adec.wasm"), 0, 4, 3, 'o', 'w', 'n'), ""},
		"no module":       {[]byte("no module"), decode.Unavailable},
		"no decoder":      {[]byte("\x00asm\x01\x00\x00\x00"), decode.Unavailable},
		"an empty module": {nil, decode.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "own.wasm")
			if err := os.WriteFile(path, c.module, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := own.Use(path); err != nil {
				t.Fatal(err)
			}
			info, err := own.Decode(t.Context(), ordinary, recording, io.Discard)
			if codeOf(err) != c.want || err == nil && info.Samples != 1600 {
				t.Errorf("%+v, %v", info, err)
			}
		})
	}
}
