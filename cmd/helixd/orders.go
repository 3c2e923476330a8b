package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/replication/stream"
)

// What is paused, where it is no reactor's jobs.
const pausedStream = "stream"

// ordersEvery is how often the leader looks for what an operator asks of it. It
// looks: a session that listens would be one more of the 60 that small projects have.
const ordersEvery = time.Second

var (
	// errHeld keeps a leader from making a new slot: the stream is paused.
	errHeld = errors.New("the stream is paused")
	// errAsked ends the stream so that the next leader, as a rule this one, repairs.
	errAsked = errors.New("a repair was asked for")
)

// orders is what operators ask of the leader, in Postgres, so that they hold for
// whoever leads next as well: to pause the stream, and to make the slot anew.
type orders struct {
	cfg    *config
	pool   *pgxpool.Pool
	stream *stream.Stream
	log    zerolog.Logger

	since *time.Time // of the pause that is in force
	told  bool       // helix.leaders has what acted says
	acted *time.Time // since, once nothing is applied any more
}

// newOrders has looked once: nothing is done against a pause that was there before.
func newOrders(ctx context.Context, cfg *config, pool *pgxpool.Pool, s *stream.Stream, log zerolog.Logger) (*orders, error) {
	o := &orders{cfg: cfg, pool: pool, stream: s, log: log}
	_, err := o.look(ctx, true)
	return o, err
}

// held reports whether the stream is paused.
func (o *orders) held() bool { return o.since != nil }

// run looks until ctx ends, or the stream must stop for what was asked.
func (o *orders) run(ctx context.Context) error {
	err := o.every(ctx, func() (bool, error) {
		repair, err := o.look(ctx, o.stream.Held())
		if err == nil && repair != "" {
			return true, fmt.Errorf("%w: %s", errAsked, repair)
		}
		return false, err
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// resumed waits until the stream is not paused any more, while there is none.
func (o *orders) resumed(ctx context.Context) error {
	o.log.Warn().Str("next", "helixd resume stream").Msg("rows must be read from the tables, as for a new slot; that waits: the stream is paused")
	return o.every(ctx, func() (bool, error) {
		_, err := o.look(ctx, true)
		return err == nil && !o.held(), err
	})
}

// every calls f until it is done or ctx ends. What it could not read or write is
// tried again, and things stay as they are meanwhile.
func (o *orders) every(ctx context.Context, f func() (done bool, err error)) error {
	tick := time.NewTicker(ordersEvery)
	defer tick.Stop()
	var warned time.Time
	for {
		done, err := f()
		if done {
			return err
		}
		if err != nil && ctx.Err() == nil && time.Since(warned) > warnEvery {
			warned = time.Now()
			o.log.Warn().Err(err).Msg("could not look whether the stream is paused; trying again")
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// look does what is asked; idle says that nothing is being applied. It gives why
// a repair is asked for, "" when none is.
func (o *orders) look(ctx context.Context, idle bool) (repair string, err error) {
	var since *time.Time
	var over bool
	var by, reason string
	err = o.pool.QueryRow(ctx, `select coalesce(c.repair, ''), p.since, coalesce(p.until <= now(), false), coalesce(p.by, ''), coalesce(p.reason, '')
		from (select) one left join helix.checkpoints c on c.slot = $1 left join helix.paused p on p.what = $2 and p.ended_at is null`,
		o.cfg.slot, pausedStream).Scan(&repair, &since, &over, &by, &reason)
	if err != nil {
		return "", fmt.Errorf("read helix.paused: %w", err)
	}
	switch {
	case since != nil && over:
		if err := o.end(ctx, *since, "its time was over", o.log.Info()); err != nil {
			return "", err
		}
		since = nil
	case since != nil:
		spent, err := o.spent(ctx)
		if err != nil {
			return "", err
		}
		if spent != "" {
			event := o.log.Error().Str("severity", "critical").Str("next", "helixd applies changes again; to pause for longer, raise max_slot_wal_keep_size")
			if err := o.end(ctx, *since, spent, event); err != nil {
				return "", err
			}
			since = nil
		}
	}
	switch {
	case since != nil && (o.since == nil || !since.Equal(*o.since)):
		o.log.Warn().Time("since", *since).Str("by", by).Str("reason", reason).Msg("the stream is paused: no change is applied")
	case since == nil && o.since != nil:
		o.log.Info().Msg("the stream is resumed")
	}
	o.since = since
	o.stream.Hold(since != nil)
	if since == nil || !idle {
		return repair, o.tell(ctx, nil)
	}
	return repair, o.tell(ctx, since)
}

// spent says why the pause must end before the server drops WAL that the slot needs.
func (o *orders) spent(ctx context.Context) (string, error) {
	r, err := stream.ReadRetention(ctx, o.pool, o.cfg.slot)
	if err != nil || r == nil || !r.Spent(o.cfg.pause.wal) {
		return "", err
	}
	limit := fmt.Sprintf("half of max_slot_wal_keep_size (%s)", megabytes(r.Limit))
	if r.Limit < 0 {
		limit = fmt.Sprintf("--pause-wal (%s)", megabytes(o.cfg.pause.wal))
	}
	return fmt.Sprintf("the server kept %s of WAL for the slot (wal_status %s): %s was used up", megabytes(r.Retained), r.Status, limit), nil
}

// end ends a pause that nobody has resumed.
func (o *orders) end(ctx context.Context, since time.Time, why string, event *zerolog.Event) error {
	_, err := o.pool.Exec(ctx, "update helix.paused set ended_at = now(), ended = $3 where what = $1 and since = $2 and ended_at is null",
		pausedStream, since, why)
	if err != nil {
		return fmt.Errorf("end the pause: %w", err)
	}
	event.Time("since", since).Str("why", why).Msg("the pause of the stream ends by itself")
	return nil
}

// tell lets others know for which pause nothing is applied, nil for none.
func (o *orders) tell(ctx context.Context, acted *time.Time) error {
	if o.told && (acted == nil) == (o.acted == nil) && (acted == nil || acted.Equal(*o.acted)) {
		return nil
	}
	// Neither the disk nor a standby needs to have it.
	_, err := o.pool.Exec(ctx, `update helix.leaders set paused_since = $3 where slot = $1 and holder = $2
		and set_config('synchronous_commit', 'off', true) = 'off'`, o.cfg.slot, holder(), acted)
	if err != nil {
		return fmt.Errorf("say that the stream is paused: %w", err)
	}
	o.acted, o.told = acted, true
	return nil
}

// reading lets others know how many rows of each table a repair has read, nil when
// it is over. They can do without.
func (o *orders) reading(ctx context.Context, rows map[string]int) {
	var progress any
	if rows != nil {
		progress = rows
	}
	_, err := o.pool.Exec(ctx, "update helix.leaders set backfill = $3 where slot = $1 and holder = $2", o.cfg.slot, holder(), progress)
	if err != nil && ctx.Err() == nil {
		o.log.Warn().Err(err).Msg("could not say how far the repair is")
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
