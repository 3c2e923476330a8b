package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication/stream"
)

// pauseSettings bound a pause of the stream.
type pauseSettings struct {
	size string

	wal int64
}

func (s *pauseSettings) settings() []setting {
	return []setting{{"pause-wal", "HELIX_PAUSE_WAL", "4GB",
		"WAL kept for the slot at which a paused stream goes on, where the server has no max_slot_wal_keep_size; else it goes on at half of that", &s.size}}
}

func (s *pauseSettings) parse() (err error) {
	if s.wal, err = parseBudget(s.size); err != nil || s.wal < 1<<20 {
		return &usageError{fmt.Errorf("--pause-wal %q: it takes a size from 1MB, such as 4GB", s.size)}
	}
	return nil
}

func pauseCommand(cfg *config) *cobra.Command {
	var reason string
	var lasts, timeout time.Duration
	var wait bool
	cmd := &cobra.Command{
		Use:   "pause [REACTOR | stream]",
		Short: "Hold a reactor's jobs back, or the whole stream; alone: list what is paused",
		Long: "pause keeps all helixd of this project, also those that start later, from beginning further jobs of a reactor.\n" +
			"Jobs that run end. What comes meanwhile is noted, and worked once it is resumed: nothing is lost. Clients see\n" +
			"their rows pending, and in helix_status healthy = false with details.paused.\n\n" +
			"\"helixd pause stream\" keeps the leader from applying any change at all. It ends by itself, before the server\n" +
			"drops WAL that is needed: at half of max_slot_wal_keep_size, or at --pause-wal where the server has no such\n" +
			"limit. What a reactor does inside the stream, which is all that sync does, only this can hold.\n\n" +
			"Without an argument it lists what is paused, and what ended by itself. See docs/pause.md.\n\n" +
			"Exit status: 0 done; 1 failed, or --timeout was over before all had acted (it is paused nevertheless); 2 wrong usage.",
		Example: "  helixd pause\n  helixd pause voice --reason 'the provider is down' --for 2h\n  helixd pause stream --wait",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				if f := changed(cmd, "reason", "for", "wait", "timeout"); f != "" {
					return &usageError{fmt.Errorf("--%s: name what to pause; see helixd pause --help", f)}
				}
				return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error { return listPaused(cmd, cfg, pool) })
			}
			if cmd.Flags().Changed("for") && lasts <= 0 {
				return &usageError{fmt.Errorf("--for %s: it takes a time, such as 2h", lasts)}
			}
			what, queues, err := pausable(cfg, args[0])
			if err != nil {
				return err
			}
			if what != pausedStream && len(queues) == 0 {
				return &stream.SetupError{Problem: fmt.Sprintf("%s works inside the stream only, which cannot leave out one reactor: a change that it passed would be lost to it", what),
					Hint: "Hold all of them for a while: helixd pause stream"}
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				p, err := pause(cmd.Context(), pool, what, queues, reason, lasts)
				if err != nil {
					return err
				}
				if wait {
					if err := awaitPause(cmd.Context(), pool, p, timeout); err != nil {
						return err
					}
				}
				return cfg.print(cmd, p, func(w io.Writer) error { return explainPause(cmd.Context(), cfg, pool, p, w) })
			})
		},
	}
	cmd.ValidArgsFunction = pausables(cfg)
	cmd.Flags().StringVar(&reason, "reason", "", "why, for whoever lists it")
	cmd.Flags().DurationVar(&lasts, "for", 0, "end by itself after this time, such as 2h")
	addWait(cmd, &wait, &timeout)
	return showSettings(cmd, "slot", "pause-")
}

