package javascript

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/helixd/helixd/reactors/sandbox"
)

// Run implements sandbox.Loaded.
func (t *tool) Run(ctx context.Context, env *sandbox.Env) (output []byte, err error) {
	if env.Limits.Memory < int64(t.snapshot.Pages)<<16 {
		return nil, outOfMemory
	}
	w := newWorld(env.Now, env.Logs, env.HostCall)
	s, err := t.isolate(ctx, w)
	if err != nil {
		return nil, err
	}
	defer func() {
		env.Memory(int64(s.mem.Size()))
		if left := t.leave(s); err == nil {
			err = left
		}
	}()
	if err := s.bound(env.Limits.Memory); err != nil {
		return nil, err
	}
	output, err = t.call(ctx, w, env)
	if err != nil {
		// What is left may not suffice to say what happened.
		if err := s.bound(0); err != nil {
			return nil, err
		}
		return nil, s.failure(err, t.snapshot.Funcs[funcDescribe], int(t.snapshot.Prefix))
	}
	return output, nil
}

// isolate gives a call an isolate as the snapshot has it.
func (t *tool) isolate(ctx context.Context, w *world) (s *isolate, err error) {
	if s, t.idle = t.idle, nil; s != nil {
		s.ctx, w.isolate = resolving(ctx, t.program.hosts, w), s
	} else if s, err = t.program.instantiate(ctx, w); err != nil {
		return nil, err
	}
	if err := t.snapshot.restore(s); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// leave keeps an isolate for the next call, which takes a tenth of what a new
// one does, when its memory can be made what it was.
func (t *tool) leave(s *isolate) error {
	if s.broken || s.mem.Size()>>16 != t.snapshot.Pages {
		return s.close()
	}
	t.idle = s
	return nil
}

// call calls the tool's function and waits for what it promises.
func (t *tool) call(ctx context.Context, w *world, env *sandbox.Env) ([]byte, error) {
	s := w.isolate
	input, err := s.newString(env.Input)
	if err != nil {
		return nil, err
	}
	args := []value{input}
	for i := 0; i < 16; i += 4 {
		part, err := s.number(float64(binary.LittleEndian.Uint32(env.Seed[i:]) ^ binary.LittleEndian.Uint32(env.Seed[16+i:])))
		if err != nil {
			return nil, err
		}
		args = append(args, part)
	}
	promise, err := s.call(t.snapshot.Funcs[funcMain], args...)
	if err != nil {
		return nil, err
	}
	state, err := t.settle(ctx, w, env, promise)
	if err != nil {
		return nil, err
	}
	result, err := s.result(promise)
	if err != nil {
		return nil, err
	}
	if state != promiseFulfilled {
		return nil, &thrown{result}
	}
	return t.render(s, env, result)
}

// settle waits until promise is settled: it runs jobs, and when there are none
// lets in the reply of a host call or a timer.
func (t *tool) settle(ctx context.Context, w *world, env *sandbox.Env, promise value) (state uint32, err error) {
	for {
		if state, err := w.isolate.work(promise); err != nil || state != promisePending {
			return state, err
		}
		fired, err := t.fire(w)
		if err != nil {
			return 0, err
		}
		switch {
		case fired:
		case len(w.waiting) > 0:
			// A timer that falls due meanwhile fires after the reply: nothing can
			// wait for both.
			err = t.deliver(w, env)
		case len(w.timers) > 0:
			err = w.sleep(ctx)
		default:
			return 0, sandbox.Errorf(sandbox.Exception, "the returned promise never settles: it waits for nothing that is under way")
		}
		if err != nil {
			return 0, err
		}
	}
}

func (t *tool) deliver(w *world, env *sandbox.Env) error {
	id, response, err := env.Reply()
	if err != nil {
		known, text := errorText(err)
		if !known {
			return fmt.Errorf("wait for the reply of a host call: %w", err)
		}
		response = text
	}
	if !w.waiting[id] {
		return fmt.Errorf("a reply came for host call %d, which waits for none", id)
	}
	delete(w.waiting, id)
	s := w.isolate
	number, failed := s.number(float64(id))
	if failed != nil {
		return failed
	}
	ok, failed := s.number(0)
	if err == nil {
		ok, failed = s.number(1)
	}
	if failed != nil {
		return failed
	}
	text, failed := s.newString(response)
	if failed != nil {
		return failed
	}
	return s.callAndFree(t.snapshot.Funcs[funcDeliver], number, ok, text)
}

// callAndFree calls a function for its effect.
func (s *isolate) callAndFree(f value, args ...value) error {
	v, err := s.call(f, args...)
	if err != nil {
		return err
	}
	for _, arg := range append(args, v) {
		if err := s.free(arg); err != nil {
			return err
		}
	}
	return nil
}

// next is the timer that is due first, of equal ones the oldest.
func (w *world) next() (id int, due time.Time) {
	for i, at := range w.timers {
		if id == 0 || at.Before(due) || at.Equal(due) && i < id {
			id, due = i, at
		}
	}
	return id, due
}

// fire calls what waits for the first timer that is due, if one is.
func (t *tool) fire(w *world) (bool, error) {
	id, due := w.next()
	if id == 0 || time.Now().Before(due) {
		return false, nil
	}
	delete(w.timers, id)
	number, err := w.isolate.number(float64(id))
	if err != nil {
		return false, err
	}
	return true, w.isolate.callAndFree(t.snapshot.Funcs[funcFire], number)
}

// sleep waits for the next timer.
func (w *world) sleep(ctx context.Context) error {
	_, due := w.next()
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return sandbox.Errorf(sandbox.Cancelled, "The call was cancelled: %v.", ctx.Err())
	}
}

func (t *tool) render(s *isolate, env *sandbox.Env, result value) ([]byte, error) {
	rendered, err := s.call(t.snapshot.Funcs[funcRender], result)
	var exception *thrown
	if errors.As(err, &exception) {
		said, err := s.describe(exception, t.snapshot.Funcs[funcDescribe])
		if err != nil {
			return nil, err
		}
		failed := said.located(int(t.snapshot.Prefix))
		if failed.Code == sandbox.Exception {
			failed.Code, failed.Message = sandbox.InvalidOutput, "the result is not JSON: "+failed.Message
		}
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	text, free, err := s.text(rendered)
	if err != nil {
		return nil, err
	}
	if len(text) > env.Limits.Output {
		return nil, sandbox.Errorf(sandbox.OutputTooLarge, "The output has %d bytes, more than %d.", len(text), env.Limits.Output)
	}
	output := append([]byte(nil), text...)
	return output, free()
}
