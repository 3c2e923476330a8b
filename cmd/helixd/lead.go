package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication/stream"
)

// lead waits until no other helixd leads, then streams until ctx ends or
// something fails; it leaves no connection and no transaction behind. Jobs it
// only starts: they go on whoever leads.
func lead(ctx context.Context, cfg *config, pool *pgxpool.Pool, jobs *reactors.Jobs, log zerolog.Logger, onState func(state string), onSign func(time.Time)) error {
	streamConfig := cfg.stream(log)
	streamConfig.OnSign = onSign
	streamConfig.OnStreaming = func() {
		log.Info().Str("slot", cfg.slot).Msg("streaming")
		onState(stateLeading)
	}
	s, err := takeLead(ctx, streamConfig, func() error {
		if err := requireMigrated(ctx, pool); err != nil {
			return err
		}
		return jobs.Start(context.WithoutCancel(ctx))
	}, func() { onState(stateStandby) })
	if err != nil {
		return err
	}
	defer s.Close()
	stopping := ctx
	onState(stateStarting) // there may be rows to read
	// The lead is kept until the last apply has ended, which may be after ctx has.
	beating, rest := context.WithCancel(context.WithoutCancel(ctx))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.Heartbeat(beating) })
	group.Go(func() error {
		defer rest()
		return streamAsLeader(ctx, cfg, s, jobs, log, func() { onState(stateStarting) })
	})
	err = group.Wait()
	if stopping.Err() != nil {
		if err := s.Leave(context.WithoutCancel(stopping)); err != nil {
			log.Warn().Err(err).Msg("helixd status counts this helixd for 10 s more")
		}
	}
	return err
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
// end, and which jobs cannot exhaust. onEnd is called when nothing is streamed any more,
// which is before all that it has is closed.
func streamAsLeader(ctx context.Context, cfg *config, s *stream.Stream, jobs *reactors.Jobs, log zerolog.Logger, onEnd func()) error {
	poolConfig, err := cfg.leaderPool()
	if err != nil {
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return err
	}
	defer pool.Close()
	d, err := reactors.NewDispatcher(ctx, pool, cfg.slot, jobs, log, allReactors(cfg)...)
	if err != nil {
		return err
	}
	defer d.Abandon()
	d.Carry(offReactors(cfg)...)
	orders, err := newOrders(ctx, cfg, pool, s, log)
	if err != nil {
		return err
	}
	from, err := beginUnlessHeld(ctx, cfg, s, pool, d, orders, log)
	if err != nil {
		return err
	}
	if err := d.RecordReactors(ctx); err != nil {
		return err
	}
	if err := reactors.EnsureBroadcastPolicies(ctx, pool); err != nil {
		log.Warn().Err(err).Msg("no private broadcasts")
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer onEnd()
		return s.Run(groupCtx, from, d)
	})
	group.Go(func() error { return newWatch(cfg, pool, d.Tables(), log).run(groupCtx) })
	group.Go(func() error { return orders.run(groupCtx) })
	err = group.Wait()
	if err := requestRepair(ctx, pool, cfg.slot, err); err != nil {
		log.Warn().Err(err).Msg("the repair that is needed could not be noted")
	}
	return err
}
