package recall

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
)

// Config is what an operator says.
type Config struct {
	Budget   int64                  // bytes that the vector index may have
	Schedule river.PeriodicSchedule // of maintenance; nil: none
}

const (
	tendEvery = 5 * time.Minute
	tendRetry = 5 * time.Second // after a deadlock
	lock      = 0x726563616c6c  // one process at a time; "recall" in ASCII
)

// Service keeps the vector index, in one process at a time.
type Service struct {
	cfg  Config
	pool *pgxpool.Pool
	log  zerolog.Logger

	holder string // this process's name among all that work jobs
	ctx    context.Context
	stop   context.CancelFunc
	loop   sync.WaitGroup

	mu     sync.Mutex
	index  index // as it was seen last
	seen   bool
	making bool   // the index, here
	failed string // SQLSTATE of what could not be done, or a word
}

// NewService makes a Service; reactors.With gives it to the jobs.
func NewService(cfg Config, pool *pgxpool.Pool, log zerolog.Logger) *Service {
	return &Service{cfg: cfg, pool: pool, log: log, holder: "helixd", stop: func() {}}
}

// Configure implements reactors.Service.
func (s *Service) Configure(config *river.Config) {
	river.AddWorker(config.Workers, &maintainWorker{s: s})
	config.Queues[queue] = river.QueueConfig{MaxWorkers: 1}
	if s.cfg.Schedule != nil {
		config.PeriodicJobs = append(config.PeriodicJobs, river.NewPeriodicJob(s.cfg.Schedule,
			func() (river.JobArgs, *river.InsertOpts) { return Maintain{}, nil }, nil))
	}
}

// Start implements reactors.Service.
func (s *Service) Start(ctx context.Context, jobs *reactors.Jobs) error {
	s.holder = jobs.Holder()
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.look(ctx); err != nil {
		return err
	}
	s.loop.Go(func() {
		for {
			pause := tendEvery
			if err := s.Tend(s.ctx); err != nil && s.ctx.Err() == nil {
				s.log.Warn().Err(err).Msg("recall: the vector index could not be tended; trying again")
				// A new slot waits for the index and the index for the slot's snapshot,
				// as after an upgrade that widens the publication.
				if reactors.SQLState(err) == "40P01" {
					pause = tendRetry
				}
			}
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(pause):
			}
		}
	})
	return nil
}

// Stop implements reactors.Service. An index that is being made is given up; who
// comes next begins it again.
func (s *Service) Stop(context.Context) {
	s.stop()
	s.loop.Wait()
}

// Tend makes the vector index where it is missing, and keeps it to its budget;
// it does nothing while another process does.
func (s *Service) Tend(ctx context.Context) error {
	_, err := s.alone(ctx, s.tend)
	return errors.Join(err, s.look(ctx))
}

func (s *Service) tend(ctx context.Context, conn *pgx.Conn) error {
	if err := dropLeftovers(ctx, conn); err != nil {
		return err
	}
	x, err := readIndex(ctx, conn)
	if err != nil {
		return err
	}
	if x.definition == nil {
		return nil
	}
	// First, so that the index is not made of what would leave it.
	if err := s.keepBudget(ctx, &x); err != nil {
		return err
	}
	if !x.valid {
		if err := s.build(ctx, conn, *x.definition); err != nil {
			return err
		}
	}
	return s.dropFormer(ctx, conn)
}

// alone runs f on a session of its own, unless another process does: only one
// finds what is left of an index to be nobody's. It says whether f ran.
func (s *Service) alone(ctx context.Context, f func(ctx context.Context, conn *pgx.Conn) error) (ran bool, err error) {
	defer func() { s.failure(ctx, ran, err) }()
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	conn := pooled.Hijack()                      // what it does may take an hour, and its settings are its own
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	// Statements that wait for a lock here let apps write meanwhile: they need none
	// that readers or writers of rows have, and wait for those to end.
	err = conn.QueryRow(ctx, `select pg_try_advisory_lock($1), set_config('application_name', $2, false), set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false),
		set_config('maintenance_work_mem', greatest(m.setting::bigint, least(b.setting::bigint * 8, 1 << 20))::text || 'kB', false)
		from pg_settings m, pg_settings b where m.name = 'maintenance_work_mem' and b.name = 'shared_buffers'`, lock, s.holder).Scan(&ran, nil, nil, nil, nil)
	if err != nil {
		return false, err
	}
	if !ran {
		return false, reactors.EndDead(ctx, conn, lock)
	}
	return true, f(ctx, conn)
}

// failure notes what helix_status says of work that did not succeed.
func (s *Service) failure(ctx context.Context, ran bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil && ctx.Err() == nil:
		s.failed = reason(err)
	case ran && err == nil:
		s.failed = ""
	}
}

// look reads the index's state for helix_status.
func (s *Service) look(ctx context.Context) error {
	x, err := readIndex(ctx, s.pool)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index, s.seen = x, true
	return nil
}

// Details implements reactors.Service: the index beside its budget. indexed is the
// server's estimate.
func (s *Service) Details() (string, map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.seen {
		return name, nil
	}
	x := &s.index
	details := map[string]any{"healthy": s.failed == "", "index_bytes": x.bytes, "budget_bytes": s.cfg.Budget, "indexed": x.indexed, "unindexed": x.unindexed}
	if reason := s.reason(); reason != "" {
		details["reason"] = reason
	}
	return name, details
}

// reason says to people what is not as it should be. Any signed-in user may read it.
func (s *Service) reason() string {
	const compares = "match_memories compares all memories of a user"
	switch x := &s.index; {
	case x.definition == nil:
		return "There can be no vector index: it takes pgvector 0.8 and a column embedding of 1 to 4000 dimensions. " + compares + "."
	case s.making:
		return "The vector index is being made; until then " + compares + "."
	case s.failed != "":
		return "The vector index could not be kept (" + s.failed + "); the log says more, and it is tried again."
	case !x.valid:
		return "There is no vector index yet; until then " + compares + "."
	case x.unindexed > 0:
		return fmt.Sprintf("The vector index is at its budget: %d memories are out of it, and are compared one by one.", x.unindexed)
	case x.bytes > s.cfg.Budget:
		return "The vector index is larger than its budget until it is made again, at night."
	}
	return ""
}
