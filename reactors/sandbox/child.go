package sandbox

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// childArg is the argument that makes a binary a child.
const childArg = "sandbox-child"

// socketFD is the child's end of the socket.
const socketFD = 3

// RuntimeConfig is how children configure wazero: WebAssembly 2.0 and extended
// constant expressions, which LLVM emits, without threads and without parsing foreign
// DWARF. WithCloseOnContextDone stays off: it does not stop every loop and makes code
// 8 to 16 times slower; the parent kills. There is no limit of pages: memory is
// bounded by a call's allocator, which also knows when it refused.
var RuntimeConfig = wazero.NewRuntimeConfigCompiler().
	WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst).
	WithDebugInfoEnabled(false)

// IsChild reports whether this process was started to be a Pool's child: then
// main does nothing but RunChild.
func IsChild() bool { return len(os.Args) > 1 && os.Args[1] == childArg }

// RunChild is a child's main. It goes behind its layers and then does what the
// parent says, until the parent is gone.
func RunChild(guests map[string]Guest) (exitCode int) {
	// What is here is for wazero's own goroutines. A worker's heap is a few MB, and
	// most workers live for a few calls: collecting them took more than it gave.
	runtime.GOMAXPROCS(min(2, runtime.NumCPU()))
	debug.SetGCPercent(400)
	c := &child{
		guests:   guests,
		frames:   newFrameReader(fdReader(socketFD)),
		w:        fdWriter(socketFD),
		compiled: map[string]wazero.CompilationCache{},
		loaded:   map[program]loadedProgram{},
		asked:    map[uint32]bool{},
	}
	if err := c.main(); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		return 1
	}
	return 0
}

type child struct {
	guests   map[string]Guest
	frames   *frameReader
	w        io.Writer
	start    start
	memories memories
	compiled map[string]wazero.CompilationCache // by its directory
	loaded   map[program]loadedProgram

	lastID uint32          // of a host call, in this child's life
	asked  map[uint32]bool // host calls without a reply yet
	came   []replyMessage  // replies that nobody waited for yet
}

// loadedProgram has a runtime of its own, so that host modules of two programs
// never meet.
type loadedProgram struct {
	Loaded
	rt wazero.Runtime
}

func (c *child) main() error {
	kind, payload, err := c.frames.next(fromParent)
	if err != nil {
		return fmt.Errorf("read start: %w", err)
	}
	if kind != frameStart {
		return fmt.Errorf("frame of type %d comes before start", kind)
	}
	if err := json.Unmarshal(payload, &c.start); err != nil {
		return fmt.Errorf("read start: %w", err)
	}
	c.memories.room = uint64(c.start.Memory)
	layers, err := enter(c.start)
	if err != nil {
		return err
	}
	hello, err := json.Marshal(layers)
	if err != nil {
		return fmt.Errorf("say hello: %w", err)
	}
	if err := c.send(append(beginFrame(frameHello), hello...)); err != nil {
		return err
	}
	ctx := experimental.WithMemoryAllocator(context.Background(), &c.memories)
	for {
		kind, payload, err := c.frames.next(fromParent)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.serve(ctx, kind, payload); err != nil {
			return err
		}
	}
}

// fromParent bounds frames of the parent, which are trusted.
func fromParent(frameType) int { return maxToChild }

func (c *child) send(frame []byte) error {
	_, err := c.w.Write(endFrame(frame))
	return err
}

func (c *child) serve(ctx context.Context, kind frameType, payload []byte) error {
	switch kind {
	case frameCheck, frameLoad, frameUnload:
		p, err := parseProgram(payload)
		if err != nil {
			return fmt.Errorf("program: %w", err)
		}
		switch kind {
		case frameCheck:
			return c.send(outcomeOf(c.check(ctx, p)).append(beginFrame(frameReport)))
		case frameLoad:
			return c.send(outcomeOf(nil, c.load(ctx, p)).append(beginFrame(frameLoaded)))
		}
		return c.unload(ctx, p)
	case frameCall:
		f := fields{b: payload}
		named := f.bytes(len(payload))
		p, err := parseProgram(named)
		if err != nil {
			return fmt.Errorf("call: %w", err)
		}
		m, err := parseCall(f.b)
		if err != nil {
			return fmt.Errorf("call: %w", err)
		}
		return c.send(c.call(ctx, p, m).append(beginFrame(frameDone)))
	case frameReply: // of a call that ended before it came
		m, err := parseReply(payload)
		if err != nil {
			return fmt.Errorf("reply: %w", err)
		}
		delete(c.asked, m.id)
		return nil
	}
	return fmt.Errorf("frame of type %d: %w", kind, errFrame)
}

