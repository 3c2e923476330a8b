package sandbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/helixd/helixd/internal/metric"
)

// staff is a Pool's workers. Those that wait for one stand in line, a line for
// each tenant, and the tenants take turns.
type staff struct {
	most     int
	idleTime time.Duration
	start    func() (*process, error)
	children *sync.WaitGroup // that are there

	mu      sync.Mutex
	closed  bool
	count   int       // children that are there, start or end
	leaving int       // of these, killed
	idle    []*worker // the one idle for longest is first
	busy    map[*worker]bool
	spare   *worker // has no tenant yet
	sparing bool    // one starts
	waiting map[string][]*applicant
	turns   []string // tenants that wait, the next first
}

// applicant waits for a worker.
type applicant struct {
	tenant string
	prog   program
	got    chan *worker // nil: it may start one; closed: the Pool is

	// patient says that the tenant has a busy worker and has not waited for it long
	// enough for another's to be ended instead: calls are mostly shorter than it
	// takes to start a child.
	patient bool
}

// patience is a few times as long as it takes to start a child.
const patience = 100 * time.Millisecond

func newStaff(most int, children *sync.WaitGroup, start func() (*process, error)) *staff {
	return &staff{
		most: most, idleTime: time.Minute, start: start, children: children,
		busy: map[*worker]bool{}, waiting: map[string][]*applicant{},
	}
}

// hire gives a worker for one call: best one that has the program, then any of
// the tenant's, then the spare, then a new one. The caller releases it.
func (s *staff) hire(ctx context.Context, tenant string, prog program) (*worker, error) {
	a := &applicant{tenant: tenant, prog: prog, got: make(chan *worker, 1)}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, errClosed
	}
	if len(s.waiting[tenant]) == 0 {
		s.turns = append(s.turns, tenant)
	}
	s.waiting[tenant] = append(s.waiting[tenant], a)
	for w := range s.busy {
		a.patient = a.patient || w.tenant == tenant
	}
	s.assign()
	s.mu.Unlock()
	if a.patient {
		defer time.AfterFunc(patience, func() { s.hurry(a) }).Stop()
	}

	var w *worker
	var ok bool
	select {
	case w, ok = <-a.got:
	case <-ctx.Done():
		if s.withdraw(a) {
			return nil, cancelled(ctx)
		}
		w, ok = <-a.got // it came at the same time
	}
	switch {
	case !ok:
		return nil, errClosed
	case w != nil:
		s.prepare()
		return w, nil
	}
	w, err := s.recruit(tenant)
	s.prepare()
	return w, err
}

// hurry ends an applicant's patience.
func (s *staff) hurry(a *applicant) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.patient = false
	s.assign()
}

// withdraw takes an applicant out of its line; false says that it was served.
func (s *staff) withdraw(a *applicant) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting[a.tenant], a)
	if i >= 0 {
		s.drop(a.tenant, i)
	}
	return i >= 0
}

func (s *staff) drop(tenant string, i int) {
	s.waiting[tenant] = slices.Delete(s.waiting[tenant], i, i+1)
	if len(s.waiting[tenant]) == 0 {
		delete(s.waiting, tenant)
		s.turns = slices.DeleteFunc(s.turns, func(t string) bool { return t == tenant })
	}
}

// assign serves those who wait, as far as it goes; mu is held. For each one that
// it cannot serve an idle worker of another tenant is killed, whose place is
// given out when it is reaped.
func (s *staff) assign() {
	unmet, waiting := 0, 0
	for unmet < len(s.turns) {
		tenant := s.turns[unmet]
		a := s.waiting[tenant][0]
		if w, ok := s.take(a); ok {
			s.drop(tenant, 0)
			if more := len(s.waiting[tenant]) > 0; more { // behind the others
				s.turns = append(slices.Delete(s.turns, unmet, unmet+1), tenant)
			}
			a.got <- w
			continue
		}
		unmet++
		for _, a := range s.waiting[tenant] {
			if !a.patient {
				waiting++
			}
		}
		s.evict(min(unmet, waiting))
	}
	s.evict(waiting)
}

// evict kills workers that idle until so many places will be free.
func (s *staff) evict(places int) {
	for s.leaving < places && len(s.idle) > 0 {
		w := s.idle[0]
		s.idle = slices.Delete(s.idle, 0, 1)
		s.dismiss(w, nil)
	}
}

