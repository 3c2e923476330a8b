package skills

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/helixd/helixd/reactors/skills/host/audit"
	"github.com/helixd/helixd/reactors/skills/rights"
	"github.com/helixd/helixd/reactors/skills/schema"
)

// run is a claimed run while it is executed.
type run struct {
	*claim
	s          *Service
	definition *definition
	input      []byte
	seed       [32]byte
	may        rights.Set
	denials    []rights.Denial
	host       *host.Run
	audited    int // of the host's entries, those that are written
	outcome    *outcome
}

// execute gives what a run comes to, whatever happens: the daemon's own panic is
// that run's failure only.
func (s *Service) execute(ctx context.Context, c *claim) (o *outcome) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer s.begin(c.RunID, cancel)()
	began := time.Now()
	r := &run{claim: c, s: s, outcome: &outcome{}}
	defer func() {
		if p := recover(); p != nil {
			s.log.Error().Stringer("run", c.RunID).Str("stack", string(debug.Stack())).Msg("a run made helixd panic; only this run fails")
			o = &outcome{Status: statusFailed, Error: errorf(CodeInternal, "helixd failed at this run; its log says more."),
				Wall: time.Since(began), Finished: time.Now()}
		}
	}()
	err := r.work(ctx)
	for n := 1; errors.Is(err, errChanged) && n < maxChecks; n++ {
		if r.Skill, err = s.find(ctx, c.UserID, c.UserID, c.SkillID.String()); err == nil {
			err = r.work(ctx)
		}
	}
	o = r.outcome
	o.Wall, o.Finished = time.Since(began), time.Now()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errGone), errors.Is(err, errGone):
		return &outcome{dropped: true}
	case errors.Is(cause, errStopping) && err != nil, ctx.Err() != nil && errors.Is(cause, context.Canceled) && err != nil:
		return &outcome{requeue: true, Steps: o.Steps, noted: r.audit()}
	case errors.Is(cause, errCancelled) && err != nil:
		err = errCancelled
	}
	r.describe()
	if err == nil {
		o.Status = statusSucceeded
		if fault := storable(o.Output); fault != nil {
			err = sandbox.Errorf(sandbox.InvalidOutput, "The output cannot be stored: %v.", fault)
		}
	}
	if err != nil {
		o.Output = nil
		if o.Error = rowError(err); o.Error == nil {
			s.log.Error().Err(err).Stringer("run", c.RunID).Msg("a run failed, and its skill is not why")
			o.Error = &Error{Code: CodeInternal, Message: "helixd failed at this run; its log says more.", Retryable: true}
		}
		o.Status = statusOf(o.Error)
	}
	return o
}

// work executes the run; what it comes to is in outcome, but for the error.
func (r *run) work(ctx context.Context) error {
	if r.Interruptions >= maxInterruptions {
		return &Error{Code: CodeInterrupted, Retryable: true,
			Message: fmt.Sprintf("The process that ran it was lost %d times; that may be this run's doing.", r.Interruptions)}
	}
	if r.Large {
		err := patiently(ctx, func() error {
			return r.s.pool.QueryRow(ctx, "select input, definition from public.skill_runs where id = $1", r.RunID).Scan(&r.Input, &r.Definition)
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return errGone
		}
		if err != nil {
			return fmt.Errorf("read a run's input: %w", err)
		}
	}
	var err error
	var granted []string
	if r.Inline {
		r.definition, err = r.s.inline(ctx, r.UserID, r.Definition)
	} else {
		var st *skillState
		if r.definition, st, err = r.s.resolve(ctx, r.UserID, r.Skill); err == nil {
			granted = st.Granted
		}
	}
	if err != nil {
		return err
	}
	if r.input = r.Input; len(r.input) == 0 {
		r.input = []byte("{}")
	}
	if fault := r.definition.takes(r.input); fault != nil {
		return fault
	}
	_, _ = crand.Read(r.seed[:]) // it never fails
	r.may, r.denials = r.s.decide(r.UserID, r.definition, granted)
	if r.DryRun {
		return r.explain()
	}
	r.host = r.s.host.Run(host.Subject{Run: r.RunID, User: r.UserID, Skill: r.definition.skill, May: r.may, Denials: r.denials}, r.s.nested)
	if r.definition.skill.Kind == kindComposite {
		return r.workflow(ctx)
	}
	result, err := r.s.runner.Run(ctx, sandbox.Call{Tenant: r.UserID.String(), Program: r.s.program(r.definition), Input: r.input,
		Limits: r.definition.bounds, Seed: r.seed, Now: time.Now(), Host: r.host})
	o := r.outcome
	o.Output, o.CPU, o.PeakMemory = result.Output, result.CPU, result.PeakMemory
	if result.Logs != "" {
		logs := clean(result.Logs, r.definition.bounds.Logs)
		o.Logs = &logs
	}
	for _, hostErr := range result.HostErrors {
		r.s.log.Error().Err(hostErr).Stringer("run", r.RunID).Msg("a host call failed, and the skill is not why")
	}
	return err
}

// takes says why a definition does not take an input.
func (d *definition) takes(input []byte) *Error {
	if len(input) > d.bounds.Input {
		return errorf(CodeInputTooLarge, "The input has %d bytes; %d are possible.", len(input), d.bounds.Input)
	}
	var err error
	if d.schema != nil {
		err = d.schema.Validate(input)
	} else {
		err = schema.Check(input)
	}
	if err != nil {
		return schemaError(err, CodeInputInvalid, "", "input")
	}
	return nil
}

// explain is a dry run: all is looked at and nothing is run.
func (r *run) explain() error {
	plan := map[string]any{"kind": r.definition.skill.Kind, "sha256": r.definition.skill.SHA256, "rights": r.may, "denied": r.denials,
		"limits": map[string]any{"wall_ms": r.definition.bounds.Wall.Milliseconds(), "cpu_ms": r.definition.bounds.CPU.Milliseconds(),
			"memory_bytes": r.definition.bounds.Memory, "input_bytes": r.definition.bounds.Input, "output_bytes": r.definition.bounds.Output,
			"logs_bytes": r.definition.bounds.Logs, "host_calls": r.definition.bounds.HostCalls}}
	if w := r.definition.workflow; w != nil {
		plan["steps"] = w.Plan()
	}
	output, err := json.Marshal(map[string]any{"plan": plan})
	r.outcome.Output = output
	return err
}

// describe fills execution_context and audit_log.
func (r *run) describe() {
	about := map[string]any{"helixd": r.s.cfg.Version, "interruptions": r.Interruptions}
	if d := r.definition; d != nil {
		about["kind"], about["sha256"], about["rights"] = d.skill.Kind, d.skill.SHA256, r.may
		if d.version != "" {
			about["version"] = clean(d.version, 100)
		}
		if r.seed != [32]byte{} {
			about["seed"] = hex.EncodeToString(r.seed[:])
		}
	}
	var err error
	if r.outcome.Context, err = json.Marshal(about); err != nil {
		r.outcome.Context = nil
	}
	r.outcome.noted = r.audit()
}

// audit gives what was noted since the last time.
func (r *run) audit() (n noted) {
	if r.host == nil {
		return n
	}
	n.entries = r.host.Audit()[r.audited:]
	if r.audited += len(n.entries); len(n.entries) > 0 {
		var err error
		if n.Audit, err = audit.Log(n.entries); err != nil {
			n.Audit = nil
		}
	}
	return n
}