// outcomeOf makes an outcome of what a guest returned.
func outcomeOf(content []byte, err error) outcome {
	var known *Error
	switch {
	case err == nil:
		return outcome{content: content}
	case errors.As(err, &known):
		return outcome{err: known}
	}
	return outcome{err: Errorf(WorkerLost, "%v", err)}
}

func (c *child) check(ctx context.Context, p program) ([]byte, error) {
	rt, guest, code, err := c.open(ctx, p, codeFile(c.start.Dir, p), compileDir(c.start.Dir, p))
	if err != nil {
		return nil, err
	}
	c.memories.begin(c.start.Memory)
	report, err := guest.Check(ctx, rt, code, dirCache(programDir(c.start.Dir, p)))
	if err != nil {
		return nil, err
	}
	if isModule(p.kind) {
		if err := c.outline(ctx, p, code); err != nil {
			return nil, Errorf(Unavailable, "%v", err)
		}
	}
	return json.Marshal(report)
}

func (c *child) load(ctx context.Context, p program) error {
	if _, ok := c.loaded[p]; ok {
		return nil
	}
	file, dir := codeFile(c.start.Dir, p), compileDir(c.start.Dir, p)
	if isModule(p.kind) {
		var err error
		if file, dir, err = c.outlined(p); err != nil {
			return Errorf(Unavailable, "%v", err)
		}
	}
	rt, guest, code, err := c.open(ctx, p, file, dir)
	if err != nil {
		return err
	}
	c.memories.begin(c.start.Memory)
	loaded, err := guest.Load(ctx, rt, code, dirCache(programDir(c.start.Dir, p)))
	if err != nil {
		return errors.Join(err, rt.Close(ctx))
	}
	c.loaded[p] = loadedProgram{loaded, rt}
	if !isModule(p.kind) { // what loading left behind would count as the worker's size for good
		debug.FreeOSMemory()
	}
	return nil
}

func (c *child) unload(ctx context.Context, p program) error {
	l, ok := c.loaded[p]
	if !ok {
		return nil
	}
	delete(c.loaded, p)
	err := errors.Join(l.Close(ctx), l.rt.Close(ctx))
	if dir := outlineDir(c.start.Dir, p); isModule(p.kind) {
		err = errors.Join(err, c.compiled[dir].Close(ctx))
		delete(c.compiled, dir)
	}
	return err
}

// open finds what is needed to make a program ready: its code in file, and what
// was compiled of it in dir.
func (c *child) open(ctx context.Context, p program, file, dir string) (wazero.Runtime, Guest, []byte, error) {
	guest := c.guests[p.kind]
	if guest == nil {
		return nil, nil, nil, Errorf(Unavailable, "This helixd runs no programs of kind %q.", p.kind)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, nil, Errorf(Unavailable, "read the code: %v", err)
	}
	cache := c.compiled[dir]
	if cache == nil {
		if cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
			return nil, nil, nil, Errorf(Unavailable, "open the compile cache: %v", err)
		}
		c.compiled[dir] = cache
	}
	return wazero.NewRuntimeWithConfig(ctx, RuntimeConfig.WithCompilationCache(cache)), guest, code, nil
}

// dirCache is a Cache in a directory.
type dirCache string

func (d dirCache) file(name string) (string, error) {
	if !isName(name) {
		return "", fmt.Errorf("cache entry %q: its name is not of a-z", name)
	}
	return filepath.Join(string(d), "guest-"+name), nil
}

// isName reports whether s is a short name of a-z.
func isName(s string) bool {
	return s != "" && len(s) <= maxName && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

func (d dirCache) Read(name string) ([]byte, error) {
	file, err := d.file(name)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

func (d dirCache) Write(name string, content []byte) error {
	file, err := d.file(name)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// Where things are in the directory of the caches. The native code of a kind
// whose programs are compiled themselves is kept with each program, so that no
// compile child can write what another program runs. Other kinds bring one
// module of helixd's own, which all their programs share and none can write.
func codeFile(dir string, p program) string {
	return filepath.Join(dir, "code", p.kind+"-"+hex.EncodeToString(p.sum[:]))
}

func programDir(dir string, p program) string {
	return filepath.Join(dir, "compiled", p.kind+"-"+hex.EncodeToString(p.sum[:]))
}

func compileDir(dir string, p program) string {
	if isModule(p.kind) {
		return programDir(dir, p)
	}
	return filepath.Join(dir, "compiled", p.kind)
}