// dismiss kills a worker; mu is held.
func (s *staff) dismiss(w *worker, why *Error) {
	if !w.leaving {
		w.leaving = true
		s.leaving++
	}
	w.kill(why)
}

// take finds a worker for an applicant; mu is held. ok without a worker is leave
// to start one.
func (s *staff) take(a *applicant) (w *worker, ok bool) {
	own := func(w *worker) bool { return w.tenant == a.tenant }
	i := slices.IndexFunc(s.idle, func(w *worker) bool { return own(w) && w.has(a.prog) })
	if i < 0 {
		i = slices.IndexFunc(s.idle, own)
	}
	switch {
	case i >= 0:
		w = s.idle[i]
		s.idle = slices.Delete(s.idle, i, i+1)
	case s.spare != nil:
		w, s.spare = s.spare, nil
		w.tenant = a.tenant
	case s.count < s.most:
		s.count++
		metric.SandboxChildren.Inc()
		s.children.Add(1)
		return nil, true
	default:
		return nil, false
	}
	w.expiry.Stop()
	s.busy[w] = true
	return w, true
}

// recruit starts a worker in a place that was taken.
func (s *staff) recruit(tenant string) (*worker, error) {
	p, err := s.start()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.count--
		metric.SandboxChildren.Dec()
		s.children.Done()
		s.assign()
		return nil, err
	}
	w := &worker{process: p, tenant: tenant}
	s.busy[w] = true
	w.expiry = time.AfterFunc(s.idleTime, func() { s.expire(w) })
	w.expiry.Stop()
	go func() {
		<-p.ended
		s.gone(w)
	}()
	if s.closed {
		s.dismiss(w, errClosed)
	}
	return w, nil
}

// gone gives out the place of a worker that is reaped.
func (s *staff) gone(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.expiry.Stop()
	s.idle = slices.DeleteFunc(s.idle, func(i *worker) bool { return i == w })
	if !s.busy[w] { // else its call may have something to read yet
		w.kill(nil)
	}
	delete(s.busy, w)
	if s.spare == w {
		s.spare = nil
	}
	if w.leaving {
		s.leaving--
	}
	w.leaving = true // and counted
	s.count--
	metric.SandboxChildren.Dec()
	s.children.Done()
	s.assign()
}

// release takes a worker back after a call.
func (s *staff) release(w *worker) {
	reusable := w.reusable()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.busy[w] { // it is gone
		w.kill(nil)
		return
	}
	delete(s.busy, w)
	if !reusable || s.closed {
		s.dismiss(w, nil)
	} else {
		s.idle = append(s.idle, w)
		w.expiry.Reset(s.idleTime)
	}
	s.assign()
}

// expire ends a worker that nobody needed for a while.
func (s *staff) expire(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch i := slices.Index(s.idle, w); {
	case i >= 0:
		s.idle = slices.Delete(s.idle, i, i+1)
	case s.spare == w:
		s.spare = nil
	default:
		return
	}
	s.dismiss(w, nil)
}

// prepare starts a spare where there is a place for one. There is none before
// the first call, so a daemon without skills has no children.
func (s *staff) prepare() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.spare != nil || s.sparing || s.count >= s.most || len(s.turns) > 0 {
		return
	}
	s.sparing = true
	s.count++
	metric.SandboxChildren.Inc()
	s.children.Add(1)
	go func() {
		w, err := s.recruit("")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.sparing = false
		if err != nil || !s.busy[w] { // the next call says why
			return
		}
		delete(s.busy, w)
		s.spare = w
		w.expiry.Reset(s.idleTime)
		s.assign()
	}()
}

// enter counts something that close has to wait for; false says it is too late.
func (s *staff) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.children.Add(1)
	}
	return !s.closed
}

// close kills all workers. Nobody gets one any more.
func (s *staff) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, line := range s.waiting {
		for _, a := range line {
			close(a.got)
		}
	}
	s.waiting, s.turns = map[string][]*applicant{}, nil
	for w := range s.busy {
		s.dismiss(w, errClosed)
	}
	for _, w := range s.idle {
		s.dismiss(w, errClosed)
	}
	if s.spare != nil {
		s.dismiss(s.spare, errClosed)
	}
}
