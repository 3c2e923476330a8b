package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors"
)

func replayCommand(cfg *config) *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay --table TABLE",
		Short: "Give rows to the reactors again, without touching them",
		Long: "replay has the helixd that leads read rows of a watched table once more, in commit order with all other\n" +
			"changes, and give them to the reactors that watch it, as a first start does. The rows are not written: no\n" +
			"trigger of the app's fires, and no client sees an UPDATE. A row that is written meanwhile is left to the stream.\n" +
			"Reactors know what they have seen: what is done is not done again, and a provider is asked for nothing twice;\n" +
			"--dry-run says how many rows there are, and what each reactor would do with them.\n\n" +
			"--where takes a condition in SQL. It is run in a read-only transaction, with a limit of " + replayTimeout + " for each step.\n\n" +
			"--from-lsn and --since take rows that were written since then, and some from shortly before. helixd finds them by\n" +
			"positions that it notes about once a minute and keeps for " + positionKept + "; what is older it refuses; in a project that\n" +
			"has had helixd for less, --since means all rows then. Deletes leave no row to replay: helixd keeps those in its\n" +
			"inbox until they are applied, and a repair, which reads all rows, finds the rest.\n\n" +
			"It waits until all is applied. Ended before, it may be run again: a row that is given twice changes nothing.\n\n" +
			"Exit status: 0 applied, or put into the inbox with --no-wait; 1 failed; 2 wrong usage; 3 some rows are dead letters now.",
		Example: "  helixd replay --table memories --dry-run\n  helixd replay --table memories --user 7b3c… --reactor decay\n" +
			"  helixd replay --table voice_recordings --where \"status = 'pending'\"\n  helixd replay --table sync_state --since 2h",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			watching, err := f.parse(allReactors(cfg))
			if err != nil {
				return err
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				return f.run(cmd, cfg, pool, watching)
			})
		},
	}
	cmd.Flags().StringVar(&f.table, "table", "", "the table, such as memories")
	cmd.Flags().StringVar(&f.where, "where", "", "only rows for which this SQL condition holds")
	cmd.Flags().StringVar(&f.user, "user", "", "of this user only (uuid)")
	cmd.Flags().StringVar(&f.reactor, "reactor", "", "give them to this reactor only")
	cmd.Flags().StringVar(&f.fromLSN, "from-lsn", "", "only rows written since this position of the write-ahead log, such as 16/B374D848")
	cmd.Flags().StringVar(&f.since, "since", "", "only rows written since this time, such as 2h or 2026-11-01T12:00:00Z")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "tell what would be done")
	cmd.Flags().BoolVar(&f.noWait, "no-wait", false, "do not wait until the rows are applied")
	for flag, values := range map[string]func() []string{
		"table": func() (names []string) {
			for table := range watched(allReactors(cfg)) {
				names = append(names, strings.TrimPrefix(table, "public."))
			}
			return names
		},
		"reactor": func() []string { return watched(allReactors(cfg))[qualified(f.table)] },
	} {
		completeWith(cmd, flag, values)
	}
	return cmd
}

// replayReport is what replay prints.
type replayReport struct {
	Table    string         `json:"table"`
	Rows     int64          `json:"rows"`
	From     *position      `json:"from,omitempty"`
	Begun    *time.Time     `json:"helixd_since,omitempty"` // in this project: --since is before all that it knows, and all rows are meant
	Reactors []replayEffect `json:"reactors"`
	DryRun   bool           `json:"dry_run"`
	Waited   bool           `json:"waited"`
	*replayOutcome
}

func (f *replayFlags) run(cmd *cobra.Command, cfg *config, pool *pgxpool.Pool, watching []string) error {
	ctx := cmd.Context()
	report := replayReport{Table: f.table, DryRun: f.dryRun}
	q := rowQuery{pool: pool, table: f.table, where: f.where}
	var err error
	if report.From, err = f.position(ctx, cfg, pool); err != nil {
		return err
	}
	report.Begun = f.beginning
	q.conditions(f.userID, report.From)
	if report.Rows, report.Reactors, err = q.appraise(ctx, watching); err != nil {
		return err
	}
	if f.dryRun {
		return cfg.print(cmd, report, report.write)
	}
	if cfg.output != outputJSON {
		fmt.Fprintf(cmd.OutOrStdout(), "%d rows of %s for %s.\n", report.Rows, f.table, strings.Join(watching, ", "))
	}
	replay, err := newReplayer(ctx, cfg, pool, f.noWait, report.Rows, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	for {
		rows, err := q.next(ctx)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		if err := replay.send(ctx, reactors.Replay{Table: f.table, Reactor: f.reactor, Rows: rows}); err != nil {
			return err
		}
	}
	report.Rows = replay.sent
	if !f.noWait {
		o, err := replay.wait(ctx, 0)
		if err != nil {
			return err
		}
		report.Waited, report.replayOutcome = true, &o
	}
	if err := cfg.print(cmd, report, report.write); err != nil {
		return err
	}
	if report.Waited && report.Rejected > 0 {
		return errFindings
	}
	return nil
}

func (r *replayReport) write(out io.Writer) error {
	var b strings.Builder
	switch {
	case r.DryRun:
		fmt.Fprintf(&b, "%d rows of %s would be given to:\n", r.Rows, r.Table)
		rows := [][]string{}
		for _, e := range r.Reactors {
			rows = append(rows, []string{"  " + e.Reactor, e.Says})
		}
		writeTable(&b, rows, 2)
	case !r.Waited:
		fmt.Fprintf(&b, "%d rows are put into the inbox; the helixd that leads gives them to the reactors.\n", r.Rows)
	default:
		fmt.Fprintf(&b, "%d rows given; %d were written meanwhile, and are streamed; %d are gone.\n", r.Given, r.Changed, r.Gone)
		if r.Rejected > 0 {
			fmt.Fprintf(&b, "%d are dead letters now; see: helixd dlq list\n", r.Rejected)
		}
	}
	if r.From != nil {
		fmt.Fprintf(&b, "They were written since %s (%s), the last position that is known before. Rows deleted since are not among them.\n",
			r.From.LSN, r.From.At.UTC().Format("2006-01-02 15:04:05Z"))
	}
	if r.Begun != nil {
		fmt.Fprintf(&b, "--since is before all positions that are known, so these are all rows: helixd is in this project since %s.\n", r.Begun.UTC().Format("2006-01-02 15:04:05Z"))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// watched gives the tables that reactors watch for rows, with the reactors' names.
func watched(all []reactors.Reactor) map[string][]string {
	tables := map[string][]string{}
	for _, r := range all {
		for _, w := range r.Watches() {
			if !slices.ContainsFunc(w.Ops, reactors.GivesRows) || slices.Contains(tables[w.Table], r.Name()) {
				continue
			}
			tables[w.Table] = append(tables[w.Table], r.Name())
		}
	}
	return tables
}

// namesReactor refuses a reactor that does not watch a table.
func namesReactor(table, reactor string, watching []string) error {
	if reactor == "" || slices.Contains(watching, reactor) {
		return nil
	}
	return &usageError{fmt.Errorf("--reactor %q does not watch %s; these do: %s", reactor, table, strings.Join(watching, ", "))}
}
