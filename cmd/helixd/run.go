package main

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/internal/trace"
	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/recall"
	"github.com/helixd/helixd/replication/stream"
)

func runCommand(cfg *config) *cobra.Command {
	return &cobra.Command{
		Use:   "run",
		Short: "Stream changes and react to them, until SIGTERM",
		Long: "run streams the project's changes and writes results back. Any number may run: one leads and\n" +
			"streams, the others stand by and take over within seconds of its end; all of them share the jobs.\n\n" +
			"With --role stream a process leads or stands by, and works no jobs. With --role worker it only works\n" +
			"jobs and never opens the slot: run as many as there is work for, beside at least one that may stream.",
		Example: "  helixd run\n  helixd run --role stream\n  helixd run --role worker",
		Args:    cobra.NoArgs,
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
	memoryLimit = 52 << 20

	firstPause = 250 * time.Millisecond
	lastPause  = 10 * time.Second

	jobsTimeout = 10 * time.Second // for running jobs at the end

	// startEnds is how long after a process first leads, stands by or works it gives
	// back, once, what only its start needed: one that idles would keep it for hours.
	startEnds = 5 * time.Second
)

// run does what its role says until ctx ends. What an operator must mend ends it
// at once; but once it has run, everything is tried again: the fault may be the
// server's, and pass.
func run(ctx context.Context, cfg *config, log zerolog.Logger) (err error) {
	defer func() {
		if err != nil && ctx.Err() != nil { // it was stopped while it started: what that broke off is no fault
			log.Info().Msg("helixd stops")
			err = nil
		}
	}()
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	log.Info().Str("version", version()).Str("role", cfg.role).Str("slot", cfg.slot).Str("name", holder()).Msg("helixd starts")
	for _, name := range cfg.unknown(os.Environ()) {
		log.Warn().Str("variable", name).Msg("the environment has what is no setting of helixd; is its name misspelt? see helixd --help")
	}
	endTraces, err := trace.Begin(ctx, os.Getenv, version(), holder(), log)
	if err != nil {
		return &stream.SetupError{Problem: err.Error(), Hint: "docs/tracing.md has the variables; without any of them there are no traces."}
	}
	defer endTraces()
	pool, err := openPool(ctx, cfg)
	if err != nil {
		return err
	}
	defer pool.Close()
	seen := newObserved()
	server, err := serveHTTP(ctx, cfg, pool, seen, log)
	if err != nil {
		return err
	}
	if server != nil {
		defer server.Close()
	}
	go reactors.Settle(ctx, pool)
	options := []reactors.JobOption{reactors.Named(holder())}
	if cfg.role != roleStream {
		client, err := newModel(cfg, log)
		if err != nil {
			return err
		}
		service, stop, err := newSkills(ctx, cfg, pool, client, log)
		if err != nil {
			return err
		}
		defer stop()
		listener, hush, err := newVoice(ctx, cfg, pool, log)
		if err != nil {
			return err
		}
		defer hush()
		options = append(options, reactors.With(newAnalysis(cfg, pool, client, log)), reactors.With(service), reactors.With(listener), reactors.With(newSynthesis(cfg, pool, log)),
			reactors.With(newDecay(cfg, pool, log)), reactors.With(recall.NewService(cfg.recall.config, pool, log)))
		if cfg.embedding.on() {
			embedder, err := newEmbedding(cfg, pool, log)
			if err != nil {
				return err
			}
			options = append(options, reactors.With(embedder))
		}
	}
	jobs, err := reactors.NewJobs(pool, cfg.role != roleStream, riverLogger(log), options...)
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

	ran := false
	onState := func(state string) {
		if !ran && state != stateStarting {
			ran = true
			time.AfterFunc(startEnds, func() { debug.FreeOSMemory(); leaveCode() })
		}
		seen.is(state)
	}
	failed, attempt := "not streaming", func() error { return lead(ctx, cfg, pool, jobs, log, onState, seen.sign) }
	if cfg.role == roleWorker {
		failed, attempt = "not working jobs", func() error { return work(ctx, pool, jobs, log, onState) }
	}
	var setup *stream.SetupError
	for pause := firstPause; ; {
		began := time.Now()
		err := attempt()
		seen.is(stateStarting)
		if ctx.Err() != nil {
			if err != nil && !errors.Is(err, context.Canceled) {
				log.Warn().Err(err).Msg("helixd stops, not in order: what was not acknowledged comes again")
				return nil
			}
			log.Info().Msg("helixd stops")
			return nil
		}
		if errors.As(err, &setup) && !ran {
			return err
		}
		if time.Since(began) > lastPause { // it is not tried more often for that
			pause = firstPause
		}
		event := log.Error()
		if errors.Is(err, stream.ErrServerStopped) || errors.Is(err, stream.ErrSlotActive) ||
			errors.Is(err, stream.ErrDeposed) || errors.Is(err, errAsked) || errors.Is(err, reactors.ErrFenced) {
			event = log.Warn()
		}
		if hint := hintOf(err); hint != "" {
			event = event.Str("hint", hint)
		}
		event.Err(err).Dur("retry_in_ms", pause).Msg(failed)
		select {
		case <-ctx.Done():
		case <-time.After(pause + rand.N(pause/4)):
		}
		pause = min(2*pause, lastPause)
	}
}

// work works jobs until ctx ends. The slot is not its business.
func work(ctx context.Context, pool *pgxpool.Pool, jobs *reactors.Jobs, log zerolog.Logger, onState func(state string)) error {
	if err := requireMigrated(ctx, pool); err != nil {
		return err
	}
	if err := jobs.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	onState(stateWorking)
	log.Info().Msg("working jobs")
	<-ctx.Done()
	return nil
}

func (c *config) stream(log zerolog.Logger) stream.Config {
	return stream.Config{ConnString: c.databaseURL, Slot: c.slot, Publication: c.publication, Log: log, Name: holder()}
}

// holder names this process to the server and to the others: all its sessions as
// a leader have this application_name, which holds 63 bytes of ASCII. The host and
// the pid are for people; in containers they are the same after every start.
var holder = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		host = "?"
	}
	host = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '?'
		}
		return r
	}, host)
	return fmt.Sprintf("helixd %.32s/%d %s", host, os.Getpid(), strings.ToLower(crand.Text()[:10]))
})
