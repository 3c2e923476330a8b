package reactors

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/replication"
)

// PruneInbox removes the inbox's rows of all transactions before XID once the
// checkpoint has passed LSN and the publication is known to have been whole: every
// such transaction had ended before LSN was written, so its rows were applied. Other slots of the database bring the same rows to a
// helixd of their own, so theirs must have passed it as well.
type PruneInbox struct {
	Slot string          `json:"slot" river:"unique"`
	LSN  replication.LSN `json:"lsn"`
	XID  uint64          `json:"xid"` // xid8
}

// Kind implements river.JobArgs.
func (PruneInbox) Kind() string { return "prune_inbox" }

// InsertOpts lets one of them wait a slot; what comes meanwhile it finds at its end.
func (PruneInbox) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: Unended}}
}

const (
	pruneDelay = 10 * time.Second // inbox rows are few and small: there is no hurry
	pruneRetry = time.Minute      // on an idle project the checkpoint stands still
	pruneChunk = 10_000           // rows a statement
)

// enqueuePrune sees to it that the inbox rows of this apply will be removed.
func (j *Jobs) enqueuePrune(ctx context.Context, tx pgx.Tx, slot string) error {
	args := PruneInbox{Slot: slot}
	err := tx.QueryRow(ctx, `select pg_current_wal_insert_lsn(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint`).
		Scan(&args.LSN, &args.XID)
	if err != nil {
		return fmt.Errorf("mark the inbox: %w", err)
	}
	_, err = j.client.InsertTx(ctx, tx, args, &river.InsertOpts{ScheduledAt: time.Now().Add(pruneDelay)})
	if err != nil {
		return fmt.Errorf("enqueue prune_inbox: %w", err)
	}
	return nil
}

type pruneInboxWorker struct {
	river.WorkerDefaults[PruneInbox]
	pool *pgxpool.Pool
}

// Work removes a chunk of rows. What is left, or came since, is the next job's,
// which is inserted with this one's completion.
func (w *pruneInboxWorker) Work(ctx context.Context, job *river.Job[PruneInbox]) error {
	client := river.ClientFromContext[pgx.Tx](ctx)
	return pgx.BeginFunc(ctx, w.pool, func(tx pgx.Tx) error {
		var passed bool
		// Rows that were written while the inbox was not published were not applied,
		// however far the checkpoint is.
		err := tx.QueryRow(ctx, `select coalesce(bool_or(slot = $1) and bool_and(coalesce(c.lsn >= $2 and l.verified_lsn >= $2, false)), false)
			from helix.checkpoints c left join helix.leaders l using (slot)
			where slot = $1 or exists (select from pg_replication_slots where slot_name = slot and database = current_database())`,
			job.Args.Slot, job.Args.LSN).Scan(&passed)
		if err != nil {
			return err
		}
		var more bool
		next, delay := job.Args, pruneDelay
		if passed {
			err = tx.QueryRow(ctx, `with gone as (
					delete from helix.inbox where id in (
						select id from helix.inbox where xid < $1::text::xid8 order by id limit $2)
					returning id)
				select exists (select from helix.inbox where id not in (select id from gone)),
					pg_current_wal_insert_lsn(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint`,
				fmt.Sprint(job.Args.XID), pruneChunk).Scan(&more, &next.LSN, &next.XID)
			if err != nil {
				return err
			}
		} else {
			more, delay = true, pruneRetry
		}
		failpoint.Here("job")
		if err := Complete(ctx, tx, job); err != nil {
			return err
		}
		if more {
			_, err = client.InsertTx(ctx, tx, next, &river.InsertOpts{ScheduledAt: time.Now().Add(delay)})
		}
		return err
	})
}
