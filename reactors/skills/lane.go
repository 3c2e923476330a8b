package skills

import (
	"context"
	"errors"
	"fmt"
	"sync"
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
	return (&lane{s: w.s, user: job.Args.UserID, job: job.ID, attempt: job.Attempt, owes: job.Attempt > 1 || job.Args.Adopts,
		ended: make(chan bool), low: make(chan struct{}, 1)}).work(ctx)
}

const (
	slice     = 100 * time.Millisecond // of a lane, while other users may wait
	quickRun  = 50 * time.Millisecond  // runs that end faster, on a busy machine as well, are claimed ahead, and take turns in one slot
	mostAhead = 64
)

// lane executes runs of one user, each holding one of the process's slots. While
// its slice lasts it claims quick runs ahead of their execution, so that neither a
// claim nor a commit is waited for between two runs. Only where runs are not quick
// does it take more than one slot: each means a worker child of the user's. A lane
// begins with a turn, of which there are few, so that the quick runs of many users
// come one user's after the other's, and not all at once; slow runs need none.
type lane struct {
	s       *Service
	user    string
	job     int64
	attempt int
	owes    bool // there may be runs of an earlier attempt, or of another lane

	begun   time.Time // the slice's begin and end
	until   time.Time
	turn    bool      // held
	slots   int64     // held
	wide    int64     // how many it may take by now
	running int64     // executors
	ended   chan bool // an executor ended, and whether this lane has to look for the user's next run
	low     chan struct{}

	mu    sync.Mutex
	ran   int      // runs that ended
	done  int      // of them, since the lane last looked
	owed  []*claim // that were claimed before this lane began: it runs them, however long that takes
	ahead []*claim // not executed yet
	pace  time.Duration
	most  int  // claims ahead, at a time
	dry   bool // the last claim found less than it asked for
}

func (l *lane) work(ctx context.Context) error {
	if !l.owes { // else it has runs of its own to see to
		ok, err := l.s.turns.take(ctx, l.user)
		if err != nil || !ok {
			return err
		}
		l.turn = true
	}
	defer l.leave(context.WithoutCancel(ctx)) //nolint:errcheck // what ended the lane is told
	if err := l.s.slots.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("wait for a slot: %w", err)
	}
	l.slots, l.wide = 1, 1
	defer func() { l.s.slots.Release(l.slots) }()
	if l.s.isStopping() {
		return river.JobSnooze(0)
	}
	l.begun = time.Now()
	l.until = l.begun.Add(slice)
	l.expect(l.s.turns.paceOf(l.user))
	if l.owes {
		claims, err := l.s.resume(ctx, l.job, l.attempt)
		if err != nil {
			return err
		}
		l.owed = claims
		most := l.permits()
		for l.slots < most && l.grow() {
		}
		begun := claims[:min(most, l.slots)]
		l.owed = claims[len(begun):]
		for _, c := range begun {
			l.start(ctx, c)
		}
	}
	err := l.claim(ctx)
	over := time.NewTimer(time.Until(l.until))
	defer over.Stop()
	slow := time.NewTicker(quickRun)
	defer slow.Stop()
	for l.running > 0 {
		look := false
		select {
		case look = <-l.ended:
			l.running--
		case <-l.low:
			look = l.lasts()
		case <-slow.C:
			if look = l.widen() && l.lasts(); look {
				err = errors.Join(err, l.leave(ctx))
			}
		case <-over.C:
			l.giveBack(l.takeAhead())
			err = errors.Join(err, l.leave(ctx))
		}
		if look && err == nil {
			err = l.claim(ctx)
		}
		if idle := min(l.slots-l.running, l.slots-1); idle > 0 {
			l.s.slots.Release(idle)
			l.slots -= idle
		}
	}
	l.giveBack(append(l.takeAhead(), l.owed...))
	l.s.turns.remember(l.user, l.pace)
	if err := errors.Join(err, l.leave(ctx)); err != nil {
		return err
	}
	return l.pause(ctx)
}

// leave lets another lane have the turn, and makes one of the user's again where
// one came meanwhile.
func (l *lane) leave(ctx context.Context) error {
	if !l.turn {
		return nil
	}
	l.turn = false
	if !l.s.turns.leave(l.user) {
		return nil
	}
	return l.again(ctx)
}

// again makes the user's next lane.
func (l *lane) again(ctx context.Context) error {
	return pgx.BeginFunc(ctx, l.s.pool, func(tx pgx.Tx) error {
		return l.s.jobs.Insert(ctx, tx, []river.InsertManyParams{{Args: Lane{UserID: l.user}}})
	})
}

// lasts reports whether further runs may begin in this lane.
func (l *lane) lasts() bool { return time.Now().Before(l.until) && !l.s.isStopping() }

