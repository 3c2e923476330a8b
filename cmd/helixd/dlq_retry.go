package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors"
)

func dlqRetryCommand(cfg *config) *cobra.Command {
	var f letterFilter
	var noWait bool
	cmd := &cobra.Command{
		Use:   "retry ID… | --all",
		Short: "Give changes to their reactors again",
		Long: "retry has the helixd that leads give each change to its reactor again, with the row as it is now. A letter goes\n" +
			"in the transaction in which it succeeds, and when its row is gone; it stays, with the new error, when it fails\n" +
			"again. With --all it takes all that the filters let through.\n\n" +
			"Exit status: 0 none is left of them; 1 failed; 2 wrong usage; 3 some stay.",
		ValidArgsFunction: letterIDs(cfg, 0),
		Example:           "  helixd dlq retry 17\n  helixd dlq retry --all --reactor sync --since 24h",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.parse(args, false); err != nil {
				return err
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				report, err := retryLetters(cmd.Context(), cfg, pool, &f, noWait, cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if err := cfg.print(cmd, report, report.write); err != nil {
					return err
				}
				if report.Waited && len(report.Left) > 0 {
					return errFindings
				}
				return nil
			})
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "all that the filters let through")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until they are applied")
	return cmd
}

type retryReport struct {
	Letters int          `json:"letters"`
	Waited  bool         `json:"waited"`
	Done    int          `json:"done"`
	Left    []deadLetter `json:"left"`

	changed int64
}

func retryLetters(ctx context.Context, cfg *config, pool *pgxpool.Pool, f *letterFilter, noWait bool, errs io.Writer) (*retryReport, error) {
	ids, err := f.find(ctx, cfg, pool)
	report := &retryReport{Letters: len(ids), Waited: !noWait, Left: []deadLetter{}}
	if err != nil || len(ids) == 0 {
		return report, err
	}
	replay, err := newReplayer(ctx, cfg, pool, noWait, int64(len(ids)), errs)
	if err != nil {
		return nil, err
	}
	for portion := range slices.Chunk(ids, reactors.MaxReplay) {
		letters, err := versions(ctx, pool, portion)
		if err != nil {
			return nil, err
		}
		if err := replay.send(ctx, reactors.Replay{Letters: letters}); err != nil {
			return nil, err
		}
	}
	if noWait {
		return report, nil
	}
	o, err := replay.wait(ctx, 0)
	if err != nil {
		return nil, err
	}
	report.changed = o.Changed
	rows, err := pool.Query(ctx, "select "+letterColumns+" from helix.dead_letters where id = any ($1) order by id", ids)
	if err != nil {
		return nil, databaseError(err)
	}
	left, err := pgx.CollectRows(rows, scanLetter)
	if err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	report.Left = append(report.Left, left...)
	report.Done = len(ids) - len(left)
	return report, nil
}

// versions gives letters with the xmin of their rows, where they have one.
func versions(ctx context.Context, pool *pgxpool.Pool, ids []int64) ([]reactors.Letter, error) {
	rows, err := pool.Query(ctx, `select table_name, array_agg(id order by id) from helix.dead_letters
		where id = any ($1) and to_regclass(table_name) is not null group by table_name order by table_name`, ids)
	if err != nil {
		return nil, databaseError(err)
	}
	byTable := map[string][]int64{}
	var table string
	var of []int64
	if _, err := pgx.ForEachRow(rows, []any{&table, &of}, func() error { byTable[table] = slices.Clone(of); return nil }); err != nil {
		return nil, fmt.Errorf("read the dead letters: %w", err)
	}
	version := map[int64]string{}
	for table, of := range byTable {
		schema, name, _ := strings.Cut(table, ".")
		source := pgx.Identifier{schema, name}.Sanitize()
		rows, err := pool.Query(ctx, fmt.Sprintf(`select l.id, t.xmin::text from helix.dead_letters l join %s t on t.id = (l.key ->> 'id')::uuid
			where l.id = any ($1) and l.key ? 'id' and l.op <> 'DELETE' and %s`, source, reactors.OfTable(source)), of)
		if err != nil {
			return nil, databaseError(err)
		}
		var id int64
		var xmin string
		if _, err := pgx.ForEachRow(rows, []any{&id, &xmin}, func() error { version[id] = xmin; return nil }); err != nil {
			return nil, fmt.Errorf("find the rows of dead letters: %w", err)
		}
	}
	letters := make([]reactors.Letter, len(ids))
	for i, id := range ids {
		letters[i] = reactors.Letter{ID: id, Version: version[id]}
	}
	return letters, nil
}

func (r *retryReport) write(out io.Writer) error {
	var b strings.Builder
	switch {
	case r.Letters == 0:
		b.WriteString("There are no such dead letters.\n")
	case !r.Waited:
		fmt.Fprintf(&b, "%d dead letters are put into the inbox; the helixd that leads retries them.\n", r.Letters)
	default:
		fmt.Fprintf(&b, "%d of %d dead letters are done with.\n", r.Done, r.Letters)
	}
	if len(r.Left) > 0 {
		b.WriteString("\nThese stay:\n")
		rows := [][]string{{"id", "reactor", "table", "error", "attempts"}}
		for _, l := range r.Left {
			rows = append(rows, []string{number(l.ID), l.Reactor, l.Table, brief(l.Error), fmt.Sprint(l.Attempts)})
		}
		writeTable(&b, rows, 4)
	}
	if r.changed > 0 {
		fmt.Fprintf(&b, "\nThe rows of %d were written meanwhile, or cannot be found by their letters' keys: retry them once more.\n", r.changed)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
