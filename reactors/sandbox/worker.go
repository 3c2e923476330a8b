package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// worker is a child that runs programs. It serves one tenant in its life: what a
// program that broke out could leave behind, only its own tenant meets.
type worker struct {
	*process
	tenant string
	loaded []program // the one used last is last
	base   int64     // bytes of RSS when it ran nothing
	// spent is the CPU time that was accounted for. What a child takes between
	// calls counts for the next one, so that nothing computes for free.
	spent time.Duration

	expiry  *time.Timer // runs while it idles
	leaving bool        // it was killed, for the staff's count
}

const (
	maxLoaded = 8
	loadCPU   = 10 * time.Second
	loadWall  = 30 * time.Second
	// maxIdleRSS is how much larger than at its start a worker may be between
	// calls; one that is larger is replaced.
	maxIdleRSS = 64 << 20
)

// has reports whether a program is loaded.
func (w *worker) has(p program) bool { return slices.Contains(w.loaded, p) }

// load makes a program ready in the child.
func (w *worker) load(ctx context.Context, p program, limits Limits) error {
	if i := slices.Index(w.loaded, p); i >= 0 {
		w.loaded = append(slices.Delete(w.loaded, i, i+1), p)
		return nil
	}
	if len(w.loaded) == maxLoaded {
		if err := w.send(w.loaded[0].append(beginFrame(frameUnload))); err != nil {
			return w.lost(err)
		}
		w.loaded = slices.Delete(w.loaded, 0, 1)
	}
	stop := w.killAfter(ctx)
	defer stop()
	limits.CPU, limits.Wall = loadCPU, loadWall
	watch := w.watch(limits, w.spent, w.base+limits.Memory+rssSlack, Errorf)
	defer watch.stop()
	defer func() { w.spent = w.cpu() }()
	if err := w.send(p.append(beginFrame(frameLoad))); err != nil {
		return w.lost(err)
	}
	payload, err := w.expect(frameLoaded)
	if err != nil {
		return w.lost(err)
	}
	out, err := parseOutcome(payload, maxControl)
	if err != nil {
		return w.lost(err)
	}
	if out.err != nil {
		return fmt.Errorf("%w: %w", errNotLoaded, out.err)
	}
	w.loaded = append(w.loaded, p)
	if rss, ok := w.usage.rss(); ok && w.base == 0 {
		w.base = rss
	}
	return nil
}

// killAfter kills the worker when ctx ends before stop. After stop no kill comes
// that would meet the next call.
func (w *worker) killAfter(ctx context.Context) (stop func()) {
	kill := func() { w.kill(cancelled(ctx)) }
	remove := context.AfterFunc(ctx, kill)
	return func() {
		if !remove() && ctx.Err() != nil {
			kill()
		}
	}
}

// errNotLoaded says that the caches do not serve, and checking again may help.
var errNotLoaded = errors.New("load the program")

// run is one call.
type run struct {
	w      *worker
	ctx    context.Context // ends with the call
	limits Limits
	host   Host
	since  time.Time

	serving sync.WaitGroup
	slots   chan struct{} // of atOnce
	result  Result
	logs    []byte

	mu      sync.Mutex // of what follows, which goroutines of host calls write
	errors  []error
	replied map[Code]bool // codes of errors that this call was given
}

// call runs a program that is loaded. After an *Error that is not the program's
// own the worker is ended.
func (w *worker) call(ctx context.Context, p program, call Call) (Result, error) {
	hostCtx, end := context.WithCancel(ctx)
	stop := w.killAfter(ctx)
	r := &run{
		w: w, ctx: hostCtx, limits: call.Limits, host: call.Host, since: time.Now(),
		slots: make(chan struct{}, atOnce), replied: map[Code]bool{},
	}
	watch := w.watch(call.Limits, w.spent, w.base+call.Limits.Memory+rssSlack, Errorf)
	m := callMessage{limits: call.Limits, seed: call.Seed, now: call.Now, input: call.Input}
	frame := appendBytes(beginFrame(frameCall), p.append(nil))
	err := w.send(m.append(frame))
	if err == nil {
		err = r.serve()
	}
	r.result.Wall, r.result.CPU = watch.taken()
	w.spent += r.result.CPU
	if err != nil {
		var known *Error
		if !errors.As(err, &known) {
			err = w.lost(err)
		}
	}
	end()
	// A child that is done and takes no reply would hold up who writes it: the
	// limits hold until all have written.
	r.serving.Wait()
	watch.stop()
	stop()
	r.result.Logs = clip(string(r.logs), call.Limits.Logs)
	r.result.HostErrors = r.errors

	if err == nil && r.result.CPU > call.Limits.CPU {
		err = Errorf(CPUTimeExceeded, "The program took more than %v of CPU time.", call.Limits.CPU)
	}
	if err != nil {
		r.result.Output = nil
	}
	return r.result, err
}

