package reactors

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/internal/trace"
	"github.com/helixd/helixd/replication"
)

// jobSchema is where River's tables are.
const jobSchema = "helix"

// Jobs is helixd's River client: reactors enqueue through it inside the apply
// transaction, workers work what was committed.
type Jobs struct {
	client   *river.Client[pgx.Tx]
	pool     *pgxpool.Pool
	log      *slog.Logger
	holder   string
	services []Service
	work     bool
	started  bool
	ended    atomic.Bool // River's client has
	holding  holding
	resting  context.CancelFunc // ends the heartbeat
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
// already, or made without work, it does nothing.
func (j *Jobs) Start(ctx context.Context) error {
	if j.started || !j.work {
		return nil
	}
	if err := j.watchQueues(ctx); err != nil {
		return err
	}
	if err := j.live(ctx); err != nil {
		return err
	}
	for _, s := range j.services {
		if err := s.Start(ctx, j); err != nil {
			return err
		}
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
	if !j.started {
		return nil
	}
	stopped := make(chan error, 1)
	go func() { stopped <- j.client.Stop(ctx) }() // first of all it fetches no more
	for _, s := range j.services {
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
	return wake(ctx, tx, slices.Collect(maps.Keys(queues)))
}

// wake lets who works these queues fetch.
func wake(ctx context.Context, db interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}, queues []string) error {
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

// PruneInbox removes the inbox's rows of all transactions before XID once the
// checkpoint has passed LSN and the publication is known to have been whole: every such transaction had ended before LSN was
// written, so its rows were applied.
type PruneInbox struct {
	Slot string          `json:"slot" river:"unique"`
	LSN  replication.LSN `json:"lsn"`
	XID  uint64          `json:"xid"` // xid8
}

// Kind implements river.JobArgs.
func (PruneInbox) Kind() string { return "prune_inbox" }

// InsertOpts lets one of them wait a slot; what comes meanwhile it finds at its end.
func (PruneInbox) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: Unended}}
}

// Unended are the states of a job that will be worked: where they are unique, the
// next one of a kind comes in as soon as one has ended.
var Unended = []rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateScheduled,
	rivertype.JobStateRunning, rivertype.JobStateRetryable,
}

// NextTry is when a job that failed is tried again: after a second, and after twice
// as long each time, but never later than most from now.
func NextTry(attempt int, most time.Duration) time.Time {
	return time.Now().Add(min(time.Second<<min(max(attempt-1, 0), 20), most))
}

// keepJobs is how long a job that has ended stays, for whoever looks. Its arguments
// name users, of whom little is to be left once their account is deleted.
const keepJobs = 5 * time.Minute

const (
	pruneDelay = 10 * time.Second // inbox rows are few and small: there is no hurry
	pruneRetry = time.Minute      // on an idle project the checkpoint stands still
	pruneChunk = 10_000           // rows a statement
)

// enqueuePrune sees to it that the inbox rows of this apply will be removed.
func (j *Jobs) enqueuePrune(ctx context.Context, tx pgx.Tx, slot string) error {
	args := PruneInbox{Slot: slot}
	err := tx.QueryRow(ctx, `select pg_current_wal_insert_lsn(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint`).
		Scan(&args.LSN, &args.XID)
	if err != nil {
		return fmt.Errorf("mark the inbox: %w", err)
	}
	_, err = j.client.InsertTx(ctx, tx, args, &river.InsertOpts{ScheduledAt: time.Now().Add(pruneDelay)})
	if err != nil {
		return fmt.Errorf("enqueue prune_inbox: %w", err)
	}
	return nil
}

// ErrRescued says that a job was given to another worker since: this one was
// stopped for so long that it was taken for dead, and has written nothing.
var ErrRescued = errors.New("the job was rescued and is another worker's now")

// Complete ends a job in the transaction that has its results. River's own
// JobCompleteTx asks neither whether the job still runs nor whose attempt it is.
func Complete[T river.JobArgs](ctx context.Context, tx pgx.Tx, job *river.Job[T]) error {
	tag, err := tx.Exec(ctx, "select from "+jobSchema+".river_job where id = $1 and attempt = $2 and state = 'running' for update",
		job.ID, job.Attempt)
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		return ErrRescued
	}
	_, err = river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
	return err
}

type pruneInboxWorker struct {
	river.WorkerDefaults[PruneInbox]
	pool *pgxpool.Pool
}

// Work removes a chunk of rows. What is left, or came since, is the next job's,
// which is inserted with this one's completion.
func (w *pruneInboxWorker) Work(ctx context.Context, job *river.Job[PruneInbox]) error {
	client := river.ClientFromContext[pgx.Tx](ctx)
	return pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		var passed bool
		// Rows that were written while the inbox was not published were not applied,
		// however far the checkpoint is.
		err := tx.QueryRow(ctx, `select coalesce((select c.lsn >= $2 and l.verified_lsn >= $2
			from helix.checkpoints c join helix.leaders l using (slot) where slot = $1), false)`,
			job.Args.Slot, job.Args.LSN).Scan(&passed)
		if err != nil {
			return err
		}
		var more bool
		next, delay := job.Args, pruneDelay
		if passed {
			err = tx.QueryRow(ctx, `with gone as (
					delete from helix.inbox where id in (
						select id from helix.inbox where xid < $1::text::xid8 order by id limit $2)
					returning id)
				select exists (select from helix.inbox where id not in (select id from gone)),
					pg_current_wal_insert_lsn(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint`,
				fmt.Sprint(job.Args.XID), pruneChunk).Scan(&more, &next.LSN, &next.XID)
			if err != nil {
				return err
			}
		} else {
			more, delay = true, pruneRetry
		}
		failpoint.Here("job")
		if err := Complete(ctx, tx, job); err != nil {
			return err
		}
		if more {
			_, err = client.InsertTx(ctx, tx, next, &river.InsertOpts{ScheduledAt: time.Now().Add(delay)})
		}
		return err
	})
}
