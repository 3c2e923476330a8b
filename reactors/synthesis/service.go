package synthesis

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
)

const (
	sweepEvery = 30 * time.Second
	sweepMost  = 1000
	// mostFailing is after how many runs that fail in a row it is not one user's memories.
	mostFailing = 3
	sweepLock   = 0x73796e74686573 // one process at a time; "synthes" in ASCII
)

// Service synthesises, in one process.
type Service struct {
	cfg     Config
	pool    *pgxpool.Pool
	log     zerolog.Logger
	cache   *cache
	running atomic.Int32
	failing atomic.Int32 // runs in a row
	working atomic.Int64 // bytes that the running ones need

	jobs    *reactors.Jobs
	results *reactors.Results
	ctx     context.Context
	stop    context.CancelFunc
	loops   sync.WaitGroup
}

// NewService makes a Service; reactors.With gives it to the jobs.
func NewService(cfg Config, pool *pgxpool.Pool, log zerolog.Logger) *Service {
	return &Service{cfg: cfg, pool: pool, log: log, cache: newCache(cfg.CacheBytes)}
}

// Configure implements reactors.Service.
func (s *Service) Configure(config *river.Config) {
	river.AddWorker(config.Workers, &reactors.Worker[Synthesise]{Longest: mostBackoff, Do: s.work})
	config.Queues[queue] = river.QueueConfig{MaxWorkers: s.cfg.Concurrency}
}

// Open readies a Service for Once, without jobs.
func (s *Service) Open(ctx context.Context) (err error) {
	s.results, err = reactors.NewResults(ctx, s.pool, name, "public.memory_synthesis")
	return err
}

// Start implements reactors.Service.
func (s *Service) Start(ctx context.Context, jobs *reactors.Jobs) error {
	if err := s.Open(ctx); err != nil {
		return err
	}
	s.jobs = jobs
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.loops.Go(func() {
		reactors.Every(s.ctx, sweepEvery, s.log, "could not look for users who are due; trying again", func(ctx context.Context) error {
			return errors.Join(s.wake(ctx), s.forget(ctx))
		})
	})
	return nil
}

// Stop implements reactors.Service: what is under way goes back, and is begun anew
// elsewhere.
func (s *Service) Stop(context.Context) {
	s.stop()
	s.loops.Wait()
}

// Details implements reactors.Service.
func (s *Service) Details() (string, map[string]any) {
	failing := s.failing.Load()
	return name, map[string]any{"healthy": failing < mostFailing, "failing": failing, "method": string(s.cfg.Method), "running": s.running.Load(), "cached_bytes": s.cache.held()}
}

// wake enqueues users who are due and have no job, as a restored database may have
// them.
func (s *Service) wake(ctx context.Context) error {
	err := reactors.Alone(ctx, s.pool, sweepLock, func(tx pgx.Tx) error {
		return reactors.InsertEach[Synthesise](ctx, s.jobs, tx, `select user_id::text from helix.synthesis_work w where due and not exists (
				select from helix.river_job j where j.queue = $1 and j.args ->> 'user_id' = w.user_id::text
					and j.state in ('available', 'pending', 'scheduled', 'running', 'retryable'))
			order by user_id limit $2`, queue, sweepMost)
	})
	if err != nil {
		return fmt.Errorf("look for users who are due: %w", err)
	}
	return nil
}

// forget drops what is cached of accounts that are gone.
func (s *Service) forget(ctx context.Context) error {
	users := s.cache.users()
	if len(users) == 0 {
		return nil
	}
	rows, err := s.pool.Query(ctx, "select w.id from unnest($1::uuid[]) as w (id) where not exists (select from auth.users u where u.id = w.id)", users)
	if err != nil {
		return fmt.Errorf("look for accounts that are gone: %w", err)
	}
	gone, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return fmt.Errorf("look for accounts that are gone: %w", err)
	}
	for _, user := range gone {
		s.cache.take(user)
	}
	return nil
}

// need says that a synthesis needs so many bytes, or, below zero, needs them no
// longer.
func (s *Service) need(bytes int64) {
	working := s.working.Add(bytes)
	if s.cfg.Hold != nil {
		s.cfg.Hold(working + s.cache.held())
	}
}

// holder is this process's name among those that work jobs, "helixd" without jobs.
func (s *Service) holder() string {
	if s.jobs == nil {
		return "helixd"
	}
	return s.jobs.Holder()
}
