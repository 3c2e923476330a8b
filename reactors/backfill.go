package reactors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// Bounds of one chunk of a backfill.
const (
	backfillRows  = 2000
	backfillBytes = 1 << 20
)

// Backfill applies all rows of the watched tables as they stand in an exported
// snapshot, as if they had been inserted just now, and begins an epoch at the
// snapshot's LSN: the stream goes on exactly there. All of it commits at once.
//
// It is the one path of a cold start, a lost slot and a restored project. What
// was deleted since the last checkpoint is in helix.inbox, which outlives the
// slot, is read before the other tables and emptied of what was read.
// Reactors know by their own state what they have seen before. progress is told
// the rows so far, a few times a second.
func (d *Dispatcher) Backfill(ctx context.Context, snapshot string, at replication.Checkpoint, holder string, progress func(table string, rows int)) (err error) {
	defer func() {
		if err != nil && d.open != nil {
			d.abandon()
		}
	}()
	snap, end, err := d.source(ctx, snapshot)
	if err != nil {
		return fmt.Errorf("backfill: use the slot's snapshot: %w", err)
	}
	defer end()
	if err := d.beginAfter(ctx, snap); err != nil {
		return fmt.Errorf("backfill: %w", err)
	}
	// Another process may lead by the time this ends: then helix.leaders names
	// another holder, and it may have begun an epoch.
	var epoch int64
	err = d.open.tx.QueryRow(ctx, "select coalesce((select epoch from helix.checkpoints where slot = $1), 0)", d.slot).Scan(&epoch)
	if err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	tables := d.Tables()
	began := time.Now().Truncate(time.Microsecond) // as Postgres has it
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		part := replication.Transaction{CommitLSN: at.LSN, CommitTime: began}
		if err := d.backfillTable(ctx, snap, table, tables[table], part, progress); err != nil {
			return fmt.Errorf("backfill %s: %w", table, err)
		}
	}
	if err := d.write(ctx, &pgx.Batch{}); err != nil {
		return err
	}
	// Positions and numbers that wait for the inbox to be pruned may be another
	// cluster's; what it held is gone by now.
	_, err = d.open.tx.Exec(ctx, `delete from helix.river_job where kind = $2 and args ->> 'slot' = $1
			and state in ('available', 'pending', 'scheduled', 'retryable')`, d.slot, PruneInbox{}.Kind())
	if err != nil {
		return fmt.Errorf("forget what was to be pruned: %w", err)
	}
	err = d.open.tx.QueryRow(ctx, `insert into helix.checkpoints as c (slot, system_identifier, lsn, epoch, published)
		select $1, $2, $3, 1, nullif($6, '') where not exists (select from helix.leaders where slot = $1 and holder <> $5)
		on conflict (slot) do update set system_identifier = excluded.system_identifier,
			lsn = excluded.lsn, epoch = c.epoch + 1, updated_at = now(), published = excluded.published, repair = null,
			repairs = case when c.repaired_at > now() - interval '1 day' then c.repairs + 1 else 1 end, repaired_at = now()
			where c.epoch = $4
		returning epoch`, d.slot, at.SystemIdentifier, at.LSN, epoch, holder, at.Published).Scan(&epoch)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("commit backfill: %w", ErrFenced)
	}
	if err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	// Last of all: the heartbeat writes this row too.
	if _, err := d.open.tx.Exec(ctx, "update helix.leaders set verified_lsn = null where slot = $1", d.slot); err != nil {
		return fmt.Errorf("forget how far the publication was verified: %w", err)
	}
	if err := d.open.tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit backfill: %w", err)
	}
	d.open.conn.Release()
	d.open.end(at.LSN)
	d.open = nil
	d.done.count(d.reactors)
	d.epoch.Store(epoch)
	return nil
}

// backfillTable applies one table's rows in chunks, each as a part of one
// transaction.
func (d *Dispatcher) backfillTable(ctx context.Context, snap pgx.Tx, name string, columns []string, part replication.Transaction, progress func(string, int)) error {
	t := newTable(name, columns)
	order := ""
	if name == inboxTable {
		order = " order by id" // what happened to one row is told in its order
	}
	if err := d.lockTable(ctx, t); err != nil {
		return err
	}
	rows, err := snap.Query(ctx, fmt.Sprintf("select %s from %s t where %s%s", t.columns, t.name, OfTable(t.name), order),
		pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		return err
	}
	defer rows.Close()

	chunk := replication.Batch{Transactions: []replication.Transaction{part}}
	changes := &chunk.Transactions[0].Changes
	done, told := 0, time.Now()
	var read []string // ids in the inbox
	apply := func() error {
		chunk.Transactions[0].Ordinal = d.open.changes
		if err := d.applyChunk(ctx, &chunk); err != nil {
			return err
		}
		if len(read) > 0 {
			if _, err := d.open.tx.Exec(ctx, `delete from helix.inbox where id = any ($1::text[]::bigint[])
					and (table_name <> $2 or coalesce(key ->> 'slot', $3) = $3)`, read, replayTable, d.slot); err != nil {
				return fmt.Errorf("remove what was applied: %w", err)
			}
			read = nil
		}
		done += len(*changes)
		*changes, chunk.Bytes = nil, 0
		if time.Since(told) > 500*time.Millisecond {
			progress(name, done)
			told = time.Now()
		}
		return nil
	}
	for rows.Next() {
		tuple, size := readTuple(rows.RawValues())
		chunk.Bytes += size
		if name == inboxTable {
			read = append(read, string(rows.RawValues()[0]))
		}
		*changes = append(*changes, replication.Change{Op: replication.Insert, Relation: t.relation, New: tuple})
		if len(*changes) == backfillRows || chunk.Bytes > backfillBytes {
			if err := apply(); err != nil {
				return errors.Join(err, rows.Err())
			}
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := apply(); err != nil {
		return err
	}
	progress(name, done)
	return nil
}
