package skills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/sandbox"
	"github.com/helixd/helixd/reactors/skills/rights"
	"github.com/helixd/helixd/reactors/skills/schema"
	"github.com/helixd/helixd/replication"
)

type checkWorker struct {
	river.WorkerDefaults[Check]
	s *Service
}

// Timeout implements river.Worker.
func (*checkWorker) Timeout(*river.Job[Check]) time.Duration { return 5 * time.Minute }

// Work implements river.Worker.
func (w *checkWorker) Work(ctx context.Context, job *river.Job[Check]) error {
	id, err := uuid.Parse(job.Args.SkillID)
	if err != nil {
		return river.JobCancel(err)
	}
	return w.s.check(ctx, id)
}

// maxChecks is how often a skill is checked again because it changed meanwhile.
const maxChecks = 5

// check checks a skill that is pending. Of any number of callers in this process
// one does it.
func (s *Service) check(ctx context.Context, id uuid.UUID) error {
	_, err, _ := s.checks.Do(id.String(), func() (any, error) {
		for range maxChecks {
			d, err := s.load(ctx, id, "")
			if err != nil {
				return nil, err
			}
			if d == nil || d.status != statusPending {
				return nil, nil
			}
			report, fault, err := s.validate(ctx, d, d.skill.Owner)
			if errors.Is(err, errChanged) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if written, err := s.writeCheck(ctx, d, report, fault); err != nil || written {
				return nil, err
			}
		}
		return nil, fmt.Errorf("check a skill: %w, again and again", errChanged)
	})
	return err
}

// writeCheck writes what checking found, unless the skill changed meanwhile.
func (s *Service) writeCheck(ctx context.Context, d *definition, report *sandbox.Report, fault *Error) (written bool, err error) {
	status := statusReady
	if fault != nil {
		status = statusInvalid
	}
	checks, err := json.Marshal(report)
	if err != nil {
		return false, err
	}
	tx, err := s.results.Begin(ctx)
	if err != nil {
		return false, fmt.Errorf("begin a check's result: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // committed, or nothing is written
	if _, err := tx.Exec(ctx, sqlUsers, []uuid.UUID{d.skill.Owner}); err != nil {
		return false, fmt.Errorf("write a check's result: %w", err)
	}
	var owner *uuid.UUID
	err = tx.QueryRow(ctx, `update public.skills set status = $3, error = $4, sha256 = $5, checked_at = now(),
			checks = $6::text::jsonb || case when checks ? 'schedule' then jsonb_build_object('schedule', checks -> 'schedule') else '{}' end
		where id = $1 and coalesce(content_rev, 0) = $2 and coalesce(status, 'pending') = 'pending' returning user_id`,
		d.skill.ID, d.rev, status, fault.json(), d.skill.SHA256, string(checks)).Scan(&owner)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("write a check's result: %w", err)
	}
	batch := &pgx.Batch{}
	if fault == nil {
		batch.Queue(`insert into public.skill_versions (user_id, skill_id, sha256, version, definition, wasm_bytecode)
			select user_id, id, sha256, version, jsonb_build_object('kind', kind, 'source', source, 'steps', steps, 'parameters', parameters,
				'capabilities', to_jsonb(capabilities), 'limits', limits, 'name', name, 'description', description), wasm_bytecode
			from public.skills where id = $1
			on conflict (skill_id, sha256) do update set version = excluded.version`, d.skill.ID)
	}
	if owner != nil {
		err = s.results.QueueBroadcasts(batch, []reactors.Broadcast{{UserID: owner.String(), Op: replication.Update, Table: "skills",
			Key: map[string]any{"id": d.skill.ID}, ID: d.skill.ID.String(), Status: &status, Record: func() any {
				return map[string]any{"sha256": d.skill.SHA256, "error": json.RawMessage(orNull(fault.json()))}
			}}})
		if err != nil {
			return false, err
		}
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return false, fmt.Errorf("keep a skill's version: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return false, fmt.Errorf("commit a check's result: %w", err)
	}
	return true, nil
}

func orNull(b []byte) []byte {
	if b == nil {
		return []byte("null")
	}
	return b
}

// validate says whether a definition can be run, and prepares it. The fault is the
// definition's; err is helixd's own trouble, after which one tries again.
func (s *Service) validate(ctx context.Context, d *definition, user uuid.UUID) (report *sandbox.Report, fault *Error, err error) {
	report = &sandbox.Report{}
	for _, denial := range rights.Check(d.capabilities) {
		return report, errorf(string(denial.Code), "%s: %s.", denial.Capability, denial.Message), nil
	}
	if _, _, fault := lower(s.cfg.Limits, d.limits); fault != nil {
		return report, fault, nil
	}
	if fault := s.prepare(d); fault != nil {
		return report, fault, nil
	}
	if d.skill.Kind == kindComposite {
		fault, err := s.validateSteps(ctx, d, user)
		return report, fault, err
	}
	if d.codeSize == 0 {
		column := map[string]string{sandbox.KindWASM: "wasm_bytecode", sandbox.KindJavaScript: "source"}[d.skill.Kind]
		return report, &Error{Code: CodeDefinitionInvalid, Pointer: "/" + column, Message: column + " is empty."}, nil
	}
	if d.codeSize > sandbox.MaxModule {
		return report, errorf(string(sandbox.ModuleTooLarge), "The code has %d bytes; %d are possible.", d.codeSize, sandbox.MaxModule), nil
	}
	found, err := s.runner.Check(ctx, user.String(), s.program(d))
	var boxed *sandbox.Error
	if errors.As(err, &boxed) && !boxed.Retryable() && boxed.Code != sandbox.Cancelled {
		return &found, rowError(boxed), nil
	}
	return &found, nil, err
}

// schemaError is what package schema says of a document.
func schemaError(err error, code, under, what string) *Error {
	fault := &Error{Code: code, Pointer: under, Message: fmt.Sprintf("The %s %v.", what, err)}
	if at := (*schema.Error)(nil); errors.As(err, &at) {
		fault.Pointer, fault.Message = under+at.Pointer, fmt.Sprintf("The %s, at %q: %s.", what, at.Pointer, at.Message)
	}
	return fault
}

// prepare makes of a definition what running it takes; it was valid when it was
// checked, and an operator's limits may be lower since.
func (s *Service) prepare(d *definition) *Error {
	limits, raised, fault := lower(s.cfg.Limits, d.limits)
	if fault != nil && !raised {
		return fault
	}
	d.bounds = limits
	if d.parameters != nil {
		var err error
		if d.schema, err = schema.Compile(d.parameters); err != nil {
			return schemaError(err, CodeDefinitionInvalid, "/parameters", "parameters")
		}
	}
	if d.skill.Kind == kindComposite {
		return s.parseSteps(d)
	}
	return nil
}
