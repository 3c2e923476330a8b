package decode

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/helixd/helixd/reactors/sandbox"
)

// Guest runs the decoder, inside a worker child. It is a sandbox.Guest: a
// program of its kind is a module as build.sh makes one.
type Guest struct{}

var _ sandbox.Guest = Guest{}

const (
	i32 = api.ValueTypeI32
	i64 = api.ValueTypeI64
)

// exports are the functions that a module must have; engine/adec.c says what
// they do.
var exports = map[string]struct{ params, results []api.ValueType }{
	"_initialize": {},
	"report":      {nil, []api.ValueType{i32}},
	"denoise":     {nil, []api.ValueType{i32}},
	"decode":      {[]api.ValueType{i64}, []api.ValueType{i32}},
}

// Check implements sandbox.Guest. It compiles the module and sees whether it is
// one that Run can run.
func (Guest) Check(ctx context.Context, rt wazero.Runtime, code []byte, _ sandbox.Cache) (sandbox.Report, error) {
	compiled, err := compile(ctx, rt, code)
	if err != nil {
		return sandbox.Report{}, err
	}
	return sandbox.Report{}, compiled.Close(ctx)
}

func compile(ctx context.Context, rt wazero.Runtime, code []byte) (wazero.CompiledModule, error) {
	compiled, err := rt.CompileModule(ctx, code)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.InvalidModule, "The audio decoder is no valid module: %v.", err)
	}
	if err := fits(compiled); err != nil {
		return nil, errors.Join(err, compiled.Close(ctx))
	}
	return compiled, nil
}

// fits looks at what a module imports and exports.
func fits(compiled wazero.CompiledModule) error {
	for _, def := range compiled.ImportedFunctions() {
		module, name, _ := def.Import()
		f, ok := hostModules[module][name]
		if !ok || !slices.Equal(f.params, def.ParamTypes()) || !slices.Equal(f.results, def.ResultTypes()) {
			return sandbox.Errorf(sandbox.UnsupportedImport, "The audio decoder imports %s.%s, which helixd does not give it.", module, name)
		}
	}
	has := compiled.ExportedFunctions()
	for name, want := range exports {
		def := has[name]
		if def == nil || !slices.Equal(want.params, def.ParamTypes()) || !slices.Equal(want.results, def.ResultTypes()) {
			return sandbox.Errorf(sandbox.MissingExport, "The audio decoder does not export the function %s as helixd calls it.", name)
		}
	}
	if compiled.ExportedMemories()["memory"] == nil {
		return sandbox.Errorf(sandbox.MissingExport, "The audio decoder does not export its memory.")
	}
	return nil
}

// Load implements sandbox.Guest.
func (Guest) Load(ctx context.Context, rt wazero.Runtime, code []byte, _ sandbox.Cache) (sandbox.Loaded, error) {
	compiled, err := compile(ctx, rt, code)
	if err != nil {
		return nil, err
	}
	hosts, err := instantiateHosts(ctx, rt)
	if err != nil {
		return nil, errors.Join(err, compiled.Close(ctx))
	}
	return &module{rt, compiled, hosts}, nil
}

// module is a decoder that is ready.
type module struct {
	rt       wazero.Runtime
	compiled wazero.CompiledModule
	hosts    map[string]api.Module
}

// Close implements sandbox.Loaded.
func (m *module) Close(ctx context.Context) error {
	err := m.compiled.Close(ctx)
	for _, host := range m.hosts {
		err = errors.Join(err, host.Close(ctx))
	}
	return err
}

var instanceConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions()

func (m *module) instantiate(ctx context.Context, r *recording) (context.Context, api.Module, error) {
	ctx = experimental.WithImportResolver(ctx, func(name string) api.Module { return m.hosts[name] })
	ctx = context.WithValue(ctx, recordingKey{}, r)
	instance, err := m.rt.InstantiateModule(ctx, m.compiled, instanceConfig)
	if err != nil {
		return ctx, nil, fmt.Errorf("instantiate the audio decoder: %w", err)
	}
	return ctx, instance, nil
}
