package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors"
)

func dlqShowCommand(cfg *config) *cobra.Command {
	return &cobra.Command{
		Use:   "show ID",
		Short: "Show a dead letter: its error, where its row stands now, and what to do",
		Long: "show prints all of a dead letter, and of the row as it is now the columns of its keys only.\n\n" +
			"Exit status: 0 shown; 1 there is no such letter, or the database failed; 2 wrong usage.",
		Example:           "  helixd dlq show 17\n  helixd dlq show 17 --output json",
		Args:              wrongUse(cobra.ExactArgs(1)),
		ValidArgsFunction: letterIDs(cfg, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var f letterFilter
			if err := f.parse(args, false); err != nil {
				return err
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				s, err := showLetter(cmd.Context(), cfg, pool, f.ids[0])
				if err != nil {
					return err
				}
				return cfg.print(cmd, s, s.write)
			})
		},
	}
}

// shownLetter is a dead letter with its row as it is now.
type shownLetter struct {
	deadLetter
	Row  json.RawMessage `json:"row"` // null where it is gone
	Next string          `json:"next"`
}

func showLetter(ctx context.Context, cfg *config, pool *pgxpool.Pool, id int64) (*shownLetter, error) {
	rows, err := pool.Query(ctx, "select "+letterColumns+" from helix.dead_letters where id = $1 and slot = $2", id, cfg.slot)
	if err != nil {
		return nil, databaseError(err)
	}
	s := &shownLetter{Row: json.RawMessage("null")}
	s.deadLetter, err = pgx.CollectExactlyOneRow(rows, scanLetter)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("there is no dead letter %d of slot %q; see: helixd dlq list", id, cfg.slot)
	}
	if err != nil {
		return nil, fmt.Errorf("read dead letter %d: %w", id, err)
	}
	if err := s.findRow(ctx, pool); err != nil {
		return nil, err
	}
	runs := slices.ContainsFunc(allReactors(cfg), func(r reactors.Reactor) bool { return r.Name() == s.Reactor })
	s.Next = s.next(runs)
	return s, nil
}

// findRow reads the columns of the row's keys, by the columns that the letter has.
func (s *shownLetter) findRow(ctx context.Context, pool *pgxpool.Pool) error {
	schema, name, _ := strings.Cut(s.Table, ".")
	table := pgx.Identifier{schema, name}.Sanitize()
	var columns, by *string
	err := pool.QueryRow(ctx, `select string_agg(format('%L, t.%I', attname, attname), ', ' order by attnum) filter (where isKey),
			string_agg(format('t.%I::text is not distinct from $1::jsonb ->> %L', attname, attname), ' and ') filter (where $2::jsonb ? attname::text)
		from (select a.attname, a.attnum, a.attname = 'user_id' or exists (select from pg_index i
				where i.indrelid = a.attrelid and i.indisunique and a.attnum = any (i.indkey::int2[])) as isKey
			from pg_attribute a where a.attrelid = to_regclass($1::text) and a.attnum > 0 and not a.attisdropped) as a`, table, string(s.Key)).Scan(&columns, &by)
	if err != nil {
		return fmt.Errorf("read the keys of %s: %w", s.Table, err)
	}
	if columns == nil || by == nil {
		return nil
	}
	sql, args := fmt.Sprintf("select jsonb_build_object(%s)::text from %s t where %s", *columns, table, *by), []any{string(s.Key)}
	if s.UserID != nil {
		sql, args = sql+" and t.user_id = $2::text::uuid", append(args, *s.UserID)
	}
	var row string
	err = pool.QueryRow(ctx, sql+" limit 1", args...).Scan(&row)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the row of dead letter %d: %w", s.ID, err)
	}
	s.Row = json.RawMessage(row)
	return nil
}

// next says what an operator can do.
func (s *shownLetter) next(runs bool) string {
	retry := fmt.Sprintf("helixd dlq retry %d", s.ID)
	switch {
	case !runs:
		return fmt.Sprintf("The reactor %s does not run with these settings: switch it on, then %s; or discard the letter.", s.Reactor, retry)
	case string(s.Row) == "null" && s.Op != "DELETE":
		return fmt.Sprintf("The row is gone, and nothing is left to apply: %s takes the letter away.", retry)
	}
	what := "Mend what the error names in the row"
	if s.Code != nil {
		switch c := *s.Code; {
		case strings.HasPrefix(c, "23"):
			what = "The constraint that the error names is on a table which the reactor writes. Mend the row, or the constraint where it is the app's own"
		case c == "54000":
			what = "A value is too large for an index of the app's. Mend the index or the row"
		case strings.HasPrefix(c, "22"):
			what = "A value in the row cannot be used. Mend the row"
		default:
			what = "A trigger of the app's on a table which the reactor writes has raised this. Mend the trigger or the row"
		}
	}
	return fmt.Sprintf("%s, then %s. An UPDATE of the row is streamed by itself; the letter stays until it is retried or discarded.", what, retry)
}

func (s *shownLetter) write(out io.Writer) error {
	var b strings.Builder
	user, retried := "nobody", "never"
	if s.UserID != nil {
		user = *s.UserID
	}
	if s.RetriedAt != nil {
		retried = s.RetriedAt.UTC().Format("2006-01-02 15:04:05Z")
	}
	row := printable(string(s.Row))
	if row == "null" {
		row = "gone"
	}
	writeTable(&b, [][]string{
		{"letter", number(s.ID)}, {"reactor", s.Reactor}, {"change", s.Op + " of " + s.Table}, {"key", printable(string(s.Key))}, {"user", user},
		{"row now", row}, {"error", printable(s.Error)}, {"code", code(s.Code)}, {"attempts", fmt.Sprint(s.Attempts)},
		{"committed", s.CommittedAt.UTC().Format("2006-01-02 15:04:05Z") + " at " + s.LSN + ", change " + fmt.Sprint(s.Ordinal)},
		{"made", s.CreatedAt.UTC().Format("2006-01-02 15:04:05Z")}, {"retried", retried},
	}, 2)
	fmt.Fprintf(&b, "\n%s\n", s.Next)
	_, err := io.WriteString(out, b.String())
	return err
}
