package decay

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// name is the Reactor's.
const name = "decay"

// Reactor reinforces the retention of memories, and sees to it that each user has
// the seven layers.
type Reactor struct{}

// The tables that are watched.
const (
	watchMemories = iota
	watchLayers
)

// The columns of memories that are watched.
const (
	colID = iota
	colUser
	colCreated
	colAccessed
)

// Name implements reactors.Reactor.
func (Reactor) Name() string { return name }

// Queue is the one whose jobs are ticks.
func (Reactor) Queue() string { return queue }

// Watches implements reactors.Reactor. A deleted memory takes its retention along
// by itself.
func (Reactor) Watches() []reactors.Watch {
	return []reactors.Watch{{
		Table:   "public.memories",
		Ops:     []replication.Op{replication.Insert, replication.Update},
		Columns: []string{colID: "id", colUser: "user_id", colCreated: "created_at", colAccessed: "last_accessed"},
	}, {
		Table: layersTable, // clients' writes of data, and deletes
		Ops:   []replication.Op{replication.Insert, replication.Update, replication.Delete},
	}}
}

// Writes implements reactors.Reactor.
func (Reactor) Writes() []string { return []string{"public.memory_retention", layersTable} }

// React implements reactors.Reactor. Where nobody lacks a layer it takes two round
// trips: what is there, and the retentions that are new or reinforced.
func (Reactor) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	memories := map[uuid.UUID][]sight{}
	users := map[uuid.UUID]time.Time{} // when each was first seen
	written := map[uuid.UUID]bool{}    // whose layers were
	seen := func(user uuid.UUID, at time.Time) {
		if _, ok := users[user]; !ok {
			users[user] = at
		}
	}
	for i := range rows {
		row := &rows[i]
		if row.Watch == watchLayers {
			_, owner := row.InboxKey()
			user, err := uuid.Parse(owner)
			if err != nil {
				continue // an adopted row of nobody
			}
			seen(user, row.Committed)
			written[user] = written[user] || row.Op != replication.Delete
			continue
		}
		id, user, s, err := see(row)
		if err != nil {
			tx.Reject(*row, err)
			continue
		}
		seen(user, row.Committed)
		memories[id] = append(memories[id], s)
	}
	owners := slices.SortedFunc(maps.Keys(users), func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	lacking := map[uuid.UUID][]int32{}
	kept := map[uuid.UUID]*retention{}
	batch := &pgx.Batch{}
	queueLacking(batch, owners, lacking)
	if len(memories) > 0 {
		queueRetentions(batch, owners, slices.Collect(maps.Keys(memories)), kept)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("read what is kept of memories: %w", err)
	}
	if err := makeLayers(ctx, tx, lacking, users); err != nil {
		return err
	}
	if err := tellLayers(ctx, tx, written); err != nil {
		return err
	}
	for id, r := range kept {
		for _, s := range memories[id] {
			r.see(s)
		}
	}
	return storeRetentions(ctx, tx, kept)
}

// living are the users $1 who exist. Accounts that are being deleted are skipped,
// and nobody waits for them: they lock in this order too, the user before the rows.
const living = `with living as materialized (
		select id from auth.users where id = any ($1::uuid[]) order by id for key share skip locked) `
