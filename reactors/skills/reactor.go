package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/skills/host"
	"github.com/helixd/helixd/reactors/skills/host/audit"
	"github.com/helixd/helixd/replication"
)

// name is the Reactor's.
const name = host.Name

// Reactor sees to it that changed skills are checked, runs are run and schedules
// kept. It does none of it: it enqueues jobs.
type Reactor struct{}

// The tables that are watched.
const (
	watchSkills = iota
	watchNewRuns
	watchCancels
	watchDeleted
	watchGrants
)

// The columns that are watched of skills, and of skill_runs.
const (
	colSkillID = iota
	colSkillStatus
	colSkillSchedule
	colSkillEnabled
	colSkillRev // a change of the code may change nothing else that is streamed
)

const (
	colRunID = iota
	colRunUser
	colRunStatus
	colRunCancel
)

// Name implements reactors.Reactor.
func (Reactor) Name() string { return name }

// Queue is the one whose jobs helix_status counts.
func (Reactor) Queue() string { return queueLanes }

// Queues are all that a pause holds: checks and schedules have their own.
func (Reactor) Queues() []string { return []string{queueLanes, queueChecks, queueSchedules} }

// Watches implements reactors.Reactor.
func (Reactor) Watches() []reactors.Watch {
	both := []replication.Op{replication.Insert, replication.Update}
	runs := []string{"id", "user_id", "status", "cancel_requested"}
	return []reactors.Watch{
		{Table: "public.skills", Ops: both, Columns: []string{"id", "status", "schedule", "enabled", "content_rev"}},
		{Table: "public.skill_runs", Ops: []replication.Op{replication.Insert}, Columns: runs},
		{Table: "public.skill_runs", Ops: []replication.Op{replication.Update}, Columns: runs},
		{Table: "public.skills", Ops: []replication.Op{replication.Delete}},
		{Table: "public.skill_grants", Ops: []replication.Op{replication.Insert, replication.Delete}},
	}
}

// Writes implements reactors.Reactor. The audit, which is appended to, is not
// among them: it is nobody's result, and cannot be made anew.
func (Reactor) Writes() []string { return []string{"helix.skill_queues"} }

// plan is what one skill's row asks for.
type plan struct {
	check    bool
	schedule string // "" for none
}

// React implements reactors.Reactor.
func (Reactor) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	plans := map[string]plan{} // by skill, as its last row is
	users := map[string]bool{} // whose runs may wait
	var grants []reactors.Row
	for i := range rows {
		row := &rows[i]
		switch row.Watch {
		case watchSkills:
			id, _ := row.Text(colSkillID)
			status, _ := row.Text(colSkillStatus)
			p := plan{check: status == statusPending}
			if enabled, _ := row.Text(colSkillEnabled); enabled != "f" { // null where the project had the column before
				p.schedule, _ = row.Text(colSkillSchedule)
			}
			plans[id] = p
		case watchNewRuns, watchCancels:
			user, _ := row.Text(colRunUser)
			status, _ := row.Text(colRunStatus)
			cancel, _ := row.Text(colRunCancel)
			if status == statusQueued && (row.Watch == watchNewRuns || cancel == "t") {
				users[user] = true
			}
		case watchDeleted:
			var key struct {
				ID string `json:"id"`
			}
			raw, _ := row.InboxKey()
			if err := json.Unmarshal(raw, &key); err != nil {
				tx.Reject(*row, fmt.Errorf("its key is not read: %w", err))
				continue
			}
			plans[key.ID] = plan{}
		case watchGrants:
			grants = append(grants, *row)
		}
	}
	if err := reactToSkills(ctx, tx, plans); err != nil {
		return err
	}
	if err := wake(ctx, tx, users); err != nil {
		return err
	}
	return auditGrants(ctx, tx, grants)
}

// auditGrants puts grants and revocations into their users' chains. An entry does
// not show whether it is there already: the inbox does, whose rows are taken.
func auditGrants(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	rows, err := tx.Take(ctx, rows)
	if err != nil {
		return err
	}
	var entries []audit.Entry
	for _, row := range rows {
		key, owner := row.InboxKey()
		user, err := uuid.Parse(owner)
		if err != nil {
			tx.Reject(row, fmt.Errorf("its user is not read: %w", err))
			continue
		}
		entry, err := audit.Grant(user, key, row.Op == replication.Insert, row.Committed)
		if err != nil {
			tx.Reject(row, err)
			continue
		}
		entries = append(entries, entry)
	}
	return audit.Append(ctx, tx, entries)
}

func reactToSkills(ctx context.Context, tx *reactors.Tx, plans map[string]plan) error {
	if len(plans) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(plans))
	schedules := make([]string, len(ids))
	for i, id := range ids {
		schedules[i] = strings.TrimSpace(plans[id].schedule)
		if plans[id].check {
			tx.Enqueue(Check{SkillID: id}, nil)
		}
		if schedules[i] != "" {
			tx.Enqueue(Schedule{SkillID: id, Schedule: schedules[i]}, nil)
		}
	}
	_, err := tx.Exec(ctx, `delete from helix.river_job j using unnest($1::text[], $2::text[]) as p (skill_id, schedule)
		where j.kind = 'skill_schedule' and j.state in ('available', 'scheduled', 'retryable')
			and j.args @> jsonb_build_object('skill_id', p.skill_id) and j.args ->> 'schedule' <> p.schedule`, ids, schedules)
	if err != nil {
		return fmt.Errorf("drop what was scheduled before: %w", err)
	}
	return nil
}

// wake enqueues a lane for each user whose runs wait, where none waits its turn
// already: that one will see these too, since they are committed.
func wake(ctx context.Context, tx *reactors.Tx, users map[string]bool) error {
	if len(users) == 0 {
		return nil
	}
	// The rows of accounts that are being deleted are skipped, and nobody waits for them.
	rows, err := tx.Query(ctx, `with living as (
			select u.id from unnest($1::text[]::uuid[]) as w (id) join auth.users u on u.id = w.id for key share of u skip locked),
		made as (insert into helix.skill_queues (user_id) select id from living order by id on conflict do nothing)
		select id::text from living where not exists (
			select from helix.river_job j where j.state = 'available' and j.queue = 'skills' and j.args ->> 'user_id' = living.id::text)
		order by id`, slices.Sorted(maps.Keys(users)))
	if err != nil {
		return fmt.Errorf("find whose runs wait: %w", err)
	}
	woken, err := collectText(rows)
	if err != nil {
		return fmt.Errorf("find whose runs wait: %w", err)
	}
	for _, user := range woken {
		tx.Enqueue(Lane{UserID: user}, nil)
	}
	return nil
}
