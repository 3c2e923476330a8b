package embedding

import (
	"context"
	"encoding/json"
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
const name = "embedding"

// Reactor notes which memories want an embedding, and enqueues a job for each user
// who has one.
type Reactor struct {
	// Delay is from a change until its job may begin: what comes meanwhile is in
	// the same requests. 0 is DefaultConfig's.
	Delay time.Duration
}

// The tables that are watched.
const (
	watchMemories = iota
	watchGone
	watchPrivacy
)

// The columns of memories that are watched.
const (
	colID = iota
	colUser
	colRev // a change of content may change nothing else that is streamed
	colStale
)

// Name implements reactors.Reactor.
func (Reactor) Name() string { return name }

// Queue is the one whose jobs embed.
func (Reactor) Queue() string { return queue }

// Watches implements reactors.Reactor.
func (Reactor) Watches() []reactors.Watch {
	return []reactors.Watch{
		watchMemories: {Table: "public.memories", Ops: []replication.Op{replication.Insert, replication.Update},
			Columns: []string{colID: "id", colUser: "user_id", colRev: "content_rev", colStale: "embedding_stale"}},
		watchGone: {Table: "public.memories", Ops: []replication.Op{replication.Delete}},
		watchPrivacy: {Table: "public.privacy_settings",
			Ops: []replication.Op{replication.Insert, replication.Update, replication.Delete}},
	}
}

// Writes implements reactors.Reactor.
func (Reactor) Writes() []string { return []string{"helix.embedding_work", "helix.embedding_queues"} }

// React implements reactors.Reactor. What is noted depends on the rows as they are
// now: what the batch says of them only tells where to look.
func (r Reactor) React(ctx context.Context, tx *reactors.Tx, rows []reactors.Row) error {
	stale, other := map[string]bool{}, map[string]bool{} // memories
	users, asked := map[string]bool{}, map[string]bool{} // whose are stale, and who may have changed their minds
	for i := range rows {
		row := &rows[i]
		switch row.Watch {
		case watchMemories:
			id, _ := row.Text(colID)
			if wants, _ := row.Text(colStale); wants == "t" {
				user, _ := row.Text(colUser)
				stale[id], users[user] = true, true
			} else if row.Op == replication.Update { // what is new has no work yet
				other[id] = true
			}
		case watchGone:
			var key struct{ ID string }
			raw, _ := row.InboxKey()
			if err := json.Unmarshal(raw, &key); err != nil {
				tx.Reject(*row, fmt.Errorf("the key of a deleted memory: %w", err))
				continue
			}
			other[key.ID] = true
		case watchPrivacy:
			if _, user := row.InboxKey(); user != "" {
				asked[user] = true
			}
		}
	}
	if len(other) > 0 || len(stale) > 0 {
		maps.Copy(other, stale)
		_, err := tx.Exec(ctx, `delete from helix.embedding_work w where w.memory_id = any ($1::text[]::uuid[])
			and not exists (select from public.memories m where m.id = w.memory_id and (w.by_hand or m.embedding_stale and m.content <> ''))`,
			slices.Sorted(maps.Keys(other)))
		if err != nil {
			return fmt.Errorf("forget memories that want no embedding: %w", err)
		}
	}
	due := map[string]bool{}
	if len(stale) > 0 {
		// The rows of accounts that are being deleted are skipped, and nobody waits for
		// them. The queue's row is held until the batch is committed: a job that ends
		// meanwhile waits for it, and sees what was noted here. So does one that began
		// since this statement did, of whoever was due before.
		err := collect(ctx, tx, due, `with living as materialized (
				select u.id from unnest($2::text[]::uuid[]) as w (id) join auth.users u on u.id = w.id order by u.id for key share of u skip locked),
			before as materialized (select q.user_id from helix.embedding_queues q join living on living.id = q.user_id where q.due),
			work as (
				insert into helix.embedding_work as w (memory_id, user_id, created_at)
				select m.id, m.user_id, helix.utc(m.created_at) from public.memories m join living on living.id = m.user_id
				where m.id = any ($1::text[]::uuid[]) and m.embedding_stale and m.content <> '' order by m.id
				on conflict (memory_id) do update set user_id = excluded.user_id, created_at = excluded.created_at, by_hand = false
				returning w.user_id),
			queues as (
				insert into helix.embedding_queues as q (user_id, due) select id, id in (select user_id from work) from living order by id
				on conflict (user_id) do update set due = q.due or excluded.due)
			select distinct user_id::text from work where user_id not in (select user_id from before)`, slices.Sorted(maps.Keys(stale)), slices.Sorted(maps.Keys(users)))
		if err != nil {
			return fmt.Errorf("note memories that want an embedding: %w", err)
		}
	}
	if len(asked) > 0 {
		err := collect(ctx, tx, due, `update helix.embedding_queues set retry_at = null, reason = null, due = true
			where user_id = any ($1::text[]::uuid[]) and reason ->> 'code' = $2 and not due returning user_id::text`, slices.Sorted(maps.Keys(asked)), CodeOptedOut)
		if err != nil {
			return fmt.Errorf("let users go on who had opted out: %w", err)
		}
	}
	delay := r.Delay
	if delay == 0 {
		delay = DefaultConfig.Delay
	}
	at := time.Now().Add(delay)
	for _, user := range slices.Sorted(maps.Keys(due)) {
		tx.Enqueue(EmbedMemories{UserID: user}, &river.InsertOpts{ScheduledAt: at})
	}
	return nil
}

// collect adds what a statement gives, one text a row.
func collect(ctx context.Context, tx *reactors.Tx, to map[string]bool, sql string, args ...any) error {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return err
	}
	var one string
	_, err = pgx.ForEachRow(rows, []any{&one}, func() error { to[one] = true; return nil })
	return err
}