func resumeCommand(cfg *config) *cobra.Command {
	var all, wait bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "resume REACTOR | stream | --all",
		Short: "End what pause began",
		Long: "resume lets a reactor's jobs, or the stream, go on where they were held. What is not paused stays as it is.\n\n" +
			"Exit status: 0 done; 1 failed, or --timeout was over before all had acted; 2 wrong usage.",
		Example: "  helixd resume voice\n  helixd resume stream --wait\n  helixd resume --all",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return &usageError{errors.New("name a reactor, stream or --all; see helixd resume --help")}
			}
			var what string
			var queues []string
			if !all {
				var err error
				if what, queues, err = pausable(cfg, args[0]); err != nil {
					return err
				}
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				resumed, err := resume(cmd.Context(), pool, what, queues)
				if err != nil {
					return err
				}
				if wait {
					for i := range resumed {
						if err := awaitPause(cmd.Context(), pool, &resumed[i], timeout); err != nil {
							return err
						}
					}
				}
				return cfg.print(cmd, resumed, func(w io.Writer) error {
					for _, p := range resumed {
						if _, err := fmt.Fprintf(w, "%s is resumed\n", p.What); err != nil {
							return err
						}
					}
					if len(resumed) > 0 {
						return nil
					}
					_, err := fmt.Fprintln(w, "nothing of it was paused")
					return err
				})
			})
		},
	}
	cmd.ValidArgsFunction = pausables(cfg)
	cmd.Flags().BoolVar(&all, "all", false, "all that is paused")
	addWait(cmd, &wait, &timeout)
	return showSettings(cmd, "slot")
}

func addWait(cmd *cobra.Command, wait *bool, timeout *time.Duration) {
	cmd.Flags().BoolVar(wait, "wait", false, "return once every helixd that runs has acted, and jobs that ran have ended")
	cmd.Flags().DurationVar(timeout, "timeout", time.Minute, "of --wait")
}

// changed names the first of flags that was given, "" when none was.
func changed(cmd *cobra.Command, flags ...string) string {
	i := slices.IndexFunc(flags, func(f string) bool { return cmd.Flags().Changed(f) })
	if i < 0 {
		return ""
	}
	return flags[i]
}

// everyReactor are those that run, and those that this process's settings switch off.
func everyReactor(cfg *config) []reactors.Reactor {
	return append(allReactors(cfg), offReactors(cfg)...)
}

// pausable looks up what can be named.
func pausable(cfg *config, name string) (what string, queues []string, err error) {
	names := []string{pausedStream}
	for _, r := range everyReactor(cfg) {
		if r.Name() == name {
			return name, reactors.Queues(r), nil
		}
		names = append(names, r.Name())
	}
	if name == pausedStream {
		return name, []string{}, nil
	}
	return "", nil, &usageError{fmt.Errorf("there is no reactor %q; it takes one of: %s", name, strings.Join(names, ", "))}
}

func pausables(cfg *config) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names := []cobra.Completion{pausedStream}
		for _, r := range everyReactor(cfg) {
			if len(reactors.Queues(r)) > 0 {
				names = append(names, r.Name())
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// paused is a row of helix.paused.
type paused struct {
	What    string     `json:"what"`
	Since   time.Time  `json:"since"`
	Until   *time.Time `json:"until,omitempty"`
	By      string     `json:"by"`
	Reason  string     `json:"reason,omitempty"`
	Paused  bool       `json:"paused"` // false: it ended by itself
	EndedAt *time.Time `json:"ended_at,omitempty"`
	Ended   string     `json:"ended,omitempty"`

	queues []string
}

const pausedColumns = `what, queues, since, until, by, coalesce(reason, ''), ended_at is null and (until is null or until > now()), ended_at, coalesce(ended, '')`

func scanPaused(row pgx.CollectableRow) (p paused, err error) {
	err = row.Scan(&p.What, &p.queues, &p.Since, &p.Until, &p.By, &p.Reason, &p.Paused, &p.EndedAt, &p.Ended)
	return p, err
}

// pause writes what helix.paused says from now on. What is paused already stays so, since then.
func pause(ctx context.Context, pool *pgxpool.Pool, what string, queues []string, reason string, lasts time.Duration) (*paused, error) {
	jobs, err := reactors.NewJobs(pool, false, nil)
	if err != nil {
		return nil, err
	}
	var p paused
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `insert into helix.paused as p (what, queues, by, reason, until)
			values ($1, $2, $3, nullif($4, ''), now() + nullif($5::interval, '0'))
			on conflict (what) do update set queues = excluded.queues, by = excluded.by, reason = excluded.reason, until = excluded.until,
				since = case when p.ended_at is null and (p.until is null or p.until > now()) then p.since else now() end,
				ended_at = null, ended = null
			returning `+pausedColumns, what, queues, whoAmI(), reason, lasts)
		if err != nil {
			return err
		}
		if p, err = pgx.CollectExactlyOneRow(rows, scanPaused); err != nil {
			return err
		}
		return jobs.PauseQueues(ctx, tx, queues)
	})
	if err != nil {
		return nil, fmt.Errorf("pause %s: %w", what, err)
	}
	return &p, nil
}

