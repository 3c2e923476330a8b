package decay

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

const (
	queue      = "decay"
	lookEvery  = 15 * time.Second
	tickRetry  = time.Minute
	tickLimit  = time.Hour       // for one tick
	overdue    = 5 * time.Minute // after which one that has not begun is a fault
	mostTrials = 1000
)

// Due is the job of one tick. There is one at most; the next is inserted in the
// transaction that completes it. So no process has to remember when it was, and
// however long nobody was there, it ticks once.
type Due struct {
	Schedule string `json:"schedule"`
}

// Kind implements river.JobArgs.
func (Due) Kind() string { return "decay_tick" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (Due) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queue, MaxAttempts: mostTrials, UniqueOpts: river.UniqueOpts{ByState: reactors.Unended}}
}

// Service ticks by a Schedule, in one process of any number.
type Service struct {
	schedule Schedule
	pool     *pgxpool.Pool
	now      func() time.Time
	log      zerolog.Logger

	jobs   *reactors.Jobs
	ticker *Ticker
	ctx    context.Context
	stop   context.CancelFunc
	loop   sync.WaitGroup

	mu    sync.Mutex
	state state
}

// state is what Details tells.
type state struct {
	last, next    *time.Time
	rows, written *int64
	failing       bool
}

// NewService makes a Service; reactors.With gives it to the jobs. now is the clock.
func NewService(schedule Schedule, pool *pgxpool.Pool, now func() time.Time, log zerolog.Logger) *Service {
	return &Service{schedule: schedule, pool: pool, now: now, log: log}
}

// Configure implements reactors.Service.
func (s *Service) Configure(config *river.Config) {
	river.AddWorker(config.Workers, &tickWorker{s: s})
	config.Queues[queue] = river.QueueConfig{MaxWorkers: 1}
}

// Start implements reactors.Service.
func (s *Service) Start(ctx context.Context, jobs *reactors.Jobs) error {
	var err error
	if s.ticker, err = NewTicker(ctx, s.pool); err != nil {
		return err
	}
	s.jobs, s.ticker.holder = jobs, jobs.Holder()
	if err := s.reschedule(ctx); err != nil {
		return err
	}
	if err := s.look(ctx); err != nil {
		return err
	}
	s.ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.loop.Go(func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-tick.C:
			}
			if err := s.look(s.ctx); err != nil && !errors.Is(err, context.Canceled) {
				s.log.Warn().Err(err).Msg("could not look for the next tick of decay; trying again")
			}
		}
	})
	return nil
}

// Stop implements reactors.Service. A tick under way is cancelled by River, and is
// done again: what it has written is not written twice.
func (s *Service) Stop(context.Context) {
	s.stop()
	s.loop.Wait()
}

// Details implements reactors.Service.
func (s *Service) Details() (string, map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := map[string]any{"healthy": true, "schedule": s.schedule.String(), "last_tick_at": s.state.last, "next_tick_at": s.state.next,
		"rows": s.state.rows, "written": s.state.written}
	switch late := s.state.next != nil && s.now().Sub(*s.state.next) > overdue; {
	case s.state.failing:
		d["healthy"], d["reason"] = false, "the last tick failed; the log says why"
	case late:
		d["healthy"], d["reason"] = false, "a tick is overdue"
	}
	return name, d
}

// reschedule removes a tick that waits by another schedule.
func (s *Service) reschedule(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, `delete from helix.river_job where kind = $1 and state in ('available', 'pending', 'retryable', 'scheduled')
		and args ->> 'schedule' is distinct from $2`, Due{}.Kind(), s.schedule.String())
	if err != nil {
		return fmt.Errorf("change the schedule of decay: %w", err)
	}
	return nil
}

// look inserts the tick that is due next where none is there, and sees how things
// are.
func (s *Service) look(ctx context.Context) error {
	if s.schedule.cron != nil {
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			var last *time.Time
			if err := tx.QueryRow(ctx, "select (select ticked_at from helix.decay)").Scan(&last); err != nil {
				return fmt.Errorf("read the last tick: %w", err)
			}
			now := s.now()
			at, next := now, s.schedule.Next(now)
			if last != nil && !last.After(now) {
				if due := s.schedule.Next(*last); due.After(now) {
					at = due
				}
			}
			// A clock that was ahead has left one that is due long after the next.
			_, err := tx.Exec(ctx, `update helix.river_job set scheduled_at = $2 where kind = $1 and state in ('scheduled', 'retryable')
				and scheduled_at > greatest($2::timestamptz, $3::timestamptz)`, Due{}.Kind(), next, now.Add(tickRetry))
			if err != nil {
				return fmt.Errorf("bring a tick forward: %w", err)
			}
			return s.insert(ctx, tx, at)
		})
		if err != nil {
			return err
		}
	}
	var seen state
	err := s.pool.QueryRow(ctx, `select d.ticked_at, d.rows, d.written, j.scheduled_at, coalesce(j.state = 'retryable', false)
		from (select) one left join helix.decay d on true
		left join helix.river_job j on j.kind = $1 and j.state in ('available', 'pending', 'retryable', 'running', 'scheduled')`, Due{}.Kind()).
		Scan(&seen.last, &seen.rows, &seen.written, &seen.next, &seen.failing)
	if err != nil {
		return fmt.Errorf("read the last tick: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = seen
	return nil
}

// insert inserts the next tick, where there is none.
func (s *Service) insert(ctx context.Context, tx pgx.Tx, at time.Time) error {
	_, err := s.jobs.InsertOne(ctx, tx, Due{s.schedule.String()}, &river.InsertOpts{ScheduledAt: at})
	return err
}

type tickWorker struct {
	river.WorkerDefaults[Due]
	s *Service
}

// Timeout implements river.Worker.
func (*tickWorker) Timeout(*river.Job[Due]) time.Duration { return tickLimit }

// NextRetry implements river.Worker.
func (w *tickWorker) NextRetry(*river.Job[Due]) time.Time { return w.s.now().Add(tickRetry) }

// Work implements river.Worker.
func (w *tickWorker) Work(ctx context.Context, job *river.Job[Due]) error {
	s := w.s
	at := s.now()
	done, err := s.ticker.Tick(ctx, at, s.schedule.Ahead(at), func(Progress) {})
	if err != nil {
		return err
	}
	said := s.log.Debug()
	if done.Refused > 0 {
		said = s.log.Warn().Int64("refused_rows", done.Refused)
	}
	said.Int64("rows", done.Rows).Int64("written", done.Written).Dur("took", done.Took).Msg("decay: layers are updated")
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := reactors.Complete(ctx, tx, job); err != nil {
			return err
		}
		// The clock here may be behind the one by which the job was due.
		if job.ScheduledAt.After(at) {
			at = job.ScheduledAt
		}
		if next := s.schedule.Next(at); !next.IsZero() {
			return s.insert(ctx, tx, next)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("complete a tick: %w", err)
	}
	if err := s.look(ctx); err != nil {
		s.log.Debug().Err(err).Msg("could not look for the next tick of decay; trying again")
	}
	return nil
}
