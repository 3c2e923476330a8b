package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/turn"
)

// Config is a Pool's.
type Config struct {
	Dir         string // where the caches are made; others must be able to go through it
	Workers     int    // children that run programs, at most
	Limits      Limits // the operator's: no call has more
	CacheBytes  int64  // of code and what is compiled of it; 0 is 512 MB
	AllowUnsafe bool   // run where required layers are missing
	Log         zerolog.Logger
	// Command starts a child: a binary that calls RunChild, and its arguments. nil
	// is this binary.
	Command []string
}

const defaultCacheBytes = 512 << 20

// Pool runs untrusted programs in children of this process.
type Pool struct {
	log     zerolog.Logger
	limits  Limits
	unsafe  bool
	command []string
	layers  []Layer
	missing string // why nothing is run; "" when all is there
	cache   *cache

	turns     turn.Turns[string] // to have a program compiled: hard ones of one tenant hold up nobody else
	compilers chan struct{}
	life      context.Context // ends with Close
	end       context.CancelCauseFunc
	children  sync.WaitGroup
	staff     *staff

	priming sync.Mutex
	primed  map[string]bool // kinds
}

var errClosed = Errorf(Unavailable, "The sandbox is closed.")

// NewPool makes the caches and starts one child to see which layers hold. Where
// a required one does not, the Pool runs nothing and says what is missing.
func NewPool(ctx context.Context, cfg Config) (*Pool, error) {
	if cfg.Workers < 1 {
		return nil, errors.New("a sandbox needs at least one worker")
	}
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = defaultCacheBytes
	}
	if cfg.Command == nil {
		exe, err := ownBinary()
		if err != nil {
			return nil, fmt.Errorf("find this binary: %w", err)
		}
		cfg.Command = []string{exe, childArg}
	}
	cache, err := newCache(cfg.Dir, cfg.CacheBytes)
	if err != nil {
		return nil, err
	}
	p := &Pool{
		log: cfg.Log, limits: cfg.Limits, unsafe: cfg.AllowUnsafe, command: cfg.Command, cache: cache,
		compilers: make(chan struct{}, compilers), primed: map[string]bool{},
	}
	p.life, p.end = context.WithCancelCause(context.WithoutCancel(ctx))
	p.staff = newStaff(cfg.Workers, &p.children, func() (*process, error) { return p.spawn(start{}) })
	if err := p.probe(ctx); err != nil {
		return nil, errors.Join(err, cache.close())
	}
	return p, nil
}

// ownBinary is this binary even after its file was replaced, or where a child's
// user cannot reach it.
func ownBinary() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

func (p *Pool) probe(ctx context.Context) error {
	child, layers, err := spawn(ctx, p.command, start{Dir: p.cache.dir, Memory: p.limits.Memory, Probe: true, Unsafe: p.unsafe})
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("probe the sandbox: %w", err)
		}
		p.missing = err.Error()
	} else {
		child.kill(nil)
		<-child.ended
	}
	p.layers = layers
	var missing []string
	for _, l := range layers {
		p.log.Info().Str("layer", l.Name).Bool("active", l.Active).Bool("required", l.Required).
			Str("detail", l.Detail).Msg("sandbox layer")
		if l.Required && !l.Active {
			missing = append(missing, l.Name+" ("+l.Detail+")")
		}
	}
	if len(missing) > 0 {
		if p.unsafe {
			p.log.Warn().Strs("missing", missing).Msg("the sandbox is unsafe: programs run without required layers, because HELIX_SANDBOX=unsafe")
			return nil
		}
		p.missing = strings.Join(missing, ", ")
	}
	if p.missing != "" {
		p.log.Error().Str("missing", p.missing).Msg("the sandbox runs nothing, because required layers are missing")
	}
	return nil
}

// Layers are the layers as they were found. They are none when no child started.
func (p *Pool) Layers() []Layer { return p.layers }

// Missing says which required layers do not hold, or why no child started; it is
// "" where all is well.
func (p *Pool) Missing() string { return p.missing }

// usable is why nothing is run.
func (p *Pool) usable() error {
	if p.life.Err() != nil {
		return errClosed
	}
	if p.missing != "" {
		return Errorf(Unavailable, "Untrusted code is not run here: %s. An operator who accepts that sets HELIX_SANDBOX=unsafe.", p.missing)
	}
	return nil
}

// spawn starts a child, which Close kills until it has started.
func (p *Pool) spawn(s start) (*process, error) {
	s.Dir, s.Memory, s.Unsafe = p.cache.dir, p.limits.Memory, p.unsafe
	child, _, err := spawn(p.life, p.command, s)
	if err != nil {
		return nil, Errorf(Unavailable, "%v", err)
	}
	return child, nil
}

// Run runs a program once, in a worker of its tenant. The error is an *Error;
// the Result is what is known of the call in any case.
func (p *Pool) Run(ctx context.Context, call Call) (Result, error) {
	call.Limits = call.Limits.within(p.limits)
	if len(call.Input) > call.Limits.Input {
		return Result{}, Errorf(InputTooLarge, "The input has more than %d bytes.", call.Limits.Input)
	}
	result, err := p.run(ctx, call)
	if errors.Is(err, errNotLoaded) { // what was compiled is gone, or another helixd's
		result, err = p.run(ctx, call)
	}
	var known *Error
	if errors.Is(err, errNotLoaded) && errors.As(err, &known) {
		err = &Error{Code: Unavailable, Message: known.Message}
	}
	return result, err
}

func (p *Pool) run(ctx context.Context, call Call) (Result, error) {
	e, err := p.ready(ctx, call.Tenant, call.Program)
	if err != nil {
		return Result{}, err
	}
	defer p.cache.done(e)
	own := program{kind: call.Program.Kind, sum: call.Program.SHA256}
	w, err := p.staff.hire(ctx, call.Tenant, own)
	if err != nil {
		return Result{}, err
	}
	defer p.staff.release(w)
	if err := w.load(ctx, own, call.Limits); err != nil {
		if errors.Is(err, errNotLoaded) {
			p.cache.forget(own, e)
		}
		return Result{}, err
	}
	return w.call(ctx, own, call)
}

// within is the smaller of two, each by itself.
func (l Limits) within(most Limits) Limits {
	return Limits{
		Wall:      min(l.Wall, most.Wall),
		CPU:       min(l.CPU, most.CPU),
		Memory:    min(l.Memory, most.Memory),
		Input:     min(l.Input, most.Input),
		Output:    min(l.Output, most.Output),
		Logs:      min(l.Logs, most.Logs),
		HostCalls: min(l.HostCalls, most.HostCalls),
	}
}

// Close kills all children and removes the caches. Calls that run end.
func (p *Pool) Close() error {
	p.staff.close()
	p.end(errClosed)
	p.children.Wait()
	return p.cache.close()
}
