package analysis

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// name is the Reactor's.
const name = "analysis"

// Reactor sees to it that analyses are made that clients order. It makes none: it
// notes each row, and enqueues a job for it.
type Reactor struct{}

// The tables that are watched, through the inbox.
const (
	watchJobs = iota
	watchPrivacy
)

// Name implements reactors.Reactor.
func (Reactor) Name() string { return name }

// Queue is the one whose jobs helix_status counts.
func (Reactor) Queue() string { return queue }

// Watches implements reactors.Reactor.
func (Reactor) Watches() []reactors.Watch {
	return []reactors.Watch{
		watchJobs: {Table: "public.memory_synthesis_jobs", Ops: []replication.Op{replication.Insert, replication.Delete}},
		watchPrivacy: {Table: "public.privacy_settings",
			Ops: []replication.Op{replication.Insert, replication.Update, replication.Delete}},
	}
}

// Writes implements reactors.Reactor.
func (Reactor) Writes() []string { return []string{"helix.analysis_work"} }

// React implements reactors.Reactor. A row that is noted has its job, or is done: it
// is given none when a repair brings it again.
func (Reactor) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	made, gone := map[string]bool{}, map[string]bool{}
	users := map[string]bool{}
	for i := range rows {
		row := &rows[i]
		raw, user := row.InboxKey()
		if row.Watch == watchPrivacy {
			users[user] = true
			continue
		}
		var key struct {
			ID uuid.UUID `json:"id"`
		}
		if err := json.Unmarshal(raw, &key); err != nil || key.ID == uuid.Nil {
			tx.Reject(*row, fmt.Errorf("its key is not read"))
			continue
		}
		if row.Op == replication.Insert {
			made[key.ID.String()] = true
		} else {
			gone[key.ID.String()] = true
		}
	}
	if len(gone) > 0 {
		// What no worker has begun is forgotten with its row.
		_, err := tx.Exec(ctx, `delete from helix.river_job where queue = $1 and args ->> 'job_id' = any ($2)
			and state in ('available', 'pending', 'scheduled', 'retryable')
			and not exists (select from public.memory_synthesis_jobs r where r.id::text = args ->> 'job_id')`, queue, slices.Sorted(maps.Keys(gone)))
		if err != nil {
			return fmt.Errorf("forget deleted analyses: %w", err)
		}
	}
	if len(users) > 0 {
		// Who opts out need not wait for a provider any more.
		_, err := tx.Exec(ctx, `update helix.river_job set state = 'available', scheduled_at = now()
			where queue = $1 and args ->> 'user_id' = any ($2) and state = 'scheduled'
				and exists (select from helix.analysis_work w where w.job_id = (args ->> 'job_id')::uuid and w.tries > 0)`, queue, slices.Sorted(maps.Keys(users)))
		if err != nil {
			return fmt.Errorf("wake analyses that wait: %w", err)
		}
	}
	if len(made) == 0 {
		return nil
	}
	// The rows of accounts that are being deleted are skipped, and nobody waits for
	// them; nor for a row that the app deletes just now.
	noted, err := tx.Query(ctx, `with living as (
			select u.id from public.memory_synthesis_jobs r join auth.users u on u.id = r.user_id
			where r.id = any ($1::text[]::uuid[]) for key share of u skip locked),
		open as (
			select r.id, r.user_id from public.memory_synthesis_jobs r
			where r.id = any ($1::text[]::uuid[]) and r.status in ('pending', 'processing') and r.user_id in (select id from living)
			order by r.id for key share of r skip locked)
		insert into helix.analysis_work (job_id, user_id) select id, user_id from open order by id
		on conflict (job_id) do nothing returning job_id::text, user_id::text`, slices.Sorted(maps.Keys(made)))
	if err != nil {
		return fmt.Errorf("note analyses: %w", err)
	}
	var args Analyse
	if _, err := pgx.ForEachRow(noted, []any{&args.JobID, &args.UserID}, func() error {
		tx.Enqueue(args, nil)
		return nil
	}); err != nil {
		return fmt.Errorf("note analyses: %w", err)
	}
	return nil
}
