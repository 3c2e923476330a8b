package wasm

import (
	"context"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

const i32, i64 = api.ValueTypeI32, api.ValueTypeI64

// hostFunc is a function that modules may import. It finds the call it serves in
// its context, so one instance of the host modules serves all calls.
type hostFunc struct {
	params, results []api.ValueType
	serve           func(c *call, mod api.Module, stack []uint64)
}

// hostModules is all that may be imported, by module and name. Package precheck
// has the same names.
var hostModules map[string]map[string]hostFunc

func init() {
	// In init because helix.call calls back into a module, which makes a cycle.
	hostModules = map[string]map[string]hostFunc{
		"wasi_snapshot_preview1": wasiFuncs,
		"helix":                  helixFuncs,
	}
}

// instantiateHosts makes the host modules.
func instantiateHosts(ctx context.Context, rt wazero.Runtime) (map[string]api.Module, error) {
	return sandbox.HostModules(ctx, rt, hostModules, func(f hostFunc) (api.GoModuleFunc, []api.ValueType, []api.ValueType) {
		return func(ctx context.Context, mod api.Module, stack []uint64) {
			for i, t := range f.params {
				if t == i32 {
					stack[i] = uint64(uint32(stack[i])) // the upper half is not defined
				}
			}
			f.serve(ctx.Value(callKey{}).(*call), mod, stack)
		}, f.params, f.results
	})
}

// checkImports refuses what hostModules does not hold. Tables, memories and globals
// were refused by package precheck.
func checkImports(compiled wazero.CompiledModule) error {
	for _, def := range compiled.ImportedFunctions() {
		module, name, _ := def.Import()
		f, ok := hostModules[module][name]
		if !ok {
			return sandbox.Errorf(sandbox.UnsupportedImport, "the module imports function %s.%s, which does not exist here", bounded(module), bounded(name))
		}
		want, have := signature(f.params, f.results), signature(def.ParamTypes(), def.ResultTypes())
		if want != have {
			return sandbox.Errorf(sandbox.UnsupportedImport, "the module imports function %s.%s as %s, but it is %s", module, name, have, want)
		}
	}
	return nil
}
