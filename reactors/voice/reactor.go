package voice

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// name is the Reactor's.
const name = "voice"

// Reactor sees to it that recordings are transcribed. It does none of it: it
// enqueues a lane for each user who has one that waits.
type Reactor struct{}

// The columns that are watched.
const (
	colID = iota
	colUser
	colStatus
	colRev // a change of the audio may change nothing else that is streamed
)

// Name implements reactors.Reactor.
func (Reactor) Name() string { return name }

// Queue is the one whose jobs are lanes.
func (Reactor) Queue() string { return queue }

// Watches implements reactors.Reactor.
func (Reactor) Watches() []reactors.Watch {
	return []reactors.Watch{{Table: "public.voice_recordings", Ops: []replication.Op{replication.Insert, replication.Update},
		Columns: []string{colID: "id", colUser: "user_id", colStatus: "status", colRev: "content_rev"}}}
}

// Writes implements reactors.Reactor.
func (Reactor) Writes() []string { return []string{"helix.voice_queues"} }

// React implements reactors.Reactor. A user who has a lane that waits its turn is
// given none: that one will see these rows too, since they are committed.
func (Reactor) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	users := map[string]bool{}
	for i := range rows {
		user, _ := rows[i].Text(colUser)
		if status, _ := rows[i].Text(colStatus); status == statusPending {
			users[user] = true
		}
	}
	if len(users) == 0 {
		return nil
	}
	// The rows of accounts that are being deleted are skipped, and nobody waits for them.
	found, err := tx.Query(ctx, `with living as (
			select u.id from unnest($1::text[]::uuid[]) as w (id) join auth.users u on u.id = w.id for key share of u skip locked),
		made as (insert into helix.voice_queues (user_id) select id from living order by id on conflict do nothing)
		select id::text from living where not exists (
			select from helix.river_job j where j.state = 'available' and j.queue = 'voice' and j.args ->> 'user_id' = living.id::text)
		order by id`, slices.Sorted(maps.Keys(users)))
	if err != nil {
		return fmt.Errorf("find whose recordings wait: %w", err)
	}
	woken, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("find whose recordings wait: %w", err)
	}
	for _, user := range woken {
		tx.Enqueue(Lane{UserID: user}, nil)
	}
	return nil
}
