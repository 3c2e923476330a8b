// Package wasm runs WebAssembly modules, inside a worker child, on wazero. A
// module is one of three kinds, told apart by what it exports:
//
//	command  _start()                                   JSON on stdin, JSON on stdout
//	run      skill_alloc(n i32) i32                     room for n bytes of input
//	         skill_run(p, n i32) i64                    output as ptr<<32 | len
//	execute  execute() i32, i64, f32 or f64             the number is the output
//
// A module that exports _initialize has it called first; one of kind run that
// exports _start instead has that called first. It may import WASI preview 1
// without files (wasi.go) and the host calls of module helix (helix.go).
package wasm

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

// Guest is the sandbox.Guest of WebAssembly modules.
type Guest struct{}

var _ sandbox.Guest = Guest{}

// Check compiles the module and looks at what it imports and exports. Its errors
// are InvalidModule, UnsupportedImport and MissingExport. It leaves nothing in
// cache: all that Load needs is in the runtime's compile cache.
func (Guest) Check(ctx context.Context, rt wazero.Runtime, code []byte, _ sandbox.Cache) (sandbox.Report, error) {
	compiled, err := compile(ctx, rt, code)
	if err != nil {
		return sandbox.Report{}, err
	}
	defer compiled.Close(ctx)
	if err := checkImports(compiled); err != nil {
		return sandbox.Report{}, err
	}
	abi, near := findABI(compiled)
	if abi == "" {
		return sandbox.Report{}, missingExport(near)
	}
	report := sandbox.Report{ABI: abi, Exports: exportNames(compiled)}
	for _, n := range near {
		report.Warnings = append(report.Warnings, sandbox.Warning{Code: "export_signature", Message: n})
	}
	return report, nil
}

// Load compiles the module, in no time when the runtime's compile cache has it,
// and makes the host modules that its instances import.
func (Guest) Load(ctx context.Context, rt wazero.Runtime, code []byte, _ sandbox.Cache) (sandbox.Loaded, error) {
	compiled, err := compile(ctx, rt, code)
	if err != nil {
		return nil, err
	}
	abi, near := findABI(compiled)
	if abi == "" {
		compiled.Close(ctx)
		return nil, missingExport(near)
	}
	m := &module{rt: rt, compiled: compiled, abi: abi, init: initializer(compiled, abi)}
	if m.hosts, err = instantiateHosts(ctx, rt); err != nil {
		compiled.Close(ctx)
		return nil, err
	}
	m.resolve = func(name string) api.Module {
		if host, ok := m.hosts[name]; ok {
			return host
		}
		return nil
	}
	return m, nil
}

func compile(ctx context.Context, rt wazero.Runtime, code []byte) (wazero.CompiledModule, error) {
	compiled, err := rt.CompileModule(ctx, code)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.InvalidModule, "the module is not valid: %s", bounded(err.Error()))
	}
	return compiled, nil
}

// The kinds of modules, as in Report.ABI.
const (
	abiCommand = "command"
	abiRun     = "run"
	abiExecute = "execute"
)

// findABI gives the kind of a module, or "". near says which exports have a
// kind's name and not its signature.
func findABI(compiled wazero.CompiledModule) (abi string, near []string) {
	exports := compiled.ExportedFunctions()
	has := func(name, want string) bool {
		def, ok := exports[name]
		if !ok {
			return false
		}
		if have := signature(def.ParamTypes(), def.ResultTypes()); have != want {
			near = append(near, fmt.Sprintf("%s is %s, and not %s", name, have, want))
			return false
		}
		return true
	}
	alloc, run := has("skill_alloc", "(i32) i32"), has("skill_run", "(i32, i32) i64")
	start := has("_start", "()")
	execute := false
	if def, ok := exports["execute"]; ok {
		switch have := signature(def.ParamTypes(), def.ResultTypes()); have {
		case "() i32", "() i64", "() f32", "() f64":
			execute = true
		default:
			near = append(near, fmt.Sprintf("execute is %s, and not () with one number as its result", have))
		}
	}
	_, memory := compiled.ExportedMemories()["memory"]
	if alloc && run && !memory {
		near = append(near, `the memory is not exported as "memory"`)
	}
	switch {
	case alloc && run && memory:
		return abiRun, near
	case start:
		return abiCommand, near
	case execute:
		return abiExecute, near
	}
	return "", near
}

// initializer names the export to be called before all else, or "".
func initializer(compiled wazero.CompiledModule, abi string) string {
	for _, name := range []string{"_initialize", "_start"} {
		if def, ok := compiled.ExportedFunctions()[name]; ok && signature(def.ParamTypes(), def.ResultTypes()) == "()" {
			if name == "_initialize" || abi == abiRun {
				return name
			}
		}
	}
	return ""
}

func missingExport(near []string) error {
	message := "the module exports none of: _start (a WASI command), skill_alloc(i32) i32 with skill_run(i32, i32) i64 and memory, execute() with one number as its result"
	if len(near) > 0 {
		message += "; " + strings.Join(near, "; ")
	}
	return sandbox.Errorf(sandbox.MissingExport, "%s", message)
}

// maxExports bounds the list in a report.
const maxExports = 100

func exportNames(compiled wazero.CompiledModule) []string {
	var names []string
	for name := range compiled.ExportedFunctions() {
		names = append(names, bounded(name))
	}
	for name := range compiled.ExportedMemories() {
		names = append(names, bounded(name))
	}
	slices.Sort(names)
	return names[:min(len(names), maxExports)]
}

func signature(params, results []api.ValueType) string {
	list := func(types []api.ValueType) string {
		names := make([]string, len(types))
		for i, t := range types {
			names[i] = api.ValueTypeName(t)
		}
		return strings.Join(names, ", ")
	}
	switch s := "(" + list(params) + ")"; len(results) {
	case 0:
		return s
	case 1:
		return s + " " + list(results)
	default:
		return s + " (" + list(results) + ")"
	}
}

// bounded makes foreign text fit for a message: at most 200 bytes of valid UTF-8
// in one line.
func bounded(s string) string {
	s = s[:min(len(s), 1000)]
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
