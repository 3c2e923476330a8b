package sandbox

import (
	"sync"
	"time"
)

// watch holds a child to limits from outside, until it is stopped.
type watch struct {
	p       *process
	limits  Limits
	rss     int64 // bytes, the most
	over    func(Code, string, ...any) *Error
	started time.Time
	cpu     time.Duration // of the child, at the start

	mu      sync.Mutex
	stopped bool
	timer   *time.Timer
}

// How often a child is looked at: a call that is short not at all, one that
// nears its limits often.
const (
	firstLook = 5 * time.Millisecond
	lastLook  = 25 * time.Millisecond
)

// rssSlack is what a child may need besides the guest's memory: a stack, tables,
// its own heap.
const rssSlack = 96 << 20

// watch begins one. CPU time counts from what the child had taken at since.
func (p *process) watch(limits Limits, since time.Duration, rss int64, over func(Code, string, ...any) *Error) *watch {
	w := &watch{p: p, limits: limits, rss: rss, over: over, started: time.Now(), cpu: since}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(min(firstLook, limits.Wall), w.look)
	return w
}

func (w *watch) look() {
	wall, cpu := time.Since(w.started), w.p.cpu()-w.cpu
	rss, _ := w.p.usage.rss()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.stopped:
	case cpu > w.limits.CPU:
		w.p.kill(w.over(CPUTimeExceeded, "The program took more than %v of CPU time.", w.limits.CPU))
	case wall >= w.limits.Wall:
		w.p.kill(w.over(WallTimeExceeded, "The program took longer than %v.", w.limits.Wall))
	case rss > w.rss:
		w.p.kill(w.over(MemoryExceeded, "The program needs more than %d MB of memory.", w.limits.Memory>>20))
	default:
		next := min(lastLook, max(firstLook, wall/4), w.limits.Wall-wall)
		w.timer.Reset(max(time.Millisecond, min(next, (w.limits.CPU-cpu)/2)))
	}
}

// taken is what was taken until now.
func (w *watch) taken() (wall, cpu time.Duration) {
	return time.Since(w.started), max(0, w.p.cpu()-w.cpu)
}

// stop ends the watch; no kill comes after it.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
}