// serve reads what the child sends until the call is done.
func (r *run) serve() error {
	most := mostLogFrames(r.limits)
	for frames := 0; ; {
		kind, payload, err := r.w.frames.next(r.most)
		if errors.Is(err, errFrameTooLarge) && kind == frameDone {
			why := Errorf(OutputTooLarge, "The output has more than %d bytes.", r.limits.Output)
			r.w.kill(why)
			return r.w.lost(err)
		}
		if err != nil {
			return err
		}
		switch kind {
		case frameLog:
			if frames++; frames > most || len(payload) > r.limits.Logs-len(r.logs) {
				return errFrame
			}
			r.logs = append(r.logs, payload...)
		case frameHostCall:
			if r.result.HostCalls++; r.result.HostCalls > r.limits.HostCalls {
				r.w.kill(Errorf(HostCallLimit, "The program made more than %d host calls.", r.limits.HostCalls))
				return errFrame
			}
			m, err := parseRequest(payload)
			if err != nil {
				return err
			}
			m.body = append([]byte(nil), m.body...)
			select {
			case r.slots <- struct{}{}:
			case <-r.ctx.Done(): // which kills, too
				return r.ctx.Err()
			case <-r.w.ended: // the wall limit, for one
				return errFrame
			}
			r.serving.Add(1)
			go r.answer(m)
		case frameDone:
			m, err := parseDone(payload, r.limits.Output)
			if err != nil {
				return err
			}
			return r.done(m)
		}
	}
}

// most is how long a frame may be within a call.
func (r *run) most(kind frameType) int {
	switch kind {
	case frameLog:
		return max(logsPart, r.limits.Logs)
	case frameHostCall:
		return maxRequest + maxName + 32
	case frameDone:
		return r.limits.Output + 2*maxMessage + 256
	}
	return -1
}

// answer serves one host call.
func (r *run) answer(m requestMessage) {
	defer r.serving.Done()
	defer func() { <-r.slots }()
	after := &afterReply{host: r.host}
	defer after.run()
	response, err := r.ask(context.WithValue(r.ctx, afterReplyKey{}, after), m)
	if err == nil && len(response) > maxResponse {
		err = Errorf("response_too_large", "The response has more than %d MB.", maxResponse>>20)
	}
	out := outcome{content: response}
	if err != nil {
		var known *Error
		if errors.As(err, &known) {
			out.err = known
		} else {
			out.err = Errorf("internal", "The host call failed.")
		}
		r.mu.Lock()
		r.replied[out.err.Code] = true
		if known == nil && r.ctx.Err() == nil { // else it failed because the call is over
			r.errors = append(r.errors, fmt.Errorf("host call %s: %w", clip(m.name, maxName), err))
		}
		r.mu.Unlock()
	}
	if r.ctx.Err() != nil {
		return // the call is over
	}
	// A child that does not take it is seen by who reads from it.
	_ = r.w.send(replyMessage{id: m.id, out: out}.append(beginFrame(frameReply)))
}

func (r *run) ask(ctx context.Context, m requestMessage) (response []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			response, err = nil, fmt.Errorf("panic: %v", v)
		}
	}()
	if r.host == nil {
		return nil, Errorf("unknown_host_call", "This call has no host.")
	}
	return r.host.Call(ctx, m.name, m.body)
}

// done judges how the child says that the call ended.
func (r *run) done(m doneMessage) error {
	r.result.PeakMemory = min(m.peak, r.limits.Memory)
	if m.out.err == nil {
		if bad := checkOutput(m.out.content); bad != nil {
			return bad
		}
		r.result.Output = append([]byte(nil), m.out.content...)
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// A guest that sees the wall time pass, as in a sleep, may be earlier than the watch.
	late := m.out.err.Code == WallTimeExceeded && time.Since(r.since) >= r.limits.Wall
	if code := m.out.err.Code; !ofCall(code) && !r.replied[code] && !late {
		m.out.err.Message = strings.TrimSpace(fmt.Sprintf("%s: %s", code, m.out.err.Message))
		m.out.err.Code = Exception
	}
	return m.out.err
}

// ofCall are the codes that a guest may end a call with. What the daemon alone
// can know is not among them.
func ofCall(c Code) bool {
	switch c {
	case MemoryExceeded, OutputTooLarge, HostCallLimit, StackOverflow, Trap, Exception, ExitStatus, InvalidOutput:
		return true
	}
	return false
}

// reusable reports whether a worker may take another call: the program ended by
// itself, well or not, and left the child as small as it was.
func (w *worker) reusable() bool {
	if w.why.Load() != nil {
		return false
	}
	select {
	case <-w.ended:
		return false
	default:
	}
	rss, ok := w.usage.rss()
	return !ok || w.base == 0 || rss < w.base+maxIdleRSS
}
