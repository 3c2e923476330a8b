package synthesis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// name is the Reactor's.
const name = "synthesis"

// Reactor marks users whose memories are to be synthesised again, and enqueues a
// job for each.
type Reactor struct {
	// Delay is from a change until its job may begin: what comes meanwhile is the
	// same job's. 0 is DefaultConfig's.
	Delay time.Duration
}

// The tables that are watched, and their user_id.
const (
	watchMemories = iota
	watchGone
	watchSettings
	colUser = 1
)

// Name implements reactors.Reactor.
func (Reactor) Name() string { return name }

// Queue is the one whose jobs synthesise.
func (Reactor) Queue() string { return queue }

// Watches implements reactors.Reactor. A change of what else a memory has shows in
// content_rev, or as an update at least.
func (Reactor) Watches() []reactors.Watch {
	return []reactors.Watch{
		watchMemories: {Table: "public.memories", Ops: []replication.Op{replication.Insert, replication.Update},
			Columns: []string{"id", colUser: "user_id", "content_rev"}},
		watchGone: {Table: "public.memories", Ops: []replication.Op{replication.Delete}},
		watchSettings: {Table: "public.synthesis_settings",
			Ops: []replication.Op{replication.Insert, replication.Update, replication.Delete}},
	}
}

// Writes implements reactors.Reactor.
func (Reactor) Writes() []string { return []string{"helix.synthesis_work"} }

// React implements reactors.Reactor.
func (r Reactor) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	users := map[string]bool{}
	for i := range rows {
		user := ""
		if rows[i].Watch == watchMemories {
			user, _ = rows[i].Text(colUser)
		} else {
			_, user = rows[i].InboxKey()
		}
		if user != "" {
			users[user] = true
		}
	}
	if len(users) == 0 {
		return nil
	}
	// The rows of accounts that are being deleted are skipped, and nobody waits for
	// them. Who is due already has a job that has not begun: what begins takes the
	// mark away, and what ends holds the user's row while it looks for it. That row
	// may be its own, made since this statement began.
	marked, err := tx.Query(ctx, `with living as (
			select u.id from unnest($1::text[]::uuid[]) as w (id) join auth.users u on u.id = w.id order by u.id for key share of u skip locked),
		idle as (
			select id from living where not exists (select from helix.synthesis_work w where w.user_id = living.id and w.due) order by id)
		insert into helix.synthesis_work as w (user_id, due) select id, true from idle
		on conflict (user_id) do update set due = true where not w.due
		returning user_id::text, coalesce(took_ms, 0), least(greatest(coalesce(extract(epoch from now() - ran_at)::float8, 1e9), 0), 1e9)`, slices.Sorted(maps.Keys(users)))
	if err != nil {
		return fmt.Errorf("mark users as due: %w", err)
	}
	delay := r.Delay
	if delay == 0 {
		delay = DefaultConfig.Delay
	}
	var user string
	var took int64
	var since float64 // seconds from when they were last synthesised
	_, err = pgx.ForEachRow(marked, []any{&user, &took, &since}, func() error {
		wait := rest(time.Duration(took)*time.Millisecond).Seconds() - since
		at := time.Now().Add(max(delay, time.Duration(wait*float64(time.Second))))
		tx.Enqueue(Synthesise{UserID: user}, &river.InsertOpts{ScheduledAt: at})
		return nil
	})
	if err != nil {
		return fmt.Errorf("mark users as due: %w", err)
	}
	return nil
}
