package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/replication/stream"
)

const (
	// demoPatience is how long one result may take; a pattern waits for more memories before it begins.
	demoPatience = time.Minute
	demoLook     = 5 * time.Millisecond
)

// demoResult is what came of one step.
type demoResult struct {
	Step         string  `json:"step"`
	Result       string  `json:"result"`
	Milliseconds float64 `json:"milliseconds"` // from the commit until the user's own select shows it
	Broadcasts   int     `json:"broadcasts"`   // that were sent to the user's private topic for the table
}

// demoReport is what helixd demo prints.
type demoReport struct {
	User    string       `json:"user"`
	Results []demoResult `json:"results"`
	Left    []string     `json:"left"` // tables that still have something of the user
	Slot    string       `json:"slot,omitempty"`
}

func demoCommand(cfg *config) *cobra.Command {
	var alsoRun, clean bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See first results on this project, by a user that is removed again",
		Long: "demo makes a user helixd-demo-…@example.invalid, who cannot sign in, and does as that user what an app does:\n" +
			"two devices edit a note, a skill runs, memories are written, conversations are analysed. It shows each result\n" +
			"as the user's own select finds it, how long after the commit, and whether a private broadcast was sent.\n" +
			"Nothing leaves the project: the user opts out of all providers.\n\n" +
			"At the end, and on Ctrl-C, the user is deleted with all rows, and demo looks in every table whether something\n" +
			"is left. --clean does that for what a demo left behind that was killed. A trigger of your own on auth.users\n" +
			"runs as for any new user.\n\n" +
			"It needs a helixd run beside it, or --run: then this process does that for the time of the demo. The slot stays\n" +
			"afterwards and keeps write-ahead log back until helixd runs again.\n\n" +
			"Exit status: 0 all as it should be; 1 a result did not come, or the database failed; 2 wrong usage; 3 something of the user is left.",
		Example: "  helixd demo\n  helixd demo --run\n  helixd demo --clean",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				if clean {
					return cleanDemos(cmd, cfg, pool)
				}
				return demo(cmd, cfg, pool, alsoRun)
			})
		},
	}
	cmd.Flags().BoolVar(&alsoRun, "run", false, "run helixd in this process meanwhile, where none runs")
	cmd.Flags().BoolVar(&clean, "clean", false, "only remove the users of demos that were killed")
	return cmd
}

func demo(cmd *cobra.Command, cfg *config, pool *pgxpool.Pool, alsoRun bool) (err error) {
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	var report demoReport
	stop, err := helixdFor(ctx, cancel, cfg, pool, alsoRun)
	if err != nil {
		return err
	}
	if stop != nil {
		report.Slot = cfg.slot
	}
	user, err := newDemoUser(ctx, pool)
	if err == nil {
		report.User = user.email
		say := func(r demoResult) {
			report.Results = append(report.Results, r)
			if cfg.output != outputJSON {
				fmt.Fprintf(cmd.OutOrStdout(), "  %-10s %-58s %8.0f ms   %s\n", r.Step, shorten(r.Result, 58), r.Milliseconds, toldBy(r.Broadcasts))
			}
		}
		if cfg.output != outputJSON {
			fmt.Fprintf(cmd.OutOrStdout(), "As %s:\n\n", user.email)
		}
		err = user.optOut(ctx)
		for _, step := range demoSteps {
			if err != nil {
				break
			}
			var r demoResult
			if r, err = step.do(ctx, user); err != nil {
				err = fmt.Errorf("%s: %w", step.name, err)
				break
			}
			r.Step = step.name
			say(r)
		}
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause // such as that of helixd in this process
		}
		// Ctrl-C has ended ctx, and the user goes all the same.
		left, removeErr := user.remove(context.WithoutCancel(ctx))
		report.Left, err = left, errors.Join(err, removeErr)
	}
	if stop != nil {
		stop()
	}
	if err != nil {
		return err
	}
	if err := cfg.print(cmd, report, report.text); err != nil {
		return err
	}
	if len(report.Left) > 0 {
		return errFindings
	}
	return nil
}

func (r demoReport) text(out io.Writer) error {
	if len(r.Left) > 0 {
		_, err := fmt.Fprintf(out, "\nThe user is deleted, and something is left in %s.\n", strings.Join(r.Left, ", "))
		return err
	}
	text := "\nThe user is gone again, with all rows.\n"
	if r.Slot != "" {
		text += fmt.Sprintf("The slot %q stays and keeps write-ahead log back: run helixd run.\n", r.Slot)
	}
	_, err := io.WriteString(out, text)
	return err
}

// helixdFor sees to it that some helixd streams: another process, or this one,
// which stop ends. Where this one fails, so does the demo.
func helixdFor(ctx context.Context, cancel context.CancelCauseFunc, cfg *config, pool *pgxpool.Pool, alsoRun bool) (stop func(), err error) {
	streaming := func(ctx context.Context) (is bool, err error) {
		err = pool.QueryRow(ctx, "select coalesce((select active from pg_replication_slots where slot_name = $1), false)", cfg.slot).Scan(&is)
		return is, err
	}
	is, err := streaming(ctx)
	if err != nil || is {
		return nil, err
	}
	if !alsoRun {
		var leads bool // and will stream, once it has read all rows
		err := pool.QueryRow(ctx, "select exists (select from helix.leaders l where slot = $1 and heartbeat_at > now() - interval '5 seconds' and not "+stream.HasLeft+")", cfg.slot).Scan(&leads)
		if err != nil || leads {
			return nil, cmp.Or(err, demoUntil(ctx, func() (bool, error) { return streaming(ctx) }))
		}
		return nil, &stream.SetupError{Problem: "no helixd streams from slot " + cfg.slot, Hint: "Run helixd run in another terminal, or helixd demo --run."}
	}
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := run(running, cfg, cfg.logger().Level(zerolog.WarnLevel)); err != nil {
			cancel(err)
		}
	}()
	stop = func() { end(); <-done }
	if err := demoUntil(ctx, func() (bool, error) { return streaming(ctx) }); err != nil {
		stop()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return stop, nil
}

// demoUntil looks until there is what should come.
func demoUntil(ctx context.Context, look func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, demoPatience, fmt.Errorf("nothing came within %s: see the log of helixd run", demoPatience))
	defer cancel()
	for {
		if is, err := look(); err != nil || is {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(demoLook):
		}
	}
}

func cleanDemos(cmd *cobra.Command, cfg *config, pool *pgxpool.Pool) error {
	users, err := leftDemoUsers(cmd.Context(), pool)
	if err != nil {
		return err
	}
	report := struct {
		Removed []string `json:"removed"`
		Left    []string `json:"left"`
	}{[]string{}, []string{}}
	for _, u := range users {
		left, err := u.remove(cmd.Context())
		if err != nil {
			return err
		}
		report.Removed, report.Left = append(report.Removed, u.email), append(report.Left, left...)
	}
	err = cfg.print(cmd, report, func(out io.Writer) error {
		_, err := fmt.Fprintf(out, "%d users of demos removed.\n", len(users))
		return err
	})
	if err == nil && len(report.Left) > 0 {
		err = errFindings
	}
	return err
}

func toldBy(broadcasts int) string {
	if broadcasts == 0 {
		return "no broadcast"
	}
	return "broadcast sent"
}

func shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