// resume ends the pause of what, "" for all, and gives what was in force.
func resume(ctx context.Context, pool *pgxpool.Pool, what string, queues []string) ([]paused, error) {
	jobs, err := reactors.NewJobs(pool, false, nil)
	if err != nil {
		return nil, err
	}
	resumed := []paused{}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "delete from helix.paused where $1 in ('', what) returning "+pausedColumns, what)
		if err != nil {
			return err
		}
		gone, err := pgx.CollectRows(rows, scanPaused)
		if err != nil {
			return err
		}
		for _, p := range gone {
			queues = append(queues, p.queues...)
			if p.Paused {
				p.Paused = false
				resumed = append(resumed, p)
			}
		}
		slices.Sort(queues)
		return jobs.ResumeQueues(ctx, tx, slices.Compact(queues))
	})
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return resumed, nil
}

// whoAmI names the person at the keyboard, as far as the system knows.
func whoAmI() string {
	name, host := "?", "?"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

func readPaused(ctx context.Context, pool *pgxpool.Pool) ([]paused, error) {
	rows, err := pool.Query(ctx, "select "+pausedColumns+" from helix.paused order by what <> 'stream', what")
	if err != nil {
		return nil, fmt.Errorf("read helix.paused: %w", err)
	}
	all, err := pgx.CollectRows(rows, scanPaused)
	if err != nil {
		return nil, fmt.Errorf("read helix.paused: %w", err)
	}
	return all, nil
}

func listPaused(cmd *cobra.Command, cfg *config, pool *pgxpool.Pool) error {
	all, err := readPaused(cmd.Context(), pool)
	if err != nil {
		return err
	}
	return cfg.print(cmd, append([]paused{}, all...), func(w io.Writer) error {
		if len(all) == 0 {
			_, err := fmt.Fprintln(w, "nothing is paused")
			return err
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "WHAT\tSTATE\tSINCE\tUNTIL\tBY\tREASON")
		for _, p := range all {
			state, until := "paused", "resumed by hand"
			if p.Until != nil {
				until = p.Until.Format(time.DateTime)
			}
			if !p.Paused {
				state = "ended by itself"
				if p.EndedAt != nil {
					until = p.EndedAt.Format(time.DateTime)
				}
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", p.What, state, p.Since.Format(time.DateTime), until, printable(p.By), printable(p.Reason))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		for _, p := range all {
			if p.Ended != "" {
				fmt.Fprintf(w, "%s: %s\n", p.What, p.Ended)
			}
		}
		return nil
	})
}

// explainPause says what the pause means.
func explainPause(ctx context.Context, cfg *config, pool *pgxpool.Pool, p *paused, w io.Writer) error {
	until := "until: helixd resume " + p.What
	if p.Until != nil {
		until = "until " + p.Until.Format(time.DateTime) + ", or: helixd resume " + p.What
	}
	fmt.Fprintf(w, "%s is paused %s\n", p.What, until)
	if p.What == "decay" {
		fmt.Fprintln(w, "  memories and layers are reinforced nevertheless: that is done inside the stream")
	}
	if p.What != pausedStream {
		return nil
	}
	r, err := stream.ReadRetention(ctx, pool, cfg.slot)
	if err != nil || r == nil {
		return err
	}
	left := cfg.pause.wal - r.Retained
	if r.Limit >= 0 {
		left = r.Safe - r.Limit/2
	}
	_, err = fmt.Fprintf(w, "  it ends by itself once %s more of WAL are written\n", megabytes(max(left, 0)))
	return err
}
