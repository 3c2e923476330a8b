package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/internal/status"
)

func statusCommand(cfg *config) *cobra.Command {
	var watch bool
	every := 2 * time.Second
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how helixd is: who leads, how far behind, what waits and what failed",
		Long: "status reads from the project's database how all of its helixd processes are, wherever they run: what is\n" +
			"wrong first, and what to do about it. It changes nothing. A helixd that runs gives the same over HTTP, at\n" +
			"/status (see docs/metrics.md).\n\n" +
			"Critical is that results do not come or that changes may be lost; what else is listed is a warning.\n\n" +
			"Exit status: 0 nothing is critical; 1 the database could not be read; 2 wrong usage; 3 something is critical.",
		Example: "  helixd status\n  helixd status --watch\n  helixd status --output json | jq '.slot.lag_bytes'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every <= 0 {
				return &usageError{fmt.Errorf("--every %s: it takes a time, such as 2s", every)}
			}
			if err := cfg.requireDatabase(); err != nil {
				return err
			}
			pool, err := openPool(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			defer pool.Close()
			source := cfg.source(pool)
			if watch {
				return watchStatus(cmd, cfg, &source, every)
			}
			return showStatus(cmd, cfg, &source)
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it again and again, until ^C")
	cmd.Flags().DurationVar(&every, "every", every, "with --watch: how often")
	return cmd
}

func (c *config) source(pool *pgxpool.Pool) status.Source {
	return status.Source{Pool: pool, Slot: c.slot, Publication: c.publication, Version: version()}
}

// statusTimeout is how long a person waits.
const statusTimeout = 15 * time.Second

func showStatus(cmd *cobra.Command, cfg *config, source *status.Source) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), statusTimeout)
	defer cancel()
	report, err := source.Read(ctx)
	if err != nil {
		return databaseError(err)
	}
	if err := cfg.print(cmd, report, report.Text); err != nil {
		return err
	}
	if !report.Healthy {
		return errFindings
	}
	return nil
}

// watchStatus shows it until the context ends. A database that cannot be read for a
// while is a part of what is watched.
func watchStatus(cmd *cobra.Command, cfg *config, source *status.Source, every time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if cfg.output == outputText {
			if err := clearScreen(cmd.OutOrStdout()); err != nil {
				return err
			}
		}
		err := showStatus(cmd, cfg, source)
		if cmd.Context().Err() != nil {
			return nil
		}
		if err != nil && err != errFindings {
			cfg.complain(cmd.ErrOrStderr(), err)
		}
		select {
		case <-cmd.Context().Done():
			return nil
		case <-tick.C:
		}
	}
}

// clearScreen begins a screen anew on a terminal, and a paragraph elsewhere.
func clearScreen(out io.Writer) error {
	begin := "\n"
	if f, ok := out.(*os.File); ok && isTerminal(f) {
		begin = "\x1b[H\x1b[2J"
	}
	_, err := fmt.Fprintf(out, "%s%s\n", begin, time.Now().Format(time.TimeOnly))
	return err
}
