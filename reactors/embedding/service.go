package embedding

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/llm"
	"github.com/helixd/helixd/reactors/outbound"
	"github.com/helixd/helixd/reactors/redact"
	"github.com/helixd/helixd/reactors/usage"
)

// Embedder asks a provider; llm.EmbedClient is one.
type Embedder interface {
	llm.Embedder
	// Ready is when a request may be made: the zero time is now.
	Ready() time.Time
	// Trouble is why nothing is asked now, nil: nothing is in the way.
	Trouble() *outbound.Error
}

// Config is what an operator says.
type Config struct {
	Concurrency int           // users at a time, in this process
	Batch       int           // texts a request, at most
	Rate        int           // texts a minute, of all processes; 0: any number
	Delay       time.Duration // from a change until it may be asked about
	Redact      redact.Rules  // without Kinds nothing is replaced
}

// DefaultConfig is an operator's who says nothing.
var DefaultConfig = Config{Concurrency: 4, Batch: 128, Delay: time.Second}

const (
	sweepEvery = 15 * time.Second
	tidyEvery  = 10 * time.Minute
)

// Service embeds, in one process.
type Service struct {
	cfg      Config
	pool     *pgxpool.Pool
	embedder Embedder
	ledger   *usage.Ledger
	log      zerolog.Logger

	jobs    *reactors.Jobs
	results *reactors.Results
	ctx     context.Context
	stop    context.CancelFunc
	loops   sync.WaitGroup

	answered atomic.Int64 // when the provider last gave vectors, in Unix time

	mu       sync.Mutex
	mismatch *mismatch // nil: none is known
	depth    depth
	column   *fault // why the column takes no embeddings
}

// NewService makes a Service; reactors.With gives it to the jobs. Without an
// Embedder memories wait.
func NewService(cfg Config, pool *pgxpool.Pool, e Embedder, ledger *usage.Ledger, log zerolog.Logger) *Service {
	return &Service{cfg: cfg, pool: pool, embedder: e, ledger: ledger, log: log}
}

// Configure implements reactors.Service.
func (s *Service) Configure(config *river.Config) {
	river.AddWorker(config.Workers, &reactors.Worker[EmbedMemories]{Longest: mostBackoff, Do: s.work})
	config.Queues[queue] = river.QueueConfig{MaxWorkers: s.cfg.Concurrency}
}

// Start implements reactors.Service.
func (s *Service) Start(ctx context.Context, jobs *reactors.Jobs) (err error) {
	if s.results, err = reactors.NewResults(ctx, s.pool, name, "public.memories"); err != nil {
		return err
	}
	s.jobs = jobs
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	const what = "could not look for memories that wait for embeddings; trying again"
	s.loops.Go(func() {
		if err := s.forgive(s.ctx); err != nil && s.ctx.Err() == nil {
			s.log.Warn().Err(err).Msg("could not wake the memories that wait; they go on by themselves")
		}
		reactors.Every(s.ctx, sweepEvery, s.log, what, s.sweep)
	})
	s.loops.Go(func() { reactors.Every(s.ctx, tidyEvery, s.log, what, s.tidy) })
	return nil
}

// Stop implements reactors.Service: requests under way are given up.
func (s *Service) Stop(context.Context) {
	s.stop()
	s.loops.Wait()
}

// Details implements reactors.Service: whether memories can be embedded here.
func (s *Service) Details() (string, map[string]any) {
	s.mu.Lock()
	mismatch, depth, column := s.mismatch, s.depth, s.column
	s.mu.Unlock()
	details := map[string]any{"healthy": true, "set_aside": depth.setAside}
	if len(depth.reasons) > 0 {
		details["waiting"] = depth.reasons // users, by why
	}
	sick := func(reason string) { details["healthy"], details["reason"] = false, reason }
	if s.embedder == nil {
		sick(errNotConfigured.Message)
		return name, details
	}
	details["provider"] = s.embedder.Name()
	trouble := s.embedder.Trouble()
	switch {
	case column != nil:
		sick(column.Message)
	case mismatch != nil:
		sick(mismatch.fault.Message)
	case trouble != nil && trouble.Code != outbound.RateLimited:
		sick(outbound.Sentence(trouble.Public()))
	}
	return name, details
}
