package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/metric"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// begin brings slot, publication and checkpoint together, and gives the
// position to stream from. Where they do not fit, which a first start is the
// usual case of, it makes a new slot and backfills; but not while the stream is
// paused, which is errHeld. all: it has read all rows.
func begin(ctx context.Context, cfg *config, s *stream.Stream, pool *pgxpool.Pool, d *reactors.Dispatcher, orders *orders, log zerolog.Logger) (from replication.LSN, all bool, err error) {
	checkpoint, err := d.Checkpoint(ctx)
	if err != nil {
		return 0, false, err
	}
	slot, err := s.Slot(ctx)
	if err != nil {
		return 0, false, err
	}
	if slot != nil && slot.ActivePID != 0 {
		return 0, false, fmt.Errorf("%w by pid %d (%s), and not by a helixd that leads; end it with select pg_terminate_backend(%d), "+
			"or give helixd a slot of its own with --slot (slot %q)", stream.ErrSlotActive, slot.ActivePID, slot.User, slot.ActivePID, slot.Name)
	}
	publication, err := stream.CheckPublication(ctx, pool, cfg.publication, d.Tables())
	if err != nil {
		return 0, false, err
	}
	f := mismatch(checkpoint, slot, s.System(), publication)
	if f == nil {
		if len(publication.Misfits) > 0 {
			if err := fit(ctx, cfg, pool, d.Tables(), publication, checkpoint.Published, log); err != nil {
				return 0, false, err
			}
		}
		from, err = d.Lead(ctx, holder())
		return from, false, err
	}
	if orders.held() {
		return 0, false, errHeld
	}
	repairs, err := mayRepair(ctx, pool, cfg.slot)
	if err != nil {
		return 0, false, fmt.Errorf("%s; %w", f.found, err)
	}
	if checkpoint == nil && slot == nil {
		log.Info().Str("found", f.found).Str("slot", cfg.slot).Str("publication", cfg.publication).
			Msg("making slot and publication, and reading the rows that are there")
	} else {
		event := log.Warn()
		if f.next == upgrade {
			event = log.Info()
		}
		event.Str("found", f.found).Str("next", f.next).Int("repairs_lately", repairs).
			Msg("making a new slot, and reading all rows once: nothing is lost, results come late")
	}
	if checkpoint != nil {
		metric.Repairs.Inc()
	}
	began := time.Now()
	drop := func() error {
		if slot == nil {
			return nil
		}
		slot = nil
		return s.DropSlot(ctx)
	}
	if _, err := stream.EnsurePublication(ctx, pool, cfg.publication, d.Tables(), drop); err != nil {
		return 0, false, err
	}
	if err := drop(); err != nil {
		return 0, false, err
	}
	// Known to be good before the slot begins: what is altered from here on is noticed.
	if publication, err = stream.CheckPublication(ctx, pool, cfg.publication, d.Tables()); err != nil {
		return 0, false, err
	}
	if publication.Fault != "" {
		return 0, false, fmt.Errorf("publication %q, just mended: %s: %w", cfg.publication, publication.Fault, stream.ErrAltered)
	}
	snapshot, err := s.CreateSlot(ctx)
	if err != nil {
		return 0, false, err
	}
	at := replication.Checkpoint{Slot: cfg.slot, SystemIdentifier: s.System(), LSN: snapshot.LSN, Published: publication.Fingerprint.String()}
	read := map[string]int{}
	orders.reading(ctx, read)
	err = d.Backfill(ctx, snapshot.Name, at, holder(), func(table string, rows int) {
		read[table] = rows
		orders.reading(ctx, read)
		log.Info().Str("table", table).Int("rows", rows).Msg("backfill")
	})
	if err != nil {
		return 0, false, err
	}
	orders.reading(ctx, nil)
	log.Info().Stringer("lsn", snapshot.LSN).Dur("took_ms", time.Since(began)).Msg("all rows are read; the stream goes on from there")
	return snapshot.LSN, true, nil
}

// finding is why the stream cannot go on at the checkpoint, and what an
// operator should do about it. helixd mends the rest.
type finding struct{ found, next string }

const (
	nothing = "nothing: helixd mends this"
	upgrade = "nothing: it is so once after an upgrade, or a step back"
)

