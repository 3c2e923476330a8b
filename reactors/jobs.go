package reactors

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/helixd/helixd/internal/trace"
)

// jobSchema is where River's tables are.
const jobSchema = "helix"

// keepJobs is how long a job that has ended stays, for whoever looks. Its arguments
// name users, of whom little is to be left once their account is deleted.
const keepJobs = 5 * time.Minute

// Jobs is helixd's River client: reactors enqueue through it inside the apply
// transaction, workers work what was committed.
type Jobs struct {
	client   *river.Client[pgx.Tx]
	pool     *pgxpool.Pool
	log      *slog.Logger
	holder   string
	services []Service
	work     bool
	begun    int // services that were started
	started  bool
	ended    atomic.Bool // River's client has
	holding  holding
	resting  context.CancelFunc // ends the heartbeat; nil before it has begun
	rested   chan struct{}
}

// Service is a kind of work and what lives beside it while jobs are worked.
type Service interface {
	// Configure adds its workers and queues.
	Configure(config *river.Config)
	// Start is called before the first job is worked, Stop when no further one is
	// begun. ctx of Stop ends when the process will wait no longer.
	Start(ctx context.Context, jobs *Jobs) error
	Stop(ctx context.Context)
	// Details tells helix_status, under the reactor's name, how it is here: an
	// object whose "healthy" is false where it cannot work. nil tells nothing.
	Details() (reactor string, details map[string]any)
}

// JobOption says more of a Jobs.
type JobOption func(*Jobs)

// Named gives the name that this process has among all that work jobs, of at
// most 100 bytes; without it one is made up. No two processes may share one.
func Named(holder string) JobOption { return func(j *Jobs) { j.holder = holder } }

// With lets the process do a Service's work, where it works jobs at all.
func With(s Service) JobOption { return func(j *Jobs) { j.services = append(j.services, s) } }

// NewJobs makes a client. Without work it only inserts.
func NewJobs(pool *pgxpool.Pool, work bool, log *slog.Logger, options ...JobOption) (*Jobs, error) {
	j := &Jobs{pool: pool, log: log, work: work, holder: "helixd " + strings.ToLower(rand.Text()[:10])}
	if j.log == nil {
		j.log = slog.New(slog.DiscardHandler)
	}
	for _, option := range options {
		option(j)
	}
	config := &river.Config{Schema: jobSchema, Logger: log, ID: j.holder, Middleware: append(trace.Jobs(), river.WorkerMiddlewareFunc(measured))}
	if work {
		config.Workers = river.NewWorkers()
		river.AddWorker(config.Workers, &pruneInboxWorker{pool: pool})
		config.Queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}}
		config.FetchCooldown = 5 * time.Millisecond // 4.7 ms from insert to work, where the default takes 55
		config.FetchPollInterval = pollEvery
		config.JobTimeout = time.Minute
		config.RescueStuckJobsAfter = 5 * time.Minute
		config.CompletedJobRetentionPeriod, config.CancelledJobRetentionPeriod = keepJobs, keepJobs
		for _, s := range j.services {
			s.Configure(config)
		}
		j.holding = holding{queues: slices.Sorted(maps.Keys(config.Queues)), paused: map[string]bool{}, told: map[string]int{}}
	}
	var err error
	if j.client, err = river.NewClient(riverpgxv5.New(pool), config); err != nil {
		return nil, fmt.Errorf("make a River client: %w", err)
	}
	return j, nil
}

// Holder is this process's name among all that work jobs.
func (j *Jobs) Holder() string { return j.holder }

// Start begins to work jobs, until Stop. Any number of processes may: they share
// the queues, and one of them is elected to schedule and to rescue. Started
// already, or made without work, it does nothing; after an error it goes on where
// that was.
func (j *Jobs) Start(ctx context.Context) error {
	if j.started || !j.work {
		return nil
	}
	if err := j.watchQueues(ctx); err != nil {
		return err
	}
	if j.resting == nil {
		if err := j.live(ctx); err != nil {
			return err
		}
	}
	for _, s := range j.services[j.begun:] {
		if err := s.Start(ctx, j); err != nil {
			return err
		}
		j.begun++
	}
	if err := j.client.Start(ctx); err != nil {
		return fmt.Errorf("start River: %w", err)
	}
	j.started = true
	stopped := j.client.Stopped()
	go func() {
		<-stopped
		j.ended.Store(true)
	}()
	return j.queuesBegun(ctx)
}

// Stop lets running jobs end; when ctx ends first they are cancelled and will
// be worked again.
func (j *Jobs) Stop(ctx context.Context) error {
	if j.resting == nil {
		return nil
	}
	stopped := make(chan error, 1)
	go func() { stopped <- j.client.Stop(ctx) }() // first of all it fetches no more
	for _, s := range j.services[:j.begun] {
		s.Stop(ctx)
	}
	err := <-stopped
	if err != nil {
		cancelled, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		err = j.client.StopAndCancel(cancelled)
	}
	j.rest(err == nil)
	return err
}

// Insert enqueues jobs in a transaction, whose commit wakes who works them. River
// itself tells of no more than one insert in a cooldown, when it is made: one that
// commits later than the next fetch would wait until somebody looks, for up to a second.
func (j *Jobs) Insert(ctx context.Context, tx pgx.Tx, jobs []river.InsertManyParams) error {
	inserted, err := j.client.InsertManyTx(ctx, tx, jobs)
	if err != nil {
		return fmt.Errorf("enqueue jobs: %w", err)
	}
	queues := map[string]bool{}
	for _, i := range inserted {
		if !i.UniqueSkippedAsDuplicate && i.Job.State == rivertype.JobStateAvailable {
			queues[i.Job.Queue] = true
		}
	}
	return Wake(ctx, tx, slices.Collect(maps.Keys(queues))...)
}

// Wake lets who works these queues fetch, once it commits: who makes a job available
// by itself says so, or it waits until somebody looks.
func Wake(ctx context.Context, db execer, queues ...string) error {
	if len(queues) == 0 {
		return nil
	}
	_, err := db.Exec(ctx, "select pg_notify($1, json_build_object('queue', queue)::text) from unnest($2::text[]) as queue",
		jobSchema+".river_insert", queues)
	if err != nil {
		return fmt.Errorf("tell of jobs: %w", err)
	}
	return nil
}

// InsertOne enqueues a job in a transaction and gives its id.
func (j *Jobs) InsertOne(ctx context.Context, tx pgx.Tx, args river.JobArgs, opts *river.InsertOpts) (int64, error) {
	inserted, err := j.client.InsertTx(ctx, tx, args, opts)
	if err != nil {
		return 0, fmt.Errorf("enqueue %s: %w", args.Kind(), err)
	}
	return inserted.Job.ID, nil
}
