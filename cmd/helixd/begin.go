package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// beginUnlessHeld gives the position to stream from, with all read that has to be
// read from the tables. Where something has, it waits for a pause to end; else the
// stream begins in a pause as well, and is held.
func beginUnlessHeld(ctx context.Context, cfg *config, s *stream.Stream, pool *pgxpool.Pool, d *reactors.Dispatcher, orders *orders, log zerolog.Logger) (replication.LSN, error) {
	for {
		from, all, err := begin(ctx, cfg, s, pool, d, orders, log)
		if err == nil && !all {
			err = catchUp(ctx, d, orders, from, log)
		}
		if !errors.Is(err, errHeld) {
			return from, err
		}
		if err := orders.resumed(ctx); err != nil {
			return 0, err
		}
	}
}

// catchUp lets reactors that a setting had switched off see all rows once.
func catchUp(ctx context.Context, d *reactors.Dispatcher, orders *orders, from replication.LSN, log zerolog.Logger) error {
	joined, err := d.Joined(ctx)
	if err != nil || len(joined) == 0 {
		return err
	}
	if orders.held() {
		return errHeld
	}
	names := make([]string, len(joined))
	for i, r := range joined {
		names[i] = r.Name()
	}
	log.Info().Strs("reactors", names).Msg("reactors that did not run before read their tables once")
	err = d.CatchUp(ctx, joined, from, func(table string, rows int) {
		log.Info().Str("table", table).Int("rows", rows).Msg("read")
	})
	if err != nil {
		return fmt.Errorf("let %v catch up: %w", names, err)
	}
	return nil
}
