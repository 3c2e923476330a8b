package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"
)

func dlqCommand(cfg *config) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dlq",
		Short: "See, retry and discard changes that could not be applied",
		Long: "A change whose own data makes it impossible does not stop the stream: it becomes a dead letter, and its\n" +
			"neighbours are applied. A letter has the row's key and the error, and nothing of the row's content.",
		Example: "  helixd dlq list\n  helixd dlq show 17\n  helixd dlq retry --reactor sync --all\n  helixd dlq discard 17 --yes",
		Args:    knownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(dlqListCommand(cfg), dlqShowCommand(cfg), dlqRetryCommand(cfg), dlqDiscardCommand(cfg))
	return cmd
}

func dlqListCommand(cfg *config) *cobra.Command {
	var f letterFilter
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List dead letters, and how many there are of each error",
		Long:    "list prints the newest dead letters, and counts all of them by reactor, table and error.\n\nExit status: 0 shown; 1 the database failed; 2 wrong usage.",
		Example: "  helixd dlq list\n  helixd dlq list --reactor sync --code 22P02 --since 24h --limit 100",
		Args:    wrongUse(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.parse(nil, true); err != nil {
				return err
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				l, err := f.list(cmd.Context(), cfg, pool)
				if err != nil {
					return err
				}
				return cfg.print(cmd, l, l.write)
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().IntVar(&f.limit, "limit", 20, "how many letters to print")
	return cmd
}

func dlqDiscardCommand(cfg *config) *cobra.Command {
	var f letterFilter
	var yes bool
	cmd := &cobra.Command{
		Use:   "discard ID… | --all",
		Short: "Remove dead letters for good",
		Long: "discard removes dead letters; the changes that they tell of are then never applied, unless their rows are\n" +
			"written again. With --all it takes all that the filters let through. It asks on a terminal, and needs --yes elsewhere.\n\n" +
			"Exit status: 0 discarded; 1 failed; 2 wrong usage.",
		ValidArgsFunction: letterIDs(cfg, 0),
		Example:           "  helixd dlq discard 17 18\n  helixd dlq discard --all --reactor voice --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.parse(args, false); err != nil {
				return err
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				ids, err := f.find(cmd.Context(), cfg, pool)
				if err != nil {
					return err
				}
				if len(ids) > 0 {
					if err := confirm(cmd, yes, fmt.Sprintf("This removes %d dead letters for good.", len(ids)), "yes"); err != nil {
						return err
					}
				}
				tag, err := pool.Exec(cmd.Context(), "delete from helix.dead_letters where id = any ($1)", ids)
				if err != nil {
					return fmt.Errorf("remove dead letters: %w", err)
				}
				return cfg.print(cmd, map[string]int64{"discarded": tag.RowsAffected()}, func(out io.Writer) error {
					_, err := fmt.Fprintf(out, "%d dead letters are removed.\n", tag.RowsAffected())
					return err
				})
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "all that the filters let through")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// letterFilter says which dead letters.
type letterFilter struct {
	reactor, table, code, since string
	limit                       int
	all                         bool

	ids []int64
	at  *time.Time
}

func (f *letterFilter) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.reactor, "reactor", "", "only this reactor's")
	cmd.Flags().StringVar(&f.table, "table", "", "only of this table, such as sync_state")
	cmd.Flags().StringVar(&f.code, "code", "", "only with this SQLSTATE, such as 22P02; none for a reactor's own errors")
	cmd.Flags().StringVar(&f.since, "since", "", "only since this time, such as 2h or 2026-11-01T12:00:00Z")
}

// parse reads the filters, and ids where they are arguments. any lets it be all
// without being asked for.
func (f *letterFilter) parse(args []string, any bool) error {
	for _, arg := range args {
		var id int64
		if _, err := fmt.Sscanf(arg+"\n", "%d\n", &id); err != nil || id <= 0 {
			return &usageError{fmt.Errorf("%q: it takes the id of a dead letter, a number; see helixd dlq list", arg)}
		}
		f.ids = append(f.ids, id)
	}
	filtered := f.reactor != "" || f.table != "" || f.code != "" || f.since != ""
	switch {
	case len(f.ids) > 0 && (f.all || filtered):
		return &usageError{errors.New("give ids, or --all with filters, and not both")}
	case len(f.ids) == 0 && !f.all && !any:
		return &usageError{errors.New("say which: ids, or --all, which filters narrow")}
	case any && f.limit < 0:
		return &usageError{fmt.Errorf("--limit %d: it takes how many to print", f.limit)}
	}
	if f.table != "" && !strings.Contains(f.table, ".") {
		f.table = "public." + f.table
	}
	if f.since != "" {
		at, err := parseSince(f.since)
		if err != nil {
			return err
		}
		f.at = &at
	}
	return nil
}

// letterWhere is the condition that the filters make, of args' arguments.
const letterWhere = ` slot = $1 and ($2::text = '' or reactor = $2) and ($3::text = '' or table_name = $3)
	and ($4::text = '' or coalesce(sqlstate, 'none') = $4) and ($5::timestamptz is null or coalesce(retried_at, created_at) >= $5)`

func (f *letterFilter) args(cfg *config) []any {
	return []any{cfg.slot, f.reactor, f.table, f.code, f.at}
}

// find gives the letters' ids; one that is named must be there.
func (f *letterFilter) find(ctx context.Context, cfg *config, pool *pgxpool.Pool) ([]int64, error) {
	sql, args := "select id from helix.dead_letters where"+letterWhere+" order by id", f.args(cfg)
	if len(f.ids) > 0 {
		sql, args = "select id from helix.dead_letters where slot = $1 and id = any ($2) order by id", []any{cfg.slot, f.ids}
	}
	rows, err := pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, databaseError(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	if len(found) == 0 && len(f.ids) > 0 {
		return nil, fmt.Errorf("there is no dead letter of slot %q with this id; see: helixd dlq list", cfg.slot)
	}
	return found, nil
}
