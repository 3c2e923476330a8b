package sandbox

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// HostModules makes what a Guest's programs may import of functions F, by module and
// name. One instance serves all calls: serve finds the call in its context. The
// modules have no name in rt, where another Guest may have its own of the same names.
func HostModules[F any](ctx context.Context, rt wazero.Runtime, modules map[string]map[string]F,
	function func(F) (serve api.GoModuleFunc, params, results []api.ValueType)) (map[string]api.Module, error) {
	hosts := make(map[string]api.Module, len(modules))
	for name, functions := range modules {
		builder := rt.NewHostModuleBuilder(name)
		for export, f := range functions {
			serve, params, results := function(f)
			builder.NewFunctionBuilder().WithGoModuleFunction(serve, params, results).WithName(export).Export(export)
		}
		compiled, err := builder.Compile(ctx)
		if err != nil {
			return nil, fmt.Errorf("compile host module %s: %w", name, err)
		}
		if hosts[name], err = rt.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName("")); err != nil {
			return nil, fmt.Errorf("instantiate host module %s: %w", name, err)
		}
	}
	return hosts, nil
}