// grow takes a further slot where one is free.
func (l *lane) grow() bool {
	ok := l.s.slots.TryAcquire(1)
	if ok {
		l.slots++
	}
	return ok
}

// permits is how many of the runs that are owed may be executed at a time: those
// that were, when the lane was lost.
func (l *lane) permits() (n int64) {
	for _, c := range l.owed {
		if c.permit {
			n++
		}
	}
	return min(max(n, 1), int64(len(l.owed)))
}

// widen lets the lane take more slots when none of its runs has ended for the
// time that a quick one takes.
func (l *lane) widen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	slow := l.done == 0
	if slow {
		l.wide = int64(l.s.cfg.Concurrency)
	}
	l.done = 0
	return slow
}

// claim starts as many runs as there are slots for, and keeps some ahead.
func (l *lane) claim(ctx context.Context) error {
	for l.slots < l.wide && l.grow() {
	}
	l.mu.Lock()
	ahead := max(l.most-len(l.ahead), 0)
	l.mu.Unlock()
	room := int(l.slots - l.running)
	claims, permits, err := l.s.claim(ctx, demand{l.user, room, ahead, l.running > 0, l.job, l.attempt})
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.dry = len(claims) < room+ahead
	l.ahead = append(l.ahead, claims[permits:]...)
	l.mu.Unlock()
	for _, c := range claims[:permits] {
		l.start(ctx, c)
	}
	return nil
}

// start begins an executor: it executes a run, and after it those that are
// claimed ahead. The slot is the lane's again when the last result is committed;
// those before it are then committed, too.
func (l *lane) start(ctx context.Context, c *claim) {
	l.running++
	go func() {
		for {
			began := time.Now()
			outcome := l.s.execute(c.begin(ctx), c)
			next, look := l.next(time.Since(began) < quickRun)
			if next == nil {
				// Who ends a run looks for the user's next one: this lane while its slice
				// lasts, else a lane that the commit makes.
				l.s.commits.finish(c, outcome, !look)
				l.ended <- look
				return
			}
			l.s.commits.pass(c, outcome, next)
			c = next
		}
	}()
}

// next takes a run that was claimed ahead; look says whether the lane is to claim
// where there is none.
func (l *lane) next(quick bool) (next *claim, look bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran++
	l.done++
	lasts := l.lasts()
	if l.most, l.pace = 0, 0; quick {
		l.expect(time.Since(l.begun) / time.Duration(l.ran))
	}
	if len(l.owed) > 0 && !l.s.isStopping() {
		next, l.owed = l.owed[0], l.owed[1:]
		return next, false
	}
	if !lasts || len(l.ahead) == 0 {
		return nil, lasts && !l.dry
	}
	next, l.ahead = l.ahead[0], l.ahead[1:]
	if len(l.ahead) < l.most/2 && !l.dry {
		select {
		case l.low <- struct{}{}:
		default:
		}
	}
	return next, false
}

// expect sets how many runs to have ahead: as many as will end within the slice
// at this pace, for the others would be given back. 0 is none.
func (l *lane) expect(pace time.Duration) {
	if l.pace = pace; pace > 0 {
		l.most = min(int(max(time.Until(l.until), 0)/pace), mostAhead)
	}
}

func (l *lane) takeAhead() []*claim {
	l.mu.Lock()
	defer l.mu.Unlock()
	claims := l.ahead
	l.ahead, l.most = nil, 0
	return claims
}

// giveBack lets claimed runs wait again.
func (l *lane) giveBack(claims []*claim) {
	for _, c := range claims {
		l.s.commits.finish(c, &outcome{requeue: true}, true)
	}
}

// pause makes the lane that comes when the user's rate allows the next run, where
// no other lane has made it.
func (l *lane) pause(ctx context.Context) error {
	wait, err := l.s.nextToken(ctx, l.user)
	if err != nil || wait == 0 {
		return err
	}
	return pgx.BeginFunc(ctx, l.s.pool, func(tx pgx.Tx) error {
		// In two statements: the second must see what was committed until the first had the lock.
		if _, err := tx.Exec(ctx, "select from helix.skill_queues where user_id = $1 for update", l.user); err != nil {
			return fmt.Errorf("lock a queue: %w", err)
		}
		var made bool
		if err := tx.QueryRow(ctx, `select exists (select from helix.river_job
			where state = 'scheduled' and queue = 'skills' and args ->> 'user_id' = $1)`, l.user).Scan(&made); err != nil || made {
			return err
		}
		return l.s.jobs.Insert(ctx, tx, []river.InsertManyParams{{Args: Lane{UserID: l.user},
			InsertOpts: &river.InsertOpts{ScheduledAt: time.Now().Add(wait)}}})
	})
}
