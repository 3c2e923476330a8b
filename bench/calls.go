package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	extism "github.com/extism/go-sdk"
	"github.com/rs/zerolog"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/sandbox/wasm"
	"github.com/helixd/helixd/reactors/skills/javascript"
	"github.com/helixd/helixd/reactors/voice/decode"
)

// guests are what a child of this binary runs, as one of the daemon's does.
var guests = map[string]sandbox.Guest{sandbox.KindWASM: wasm.Guest{}, sandbox.KindJavaScript: javascript.Guest{}, decode.Kind: decode.Guest{}}

const (
	warmCalls = 500
	calls     = 5000
	turnCalls = 100 // of a side, before the next has its turn
	newUsers  = 50
)

// sandboxCalls measures a call inside a warm worker: the child is another process,
// which serves one user, and the program a fresh instance each time. The peers call the
// same tool in their own process, with no wall between them: bare wazero, and Extism's Go
// SDK, whose input and output pass through a kernel in WebAssembly. Both have an instance
// a call, as helixd has; Extism has one that keeps what the last call left, too.
func sandboxCalls(ctx context.Context, b *bench) error {
	dir := filepath.Join(b.dir, "sandbox")
	for _, d := range []string{b.dir, dir} { // a child has another uid
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
		if err := os.Chmod(d, 0o755); err != nil {
			return err
		}
	}
	pool, err := sandbox.NewPool(ctx, sandbox.Config{Dir: dir, Workers: 2, Limits: sandbox.DefaultLimits, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	defer pool.Close() //nolint:errcheck // of a bench that failed anyway
	module, err := b.wasmSkill(ctx)
	if err != nil {
		return err
	}
	bare, closeBare, err := bareCall(ctx, module)
	if err != nil {
		return err
	}
	defer closeBare()
	limited, _, closeLimited, err := extismCalls(ctx, extismLimits)
	if err != nil {
		return err
	}
	defer closeLimited()
	fresh, shared, closePlugins, err := extismCalls(ctx, extism.Manifest{})
	if err != nil {
		return err
	}
	defer closePlugins()
	call := warmCall(ctx, pool, sandbox.KindWASM, module)
	if err := agree(call, bare, limited, fresh, shared); err != nil {
		return err
	}
	t, err := timed(call, bare, limited, fresh, shared)
	if err != nil {
		return err
	}
	script, err := timed(warmCall(ctx, pool, sandbox.KindJavaScript, fmt.Appendf(nil, skillSource, 0)))
	if err != nil {
		return err
	}
	spawned, err := newUserCalls(ctx, pool, module)
	if err != nil {
		return err
	}
	const section = "skills, a call in a warm worker"
	for _, q := range []struct {
		name string
		at   float64
		most float64 // ms; 0: no target
	}{{"p50", 0.5, 0.1}, {"p99", 0.99, 0}} {
		figure := func() *figure { return newFigure(section, "WebAssembly, "+q.name, "ms", quantile(t[0], q.at)) }
		first := figure().beside("bare wazero", quantile(t[1], q.at))
		if q.most > 0 {
			first.aim(fmt.Sprintf("≤ %g", q.most), first.Median <= q.most)
		}
		b.report.add(first,
			figure().beside("Extism, an instance a call, with limits", quantile(t[2], q.at)),
			figure().beside("Extism, an instance a call", quantile(t[3], q.at)),
			figure().beside("Extism, one instance for all calls", quantile(t[4], q.at)))
	}
	b.report.add(
		newFigure(section, "JavaScript, p50", "ms", quantile(script[0], 0.5)).aim("≤ 0.5", quantile(script[0], 0.5) <= 0.5),
		newFigure(section, "JavaScript, p99", "ms", quantile(script[0], 0.99)),
		newFigure(section, "WebAssembly, a user's first, in a new worker, p50", "ms", quantile(spawned, 0.5)))
	return nil
}

// side is a call of one of those compared, and its output.
type side func() ([]byte, error)

// warmCall calls the program in a pool's worker.
func warmCall(ctx context.Context, pool *sandbox.Pool, kind string, code []byte) side {
	call := poolCall(kind, code)
	return func() ([]byte, error) {
		result, err := pool.Run(ctx, call)
		return result.Output, err
	}
}

func poolCall(kind string, code []byte) sandbox.Call {
	return sandbox.Call{
		Tenant: "bench", Input: []byte(skillInput), Limits: sandbox.DefaultLimits, Now: time.Now(),
		Program: sandbox.Program{Kind: kind, SHA256: sha256.Sum256(code),
			Code: func(_ context.Context, write func([]byte) error) error { return write(code) }},
	}
}

// newUserCalls are each another user's, whom no worker has served: a child is
// started. The program is compiled already.
func newUserCalls(ctx context.Context, pool *sandbox.Pool, code []byte) (times []float64, err error) {
	call := poolCall(sandbox.KindWASM, code)
	for n := range newUsers {
		call.Tenant = fmt.Sprint("user ", n)
		began := time.Now()
		if _, err := pool.Run(ctx, call); err != nil {
			return nil, err
		}
		times = append(times, float64(time.Since(began))/float64(time.Millisecond))
	}
	return times, nil
}

// agree makes sure that all sides do the same, a second time too.
func agree(sides ...side) error {
	var want []byte
	for i, call := range append(sides, sides...) {
		got, err := call()
		if err != nil {
			return err
		}
		if want == nil {
			want = bytes.Clone(got)
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("side %d gives %s, the first %s", i%len(sides), got, want)
		}
	}
	return nil
}

// timed gives the ms that each side's calls took. They take turns.
func timed(sides ...side) ([][]float64, error) {
	times := make([][]float64, len(sides))
	for n := range (warmCalls + calls) / turnCalls {
		for i, call := range sides {
			for range turnCalls {
				began := time.Now()
				if _, err := call(); err != nil {
					return nil, err
				}
				if n >= warmCalls/turnCalls {
					times[i] = append(times[i], float64(time.Since(began))/float64(time.Millisecond))
				}
			}
		}
	}
	return times, nil
}

// bareCall is what wazero takes by itself for a fresh instance and a call of
// the run ABI.
func bareCall(ctx context.Context, code []byte) (side, func(), error) {
	rt := wazero.NewRuntimeWithConfig(ctx, sandbox.RuntimeConfig)
	closeAll := func() { _ = rt.Close(ctx) }
	module, err := rt.CompileModule(ctx, code)
	if err != nil {
		closeAll()
		return nil, nil, err
	}
	return func() ([]byte, error) {
		instance, err := rt.InstantiateModule(ctx, module, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			return nil, err
		}
		defer instance.Close(ctx) //nolint:errcheck // nothing is left to do
		size := uint64(len(skillInput))
		at, err := instance.ExportedFunction("skill_alloc").Call(ctx, size)
		if err != nil {
			return nil, err
		}
		if !instance.Memory().WriteString(api.DecodeU32(at[0]), skillInput) {
			return nil, fmt.Errorf("no room for the input at %d", at[0])
		}
		result, err := instance.ExportedFunction("skill_run").Call(ctx, at[0], size)
		if err != nil {
			return nil, err
		}
		output, ok := instance.Memory().Read(uint32(result[0]>>32), uint32(result[0]))
		if !ok {
			return nil, fmt.Errorf("no output at %x", result[0])
		}
		return bytes.Clone(output), nil
	}, closeAll, nil
}
