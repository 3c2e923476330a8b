package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/helixd/helixd/reactors/skills/tools"
	"github.com/helixd/helixd/reactors/skills/workflow"
)

// maxReferred is how many skills a composite one may lead to, through others too.
const maxReferred = 100

// validateSteps follows what a composite skill calls: all of it must be there, and
// none of it may come back. The user is who runs it: its owner, when it is checked.
func (s *Service) validateSteps(ctx context.Context, d *definition, user uuid.UUID) (*Error, error) {
	f := follower{s: s, user: user, path: map[uuid.UUID]bool{d.skill.ID: d.skill.ID != uuid.Nil}, seen: map[uuid.UUID]int{}}
	err := f.follow(ctx, d.workflow, namer(d.skill, user), 1)
	if fault := (*Error)(nil); errors.As(err, &fault) {
		return fault, nil
	}
	return nil, err
}

type follower struct {
	s    *Service
	user uuid.UUID
	path map[uuid.UUID]bool
	seen map[uuid.UUID]int // how deep it was at the most when it was followed
}

func (f *follower) follow(ctx context.Context, w *workflow.Workflow, namedBy uuid.UUID, depth int) error {
	for _, ref := range w.References() {
		if ref.Kind != workflow.KindSkill {
			continue
		}
		st, err := f.s.find(ctx, f.user, namedBy, ref.Name)
		if err != nil {
			return err
		}
		switch {
		case st == nil:
			return errorf(CodeNotFound, "A step calls the skill %q, and there is none that you may run.", clean(ref.Name, 200))
		case f.path[st.ID]:
			return errorf(CodeCycle, "The steps lead back to the skill itself, through %q.", clean(ref.Name, 200))
		case depth >= host.MaxDepth:
			return errorf(CodeTooDeep, "The steps call skills that call skills more than %d deep.", host.MaxDepth)
		case f.seen[st.ID] >= depth: // all it leads to was seen at least as deep
			continue
		case f.seen[st.ID] == 0 && len(f.seen) >= maxReferred:
			return errorf(CodeDefinitionInvalid, "The steps lead to more than %d skills.", maxReferred)
		}
		f.seen[st.ID] = depth
		d, err := f.s.load(ctx, st.ID, deref(st.Active))
		if err != nil {
			return err
		}
		if d == nil || d.skill.Kind != kindComposite {
			continue
		}
		// One that is not valid says so itself, when it is run.
		inner, err := workflow.Parse(d.steps, workflow.Options{ReferencesOnly: true})
		if err != nil {
			continue
		}
		f.path[st.ID] = true
		if err := f.follow(ctx, inner, namer(d.skill, f.user), depth+1); err != nil {
			return err
		}
		f.path[st.ID] = false
	}
	return nil
}

// parseSteps prepares a composite skill's steps.
func (s *Service) parseSteps(d *definition) *Error {
	if d.steps == nil {
		return &Error{Code: CodeDefinitionInvalid, Pointer: "/steps", Message: "steps is empty."}
	}
	var err error
	d.workflow, err = workflow.Parse(d.steps, workflow.Options{KnownTool: func(name string) bool { return tools.Known(name, s.mcp) }})
	if err != nil {
		return rowError(err)
	}
	return nil
}

// steps calls what the steps of one workflow refer to.
type steps struct {
	s    *Service
	host *host.Run
	own  bool // of a run's own workflow: its slot's worker is free
	cpu  time.Duration
	peak int64
}

// Call implements workflow.Tools.
func (t *steps) Call(ctx context.Context, ref workflow.Ref, input json.RawMessage, key string) (json.RawMessage, error) {
	step := t.host.Step(key)
	if ref.Kind != workflow.KindSkill {
		box := tools.Tools{Host: step.Call, MCP: t.s.mcp}
		output, err := box.Call(ctx, ref.Name, input, key)
		return output, stepError(err)
	}
	result, err := t.s.callSkill(ctx, step, ref.Name, input, t.own)
	t.cpu += result.CPU
	t.peak = max(t.peak, result.PeakMemory)
	return result.Output, stepError(err)
}

// stepError makes an error one that the step's result tells of.
func stepError(err error) error {
	var boxed *sandbox.Error
	var own *Error
	var flow *workflow.Error
	switch {
	case errors.As(err, &flow):
		return flow
	case errors.As(err, &own):
		return &workflow.Error{Code: own.Code, Message: own.Message}
	case errors.As(err, &boxed):
		return &workflow.Error{Code: string(boxed.Code), Message: boxed.Message}
	}
	return err
}

// pause implements the waits between attempts.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// workflow runs a composite skill, from where an earlier attempt of the run was.
func (r *run) workflow(ctx context.Context) error {
	var done []workflow.StepResult
	if len(r.StepResults) > 0 {
		if err := json.Unmarshal(r.StepResults, &done); err != nil {
			return fmt.Errorf("read step_results: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, r.definition.bounds.Wall)
	defer cancel()
	w, o := r.definition.workflow, r.outcome
	tell := func() error {
		results, err := json.Marshal(done)
		if err != nil {
			return err
		}
		if err := storable(results); err != nil {
			return sandbox.Errorf(sandbox.InvalidOutput, "The steps' results cannot be stored: %v.", err)
		}
		o.Steps = &progress{Results: results, Completed: len(done), Total: w.Plan().TotalSteps}
		o.Retries = 0
		for _, step := range done {
			o.Retries += step.RetriesUsed
		}
		return nil
	}
	if err := tell(); err != nil {
		return err
	}
	calls := &steps{s: r.s, host: r.host, own: true}
	var err error
	o.Output, err = w.Run(ctx, workflow.Run{ID: r.RunID.String(), Input: r.input, Done: done, Tools: calls,
		OnStep: func(result workflow.StepResult) error {
			done = append(done, result)
			if err := tell(); err != nil {
				return err
			}
			// A process that is lost later takes nothing of this step with it.
			o.Steps.noted = r.audit()
			r.s.commits.step(r.claim, o.Steps)
			return context.Cause(ctx)
		}, Now: time.Now, Sleep: pause, Rand: rand.New(rand.NewChaCha8(r.seed))})
	o.CPU, o.PeakMemory = calls.cpu, calls.peak
	if err == nil && len(o.Output) > r.definition.bounds.Output {
		return sandbox.Errorf(sandbox.OutputTooLarge, "The output has %d bytes; %d are possible.", len(o.Output), r.definition.bounds.Output)
	}
	return err
}

// callWorkflow runs a composite skill that another one calls.
func (s *Service) callWorkflow(ctx context.Context, d *definition, callee *host.Run, input json.RawMessage, seed [32]byte) (sandbox.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, d.bounds.Wall)
	defer cancel()
	calls := &steps{s: s, host: callee}
	output, err := d.workflow.Run(ctx, workflow.Run{ID: fmt.Sprintf("%s/%x", callee.Subject().Run, seed[:8]), Input: input, Tools: calls,
		OnStep: func(workflow.StepResult) error { return nil }, Now: time.Now, Sleep: pause, Rand: rand.New(rand.NewChaCha8(seed))})
	if err != nil {
		if fault := rowError(err); fault != nil {
			err = boxed(fault)
		}
	}
	return sandbox.Result{Output: output, CPU: calls.cpu, PeakMemory: calls.peak}, err
}
