package wasm

import (
	"context"
	"encoding/binary"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

const i32, i64, f64 = api.ValueTypeI32, api.ValueTypeI64, api.ValueTypeF64

// hostFunc is a function that modules may import. It finds the call it serves in
// its context, so one instance of the host modules serves all calls.
type hostFunc struct {
	params, results []api.ValueType
	serve           func(c *call, mod api.Module, stack []uint64)
}

// hostModules is all that may be imported, by module and name. Module env holds
// what AssemblyScript's compiler imports by default.
var hostModules map[string]map[string]hostFunc

func init() {
	// In init because helix.call calls back into a module, which makes a cycle.
	hostModules = map[string]map[string]hostFunc{
		"wasi_snapshot_preview1": wasiFuncs,
		"helix":                  helixFuncs,
		"env":                    envFuncs,
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

// checkImports refuses what hostModules does not hold.
func checkImports(code []byte, compiled wazero.CompiledModule) error {
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
	if module, name, kind, ok := foreignImport(code); ok {
		return sandbox.Errorf(sandbox.UnsupportedImport, "the module imports %s %s.%s: only functions can be imported", kind, bounded(module), bounded(name))
	}
	return nil
}

// foreignImport finds an import that is no function, which wazero's API does not
// list. It gives up without a word on a module that is not valid; a compiled one
// is.
func foreignImport(code []byte) (module, name, kind string, ok bool) {
	r := reader{code}
	r.bytes(8)
	for len(r.rest) > 0 {
		id, size := r.byte(), r.uint()
		section := reader{r.bytes(size)}
		if id != 2 {
			continue
		}
		for n := section.uint(); n > 0 && len(section.rest) > 0; n-- {
			module = string(section.bytes(section.uint()))
			name = string(section.bytes(section.uint()))
			switch section.byte() {
			case 0:
				section.uint()
			case 1:
				return module, name, "table", true
			case 2:
				return module, name, "memory", true
			case 3:
				return module, name, "global", true
			default:
				return module, name, "an unknown thing", true
			}
		}
		return "", "", "", false
	}
	return "", "", "", false
}

// reader reads the binary format; past the end it reads zeros.
type reader struct{ rest []byte }

func (r *reader) byte() byte {
	if b := r.bytes(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	r.bytes(uint64(max(n, 0)))
	return v
}

func (r *reader) bytes(n uint64) []byte {
	n = min(n, uint64(len(r.rest)))
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}
