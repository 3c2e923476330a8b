package skills

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

type laneWorker struct {
	river.WorkerDefaults[Lane]
	s *Service
}

// Timeout implements river.Worker: runs have their own.
func (*laneWorker) Timeout(*river.Job[Lane]) time.Duration { return -1 }

// NextRetry implements river.Worker: a lane fails when the database does.
func (*laneWorker) NextRetry(*river.Job[Lane]) time.Time { return time.Now().Add(time.Second) }

// Work implements river.Worker.
func (w *laneWorker) Work(ctx context.Context, job *river.Job[Lane]) error {
	return (&lane{s: w.s, user: job.Args.UserID, job: job.ID, attempt: job.Attempt, ended: make(chan bool)}).work(ctx)
}

// lane executes runs of one user. Each holds one of the process's slots; it gets
// further ones when they are free, and gives them back when it finds no run.
type lane struct {
	s       *Service
	user    string
	job     int64
	attempt int

	until   time.Time // the slice's end
	slots   int64     // held
	running int64
	dry     bool      // the last claim found less than it asked for
	ended   chan bool // a run ended, and whether this lane has to look for the next
}

func (l *lane) work(ctx context.Context) error {
	if err := l.s.slots.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for a slot: %w", err)
	}
	l.slots = 1
	defer func() { l.s.slots.Release(l.slots) }()
	if l.s.isStopping() {
		return river.JobSnooze(0)
	}
	l.until = time.Now().Add(slice)
	if l.attempt > 1 {
		claims, err := l.s.resume(ctx, l.job, l.attempt)
		if err != nil {
			return err
		}
		for _, c := range claims {
			if l.running == l.slots {
				if err := l.s.slots.Acquire(ctx, 1); err != nil {
					return fmt.Errorf("wait for a slot: %w", err)
				}
				l.slots++
			}
			l.start(ctx, c)
		}
	}
	err := l.claim(ctx)
	for l.running > 0 {
		look := <-l.ended
		l.running--
		if look && err == nil {
			err = l.claim(ctx)
		}
		if idle := l.slots - l.running; idle > 0 && l.slots > 1 {
			l.s.slots.Release(min(idle, l.slots-1))
			l.slots -= min(idle, l.slots-1)
		}
	}
	if err != nil {
		return err
	}
	return l.pause(ctx)
}

// claim starts as many runs as there are slots for. What is started is counted
// even when an error ends the lane: it waits for it.
func (l *lane) claim(ctx context.Context) error {
	for l.slots < int64(l.s.cfg.Concurrency) && l.s.slots.TryAcquire(1) {
		l.slots++
	}
	room := l.slots - l.running
	claims, err := l.s.claim(ctx, l.user, int(room), l.job, l.attempt)
	if err != nil {
		return err
	}
	l.dry = int64(len(claims)) < room
	for _, c := range claims {
		l.start(ctx, c)
	}
	return nil
}

// start executes a run beside the lane. The slot is the lane's again when the
// run has ended and its result is committed.
func (l *lane) start(ctx context.Context, c *claim) {
	l.running++
	over := l.dry
	go func() {
		outcome := l.s.execute(ctx, c)
		// Who ends a run looks for the user's next one: this lane while its slice
		// lasts, else a lane that the commit makes.
		look := !over && time.Now().Before(l.until) && !l.s.isStopping()
		l.s.commits.finish(c, outcome, !look)
		l.ended <- look
	}()
}

// pause makes the lane that comes when the user's rate allows the next run.
func (l *lane) pause(ctx context.Context) error {
	wait, err := l.s.nextToken(ctx, l.user)
	if err != nil || wait == 0 {
		return err
	}
	return pgx.BeginFunc(ctx, l.s.pool, func(tx pgx.Tx) error {
		return l.s.jobs.Insert(ctx, tx, []river.InsertManyParams{{Args: Lane{UserID: l.user},
			InsertOpts: &river.InsertOpts{ScheduledAt: time.Now().Add(wait)}}})
	})
}
