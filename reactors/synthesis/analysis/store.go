package analysis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

const (
	finishRetry     = 250 * time.Millisecond // doubled
	mostFinishRetry = 10 * time.Second
)

// finish writes the end of a row and of its job in one transaction. It tries for as
// long as the database is away: what it holds was paid for.
func (s *Service) finish(ctx context.Context, job *river.Job[Analyse], c *claim, f func(ctx context.Context, tx pgx.Tx) error) error {
	for wait := finishRetry; ; wait = min(2*wait, mostFinishRetry) {
		err := s.finishOnce(ctx, job, c, f)
		if err == nil || reactors.Refused(err) || ctx.Err() != nil {
			return err
		}
		if !reactors.Locked(err) {
			s.log.Warn().Err(err).Stringer("analysis", c.id).Msg("what came of an analysis is not written yet; trying again")
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

func (s *Service) finishOnce(ctx context.Context, job *river.Job[Analyse], c *claim, f func(ctx context.Context, tx pgx.Tx) error) error {
	tx, err := s.results.Begin(ctx)
	if err != nil {
		return fmt.Errorf("end an analysis: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	switch err := c.hold(ctx, tx); {
	case errors.Is(err, errLost):
		return nil
	case errors.Is(err, errGone): // the job ends all the same
	case err != nil:
		return err
	default:
		if err := f(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "delete from helix.analysis_work where job_id = $1", c.id); err != nil {
			return fmt.Errorf("end an analysis: %w", err)
		}
	}
	// The claim is the fence: a job that was taken for lost, and waits to be worked
	// again, finds the row done.
	if err := reactors.Complete(ctx, tx, job); err != nil && !errors.Is(err, reactors.ErrRescued) {
		return fmt.Errorf("complete the job: %w", err)
	}
	if err := s.wakeNext(ctx, tx, c.user); err != nil {
		return err
	}
	failpoint.Here("analysis-written")
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("end an analysis: %w", err)
	}
	return nil
}

// store writes what was found.
func (s *Service) store(ctx context.Context, tx pgx.Tx, c *claim, r *result) error {
	var requests int
	var input, output int64
	err := tx.QueryRow(ctx, "select requests, input_tokens, output_tokens from helix.analysis_work where job_id = $1", c.id).Scan(&requests, &input, &output)
	if err != nil {
		return fmt.Errorf("read what an analysis cost: %w", err)
	}
	r.Chunks.Asked = requests
	r.Cached = requests == 0 && r.Chunks.Cached > 0
	analysis, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write an analysis: %w", err)
	}
	batch := &pgx.Batch{}
	batch.Queue(`update public.memory_synthesis_jobs set status = 'done', progress = 1, error = null, analysis = $2::jsonb, summary = $3, layer = nullif($4, 0),
			provider = $5, input_tokens = $6, output_tokens = $7, execution_time_ms = $8, finished_at = clock_timestamp() where id = $1`,
		c.id, string(analysis), r.summary, r.plan.kind.layer, r.provider, input, output, c.elapsed().Milliseconds())
	var told []reactors.Broadcast
	for i := range r.found {
		f := &r.found[i]
		content, err := json.Marshal(f.Content)
		if err != nil {
			return fmt.Errorf("write a pattern: %w", err)
		}
		pattern, layer := uuid.New(), r.plan.kind.layerOf(f.Type)
		ids := r.plan.ids(f.Evidence)
		batch.Queue(`insert into public.memory_patterns (id, user_id, job_id, pattern_type, description, layer, evidence, confidence, content)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb)`, pattern, c.user, c.id, f.Type, f.Description, layer, ids, f.Confidence, string(content))
		told = append(told, reactors.Broadcast{UserID: c.user.String(), Op: replication.Insert, Table: "memory_patterns", ID: pattern.String(),
			Key: map[string]any{"id": pattern}, Record: func() any {
				return map[string]any{"job_id": c.id, "pattern_type": f.Type, "description": f.Description, "layer": layer, "confidence": f.Confidence}
			}})
		if f.Advice == "" {
			continue
		}
		advice := uuid.New()
		batch.Queue(`insert into public.synthesis_recommendations (id, user_id, job_id, pattern_id, recommendation) values ($1, $2, $3, $4, $5)`,
			advice, c.user, c.id, pattern, f.Advice)
		told = append(told, reactors.Broadcast{UserID: c.user.String(), Op: replication.Insert, Table: "synthesis_recommendations", ID: advice.String(),
			Key: map[string]any{"id": advice}, Record: func() any {
				return map[string]any{"job_id": c.id, "pattern_id": pattern, "recommendation": f.Advice}
			}})
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write patterns: %w", err)
	}
	if err := s.results.Tell(ctx, tx, told...); err != nil {
		return err
	}
	return s.tell(ctx, tx, c, replication.Update, statusDone, map[string]any{"progress": 1, "summary": r.summary, "provider": r.provider, "patterns": len(r.found)})
}

// fail ends a row with an error for good.
func (s *Service) fail(ctx context.Context, tx pgx.Tx, c *claim, fault *Error) error {
	_, err := tx.Exec(ctx, `update public.memory_synthesis_jobs set status = 'failed', error = $2::jsonb, execution_time_ms = $3, finished_at = clock_timestamp(),
			input_tokens = w.input_tokens, output_tokens = w.output_tokens
		from helix.analysis_work w where id = $1 and w.job_id = $1`, c.id, fault.json(), c.elapsed().Milliseconds())
	if err != nil {
		return fmt.Errorf("fail an analysis: %w", err)
	}
	s.log.Warn().Stringer("analysis", c.id).Str("code", fault.Code).Msg("an analysis has failed")
	return s.tell(ctx, tx, c, replication.Update, statusFailed, map[string]any{"error": json.RawMessage(fault.json())})
}

// giveBack lets the row wait: for what fault says, or only for the next worker.
func (s *Service) giveBack(ctx context.Context, c *claim, fault *Error) error {
	var reason *string
	if fault != nil {
		text := fault.json()
		reason = &text
	}
	err := s.write(ctx, c, func(ctx context.Context, tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue("update public.memory_synthesis_jobs set status = 'pending', error = $2::jsonb where id = $1", c.id, reason)
		batch.Queue(`update helix.analysis_work set claim = null, holder = null, begun = 0, took_ms = $2,
			tries = case when $3 then tries + 1 else tries end where job_id = $1`, c.id, c.elapsed().Milliseconds(), fault != nil)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return fmt.Errorf("give an analysis back: %w", err)
		}
		record := map[string]any{}
		if reason != nil {
			record["error"] = json.RawMessage(*reason)
		}
		return s.tell(ctx, tx, c, replication.Update, statusPending, record)
	})
	if errors.Is(err, errGone) || errors.Is(err, errLost) {
		return nil
	}
	return err
}

// progress says on the row how far the work is; it never goes back.
func (s *Service) progress(ctx context.Context, c *claim, share float64) error {
	return s.write(ctx, c, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "update public.memory_synthesis_jobs set progress = greatest(progress, $2) where id = $1", c.id, share); err != nil {
			return fmt.Errorf("write progress: %w", err)
		}
		return s.tell(ctx, tx, c, replication.Update, statusProcessing, map[string]any{"progress": share})
	})
}

func (c *claim) elapsed() time.Duration { return c.took + time.Since(c.began) }

// ids are what the client knows texts by.
func (p *plan) ids(texts []int) []string {
	ids := make([]string, len(texts))
	for i, t := range texts {
		ids[i] = p.in.texts[t].ID
	}
	return ids
}

func notStored(state string) *Error {
	return &Error{Code: CodeNotStored, Message: fmt.Sprintf("The database refused the analysis (SQLSTATE %s): look for constraints and triggers on memory_synthesis_jobs, memory_patterns and synthesis_recommendations.", state)}
}
