package embedding

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors"
)

// lacking are memories that could be bought an embedding and wait for none, or are
// set aside for good. $1 is a user, null: any.
const lacking = `from public.memories m where (m.embedding is null or m.embedding_stale) and m.content ~ '[^[:space:]]'
	and ($1::uuid is null or m.user_id = $1) and exists (select from auth.users u where u.id = m.user_id)
	and not exists (select from helix.embedding_work w where w.memory_id = m.id and w.retry_at is distinct from 'infinity')`

// Estimate is what a backfill would ask for.
type Estimate struct {
	Memories int64 // that lack an embedding and wait for none
	Chosen   int64 // of these
	Tokens   int64 // of the chosen ones: no fewer than most tokenisers make
	Waiting  int64 // that wait already
}

// Appraise looks what a backfill of at most most memories would ask for; 0 is any
// number, and a nil user any user.
func Appraise(ctx context.Context, tx pgx.Tx, user *uuid.UUID, most int64) (e Estimate, err error) {
	if most == 0 {
		most = 1<<63 - 1
	}
	err = tx.QueryRow(ctx, fmt.Sprintf(`with all_of_them as materialized (
			select least(octet_length(m.content), %d) / 3 + 1 as tokens, row_number() over (order by m.created_at desc nulls last, m.id) as place `+lacking+`)
		select count(*), count(*) filter (where place <= $2), coalesce(sum(tokens) filter (where place <= $2), 0)::bigint,
			(select count(*) from helix.embedding_work where ($1::uuid is null or user_id = $1) and retry_at is distinct from 'infinity') from all_of_them`, 3*(mostTokens-1)), user, most).
		Scan(&e.Memories, &e.Chosen, &e.Tokens, &e.Waiting)
	if err != nil {
		return e, fmt.Errorf("count the memories: %w", err)
	}
	return e, nil
}

// Chosen is a list of memories without an embedding, the newest first, as it was
// when it was made. It is the server's, and goes with the connection.
type Chosen struct{ conn *pgx.Conn }

// Choose lists at most most memories; 0 is any number.
func Choose(ctx context.Context, conn *pgx.Conn, user *uuid.UUID, most int64) (*Chosen, error) {
	limit := ""
	if most > 0 {
		limit = fmt.Sprintf(" limit %d", most)
	}
	if _, err := conn.Exec(ctx, "create temp table helix_chosen (id uuid, n bigint generated always as identity)"); err != nil {
		return nil, fmt.Errorf("choose memories: %w", err)
	}
	_, err := conn.Exec(ctx, "insert into helix_chosen (id) select m.id "+lacking+" order by m.created_at desc nulls last, m.id"+limit, user)
	if err == nil {
		_, err = conn.Exec(ctx, "create index on helix_chosen (n)")
	}
	if err != nil {
		return nil, fmt.Errorf("choose memories: %w", err)
	}
	return &Chosen{conn}, nil
}

// Next lets the next memories of the list wait for an embedding, and gives how many
// there were; 0 is the end. Those that have one by now, or are gone, do not wait.
func (c *Chosen) Next(ctx context.Context, jobs *reactors.Jobs, most int) (taken int, err error) {
	err = pgx.BeginFunc(ctx, c.conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "delete from helix_chosen where n in (select n from helix_chosen order by n limit $1) returning id", most)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if taken = len(ids); err != nil || taken == 0 {
			return err
		}
		// Accounts that are being deleted are skipped. The queue's row is held until
		// the end: a job that ends meanwhile sees what was noted here.
		return reactors.InsertEach[EmbedMemories](ctx, jobs, tx, `with wanted as materialized (
				select m.id, m.user_id, helix.utc(m.created_at) as created_at from public.memories m
				where m.id = any ($1) and (m.embedding is null or m.embedding_stale)),
			living as materialized (
				select id from auth.users where id in (select user_id from wanted) order by id for key share skip locked),
			work as (
				insert into helix.embedding_work (memory_id, user_id, created_at, by_hand)
				select w.id, w.user_id, w.created_at, true from wanted w join living on living.id = w.user_id order by w.id
				on conflict (memory_id) do update set tries = 0, retry_at = null, reason = null where embedding_work.retry_at = 'infinity' returning user_id),
			queues as (
				insert into helix.embedding_queues as q (user_id) select distinct user_id from work order by 1
				on conflict (user_id) do update set tries = q.tries)
			select distinct user_id::text from work`, ids)
	})
	if err != nil {
		return 0, fmt.Errorf("let memories wait for embeddings: %w", err)
	}
	return taken, nil
}
