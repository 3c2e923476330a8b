package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/skills/host/audit"
	"github.com/helixd/helixd/replication"
)

// columns are the items' values, an array a column.
type columns struct {
	id                                                 []uuid.UUID
	job                                                []int64
	attempt                                            []int
	status, output, fault, steps, context, audit, logs []*string
	completed, total, retries                          []*int
	wall, cpu, memory                                  []*int64
	finished                                           []*time.Time
}

func (c *columns) add(i *item) {
	c.id, c.job, c.attempt = append(c.id, i.RunID), append(c.job, i.job), append(c.attempt, i.claim.attempt)
	var o outcome
	p := i.progress
	if i.outcome != nil {
		o, p = *i.outcome, i.outcome.Steps
	}
	if p == nil {
		p = &progress{}
	}
	var status *string
	if i.outcome != nil && !o.dropped {
		if status = &o.Status; o.requeue {
			queued := statusQueued
			status = &queued
		}
	}
	c.status = append(c.status, status)
	c.output, c.fault = append(c.output, text(o.Output)), append(c.fault, text(o.Error.json()))
	c.steps, c.context = append(c.steps, text(p.Results)), append(c.context, text(o.Context))
	if i.outcome == nil {
		o.noted = p.noted
	}
	c.audit, c.logs = append(c.audit, text(o.Audit)), append(c.logs, o.Logs)
	var completed, total, retries *int
	if p.Results != nil {
		completed, total = &p.Completed, &p.Total
	}
	var wall, cpu, memory *int64
	var finished *time.Time
	if i.outcome != nil && !o.dropped && !o.requeue {
		ms, cpuMs := o.Wall.Milliseconds(), o.CPU.Milliseconds()
		wall, cpu, memory, retries, finished = &ms, &cpuMs, &o.PeakMemory, &o.Retries, &o.Finished
	}
	c.completed, c.total, c.retries = append(c.completed, completed), append(c.total, total), append(c.retries, retries)
	c.wall, c.cpu, c.memory = append(c.wall, wall), append(c.cpu, cpu), append(c.memory, memory)
	c.finished = append(c.finished, finished)
}

// text is nil for null.
func text(b []byte) *string {
	if b == nil {
		return nil
	}
	s := string(b)
	return &s
}

const (
	// A claim is deleted by whoever ends its run: once, in this attempt. Progress
	// only asks whether it is there.
	sqlFinish = `with f as (
			select * from unnest($1::uuid[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
				$11::int[], $12::int[], $13::int[], $14::bigint[], $15::bigint[], $16::bigint[], $17::timestamptz[])
			as f (id, job_id, attempt, status, output, error, steps, context, audit, logs,
				completed, total, retries, wall, cpu, memory, finished)),
		gone as (
			delete from helix.skill_claims c using f
			where c.run_id = f.id and c.job_id = f.job_id and c.attempt = f.attempt returning c.run_id)
		update public.skill_runs r set status = f.status, output = f.output::jsonb, error = f.error::jsonb,
			step_results = coalesce(f.steps::jsonb, r.step_results), execution_context = f.context::jsonb, audit_log = coalesce(r.audit_log || f.audit::jsonb, f.audit::jsonb, r.audit_log),
			steps_completed = coalesce(f.completed, r.steps_completed), total_steps = coalesce(f.total, r.total_steps),
			logs = f.logs, retries_used = f.retries, execution_time_ms = f.wall, cpu_ms = f.cpu, peak_memory_bytes = f.memory,
			finished_at = f.finished, started_at = case when f.finished is not null then r.started_at end
		from f join gone on gone.run_id = f.id
		where r.id = f.id and f.status is not null
		returning r.id, r.skill_id, r.status`
	sqlProgress = `update public.skill_runs r set step_results = f.steps::jsonb, steps_completed = f.completed, total_steps = f.total,
			audit_log = coalesce(r.audit_log || f.audit::jsonb, f.audit::jsonb, r.audit_log)
		from unnest($1::uuid[], $2::bigint[], $3::int[], $4::text[], $5::int[], $6::int[], $7::text[]) as f (id, job_id, attempt, steps, completed, total, audit)
		join helix.skill_claims c on c.run_id = f.id and c.job_id = f.job_id and c.attempt = f.attempt
		where r.id = f.id
		returning r.id, r.skill_id, r.status`
	// Whoever deletes an account or a skill comes over its row first, and then over
	// the runs: so those rows are locked first here, too, else one of the two fails.
	sqlUsers = "select from auth.users where id = any ($1) order by id for key share"
	// The locks come in one order, here and in every other process.
	sqlCount = `with used as (
			select skill_id, count(*) as n from unnest($1::uuid[]) as skill_id group by skill_id),
		locked as (
			select s.id, used.n from public.skills s join used on used.skill_id = s.id order by s.id for no key update of s)
		update public.skills s set usage_count = usage_count + locked.n from locked where s.id = locked.id`
	sqlWake = `select u::text from unnest($1::uuid[]) as u
		where exists (select from public.skill_runs r where user_id = u and ` + unclaimed + `)
			and not exists (select from helix.river_job j where j.state = 'available' and j.queue = 'skills' and j.args ->> 'user_id' = u::text)`
)

