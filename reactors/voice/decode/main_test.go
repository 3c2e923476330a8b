package decode_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/decode/decodetest"
)

func TestMain(m *testing.M) { os.Exit(withDecoder(m.Run)) }

const (
	longest   = 4 * time.Hour
	mostBytes = 100 << 20
)

// pool and decoder are one for all tests: compiling takes seconds.
var (
	pool    *sandbox.Pool
	decoder *decode.Decoder
)

func withDecoder(do func() int) int {
	dir, err := os.MkdirTemp("", "decode")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	command, err := decodetest.Command(dir)
	if err != nil {
		panic(err)
	}
	pool, err = sandbox.NewPool(context.Background(), sandbox.Config{
		Dir: dir, Workers: runtime.GOMAXPROCS(0) + 1, Limits: decode.Limits(longest, mostBytes), Command: command,
		Log: zerolog.New(os.Stderr).Level(zerolog.WarnLevel),
	})
	if err != nil {
		panic(err)
	}
	decoder = decode.New(pool)
	code := do()
	if err := pool.Close(); err != nil {
		panic(err)
	}
	return code
}

var ordinary = decode.Options{Tenant: "a", Denoise: decode.Off, Longest: longest}

// decoded is what comes of a recording, as raw samples.
func decoded(opts decode.Options, recording []byte) ([]byte, decode.Info, error) {
	var out bytes.Buffer
	info, err := decoder.Decode(context.Background(), opts, bytes.NewReader(recording), &out)
	return out.Bytes(), info, err
}

// codeOf is the code of an *Error, "" of none, and the text of another error.
func codeOf(err error) decode.Code {
	var known *decode.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.Code
	}
	return decode.Code(err.Error())
}

// needFFmpeg ends or skips a test where there is no ffmpeg.
func needFFmpeg(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		const how = "needs ffmpeg: apt-get install ffmpeg"
		if os.Getenv("HELIX_TEST_AUDIO") == "require" {
			t.Fatal(how)
		}
		t.Skip(how)
	}
}

// ffmpeg runs the native one, in a directory of files.
func ffmpeg(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("ffmpeg", append([]string{"-nostdin", "-v", "error", "-y"}, args...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ffmpeg %q: %v: %s", args, err, out)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
