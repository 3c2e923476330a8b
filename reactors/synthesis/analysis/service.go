package analysis

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/usage"
)

// Model is whom is asked; llm.Client is one.
type Model interface {
	llm.Model
	// Trouble is why nothing is asked now, nil: it is.
	Trouble() *outbound.Error
	// Ready is when it may be asked again; the zero time is now.
	Ready() time.Time
}

// Config is what an operator says.
type Config struct {
	Concurrency     int   // analyses at a time in this process
	UserConcurrency int   // of one user, in all processes
	ChunkTokens     int64 // of one request's texts and findings
	MostChunks      int   // requests that one analysis' texts are sent in
	AnswerTokens    int   // the longest answer
	Redact          redact.Rules
	Local           string // why package local answers where there is no model
	CacheAge        time.Duration
	CacheAnswers    int // of one user
}

// DefaultConfig is an operator's who says nothing.
var DefaultConfig = Config{Concurrency: 4, UserConcurrency: 2, ChunkTokens: 12_000, MostChunks: 24, AnswerTokens: 8_000,
	Local: "no key is set", CacheAge: 7 * 24 * time.Hour, CacheAnswers: 500}

// Bounds of Config.
const (
	LeastChunkTokens = 2_000
	MostChunkTokens  = 500_000
)

const (
	stopGrace  = 5 * time.Second // for requests under way at the end
	watchEvery = 500 * time.Millisecond
	sweepEvery = 30 * time.Second
)

// Service analyses, in one process.
type Service struct {
	cfg    Config
	pool   *pgxpool.Pool
	model  Model
	ledger *usage.Ledger
	log    zerolog.Logger

	jobs    *reactors.Jobs
	results *reactors.Results
	ctx     context.Context
	stop    context.CancelFunc
	loops   sync.WaitGroup
	workers sync.WaitGroup

	mu       sync.Mutex
	stopping bool
	active   map[*active]bool
}

// active is an analysis that is worked on here.
type active struct {
	id, claim uuid.UUID
	taken     bool   // the claim stands in the database
	source    string // what of the user's is sent, as opt-outs name it; "": nothing yet
	cancel    context.CancelCauseFunc
}

// NewService makes a Service; reactors.With gives it to the jobs. Without a model
// package local answers.
func NewService(cfg Config, pool *pgxpool.Pool, model Model, ledger *usage.Ledger, log zerolog.Logger) *Service {
	return &Service{cfg: cfg, pool: pool, model: model, ledger: ledger, log: log, active: map[*active]bool{}}
}

// Configure implements reactors.Service.
func (s *Service) Configure(config *river.Config) {
	river.AddWorker(config.Workers, &reactors.Worker[Analyse]{Longest: mostWait, Do: s.work})
	config.Queues[queue] = river.QueueConfig{MaxWorkers: s.cfg.Concurrency}
}

// Start implements reactors.Service.
func (s *Service) Start(ctx context.Context, jobs *reactors.Jobs) error {
	var err error
	if s.results, err = reactors.NewResults(ctx, s.pool, name, "public.memory_synthesis_jobs", "public.memory_patterns", "public.synthesis_recommendations"); err != nil {
		return err
	}
	s.jobs = jobs
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.loops.Go(func() {
		reactors.Every(s.ctx, watchEvery, s.log, "could not look for deleted analyses; trying again", s.watch)
	})
	s.loops.Go(func() {
		if err := s.wake(s.ctx); err != nil && s.ctx.Err() == nil { // the operator may have mended what they wait for
			s.log.Warn().Err(err).Msg("could not wake the analyses that wait; they go on by themselves")
		}
		reactors.Every(s.ctx, sweepEvery, s.log, "could not look for analyses that were left behind; trying again", s.sweep)
	})
	return nil
}

// Stop implements reactors.Service: no request is begun any more, and those under
// way may still be answered; what is not done by then goes back.
func (s *Service) Stop(ctx context.Context) {
	s.mu.Lock()
	s.stopping = true
	s.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		s.workers.Wait()
		close(ended)
	}()
	grace, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	select {
	case <-ended:
	case <-grace.Done():
		s.mu.Lock()
		for a := range s.active {
			a.cancel(errStopping)
		}
		s.mu.Unlock()
		select {
		case <-ended:
		case <-time.After(stopGrace):
			s.log.Warn().Msg("analyses were not given back in time; they will be taken up again")
		}
	}
	s.stop()
	s.loops.Wait()
}

// Details implements reactors.Service.
func (s *Service) Details() (string, map[string]any) {
	s.mu.Lock()
	details := map[string]any{"healthy": true, "running": len(s.active)}
	s.mu.Unlock()
	if s.model == nil {
		details["provider"] = localName(s.cfg.Local)
		return name, details
	}
	details["provider"] = s.model.Name()
	if trouble := s.model.Trouble(); trouble != nil {
		details["healthy"], details["reason"] = false, trouble.Public()
	}
	return name, details
}

// enter notes an analysis that begins; false: none may any more.
func (s *Service) enter(a *active) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping {
		return false
	}
	s.workers.Add(1)
	s.active[a] = true
	return true
}

// sends notes what of the user's a claim sends.
func (s *Service) sends(c *claim, source string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.active {
		if a.claim == c.token {
			a.source = source
		}
	}
}

func (s *Service) leave(a *active) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.active, a)
	s.workers.Done()
}

func (s *Service) ends() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}
