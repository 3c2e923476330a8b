package javascript_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/javascript"
)

var rt wazero.Runtime

func TestMain(m *testing.M) { os.Exit(withRuntime(m.Run)) }

// withRuntime makes rt, with a compile cache as children have it.
func withRuntime(do func() int) int {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "javascript")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	compiled, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		panic(err)
	}
	rt = wazero.NewRuntimeWithConfig(ctx, sandbox.RuntimeConfig.WithCompilationCache(compiled))
	code := do()
	if err := errors.Join(rt.Close(ctx), compiled.Close(ctx)); err != nil {
		panic(err)
	}
	return code
}

// files is a cache in memory.
type files map[string][]byte

func (f files) Read(name string) ([]byte, error) {
	if content, ok := f[name]; ok {
		return content, nil
	}
	return nil, fs.ErrNotExist
}

func (f files) Write(name string, content []byte) error {
	f[name] = bytes.Clone(content)
	return nil
}

func check(source string) (sandbox.Report, files, error) {
	cache := files{}
	report, err := javascript.Guest{}.Check(context.Background(), rt, []byte(source), cache)
	return report, cache, err
}

func load(t testing.TB, source string) sandbox.Loaded {
	t.Helper()
	_, cache, err := check(source)
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	loaded, err := javascript.Guest{}.Load(context.Background(), rt, []byte(source), cache)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	t.Cleanup(func() {
		if err := loaded.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return loaded
}

// parent serves host calls, the latest first, as a real one may.
type parent struct {
	serve   func(name string, request []byte) ([]byte, error)
	pending []call
	most    int // host calls under way at a time
	made    int
	logs    bytes.Buffer
	memory  int64
}

type call struct {
	id      uint32
	name    string
	request []byte
}

var now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func (p *parent) env(input string) *sandbox.Env {
	limits := sandbox.DefaultLimits
	limits.Memory = 16 << 20
	return &sandbox.Env{
		Input: []byte(input), Limits: limits, Seed: sha256.Sum256([]byte("seed")), Now: now, Logs: &p.logs,
		HostCall: func(name string, request []byte) (uint32, error) {
			if p.made++; p.made > limits.HostCalls {
				return 0, sandbox.Errorf(sandbox.HostCallLimit, "too many host calls")
			}
			p.pending = append(p.pending, call{uint32(p.made), name, request})
			p.most = max(p.most, len(p.pending))
			return uint32(p.made), nil
		},
		Reply: func() (uint32, []byte, error) {
			if len(p.pending) == 0 {
				return 0, nil, errors.New("no host call waits for a reply")
			}
			c := p.pending[len(p.pending)-1]
			p.pending = p.pending[:len(p.pending)-1]
			response, err := p.serve(c.name, c.request)
			return c.id, response, err
		},
		Memory: func(bytes int64) { p.memory = bytes },
	}
}

// codeOf is the code of an *Error, "" of none, and the text of another error.
func codeOf(err error) sandbox.Code {
	var known *sandbox.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &known):
		return known.Code
	}
	return sandbox.Code(err.Error())
}

func run(t testing.TB, source, input string) (string, error) {
	t.Helper()
	_, cache, err := check(source)
	if err != nil {
		return "", err
	}
	loaded, err := javascript.Guest{}.Load(context.Background(), rt, []byte(source), cache)
	if err != nil {
		return "", err
	}
	defer loaded.Close(context.Background())
	out, err := loaded.Run(context.Background(), (&parent{serve: echo}).env(input))
	if err == nil && !json.Valid(out) {
		t.Errorf("the output is not JSON: %q", out)
	}
	return string(out), err
}

// echo replies what it was asked.
func echo(name string, request []byte) ([]byte, error) {
	return json.Marshal(map[string]any{"name": name, "request": json.RawMessage(request)})
}
