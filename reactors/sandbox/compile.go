package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
)

// Check looks at a program and makes it ready to run. What is wrong with the
// program is an *Error that stays; one that is Retryable is not the program's
// fault. Calls for one program at the same time share one compile child, and a
// tenant has one at a time.
func (p *Pool) Check(ctx context.Context, tenant string, prog Program) (Report, error) {
	e, err := p.ready(ctx, tenant, prog)
	if err != nil {
		return Report{}, err
	}
	defer p.cache.done(e)
	return e.report, nil
}

// ready gives the entry of a program that may run. The caller calls done.
func (p *Pool) ready(ctx context.Context, tenant string, prog Program) (*entry, error) {
	if err := p.usable(); err != nil {
		return nil, err
	}
	own := program{kind: prog.Kind, sum: prog.SHA256}
	if !isName(prog.Kind) { // it is part of a path
		return nil, Errorf(Unavailable, "This helixd runs no programs of kind %q.", clip(prog.Kind, maxName))
	}
	for {
		e, lead := p.cache.use(own)
		if lead {
			report, err := p.compile(ctx, tenant, prog)
			p.cache.decide(own, e, report, err)
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			p.cache.done(e)
			return nil, cancelled(ctx)
		}
		if e.err == nil {
			return e, nil
		}
		p.cache.done(e)
		if p.life.Err() != nil {
			return nil, errClosed
		}
		var known *Error
		if !lead && errors.As(e.err, &known) && known.Code == Cancelled && ctx.Err() == nil {
			continue // the one who led gave up
		}
		return nil, e.err
	}
}

func cancelled(ctx context.Context) *Error {
	return Errorf(Cancelled, "The call was cancelled: %v.", context.Cause(ctx))
}

// compile stores a program and has a child check it.
func (p *Pool) compile(ctx context.Context, tenant string, prog Program) (Report, error) {
	if !p.staff.enter() {
		return Report{}, errClosed
	}
	defer p.children.Done()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(p.life, func() { end(errClosed) })()
	leave, err := p.turns.Take(ctx, tenant)
	if err != nil {
		return Report{}, cancelled(ctx)
	}
	defer leave()
	select {
	case p.compilers <- struct{}{}:
		defer func() { <-p.compilers }()
	case <-ctx.Done():
		return Report{}, cancelled(ctx)
	}
	if err := p.prime(ctx, prog.Kind); err != nil {
		return Report{}, err
	}
	return p.compileIn(ctx, prog, start{Kind: prog.Kind, SHA256: prog.SHA256[:]})
}

// prime has the module compiled that all programs of a kind share. No child that
// sees a program may write there, so the empty program is checked first; what is
// wrong with that does not matter.
func (p *Pool) prime(ctx context.Context, kind string) error {
	if isModule(kind) {
		return nil
	}
	p.priming.Lock() // for a compile at most, which has its limits
	defer p.priming.Unlock()
	if p.primed[kind] {
		return nil
	}
	empty := Program{Kind: kind, SHA256: sha256.Sum256(nil), Code: func(context.Context, func([]byte) error) error { return nil }}
	_, err := p.compileIn(ctx, empty, start{Kind: kind, SHA256: empty.SHA256[:], Prime: true})
	var bad *Error
	if errors.As(err, &bad) && (bad.Retryable() || bad.Code == Cancelled || bad.Code == CompileLimit) {
		if bad.Code == CompileLimit {
			return Errorf(Unavailable, "What runs programs of kind %s could not be compiled.", kind)
		}
		return err
	}
	p.primed[kind] = true
	return nil
}

func (p *Pool) compileIn(ctx context.Context, prog Program, s start) (Report, error) {
	if err := p.cache.store(ctx, prog); err != nil {
		return Report{}, err
	}
	child, err := p.spawn(s)
	if err != nil {
		return Report{}, err
	}
	defer func() { child.kill(nil); <-child.ended }()
	defer context.AfterFunc(ctx, func() { child.kill(cancelled(ctx)) })()
	cpu, wall := compileTime(s.Kind)
	limits := Limits{Wall: wall, CPU: cpu}
	watch := child.watch(limits, child.cpu(), compileRSS+p.limits.Memory, func(code Code, _ string, _ ...any) *Error {
		if code == WallTimeExceeded { // a compiler waits for nothing but the CPU
			return tooBusy
		}
		return tooHard
	})
	defer watch.stop()

	own := program{kind: prog.Kind, sum: prog.SHA256}
	if err := child.send(own.append(beginFrame(frameCheck))); err != nil {
		return Report{}, p.notCompiled(child, err)
	}
	payload, err := child.expect(frameReport)
	if err != nil {
		return Report{}, p.notCompiled(child, err)
	}
	out, err := parseOutcome(payload, maxControl)
	if err != nil {
		return Report{}, p.notCompiled(child, err)
	}
	if out.err != nil {
		return Report{}, ofCheck(out.err)
	}
	var report Report
	if err := json.Unmarshal(out.content, &report); err != nil {
		return Report{}, p.notCompiled(child, errFrame)
	}
	return report, nil
}

var (
	tooHard = Errorf(CompileLimit, "Compiling the program took too much time or memory.")
	tooBusy = Errorf(Unavailable, "The program was not compiled in time: the machine is busy.")
)

// notCompiled says why a compile child did not report. What ended it by force is
// the program's doing: the kernel's limits end it without a word, and a program
// that makes the compiler crash is not run.
func (p *Pool) notCompiled(child *process, err error) *Error {
	lost := child.lost(err)
	if lost.Code == Cancelled || lost.Code == Unavailable {
		return lost
	}
	if lost.Code == WorkerLost {
		p.log.Warn().Msg("a compile child was lost: " + lost.Message)
		select {
		case <-child.ended:
			if code := child.cmd.ProcessState.ExitCode(); code == 0 || code == 1 { // RunChild returned
				return &Error{Code: Unavailable, Message: lost.Message}
			}
		default:
		}
	}
	return tooHard
}

// ofCheck lets through the codes that a check ends with. A guest's other errors
// are those of this machine.
func ofCheck(e *Error) *Error {
	switch e.Code {
	case InvalidModule, ModuleTooLarge, UnsupportedImport, MissingExport, CompileLimit, SyntaxError, Exception,
		MemoryExceeded, StackOverflow:
		return e
	}
	return &Error{Code: Unavailable, Message: e.Message}
}