// transact writes a group in one transaction.
func (c *committer) transact(ctx context.Context, group []*item) error {
	var done, steps columns
	byRun := make(map[uuid.UUID]*item, len(group))
	var nexts []uuid.UUID
	users, wakes, skills := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	for _, i := range group {
		if i.outcome == nil {
			steps.add(i)
		} else {
			done.add(i)
			users[i.UserID] = true
			if i.SkillID != nil && !i.DryRun && !i.outcome.requeue {
				skills[*i.SkillID] = true
			}
			if i.next != uuid.Nil {
				nexts = append(nexts, i.next)
			}
			wakes[i.UserID] = wakes[i.UserID] || i.wake || i.outcome.requeue
		}
		byRun[i.RunID] = i // the last of a run is what counts: a step is written before its run ends
	}
	tx, err := c.s.results.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin results: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // committed, or nothing is written
	var broadcasts []reactors.Broadcast
	var used []uuid.UUID
	var entries []audit.Entry
	written := func(rows pgx.Rows) error {
		var id uuid.UUID
		var skill *uuid.UUID
		var status string
		_, err := pgx.ForEachRow(rows, []any{&id, &skill, &status}, func() error {
			i := byRun[id]
			if i.outcome == nil {
				entries = append(entries, i.progress.entries...)
			} else {
				entries = append(entries, i.outcome.entries...)
			}
			if i.outcome != nil && i.outcome.requeue {
				return nil
			}
			broadcasts = append(broadcasts, broadcast(i, status))
			if skill != nil && i.outcome != nil && !i.DryRun {
				used = append(used, *skill)
			}
			return nil
		})
		return err
	}
	batch := &pgx.Batch{}
	batch.Queue("select set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)", commitLock, commitIdle)
	batch.Queue(sqlUsers, keys(users))
	batch.Queue("select from public.skills where id = any ($1) order by id for no key update", keys(skills))
	if len(steps.id) > 0 {
		batch.Queue(sqlProgress, steps.id, steps.job, steps.attempt, steps.steps, steps.completed, steps.total, steps.audit).Query(written)
	}
	if len(done.id) > 0 {
		batch.Queue("select from helix.skill_queues where user_id = any ($1) order by user_id for update", keys(users))
		batch.Queue(sqlFinish, done.id, done.job, done.attempt, done.status, done.output, done.fault, done.steps, done.context, done.audit, done.logs,
			done.completed, done.total, done.retries, done.wall, done.cpu, done.memory, done.finished).Query(written)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	batch = &pgx.Batch{}
	if len(nexts) > 0 {
		batch.Queue("update helix.skill_claims set permit = true where run_id = any ($1)", nexts)
	}
	if len(used) > 0 {
		batch.Queue(sqlCount, used)
	}
	if err := c.s.results.QueueBroadcasts(batch, broadcasts); err != nil {
		return err
	}
	var lanes []river.InsertManyParams
	if woken := keys(wakes); len(woken) > 0 {
		batch.Queue(sqlWake, woken).Query(func(rows pgx.Rows) error {
			users, err := collectText(rows)
			for _, user := range users {
				lanes = append(lanes, river.InsertManyParams{Args: Lane{UserID: user}})
			}
			return err
		})
	}
	if batch.Len() > 0 {
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return fmt.Errorf("tell of results: %w", err)
		}
	}
	if len(lanes) > 0 {
		if err := c.s.jobs.Insert(ctx, tx, lanes); err != nil {
			return err
		}
	}
	if err := audit.Append(ctx, tx, entries); err != nil {
		return err
	}
	failpoint.Here("skills-commit")
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit results: %w", err)
	}
	return nil
}

// keys are those that are true.
func keys(set map[uuid.UUID]bool) []uuid.UUID {
	var keys []uuid.UUID
	for k, is := range set {
		if is {
			keys = append(keys, k)
		}
	}
	return keys
}

// maxBroadcastOutput is the size of an output that goes along, in bytes; a larger
// one the client selects.
const maxBroadcastOutput = 4 << 10

// broadcast tells of a run that has ended or is a step further.
func broadcast(i *item, status string) reactors.Broadcast {
	return reactors.Broadcast{UserID: i.UserID.String(), Op: replication.Update, Table: "skill_runs",
		Key: map[string]any{"id": i.RunID}, ID: i.RunID.String(), Status: &status,
		Record: func() any {
			record := map[string]any{"skill_id": i.SkillID}
			p := i.progress
			if o := i.outcome; o != nil {
				if p = o.Steps; len(o.Output) <= maxBroadcastOutput && o.Output != nil {
					record["output"] = json.RawMessage(o.Output)
				}
				if o.Error != nil {
					record["error"] = json.RawMessage(o.Error.json())
				}
				record["execution_time_ms"] = o.Wall.Milliseconds()
			}
			if p != nil {
				record["steps_completed"], record["total_steps"] = p.Completed, p.Total
			}
			return record
		}}
}
