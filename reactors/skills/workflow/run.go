package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Tools calls what steps refer to. The output is JSON. An error that is an *Error
// is the step's; of any other the run tells nothing but that there was one, and the
// caller finds it in the *Error's chain.
//
// The idempotency key is the same for all attempts of a step, in this run and when
// it is resumed.
type Tools interface {
	Call(ctx context.Context, ref Ref, input json.RawMessage, idempotencyKey string) (json.RawMessage, error)
}

// StepResult is what came of a step; they are skill_runs.step_results.
type StepResult struct {
	StepID          string          `json:"stepId"`
	ToolName        string          `json:"toolName"` // a tool's or a skill's; "" of a step that only decides
	Success         bool            `json:"success"`
	Skipped         bool            `json:"skipped,omitempty"` // its condition did not hold, or it failed and skips
	Branch          string          `json:"branch,omitempty"`  // of a step with a condition: then or else
	Output          json.RawMessage `json:"output"`            // what later steps see
	Error           *Error          `json:"error"`
	ExecutionTimeMs int64           `json:"executionTimeMs"`
	RetriesUsed     int             `json:"retriesUsed"`
}

// Run is one run of a Workflow.
type Run struct {
	ID    string          // begins the idempotency keys
	Input json.RawMessage // JSON; nil is null
	Done  []StepResult    // of the run that this one goes on with
	Tools Tools
	// OnStep keeps a result before the next step begins. The run ends with its error.
	OnStep func(StepResult) error
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Rand   *rand.Rand
}

// Branches.
const (
	thenBranch = "then"
	elseBranch = "else"
)

var errStepTimeout = errors.New("the step's time is over")

// Run runs the steps that are not done. The output is what the workflow's output
// mapping says, else what the last step gave that gave something, else null. A
// step's failure ends it with an *Error step_failed. When ctx ends, the error
// wraps its cause, and the step that was running has no result.
func (w *Workflow) Run(ctx context.Context, r Run) (json.RawMessage, error) {
	state := &runState{Run: r, known: newKnown(w.ids), done: map[string]StepResult{}, last: json.RawMessage("null")}
	if len(r.Input) == 0 {
		r.Input = json.RawMessage("null")
	}
	if _, err := state.known.add("input", r.Input); err != nil {
		if err.Code == InvalidOutput {
			err.Code = InputInvalid
		}
		return nil, err
	}
	state.input = r.Input
	for _, result := range r.Done {
		state.done[result.StepID] = result
	}
	if err := state.list(ctx, w.steps); err != nil {
		return nil, err
	}
	if w.output == nil {
		return state.last, nil
	}
	_, output, err := w.output.of(state.known.values)
	if err != nil {
		return nil, &Error{Code: MappingInvalid, Pointer: "/output", Message: err.Error()}
	}
	return output, nil
}

type runState struct {
	Run
	known *known
	input json.RawMessage
	done  map[string]StepResult
	last  json.RawMessage
}

func (r *runState) list(ctx context.Context, steps []*step) error {
	chosen := map[string]bool{}
	for _, s := range steps {
		if s.named && !chosen[s.id] {
			continue
		}
		result, err := r.step(ctx, s)
		if err != nil {
			return err
		}
		var b branch
		switch result.Branch {
		case thenBranch:
			b = s.then
		case elseBranch:
			b = s.otherwise
		}
		for _, name := range b.names {
			chosen[name] = true
		}
		if err := r.list(ctx, b.steps); err != nil {
			return err
		}
	}
	return nil
}

// step runs s unless it is done, and keeps its result.
func (r *runState) step(ctx context.Context, s *step) (StepResult, error) {
	result, done := r.done[s.id]
	if !done {
		if ctx.Err() != nil {
			return result, fmt.Errorf("step %q: %w", s.id, context.Cause(ctx))
		}
		started := r.Now()
		result = r.attempt(ctx, s)
		result.ExecutionTimeMs = r.Now().Sub(started).Milliseconds()
		// A step that ended because the run did has not failed: it runs again when the
		// run goes on.
		if result.Error != nil && ctx.Err() != nil {
			return result, fmt.Errorf("step %q: %w", s.id, context.Cause(ctx))
		}
	}
	if err := r.keep(s, &result); err != nil {
		return result, err
	}
	if !done {
		if err := r.OnStep(result); err != nil {
			return result, fmt.Errorf("keep the result of step %q: %w", s.id, err)
		}
	}
	if failed := result.Error; failed != nil && !result.Skipped && s.failure.then == stop {
		return result, &Error{Code: StepFailed, Message: fmt.Sprintf("the step failed with %s: %s", failed.Code, failed.Message),
			Step: s.id, Pointer: s.pointer, Inner: failed, cause: failed}
	}
	return result, nil
}

