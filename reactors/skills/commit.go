package skills

import (
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/internal/trace"
	"github.com/helixd/helixd/reactors"
)

// Bounds of one transaction of results. Runs that end while one is committed are
// in the next: under load there are many in each.
const (
	commitItems = 100
	commitBytes = 4 << 20
	commitRetry = 250 * time.Millisecond
)

// item is something to be written about a claimed run.
type item struct {
	*claim
	outcome  *outcome  // nil: progress only
	progress *progress // of a run that goes on
	wake     bool      // a lane shall look for the user's next run
	next     uuid.UUID // is executed in the place of this one
	written  chan<- struct{}
	refused  int         // how often, for a reason that may pass
	commit   *trace.Span // until it is durable
}

func (i *item) bytes() int {
	if i.outcome == nil {
		return len(i.progress.Results) + len(i.progress.Audit)
	}
	return i.outcome.bytes()
}

// committer writes results of one process, many in one transaction.
type committer struct {
	s     *Service
	items chan *item
}

func newCommitter(s *Service) *committer { return &committer{s, make(chan *item)} }

// finish returns when the outcome is durable, or the process ends.
func (c *committer) finish(of *claim, o *outcome, wake bool) {
	c.write(&item{claim: of, outcome: o, wake: wake, commit: of.span.Child("commit")})
}

// pass returns before the outcome is durable: next is executed already, and takes
// over what the run counted as.
func (c *committer) pass(of *claim, o *outcome, next *claim) {
	select {
	case c.items <- &item{claim: of, outcome: o, next: next.RunID, commit: of.span.Child("commit")}:
	case <-c.s.ctx.Done():
	}
}

// step returns when a workflow's progress is durable.
func (c *committer) step(of *claim, p *progress) { c.write(&item{claim: of, progress: p}) }

func (c *committer) write(i *item) {
	written := make(chan struct{})
	i.written = written
	select {
	case c.items <- i:
	case <-c.s.ctx.Done():
		return
	}
	select {
	case <-written:
	case <-c.s.ctx.Done():
	}
}

// run collects while a transaction is committed.
func (c *committer) run() {
	var (
		waiting []*item
		size    int
		busy    = make(chan struct{}, 1) // there is one transaction at a time
		free    = (chan<- struct{})(nil)
	)
	for {
		items := c.items
		if len(waiting) >= commitItems || size >= commitBytes {
			items = nil
		}
		if len(waiting) > 0 {
			free = busy
		} else {
			free = nil
		}
		select {
		case <-c.s.ctx.Done():
			busy <- struct{}{} // the last one
			return
		case i := <-items:
			waiting, size = append(waiting, i), size+i.bytes()
		case free <- struct{}{}:
			group := waiting
			waiting, size = nil, 0
			go func() {
				defer func() { <-busy }()
				c.commit(group)
			}()
		}
	}
}

// commit writes a group, and tries for as long as the database is away. Items
// whose rows are locked by somebody else are set aside. When a row is at fault it
// halves the group until the one item stands alone, whose run then fails with what
// Postgres said.
func (c *committer) commit(group []*item) {
	for len(group) > 0 && c.s.ctx.Err() == nil {
		err := c.transact(c.s.ctx, group)
		switch {
		case err == nil:
			settle(group)
			return
		case reactors.Locked(err):
			free, locked := c.free(group)
			c.setAside(locked, lockedRetry)
			group = free
		case !reactors.OfRow(err):
			c.s.log.Warn().Err(err).Int("runs", len(group)).Msg("results are not written yet; trying again")
			select {
			case <-c.s.ctx.Done():
			case <-time.After(commitRetry):
			}
		case len(group) > 1:
			c.commit(group[:len(group)/2])
			c.commit(group[len(group)/2:])
			return
		case !reactors.Poison(err) && group[0].refused < mostRefused:
			group[0].refused++
			c.s.log.Error().Err(err).Stringer("run", group[0].RunID).Msg("a run's result is refused; trying again")
			c.setAside(group, refusedRetry)
			return
		default:
			i := group[0]
			if i.outcome == nil || i.outcome.Output == nil && i.outcome.Context == nil {
				c.s.log.Error().Err(err).Stringer("run", i.RunID).Msg("a run's result cannot be written, whatever it is")
				c.giveUp(i)
				return
			}
			i.outcome = i.outcome.unstorable(err)
		}
	}
}
