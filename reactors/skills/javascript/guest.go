package javascript

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/helixd/helixd/reactors/sandbox"
)

// Guest runs JavaScript tools. It is a sandbox.Guest.
type Guest struct{}

// cacheName is that of the snapshot in the cache of a tool.
const cacheName = "snapshot"

// stackSize is how much of the engine's 1 MB stack scripts may use, in bytes:
// MAX_STACK_SIZE of quickjs-wasi.
const stackSize = 512 << 10

// numFuncs are what the prelude returns, in its order.
const (
	funcMain = iota
	funcDeliver
	funcFire
	funcDescribe
	funcRender
	funcAdopt
	numFuncs
)

// program is the engine, compiled, with its host modules. It is closed with its
// runtime: the engine is the same for all tools, and closing a compiled module
// would take its code from every other of the same content.
type program struct {
	rt       wazero.Runtime
	compiled wazero.CompiledModule
	hosts    map[string]api.Module
}

func open(ctx context.Context, rt wazero.Runtime) (*program, error) {
	code, err := engine()
	if err != nil {
		return nil, err
	}
	compiled, err := rt.CompileModule(ctx, code)
	if err != nil {
		return nil, fmt.Errorf("compile the JavaScript engine: %w", err)
	}
	hosts, err := instantiateHosts(ctx, rt)
	if err != nil {
		return nil, err
	}
	return &program{rt, compiled, hosts}, nil
}

var instanceConfig = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// instantiate makes an isolate in which nothing has run.
func (p *program) instantiate(ctx context.Context, w *world) (*isolate, error) {
	ctx = resolving(ctx, p.hosts, w)
	mod, err := p.rt.InstantiateModule(ctx, p.compiled, instanceConfig)
	if err != nil {
		return nil, fmt.Errorf("instantiate the JavaScript engine: %w", err)
	}
	w.isolate = &isolate{ctx: ctx, mod: mod, mem: mod.Memory(), funcs: make(map[string]api.Function, 24)}
	return w.isolate, nil
}

// Check implements sandbox.Guest. It evaluates the tool's top level.
func (Guest) Check(ctx context.Context, rt wazero.Runtime, code []byte, cache sandbox.Cache) (sandbox.Report, error) {
	var report sandbox.Report
	p, err := open(ctx, rt)
	if err != nil {
		return report, err
	}
	snap, found, err := p.prepare(ctx, code)
	if err == nil {
		err = cache.Write(cacheName, snap)
	}
	if err != nil {
		return report, err
	}
	report.ABI = string(found)
	report.Warnings = warnings(code)
	return report, nil
}

// prepare makes a tool's snapshot.
func (p *program) prepare(ctx context.Context, code []byte) (snap []byte, found shape, err error) {
	found, err = p.parse(ctx, code)
	if err != nil {
		return nil, "", err
	}
	w := newWorld(time.Now(), io.Discard, refused)
	s, err := p.instantiate(ctx, w)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if closed := s.close(); err == nil {
			err = closed
		}
	}()
	funcs, err := s.boot(sandbox.DefaultLimits.Memory)
	if err != nil {
		return nil, "", fmt.Errorf("start the JavaScript engine: %w", err)
	}
	if err := s.adopt(code, found, funcs); err != nil {
		return nil, "", s.failure(err, funcs[funcDescribe], found.prefix())
	}
	if err := s.makeRoom(); err != nil {
		return nil, "", err
	}
	taken, err := takeSnapshot(s, funcs, found.prefix())
	if err != nil {
		return nil, "", fmt.Errorf("take snapshot: %w", err)
	}
	return taken.encode(), found, nil
}

// boot starts the engine and evaluates the prelude.
func (s *isolate) boot(memory int64) (funcs [numFuncs]value, err error) {
	if _, err := s.do("_initialize"); err != nil {
		return funcs, err
	}
	if failed, err := s.do("qjs_init"); err != nil || failed != 0 {
		return funcs, errors.Join(errors.New("qjs_init failed"), err)
	}
	if _, err := s.do("qjs_set_max_stack_size", stackSize); err != nil {
		return funcs, err
	}
	if err := s.bound(memory); err != nil {
		return funcs, err
	}
	if _, err := s.do("qjs_set_module_loader", 1); err != nil {
		return funcs, err
	}
	global, err := s.do("qjs_get_global")
	if err != nil {
		return funcs, err
	}
	var host [numPrimitives]value
	for i, name := range primitives {
		if host[i], err = s.newFunction(name); err != nil {
			return funcs, err
		}
	}
	view, err := s.define(web, value(global), host[primitiveEncode], host[primitiveDecode])
	if err != nil {
		return funcs, fmt.Errorf("evaluate web.js: %w", err)
	}
	list, err := s.define(prelude, append([]value{value(global), view}, host[:]...)...)
	if err != nil {
		return funcs, fmt.Errorf("evaluate prelude.js: %w", err)
	}
	for i := range funcs {
		f, err := s.do("qjs_get_prop_uint32", uint64(list), uint64(i))
		if err != nil {
			return funcs, err
		}
		funcs[i] = value(f)
	}
	return funcs, nil
}

// define evaluates source, a function, and calls it.
func (s *isolate) define(source string, args ...value) (value, error) {
	f, err := s.eval([]byte(source), "helix.js", evalScript)
	if err != nil {
		return 0, err
	}
	return s.call(f, args...)
}

// newFunction makes a function that calls the host.
func (s *isolate) newFunction(name string) (value, error) {
	at, err := s.write([]byte(name))
	if err != nil {
		return 0, err
	}
	f, err := s.do("qjs_new_host_function", uint64(at), uint64(len(name)), 0)
	return value(f), err
}

// room is free memory in a snapshot, so that a small call does not make the
// memory grow, in bytes.
const room = 512 << 10

func (s *isolate) makeRoom() error {
	if _, err := s.do("qjs_run_gc"); err != nil {
		return err
	}
	at, err := s.do("wasm_malloc", room)
	if err != nil || at == 0 {
		return err
	}
	_, err = s.do("wasm_free", uint64(at))
	return err
}

// bound sets the limit of what scripts may allocate; 0 is none. The engine's
// stack and data, 1.2 MB, are part of the memory too.
func (s *isolate) bound(memory int64) error {
	limit := uint64(0)
	if memory > 0 {
		s.limit = memory
		limit = uint64(min(max(memory-2<<20, 256<<10), 4<<30-1))
	}
	_, err := s.do("qjs_set_memory_limit", limit)
	return err
}

// Load implements sandbox.Guest. It fails with fs.ErrNotExist when Check has to
// come first.
func (Guest) Load(ctx context.Context, rt wazero.Runtime, _ []byte, cache sandbox.Cache) (sandbox.Loaded, error) {
	content, err := cache.Read(cacheName)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	snap, err := decodeSnapshot(content)
	if err != nil {
		return nil, err
	}
	p, err := open(ctx, rt)
	if err != nil {
		return nil, err
	}
	return &tool{program: p, snapshot: snap}, nil
}

// tool is a program that is ready.
type tool struct {
	program  *program
	snapshot *snapshot
	idle     *isolate // of an earlier call, whose memory did not grow
}

// Close implements sandbox.Loaded.
func (t *tool) Close(context.Context) error {
	if t.idle == nil {
		return nil
	}
	return t.idle.close()
}
