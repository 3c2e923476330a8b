package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

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
)

// sandboxCalls measures a call inside a warm worker: the child is another process,
// and the program a fresh instance each time. The peer calls the same module in
// its own process, with no wall between them.
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
	wasmTimes, err := timeCalls(ctx, pool, sandbox.KindWASM, module)
	if err != nil {
		return err
	}
	bare, err := bareCalls(ctx, module)
	if err != nil {
		return err
	}
	script, err := timeCalls(ctx, pool, sandbox.KindJavaScript, fmt.Appendf(nil, skillSource, 0))
	if err != nil {
		return err
	}
	const section = "skills, a call in a warm worker"
	b.report.add(
		newFigure(section, "WebAssembly, p50", "ms", quantile(wasmTimes, 0.5)).beside("bare wazero", quantile(bare, 0.5)).aim("≤ 0.1", quantile(wasmTimes, 0.5) <= 0.1),
		newFigure(section, "WebAssembly, p99", "ms", quantile(wasmTimes, 0.99)).beside("bare wazero", quantile(bare, 0.99)),
		newFigure(section, "JavaScript, p50", "ms", quantile(script, 0.5)).aim("≤ 0.5", quantile(script, 0.5) <= 0.5),
		newFigure(section, "JavaScript, p99", "ms", quantile(script, 0.99)))
	return nil
}

// timeCalls gives how long each call took, in ms.
func timeCalls(ctx context.Context, pool *sandbox.Pool, kind string, code []byte) ([]float64, error) {
	call := sandbox.Call{
		Tenant: "bench", Input: []byte(skillInput), Limits: sandbox.DefaultLimits, Now: time.Now(),
		Program: sandbox.Program{Kind: kind, SHA256: sha256.Sum256(code),
			Code: func(_ context.Context, write func([]byte) error) error { return write(code) }},
	}
	return timed(func() error {
		_, err := pool.Run(ctx, call)
		return err
	})
}

func timed(call func() error) (times []float64, err error) {
	for i := range warmCalls + calls {
		began := time.Now()
		if err := call(); err != nil {
			return nil, err
		}
		if i >= warmCalls {
			times = append(times, float64(time.Since(began))/float64(time.Millisecond))
		}
	}
	return times, nil
}

// bareCalls is what wazero takes by itself for a fresh instance and a call of
// the run ABI.
func bareCalls(ctx context.Context, code []byte) ([]float64, error) {
	rt := wazero.NewRuntimeWithConfig(ctx, wasm.RuntimeConfig())
	defer rt.Close(ctx) //nolint:errcheck // nothing is left to do
	module, err := rt.CompileModule(ctx, code)
	if err != nil {
		return nil, err
	}
	return timed(func() error {
		instance, err := rt.InstantiateModule(ctx, module, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			return err
		}
		defer instance.Close(ctx) //nolint:errcheck // as above
		size := uint64(len(skillInput))
		at, err := instance.ExportedFunction("skill_alloc").Call(ctx, size)
		if err != nil {
			return err
		}
		if !instance.Memory().WriteString(api.DecodeU32(at[0]), skillInput) {
			return fmt.Errorf("no room for the input at %d", at[0])
		}
		_, err = instance.ExportedFunction("skill_run").Call(ctx, at[0], size)
		return err
	})
}
