package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// lead waits until no other helixd leads, then streams until ctx ends or
// something fails; it leaves no connection and no transaction behind. Jobs it
// only starts: they go on whoever leads.
func lead(ctx context.Context, cfg *config, pool *pgxpool.Pool, jobs *reactors.Jobs, log zerolog.Logger, onRunning func()) error {
	streamConfig := cfg.stream(log)
	streamConfig.OnStreaming = func() {
		log.Info().Str("slot", cfg.slot).Msg("streaming")
		onRunning()
	}
	s, err := takeLead(ctx, streamConfig, func() error {
		if err := requireMigrated(ctx, pool); err != nil {
			return err
		}
		return jobs.Start(context.WithoutCancel(ctx))
	}, onRunning)
	if err != nil {
		return err
	}
	defer s.Close()
	// The lead is kept until the last apply has ended, which may be after ctx has.
	beating, rest := context.WithCancel(context.WithoutCancel(ctx))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Heartbeat(beating) })
	group.Go(func() error {
		defer rest()
		return streamAsLeader(ctx, cfg, s, jobs, log)
	})
	return group.Wait()
}

// takeLead gives a stream that holds the slot's lock. It calls ready before it
// asks for that, and onStandby when it has to wait.
func takeLead(ctx context.Context, cfg stream.Config, ready func() error, onStandby func()) (*stream.Stream, error) {
	for {
		s, err := stream.Open(ctx, cfg)
		if err != nil {
			return nil, err
		}
		locked := false
		if err = ready(); err == nil {
			locked, err = s.Lock(ctx)
		}
		if locked && err == nil {
			return s, nil
		}
		if err == nil {
			onStandby()
			err = s.StandBy(ctx)
		}
		s.Close()
		if err != nil {
			return nil, err
		}
	}
}

// streamAsLeader has a pool of its own, whose sessions whoever leads next can
// end, and which jobs cannot exhaust.
func streamAsLeader(ctx context.Context, cfg *config, s *stream.Stream, jobs *reactors.Jobs, log zerolog.Logger) error {
	poolConfig, err := cfg.leaderPool()
	if err != nil {
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return err
	}
	defer pool.Close()
	d, err := reactors.NewDispatcher(ctx, pool, cfg.slot, jobs, log, allReactors()...)
	if err != nil {
		return err
	}
	defer d.Abandon()
	from, err := begin(ctx, cfg, s, pool, d, log)
	if err != nil {
		return err
	}
	if err := reactors.EnsureBroadcastPolicies(ctx, pool); err != nil {
		log.Warn().Err(err).Msg("no private broadcasts")
	}
	return s.Run(ctx, from, d)
}

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
