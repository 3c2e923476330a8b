package main

import (
	"context"
	_ "embed"
	"fmt"

	extism "github.com/extism/go-sdk"

	"github.com/helixd/helixd/reactors/sandbox"
)

// extismModule is the example's source behind Extism's ABI; see extism/build.sh.
//
//go:embed extism/wordcount.wasm
var extismModule []byte

// extismLimits are helixd's, as far as Extism has them. The memory is that of its
// kernel and of the module each; the time is a check that wazero compiles into loops and
// calls, and waits for with a goroutine. There is no limit on CPU, and no wall: what
// ends or fills the process, from whatever module, does so to its host.
var extismLimits = extism.Manifest{
	Memory:  &extism.ManifestMemory{MaxPages: uint32(sandbox.DefaultLimits.Memory / (64 << 10))},
	Timeout: uint64(sandbox.DefaultLimits.Wall.Milliseconds()),
}

// extismCalls are a call in an instance of its own, as each call of helixd's has,
// and one in an instance that all calls share, as NewPlugin's users have it.
func extismCalls(ctx context.Context, limits extism.Manifest) (fresh, shared side, closeAll func(), err error) {
	limits.Wasm = []extism.Wasm{extism.WasmData{Data: extismModule}}
	compiled, err := extism.NewCompiledPlugin(ctx, limits, extism.PluginConfig{}, nil)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("extism: %w", err)
	}
	kept, err := compiled.Instance(ctx, extism.PluginInstanceConfig{})
	if err != nil {
		_ = compiled.Close(ctx)
		return nil, nil, nil, fmt.Errorf("extism: %w", err)
	}
	fresh = func() ([]byte, error) {
		plugin, err := compiled.Instance(ctx, extism.PluginInstanceConfig{})
		if err != nil {
			return nil, err
		}
		defer plugin.Close(ctx) //nolint:errcheck // nothing is left to do
		return count(ctx, plugin)
	}
	shared = func() ([]byte, error) { return count(ctx, kept) }
	return fresh, shared, func() {
		_ = kept.Close(ctx)
		_ = compiled.Close(ctx)
	}, nil
}

func count(ctx context.Context, plugin *extism.Plugin) ([]byte, error) {
	code, output, err := plugin.CallWithContext(ctx, "count", []byte(skillInput))
	if err == nil && code != 0 {
		err = fmt.Errorf("extism: the plugin ended with %d", code)
	}
	return output, err
}
