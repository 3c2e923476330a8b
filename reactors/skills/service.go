package skills

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/helixd/helixd/reactors/skills/tools"
)

// Runner runs and checks programs; sandbox.Pool is one.
type Runner interface {
	Run(ctx context.Context, call sandbox.Call) (sandbox.Result, error)
	Check(ctx context.Context, tenant string, program sandbox.Program) (sandbox.Report, error)
}

// Layered is a Runner that knows how well it is isolated.
type Layered interface{ Layers() []sandbox.Layer }

// Config is what an operator says.
type Config struct {
	Workers     int            // runs at a time in this process
	Concurrency int            // runs at a time of one user, over all processes
	Rate        int            // runs of one user that begin in a minute; 0: any number
	QueueBound  int            // runs of one user that may wait
	Limits      sandbox.Limits // of a run; a skill can only lower them
	Version     string         // helixd's, for execution_context
}

// DefaultConfig is an operator's who says nothing.
var DefaultConfig = Config{Workers: 32, Concurrency: 6, QueueBound: 100_000, Limits: sandbox.DefaultLimits}

const stopGrace = 3 * time.Second // for running runs at the end

// Service does the jobs of skills, in one process.
type Service struct {
	cfg    Config
	pool   *pgxpool.Pool
	runner Runner
	host   *host.Services
	mcp    *tools.MCP // nil: no servers
	log    zerolog.Logger

	jobs    *reactors.Jobs
	results *reactors.Results
	slots   *semaphore.Weighted
	turns   *turns
	commits *committer
	cache   *definitions
	checks  singleflight.Group
	nesting [host.MaxDepth + 1]berths // by depth
	retried time.Time                 // when the sweep last let runs be tried that were set aside

	stopping chan struct{} // closed when no run may begin
	ctx      context.Context
	end      context.CancelFunc
	loops    sync.WaitGroup

	mu     sync.Mutex
	active map[uuid.UUID]*active
}

// active is a run that is executed here.
type active struct {
	began  time.Time
	cancel context.CancelCauseFunc
}

// NewService makes a Service; reactors.With gives it to the jobs. The runner has
// NestedWorkers more workers than there are runs at a time; mcp may be nil.
func NewService(cfg Config, pool *pgxpool.Pool, runner Runner, services *host.Services, mcp *tools.MCP, log zerolog.Logger) *Service {
	s := &Service{cfg: cfg, pool: pool, runner: runner, host: services, mcp: mcp, log: log,
		slots: semaphore.NewWeighted(int64(cfg.Workers)), turns: newTurns(), stopping: make(chan struct{}),
		cache: newDefinitions(), active: map[uuid.UUID]*active{}}
	for depth := range s.nesting {
		s.nesting[depth].taken = map[uuid.UUID]int{}
	}
	return s
}

// Configure implements reactors.Service.
func (s *Service) Configure(config *river.Config) {
	river.AddWorker(config.Workers, &laneWorker{s: s})
	river.AddWorker(config.Workers, &checkWorker{s: s})
	river.AddWorker(config.Workers, &scheduleWorker{s: s})
	config.Queues[queueLanes] = river.QueueConfig{MaxWorkers: s.cfg.Workers}
	config.Queues[queueChecks] = river.QueueConfig{MaxWorkers: 2}
	config.Queues[queueSchedules] = river.QueueConfig{MaxWorkers: 2}
}

// Details implements reactors.Service: the layers around untrusted code.
func (s *Service) Details() (string, map[string]any) {
	layered, ok := s.runner.(Layered)
	if !ok {
		return name, nil
	}
	layers := layered.Layers()
	details := map[string]any{"healthy": len(layers) > 0, "layers": layers}
	if len(layers) == 0 {
		details["reason"] = "no worker child could be started"
	}
	for _, l := range layers {
		if l.Required && !l.Active {
			details["healthy"], details["reason"] = false, fmt.Sprintf("required layer %s is missing: %s", l.Name, l.Detail)
			break
		}
	}
	return name, details
}

// Start implements reactors.Service.
func (s *Service) Start(ctx context.Context, jobs *reactors.Jobs) error {
	var err error
	s.results, err = reactors.NewResults(ctx, s.pool, name, "public.skills", "public.skill_runs")
	if err != nil {
		return err
	}
	s.jobs = jobs
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.commits = newCommitter(s)
	for _, loop := range []func(){s.commits.run, s.pollCancels, s.sweep} {
		s.loops.Go(loop)
	}
	return nil
}

// Stop implements reactors.Service: no run begins any more, short ones end, and
// the others go back to the queue.
func (s *Service) Stop(ctx context.Context) {
	close(s.stopping)
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	if !s.idle(ctx) {
		s.cancelAll(errStopping)
		rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
		defer cancel()
		if !s.idle(rest) {
			s.log.Warn().Msg("runs of skills did not end in time; they will be run again")
		}
	}
	s.end()
	s.loops.Wait()
}

// idle waits until no run is executed.
func (s *Service) idle(ctx context.Context) bool {
	all := int64(s.cfg.Workers)
	if s.slots.Acquire(ctx, all) != nil {
		return false
	}
	s.slots.Release(all)
	return true
}

func (s *Service) isStopping() bool {
	select {
	case <-s.stopping:
		return true
	default:
		return false
	}
}

func (s *Service) cancelAll(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.active {
		a.cancel(cause)
	}
}

// begin notes a run that is executed from now on.
func (s *Service) begin(id uuid.UUID, cancel context.CancelCauseFunc) (end func()) {
	a := &active{time.Now(), cancel}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active[id] = a
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.active[id] == a {
			delete(s.active, id)
		}
	}
}

// every calls f at intervals until the Service ends.
func (s *Service) every(interval time.Duration, what string, f func(ctx context.Context) error) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		if err := f(s.ctx); err != nil && !errors.Is(err, context.Canceled) {
			s.log.Warn().Err(err).Msg(what)
		}
	}
}
