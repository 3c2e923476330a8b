package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// warnEvery is how often a lasting danger is told again.
const warnEvery = time.Minute

// watch looks, while helixd streams, at what it depends on and does not see in
// the stream: the publication, the tables' replica identity, and how much WAL
// the server keeps.
type watch struct {
	cfg    *config
	pool   *pgxpool.Pool
	tables map[string][]string
	log    zerolog.Logger
	warned map[string]time.Time
}

func newWatch(cfg *config, pool *pgxpool.Pool, tables map[string][]string, log zerolog.Logger) *watch {
	return &watch{cfg, pool, tables, log, map[string]time.Time{}}
}

// run looks until ctx ends, or something is found for which the stream must
// stop: the next begin then decides what to do.
func (w *watch) run(ctx context.Context) error {
	tick := time.NewTicker(w.cfg.driftEvery)
	defer tick.Stop()
	for {
		err := w.look(ctx)
		var setup *stream.SetupError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, stream.ErrAltered), errors.As(err, &setup):
			return err
		case err != nil: // the heartbeat tells whether the server is gone
			w.log.Warn().Err(err).Msg("could not look whether the publication was altered; trying again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (w *watch) look(ctx context.Context) error {
	var lsn replication.LSN
	var last string
	err := w.pool.QueryRow(ctx, `select pg_current_wal_insert_lsn(), coalesce((select published from helix.checkpoints where slot = $1), '')`,
		w.cfg.slot).Scan(&lsn, &last)
	if err != nil {
		return fmt.Errorf("read the publication's fingerprint: %w", err)
	}
	p, err := stream.CheckPublication(ctx, w.pool, w.cfg.publication, w.tables)
	if err != nil {
		return err
	}
	if p.Fault != "" {
		return fmt.Errorf("%w: %s; changes may not have been streamed, so all rows are read again", stream.ErrAltered, p.Fault)
	}
	if altered := p.Fingerprint.Altered(stream.ParseFingerprint(last)); altered != "" {
		return fmt.Errorf("%w, and altered it back: %s; changes may not have been streamed, so all rows are read again", stream.ErrAltered, altered)
	}
	if len(p.Misfits) > 0 {
		if err := fit(ctx, w.cfg, w.pool, w.tables, p, last, w.log); err != nil {
			return err
		}
	}
	for _, table := range p.Unidentified {
		if w.due("unidentified " + table) {
			w.log.Error().Str("severity", "critical").Str("table", table).
				Str("next", fmt.Sprintf("alter table %s replica identity default; (it needs a primary key for that)", table)).
				Msg("critical: the table has no replica identity, so Postgres refuses every UPDATE of it")
		}
	}
	// The heartbeat must not wait for this row until the disk, or a standby, has it.
	_, err = w.pool.Exec(ctx, `update helix.leaders set verified_lsn = $2::pg_lsn
		where slot = $1 and (verified_lsn < $2::pg_lsn - (1 << 20)::numeric or verified_lsn is null or verified_lsn < $2::pg_lsn and exists (select from helix.inbox))
			and set_config('synchronous_commit', 'off', true) = 'off'`, w.cfg.slot, lsn)
	if err != nil {
		return fmt.Errorf("write how far the publication is verified: %w", err)
	}
	if err := w.notePosition(ctx); err != nil {
		return err
	}
	r, err := stream.ReadRetention(ctx, w.pool, w.cfg.slot)
	if err != nil {
		return err
	}
	if r != nil && r.Danger() && w.due("retention") {
		warnOfRetention(w.log, r)
	}
	return nil
}

// due reports whether to warn of something, which is then warned of.
func (w *watch) due(what string) bool {
	if time.Since(w.warned[what]) < warnEvery {
		return false
	}
	w.warned[what] = time.Now()
	return true
}

func warnOfRetention(log zerolog.Logger, r *stream.Retention) {
	event := log.Warn().Str("wal_status", r.Status).Int64("retained_bytes", r.Retained).Str("oldest_transaction", r.Oldest)
	if r.Limit >= 0 {
		event = event.Int64("safe_wal_size", r.Safe).Int64("max_slot_wal_keep_size", r.Limit)
	}
	event.Str("next", "see why helixd is behind: an error above, slow applies, or an old open transaction (end it); or raise max_slot_wal_keep_size").
		Msg("the server keeps much WAL for the slot, and will drop the slot's part of it at the limit")
}
