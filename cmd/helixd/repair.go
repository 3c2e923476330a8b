package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// begin brings slot, publication and checkpoint together, and gives the
// position to stream from. Where they do not fit, which a first start is the
// usual case of, it makes a new slot and backfills.
func begin(ctx context.Context, cfg *config, s *stream.Stream, pool *pgxpool.Pool, d *reactors.Dispatcher, log zerolog.Logger) (replication.LSN, error) {
	checkpoint, err := d.Checkpoint(ctx)
	if err != nil {
		return 0, err
	}
	slot, err := s.Slot(ctx)
	if err != nil {
		return 0, err
	}
	if slot != nil && slot.ActivePID != 0 {
		return 0, fmt.Errorf("slot %q is used by pid %d, which is not a helixd: %w", cfg.slot, slot.ActivePID, stream.ErrSlotActive)
	}
	drop := func() error {
		if slot == nil {
			return nil
		}
		slot = nil
		return s.DropSlot(ctx)
	}
	altered, err := stream.EnsurePublication(ctx, pool, cfg.publication, d.Tables(), drop)
	if err != nil {
		return 0, err
	}
	why := mismatch(checkpoint, slot, s.System(), altered)
	if why == "" {
		return d.Lead(ctx, holder())
	}
	event := log.Warn()
	if checkpoint == nil && why == firstStart {
		event = log.Info()
	}
	event.Str("why", why).Msg("making a new slot, and reading all rows once")
	if err := drop(); err != nil {
		return 0, err
	}
	snapshot, err := s.CreateSlot(ctx)
	if err != nil {
		return 0, err
	}
	at := replication.Checkpoint{Slot: cfg.slot, SystemIdentifier: s.System(), LSN: snapshot.LSN}
	err = d.Backfill(ctx, snapshot.Name, at, holder(), func(table string, rows int) {
		log.Info().Str("table", table).Int("rows", rows).Msg("backfill")
	})
	if err != nil {
		return 0, err
	}
	return snapshot.LSN, nil
}

const firstStart = "first start"

// mismatch says why the stream cannot simply go on at the checkpoint, "" when
// it can.
func mismatch(checkpoint *replication.Checkpoint, slot *stream.Slot, system string, altered bool) string {
	switch {
	case checkpoint == nil && slot == nil:
		return firstStart
	case checkpoint == nil:
		return "the slot was made, but its first backfill never ended"
	case checkpoint.SystemIdentifier != system:
		return "the project was restored or is another one: its system identifier has changed"
	case altered:
		return "the publication was not as it must be; changes may not have been streamed"
	case slot == nil:
		return "the slot is gone; changes since the last checkpoint are read from the tables"
	case slot.Lost:
		return "the server has removed WAL that the slot needed (max_slot_wal_keep_size)"
	case slot.Confirmed > checkpoint.LSN:
		return fmt.Sprintf("somebody else moved the slot: it is at %s, the checkpoint at %s", slot.Confirmed, checkpoint.LSN)
	}
	return ""
}
