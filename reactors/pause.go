package reactors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
)

// What holds jobs back is in helix.paused; River's own table of queues follows it.
// River forgets a queue that nobody worked for a day, and tells its clients of a
// pause by a notification only, which one that connects again just then never
// gets. So every process looks, every second.

// Queues gives the River queues of a reactor's jobs, none where all it does is
// done in the stream.
func Queues(r Reactor) []string {
	switch r := r.(type) {
	case interface{ Queues() []string }:
		return r.Queues()
	case interface{ Queue() string }:
		return []string{r.Queue()}
	}
	return nil
}

// holding is what a process knows of its own queues.
type holding struct {
	mu     sync.Mutex
	queues []string        // that it takes jobs from
	paused map[string]bool // those of them that it takes none from now
	told   map[string]int  // how often River was told again, in a row
	events <-chan *river.Event
}

func (h *holding) set(queue string, paused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(h.queues, queue) {
		h.paused[queue] = paused
		delete(h.told, queue)
	}
}

// mostTold is after how many times River must have heard: it says nothing where it
// was as it is to be.
const mostTold = 3

// again reports whether River is to be told again that a queue is paused or not.
func (h *holding) again(queue string, paused bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.paused[queue] == paused:
		delete(h.told, queue)
		return false
	case h.told[queue] == mostTold:
		h.paused[queue] = paused
		delete(h.told, queue)
		return false
	}
	h.told[queue]++
	return true
}

// lists gives the queues, and those that are paused.
func (h *holding) lists() (queues, paused []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	paused = []string{}
	for _, q := range h.queues {
		if h.paused[q] {
			paused = append(paused, q)
		}
	}
	return h.queues, paused
}

// watchQueues is for before the queues are worked: it makes River's table follow
// helix.paused, and from here on hears of what changes.
func (j *Jobs) watchQueues(ctx context.Context) error {
	_, err := j.pool.Exec(ctx, `insert into `+jobSchema+`.river_queue (name, paused_at, updated_at)
		select queue, min(since), now() from helix.paused p, unnest(p.queues) queue
		where ended_at is null and (until is null or until > now()) group by queue
		on conflict (name) do update set paused_at = coalesce(river_queue.paused_at, excluded.paused_at)`)
	if err != nil {
		return fmt.Errorf("pause queues: %w", err)
	}
	if j.holding.events == nil {
		j.holding.events, _ = j.client.Subscribe(river.EventKindQueuePaused, river.EventKindQueueResumed) // until the client stops
	}
	return nil
}

// queuesBegun is for after they have begun to be worked: those that are paused
// then were so from their beginning, of which River tells nothing.
func (j *Jobs) queuesBegun(ctx context.Context) error {
	states, err := j.queueStates(ctx)
	if err != nil {
		return err
	}
	for _, s := range states {
		if s.paused {
			j.holding.set(s.name, true)
		}
	}
	return nil
}

type queueState struct {
	name           string
	paused, wanted bool // River's table says, helix.paused says
	due            bool // there is a job to fetch
	over           bool // some pause's time is
}

func (j *Jobs) queueStates(ctx context.Context) ([]queueState, error) {
	queues, _ := j.holding.lists()
	rows, err := j.pool.Query(ctx, `select q.name, q.paused_at is not null, exists (select from helix.paused p
			where q.name = any (p.queues) and p.ended_at is null and (p.until is null or p.until > now())),
			q.paused_at is null and exists (select from `+jobSchema+`.river_job j where j.state = 'available' and j.queue = q.name and j.scheduled_at <= now()),
			exists (select from helix.paused where `+pauseOver+`)
		from `+jobSchema+`.river_queue q where q.name = any ($1)`, queues)
	if err != nil {
		return nil, fmt.Errorf("read which queues are paused: %w", err)
	}
	var states []queueState
	var s queueState
	_, err = pgx.ForEachRow(rows, []any{&s.name, &s.paused, &s.wanted, &s.due, &s.over}, func() error { states = append(states, s); return nil })
	if err != nil {
		return nil, fmt.Errorf("read which queues are paused: %w", err)
	}
	return states, nil
}

// followQueues ends pauses whose time is over, and tells River's clients again
// where they, this process's among them, are not as helix.paused has it. It also
// wakes who works queues that have something due: a job that is tried again in a
// second, say, of which nobody tells. One look costs less than each queue's own poll.
func (j *Jobs) followQueues(ctx context.Context) error {
	states, err := j.queueStates(ctx)
	if err != nil {
		return err
	}
	if len(states) > 0 && states[0].over {
		if err := j.endPauses(ctx); err != nil {
			return err
		}
		if states, err = j.queueStates(ctx); err != nil {
			return err
		}
	}
	var errs []error
	var due []string
	for _, s := range states {
		if s.due {
			due = append(due, s.name)
		}
		hold := s.wanted || s.paused
		switch again := j.holding.again(s.name, hold); {
		case hold && (again || !s.paused):
			errs = append(errs, j.client.QueuePause(ctx, s.name, nil))
		case again:
			errs = append(errs, j.client.QueueResume(ctx, s.name, nil))
		}
	}
	err = errors.Join(errs...)
	if err != nil {
		err = fmt.Errorf("pause or resume queues: %w", err)
	}
	return errors.Join(err, Wake(ctx, j.pool, due...))
}

// pauseOver are pauses of jobs whose time is over.
const pauseOver = "ended_at is null and until <= now() and queues <> '{}'"

// endPauses resumes the queues of those whose time is over.
func (j *Jobs) endPauses(ctx context.Context) error {
	return pgx.BeginFunc(ctx, j.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "update helix.paused set ended_at = now(), ended = 'its time was over' where "+pauseOver+" returning what, queues")
		if err != nil {
			return fmt.Errorf("end pauses: %w", err)
		}
		var what string
		var queues, all []string
		_, err = pgx.ForEachRow(rows, []any{&what, &queues}, func() error {
			all = append(all, queues...)
			j.log.Info("a pause is over", "reactor", what)
			return nil
		})
		if err != nil {
			return fmt.Errorf("end pauses: %w", err)
		}
		return j.ResumeQueues(ctx, tx, all)
	})
}

// PauseQueues keeps all processes from beginning further jobs of these queues, once
// tx commits. helix.paused is to say so too.
func (j *Jobs) PauseQueues(ctx context.Context, tx pgx.Tx, queues []string) error {
	for _, q := range queues {
		_, err := tx.Exec(ctx, "insert into "+jobSchema+".river_queue (name, updated_at) values ($1, now()) on conflict do nothing", q)
		if err == nil {
			err = j.client.QueuePauseTx(ctx, tx, q, nil)
		}
		if err != nil {
			return fmt.Errorf("pause queue %s: %w", q, err)
		}
	}
	return nil
}

// ResumeQueues ends what PauseQueues began. One that River has forgotten since, as
// nobody works it, is not paused.
func (j *Jobs) ResumeQueues(ctx context.Context, tx pgx.Tx, queues []string) error {
	for _, q := range queues {
		if err := j.client.QueueResumeTx(ctx, tx, q, nil); err != nil && !errors.Is(err, river.ErrNotFound) {
			return fmt.Errorf("resume queue %s: %w", q, err)
		}
	}
	return nil
}
