package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication/stream"
)

func runCommand(cfg *config) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Stream changes and react to them, until SIGTERM",
		Long: "run streams the project's changes and writes results back. Any number may run: one leads,\n" +
			"the others stand by and take over when it ends.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cfg.requireDatabase(); err != nil {
				return err
			}
			return run(cmd.Context(), cfg, cfg.logger())
		},
	}
}

const (
	// memoryLimit is where Go's collector begins to hurry; what helixd holds is
	// bounded well below.
	memoryLimit = 64 << 20

	firstPause = 250 * time.Millisecond
	lastPause  = 10 * time.Second

	jobsTimeout = 10 * time.Second // for running jobs at the end
)

// run leads, or waits to, until ctx ends. What an operator must mend ends it at
// once; but once it has streamed, everything is tried again: the fault may be
// the server's, and pass.
func run(ctx context.Context, cfg *config, log zerolog.Logger) error {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	log.Info().Str("version", version()).Str("slot", cfg.slot).Msg("helixd starts")
	poolConfig, err := cfg.pool()
	if err != nil {
		return err
	}
	pool, err := pgxpool.NewWithConfig(ctx, poolConfig)
	if err != nil {
		return databaseError(err)
	}
	defer pool.Close()
	jobs, err := reactors.NewJobs(pool, true, riverLogger(log))
	if err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobsTimeout)
		defer cancel()
		if err := jobs.Stop(stop); err != nil {
			log.Warn().Err(err).Msg("jobs did not end in time; they will be worked again")
		}
	}()

	streamed := false
	var setup *stream.SetupError
	for pause := firstPause; ; {
		began := time.Now()
		err := lead(ctx, cfg, pool, jobs, log, func() { streamed = true })
		if ctx.Err() != nil {
			if err != nil && !errors.Is(err, context.Canceled) {
				log.Warn().Err(err).Msg("helixd stops, not in order: what was not acknowledged comes again")
				return nil
			}
			log.Info().Msg("helixd stops")
			return nil
		}
		if errors.As(err, &setup) && !streamed {
			return err
		}
		if time.Since(began) > time.Minute {
			pause = firstPause
		}
		event := log.Error()
		if errors.Is(err, stream.ErrServerStopped) || errors.Is(err, stream.ErrSlotActive) || errors.Is(err, reactors.ErrFenced) {
			event = log.Warn()
		}
		if errors.As(err, &setup) {
			event = event.Str("hint", setup.Hint)
		}
		event.Err(err).Dur("retry_in_ms", pause).Msg("not streaming")
		select {
		case <-ctx.Done():
		case <-time.After(pause + rand.N(pause/4)):
		}
		pause = min(2*pause, lastPause)
	}
}

func (c *config) stream(log zerolog.Logger) stream.Config {
	return stream.Config{ConnString: c.databaseURL, Slot: c.slot, Publication: c.publication, Log: log}
}

// holder names this process to the others.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}
