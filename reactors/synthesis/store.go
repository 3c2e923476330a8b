package synthesis

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
)

// finish writes what differs from before, and ends the run: end gets whether the
// user is due again. Of an account that was deleted meanwhile nothing is written.
func (s *Service) finish(ctx context.Context, r *run, end func(tx pgx.Tx, due bool) error) error {
	tx, err := s.results.BeginOn(ctx, r.conn)
	if err != nil {
		return fmt.Errorf("end a synthesis: %w", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // committed, or nothing is written
	if _, err := tx.Exec(ctx, "select set_config('lock_timeout', '5s', true), set_config('idle_in_transaction_session_timeout', '10s', true)"); err != nil {
		return fmt.Errorf("end a synthesis: %w", err)
	}
	// An account that is being deleted is locked from its row on down, so that row is
	// first here, too.
	living, err := tx.Exec(ctx, "select from auth.users where id = $1 for key share", r.user)
	if err != nil {
		return fmt.Errorf("end a synthesis: %w", err)
	}
	due := false
	if living.RowsAffected() == 1 {
		if !r.same {
			if err := s.store(ctx, tx, r); err != nil {
				return err
			}
		}
		// Last, and held until the end: whoever marks the user meanwhile comes after,
		// and enqueues the next job.
		if due, err = r.note(ctx, tx); err != nil {
			return fmt.Errorf("note a synthesis: %w", err)
		}
	}
	if err := end(tx, due); err != nil {
		return err
	}
	failpoint.Here("synthesis-written")
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("end a synthesis: %w", err)
	}
	return nil
}

// note records what was synthesised, and tells whether the user is due again.
func (r *run) note(ctx context.Context, tx pgx.Tx) (due bool, err error) {
	err = tx.QueryRow(ctx, `insert into helix.synthesis_work as w (user_id, due, input, ran_at, took_ms) values ($1, false, $2, now(), $3)
		on conflict (user_id) do update set input = excluded.input, ran_at = excluded.ran_at,
			took_ms = case when $4 then w.took_ms else excluded.took_ms end
		returning due`, r.user, r.input.hash, time.Since(r.began).Milliseconds(), r.same).Scan(&due)
	return due, err
}

// store writes the patterns that are new or have changed and deletes those that
// are gone.
func (s *Service) store(ctx context.Context, tx pgx.Tx, r *run) error {
	rows, err := tx.Query(ctx, `select id, fingerprint, coalesce(pattern_type, ''), coalesce(memory_ids, '{}'),
			coalesce(synthesis_content, ''), coalesce(confidence_score, 0), coalesce(helix.utc(created_at), 'epoch')
		from public.memory_synthesis where user_id = $1 and fingerprint is not null order by created_at, id for update`, r.user)
	if err != nil {
		return fmt.Errorf("load patterns: %w", err)
	}
	before, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p stored, err error) {
		err = row.Scan(&p.id, &p.fingerprint, &p.typ, &p.members, &p.content, &p.confidence, &p.created)
		return p, err
	})
	if err != nil {
		return fmt.Errorf("load patterns: %w", err)
	}
	present := make(map[uuid.UUID]bool, len(r.input.memories))
	for i := range r.input.memories {
		present[r.input.memories[i].ID] = true
	}
	found, gone := identify(r.patterns, before, present)

	batch := &pgx.Batch{}
	var told []reactors.Broadcast
	for _, p := range gone {
		batch.Queue("delete from public.memory_synthesis where id = $1", p.id)
		told = append(told, broadcast(r.user, replication.Delete, p.id, p.fingerprint, p.typ, "", p.confidence, 0))
	}
	for i := range found {
		p := &found[i]
		op, id := replication.Insert, uuid.New()
		if p.row != nil {
			op, id = replication.Update, p.row.id
			if !p.changed() {
				continue
			}
		}
		details, err := json.Marshal(p.Details)
		if err != nil {
			return fmt.Errorf("write details: %w", err)
		}
		if p.row == nil {
			batch.Queue(`insert into public.memory_synthesis (id, user_id, pattern_type, memory_ids, synthesis_content, confidence_score, details, fingerprint)
				values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8)`, id, r.user, p.Type, p.Members, p.Content, p.Confidence, string(details), p.fingerprint)
		} else {
			batch.Queue(`update public.memory_synthesis set memory_ids = $2, synthesis_content = $3, confidence_score = $4, details = $5::jsonb, updated_at = now()
				where id = $1`, id, p.Members, p.Content, p.Confidence, string(details))
		}
		told = append(told, broadcast(r.user, op, id, p.fingerprint, p.Type, p.Content, p.Confidence, len(p.Members)))
	}
	if err := s.results.QueueBroadcasts(batch, told); err != nil {
		return err
	}
	if batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write patterns: %w", err)
	}
	return nil
}

func broadcast(user uuid.UUID, op replication.Op, id uuid.UUID, fingerprint, typ, content string, confidence float64, members int) reactors.Broadcast {
	return reactors.Broadcast{UserID: user.String(), Op: op, Table: "memory_synthesis", ID: id.String(),
		Key: map[string]any{"fingerprint": fingerprint},
		Record: func() any {
			record := map[string]any{"pattern_type": typ}
			if op != replication.Delete {
				record["confidence_score"], record["synthesis_content"], record["memories"] = confidence, content, members
			}
			return record
		}}
}