// keep lets later steps see the result. A failure that goes on gives null; what was
// skipped gives nothing.
func (r *runState) keep(s *step, result *StepResult) error {
	if result.Skipped || (result.Error != nil && s.failure.then == stop) {
		return nil
	}
	output := result.Output
	if len(output) == 0 {
		output = json.RawMessage("null")
	}
	if _, err := r.known.add(s.id, output); err != nil {
		err.Step, err.Pointer = s.id, s.pointer
		return err
	}
	if result.Success && s.ref != (Ref{}) {
		r.last = output
	}
	return nil
}

// attempt makes a result of s, with as many calls as its errorHandling allows.
func (r *runState) attempt(ctx context.Context, s *step) StepResult {
	result := StepResult{StepID: s.id, ToolName: s.ref.Name}
	if s.condition != nil {
		holds, err := s.condition.holds(ctx, r.known)
		if err != nil {
			return r.failed(s, result, &Error{Code: ConditionInvalid, Step: s.id, Pointer: s.pointer + "/condition", Message: err.Error()})
		}
		result.Branch = thenBranch
		if !holds {
			result.Branch, result.Success, result.Skipped = elseBranch, true, s.ref != (Ref{})
		}
		if s.ref == (Ref{}) {
			result.Success, result.Output = true, json.RawMessage(fmt.Sprint(holds))
		}
		if !holds || s.ref == (Ref{}) {
			return result
		}
	}
	input := r.input
	if s.input != nil {
		var err error
		if _, input, err = s.input.of(r.known.values); err != nil {
			return r.failed(s, result, &Error{Code: MappingInvalid, Step: s.id, Pointer: s.pointer + "/inputMapping", Message: err.Error()})
		}
	}
	for {
		output, err := r.call(ctx, s, input)
		if err == nil {
			result.Success, result.Output = true, output
			return result
		}
		if result.RetriesUsed >= s.failure.retry.retries || !err.Retryable() || ctx.Err() != nil {
			return r.failed(s, result, err)
		}
		if r.Sleep(ctx, s.failure.retry.delay(result.RetriesUsed, r.Rand)) != nil {
			return r.failed(s, result, err)
		}
		result.RetriesUsed++
	}
}

func (r *runState) failed(s *step, result StepResult, err *Error) StepResult {
	result.Error = err
	if s.failure.then == skip {
		result.Skipped, result.Branch = true, ""
	}
	if err.Code == ConditionInvalid {
		result.Branch = ""
	}
	return result
}

// call is one attempt.
func (r *runState) call(ctx context.Context, s *step, input json.RawMessage) (json.RawMessage, *Error) {
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.timeout, errStepTimeout)
		defer cancel()
	}
	output, err := r.Tools.Call(ctx, s.ref, input, r.ID+"/"+s.id)
	if errors.Is(context.Cause(ctx), errStepTimeout) && err != nil {
		err = fmt.Errorf("%w: %w", errStepTimeout, err)
		return nil, &Error{Code: StepTimeout, Step: s.id, Message: fmt.Sprintf("the step took longer than %d ms", s.timeout.Milliseconds()), cause: err}
	}
	if err != nil {
		return nil, errorOf(err)
	}
	if len(output) > MaxContext {
		return nil, contextTooLarge()
	}
	if s.output == nil {
		return output, r.check(output)
	}
	raw := newKnown(nil)
	v, failed := raw.add("output", output)
	if failed != nil {
		return nil, failed
	}
	_, mapped, err := s.output.of(v)
	if err != nil {
		return nil, &Error{Code: MappingInvalid, Step: s.id, Pointer: s.pointer + "/outputMapping", Message: err.Error()}
	}
	return mapped, nil
}

// check refuses an output that later steps could not see.
func (r *runState) check(output json.RawMessage) *Error {
	try := newKnown(nil)
	try.bytes, try.nodes = r.known.bytes, r.known.nodes
	_, err := try.add("output", output)
	return err
}

// delay is how long to wait before retry n, counted from 0.
func (r retry) delay(n int, random *rand.Rand) time.Duration {
	d := float64(r.base) * math.Pow(r.factor, float64(n))
	d = min(d, float64(r.limit))
	if r.jitter {
		d *= random.Float64()
	}
	return time.Duration(d)
}
