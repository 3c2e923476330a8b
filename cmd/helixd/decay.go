package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors/decay"
)

// decaySettings are those of the reactor decay: as they were given, and read.
type decaySettings struct {
	given string

	schedule decay.Schedule
}

func (s *decaySettings) settings() []setting {
	return []setting{{"decay-schedule", "HELIX_DECAY_SCHEDULE", decay.DefaultSchedule,
		"when psychology_layers.decay_rate is updated: six cron fields, seconds first, in UTC or after CRON_TZ=<time zone>; @every 30m; off", &s.given}}
}

func (s *decaySettings) parse() (err error) {
	if s.schedule, err = decay.ParseSchedule(s.given); err != nil {
		return &usageError{fmt.Errorf("--decay-schedule %q: it takes six cron fields, such as %q for every hour, or off: %w", s.given, decay.DefaultSchedule, err)}
	}
	return nil
}

// newDecay makes what does the jobs of decay.
func newDecay(cfg *config, db *pgxpool.Pool, log zerolog.Logger) *decay.Service {
	log.Info().Stringer("schedule", cfg.decay.schedule).Msg("decay")
	return decay.NewService(cfg.decay.schedule, db, time.Now, log)
}

func decayCommand(cfg *config) *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "decay --once",
		Short: "Update the retention of all psychology layers now",
		Long: "decay --once writes the retention as of now into psychology_layers.decay_rate where it is, or before\n" +
			"the next tick would be, more than 0.01 off. helixd run does the same by --decay-schedule; run this\n" +
			"where no helixd runs, or from a scheduler of your own with HELIX_DECAY_SCHEDULE=off.\n\n" +
			"It goes by users in chunks of some 25,000 rows, each in a transaction of its own: a client waits for\n" +
			"no more than one. It may run beside helixd run, at any time and as often as you like: one tick runs at a\n" +
			"time, and what has just been written is not written again. Interrupted, it leaves whole chunks; the\n" +
			"next tick does the rest. memory_retention needs no ticks: memories_with_retention computes as of now().\n\n" +
			"Progress goes to stderr, and one line to stdout at the end. Exit status: 0 done; 1 the database failed, or\n" +
			"rows could not be written; 2 wrong usage.",
		Example: "  helixd decay --once\n  HELIX_DECAY_SCHEDULE=off helixd run",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !once {
				return &usageError{errors.New("helixd run updates layers by --decay-schedule; say --once to do it now")}
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				return decayOnce(cmd, cfg, pool)
			})
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "do it now, once")
	return cmd
}

// showEvery is how often progress is printed.
const showEvery = time.Second

func decayOnce(cmd *cobra.Command, cfg *config, pool *pgxpool.Pool) error {
	ctx, progress := cmd.Context(), cmd.ErrOrStderr()
	ticker, err := decay.NewTicker(ctx, pool)
	if err != nil {
		return err
	}
	shown := time.Now()
	waiting := false
	now := time.Now()
	done, err := ticker.Tick(ctx, now, cfg.decay.schedule.Ahead(now), func(p decay.Progress) {
		if p.Waited && p.Chunks == 0 && !waiting {
			waiting = true
			fmt.Fprintln(progress, "another tick is under way; waiting for it")
		}
		if time.Since(shown) < showEvery || p.Chunks == 0 {
			return
		}
		shown = time.Now()
		fmt.Fprintf(progress, "%d chunks, %d rows, %d written, %s\n", p.Chunks, p.Rows, p.Written, p.Took.Round(time.Millisecond))
	})
	if err != nil {
		if done.Chunks > 0 {
			return fmt.Errorf("after %d chunks with %d rows, which are done: %w", done.Chunks, done.Rows, err)
		}
		return err
	}
	result := struct {
		Rows    int64   `json:"rows"`
		Written int64   `json:"written"`
		Refused int64   `json:"refused"`
		Seconds float64 `json:"seconds"`
	}{int64(done.Rows), int64(done.Written), int64(done.Refused), done.Took.Seconds()}
	err = cfg.print(cmd, result, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%d rows looked at, %d written, in %s\n", done.Rows, done.Written, done.Took.Round(time.Millisecond))
		return err
	})
	if err != nil {
		return err
	}
	if done.Refused > 0 {
		rows := "rows"
		if done.Refused == 1 {
			rows = "row"
		}
		return fmt.Errorf("%d %s could not be written: a trigger or a constraint of this project refuses that, or a client keeps it locked", done.Refused, rows)
	}
	return nil
}
