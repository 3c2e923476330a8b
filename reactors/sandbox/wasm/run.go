package wasm

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strconv"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/helixd/helixd/reactors/sandbox"
)

// module is a loaded module.
type module struct {
	rt       wazero.Runtime
	compiled wazero.CompiledModule
	abi      string
	init     string // export to be called first, or ""
	hosts    map[string]api.Module
	resolve  experimental.ImportResolver
}

// instanceConfig names no start function: Run calls what is to be called, and the
// host modules know nothing of what else a ModuleConfig holds.
var instanceConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// Close implements sandbox.Loaded.
func (m *module) Close(ctx context.Context) error {
	err := m.compiled.Close(ctx)
	for _, host := range m.hosts {
		err = errors.Join(err, host.Close(ctx))
	}
	return err
}

// Run implements sandbox.Loaded.
func (m *module) Run(ctx context.Context, env *sandbox.Env) ([]byte, error) {
	if len(env.Input) > env.Limits.Input {
		return nil, sandbox.Errorf(sandbox.InputTooLarge, "the input is larger than %d bytes", env.Limits.Input)
	}
	c := newCall(experimental.WithImportResolver(ctx, m.resolve), env, m.abi == abiCommand)
	defer c.memory.Free()
	output, err := m.run(c)
	if env.Memory != nil {
		env.Memory(int64(c.memory.size))
	}
	if err != nil {
		return nil, c.failure(err, m.compiled.Name())
	}
	if output = bytes.TrimRight(output, "\r\n"); len(output) > env.Limits.Output {
		return nil, c.outputTooLarge()
	}
	if len(output) == 0 {
		return []byte("null"), nil
	}
	return output, nil
}

func (m *module) run(c *call) ([]byte, error) {
	instance, err := m.instantiate(c)
	if err != nil {
		return nil, err
	}
	defer instance.Close(c)
	if m.init != "" {
		if err := ended(instance.ExportedFunction(m.init).Call(c)); err != nil {
			return nil, err
		}
	}
	switch m.abi {
	case abiCommand:
		if err := ended(instance.ExportedFunction("_start").Call(c)); err != nil {
			return nil, err
		}
		return c.stdout, nil
	case abiRun:
		return runSkill(c, instance)
	default:
		return execute(c, instance)
	}
}

// instantiate makes a fresh instance. Its panic is that of a memory whose minimum
// is above the limit (memory.go).
func (m *module) instantiate(c *call) (instance api.Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			refused, ok := p.(*sandbox.Error)
			if !ok {
				panic(p)
			}
			err = refused
		}
	}()
	return m.rt.InstantiateModule(c, m.compiled, instanceConfig)
}

// ended takes exit status 0 for the end that it is.
func ended(_ []uint64, err error) error {
	var exit *sys.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 0 {
		return nil
	}
	return err
}

func runSkill(c *call, instance api.Module) ([]byte, error) {
	p, err := allocate(c, instance, c.env.Input)
	if err != nil {
		return nil, err
	}
	result, err := instance.ExportedFunction("skill_run").Call(c, uint64(p), uint64(len(c.env.Input)))
	if err != nil {
		return nil, err
	}
	ptr, size := uint32(result[0]>>32), uint32(result[0])
	if uint64(size) > uint64(c.env.Limits.Output)+1 {
		return nil, c.outputTooLarge()
	}
	output, ok := instance.Memory().Read(ptr, size)
	if !ok {
		return nil, trap("skill_run", "skill_run gave an output outside of the memory")
	}
	return bytes.Clone(output), nil // the memory is another call's soon
}

// allocate puts content into memory that the module allocates.
func allocate(c *call, instance api.Module, content []byte) (uint32, error) {
	result, err := instance.ExportedFunction("skill_alloc").Call(c, uint64(len(content)))
	if err != nil {
		return 0, err
	}
	p := uint32(result[0])
	if p == 0 && len(content) > 0 && c.memory.refused {
		return 0, c.memory.exceeded()
	}
	if !c.memoryOf(instance).put(uint64(p), content) {
		return 0, trap("skill_alloc", "skill_alloc gave room outside of the memory")
	}
	return p, nil
}

func execute(c *call, instance api.Module) ([]byte, error) {
	f := instance.ExportedFunction("execute")
	result, err := f.Call(c)
	if err != nil {
		return nil, err
	}
	var number float64
	bits := 64
	switch f.Definition().ResultTypes()[0] {
	case api.ValueTypeI32:
		return strconv.AppendInt(nil, int64(int32(result[0])), 10), nil
	case api.ValueTypeI64:
		return strconv.AppendInt(nil, int64(result[0]), 10), nil
	case api.ValueTypeF32:
		number, bits = float64(api.DecodeF32(result[0])), 32
	default:
		number = api.DecodeF64(result[0])
	}
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return nil, sandbox.Errorf(sandbox.InvalidOutput, "execute gave %v, which is no number in JSON", number)
	}
	return strconv.AppendFloat(nil, number, 'g', -1, bits), nil
}