// mismatch says why the stream cannot simply go on at the checkpoint, nil when
// it can.
func mismatch(checkpoint *replication.Checkpoint, slot *stream.Slot, system string, publication *stream.Publication) *finding {
	switch {
	case checkpoint == nil && slot == nil:
		return &finding{"first start", nothing}
	case checkpoint == nil:
		return &finding{"the slot was made, but its first backfill never ended", nothing}
	case checkpoint.SystemIdentifier != system:
		return &finding{"the project was restored or is another one: its system identifier has changed", nothing}
	case slot != nil && slot.WALEnd < checkpoint.LSN:
		return &finding{fmt.Sprintf("the project was restored to an earlier point: its WAL ends at %s, before the checkpoint at %s",
			slot.WALEnd, checkpoint.LSN), nothing}
	case publication.Fault != "" && publication.Fingerprint.Altered(stream.ParseFingerprint(checkpoint.Published)) == "":
		return &finding{"this helixd watches other tables or columns than the last one did: of the publication as that left it, " + publication.Fault, upgrade}
	case publication.Fault != "":
		return &finding{"the publication was not as it must be, and changes may not have been streamed: " + publication.Fault,
			"find out who alters it: it is helixd's own"}
	}
	if altered := publication.Fingerprint.Altered(stream.ParseFingerprint(checkpoint.Published)); altered != "" {
		return &finding{"the publication was altered and altered back, and changes may not have been streamed: " + altered,
			"find out who alters it: it is helixd's own"}
	}
	switch {
	case checkpoint.Repair != "":
		return &finding{checkpoint.Repair, nothing}
	case slot == nil:
		return &finding{"the slot is gone; changes since the last checkpoint are read from the tables",
			"nothing after an upgrade or a restore of the project; otherwise find out who drops it"}
	case slot.Lost:
		return &finding{"the server has removed WAL that the slot needed, or has invalidated the slot",
			"raise max_slot_wal_keep_size, or see that helixd is not down or behind for so long"}
	case slot.Confirmed > checkpoint.LSN:
		return &finding{fmt.Sprintf("somebody else moved the slot, or read from it: it is at %s, the checkpoint at %s", slot.Confirmed, checkpoint.LSN),
			"find out who uses it: it is helixd's own"}
	}
	return nil
}

const (
	repairsAtOnce = 3 // before helixd begins to wait between them
	repairPause   = time.Minute
	repairPauses  = time.Hour // at the most
	repairsLapse  = 24 * time.Hour
)

// mayRepair gives how many repairs there were lately. When they are many it is
// an error until some time has passed: each reads all rows.
func mayRepair(ctx context.Context, pool *pgxpool.Pool, slot string) (int, error) {
	var repairs int
	var seconds float64
	err := pool.QueryRow(ctx, `select repairs, extract(epoch from now() - repaired_at)::float8 from helix.checkpoints
		where slot = $1 and repaired_at is not null`, slot).Scan(&repairs, &seconds)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the repairs: %w", err)
	}
	since := time.Duration(seconds * float64(time.Second))
	if since > repairsLapse {
		return 0, nil
	}
	if left := pauseAfter(repairs) - since; left > 0 {
		return 0, fmt.Errorf("helixd has repaired %d times, the last time %s ago, and waits %s before it reads all rows again: "+
			"see the warnings before this, and end what causes them (to repair now: update helix.checkpoints set repairs = 0)",
			repairs, since.Round(time.Second), left.Round(time.Second))
	}
	return repairs, nil
}

func pauseAfter(repairs int) time.Duration {
	if repairs < repairsAtOnce {
		return 0
	}
	return min(repairPause<<min(repairs-repairsAtOnce, 10), repairPauses)
}

// requestRepair notes where err, which ended the stream, comes from what the
// slot holds: streaming it again would end alike, whatever is mended meanwhile.
func requestRepair(ctx context.Context, pool *pgxpool.Pool, slot string, err error) error {
	if !errors.Is(err, reactors.ErrRelation) && !errors.Is(err, stream.ErrWALRemoved) {
		return nil
	}
	_, err = pool.Exec(ctx, "update helix.checkpoints set repair = $2 where slot = $1", slot, "the slot cannot be streamed from: "+err.Error())
	return err
}

// fit changes the column lists of tables whose replica identity has changed.
func fit(ctx context.Context, cfg *config, pool *pgxpool.Pool, tables map[string][]string, p *stream.Publication, last string, log zerolog.Logger) error {
	err := stream.FitPublication(ctx, pool, cfg.publication, tables, stream.ParseFingerprint(last), func(tx pgx.Tx, f stream.Fingerprint) error {
		tag, err := tx.Exec(ctx, "update helix.checkpoints set published = $2 where slot = $1 and published = $3", cfg.slot, f.String(), last)
		if err == nil && tag.RowsAffected() != 1 {
			err = reactors.ErrFenced
		}
		return err
	})
	if err != nil {
		return err
	}
	event, text := log.Info(), "the replica identity of tables has changed, or what helixd watches of them; the publication carries it again"
	if len(p.Refused) > 0 {
		event = log.Error().Str("severity", "critical").Strs("refused", p.Refused).
			Str("next", "nothing: updates pass again. A replica identity other than FULL makes the stream smaller")
		text = "critical: the replica identity of tables was changed, so that Postgres refused every UPDATE of them; " +
			"the publication now carries it, and none was lost"
	}
	event.Strs("tables", p.Misfits).Msg(text)
	return nil
}
