package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors/usage"
)

const reportDays = 7 // without --from

func usageCommand(cfg *config) *cobra.Command {
	var from, to, by, user string
	cmd := &cobra.Command{
		Use:   "usage",
		Short: "Show what was asked of providers, and what it cost",
		Long: "usage prints the requests to language models and for embeddings, with their tokens and their cost, from\n" +
			"helix.usage, and what is used of today's budgets. Days are UTC's. It changes nothing.\n\n" +
			"Costs are known where HELIX_LLM_PRICE or HELIX_EMBEDDINGS_PRICE had a price when the request was made;\n" +
			"\"?\" stands where none had. Tokens are unsettled while a request is under way, and for good where helixd\n" +
			"was ended in the middle of one: they are the most that it may have taken, and count in budgets.\n" +
			"What deleted accounts have used stays in the totals, and is nobody's any more.\n\n" +
			"Budgets are those of this command's own settings: give it the same ones as helixd run.\n\n" +
			"Exit status: 0 shown; 1 the database failed; 2 wrong usage.",
		Example: "  helixd usage\n  helixd usage --from 2026-11-01 --to 2026-11-30 --by provider,purpose\n" +
			"  helixd usage --from today --by user\n  helixd usage --user 7b3c... --json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := parseReport(from, to, by, user, time.Now())
			if err != nil {
				return err
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				return showUsage(cmd, cfg, pool, q)
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first day, such as 2026-11-01, today or yesterday; six days before --to without it")
	cmd.Flags().StringVar(&to, "to", "today", "last day")
	cmd.Flags().StringVar(&by, "by", "day,provider", "a line for each of: "+strings.Join(usage.Columns, ", "))
	cmd.Flags().StringVar(&user, "user", "", "of this user only (uuid)")
	return cmd
}

func parseReport(from, to, by, user string, now time.Time) (q usage.Query, err error) {
	if q.To, err = parseDay("to", to, now); err != nil {
		return q, err
	}
	q.From = q.To.AddDate(0, 0, 1-reportDays)
	if from != "" {
		if q.From, err = parseDay("from", from, now); err != nil {
			return q, err
		}
	}
	if q.From.After(q.To) {
		return q, &usageError{fmt.Errorf("--from %s is after --to %s", q.From.Format(time.DateOnly), q.To.Format(time.DateOnly))}
	}
	for name := range strings.SplitSeq(by, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(usage.Columns, name) || slices.Contains(q.By, name) {
			return q, &usageError{fmt.Errorf("--by %q: it takes some of %s, each once, with commas between", by, strings.Join(usage.Columns, ", "))}
		}
		q.By = append(q.By, name)
	}
	if user != "" {
		q.User, err = parseUser(user)
	}
	return q, err
}

func parseDay(flag, text string, now time.Time) (time.Time, error) {
	now = now.UTC().Truncate(24 * time.Hour)
	switch text {
	case "today":
		return now, nil
	case "yesterday":
		return now.AddDate(0, 0, -1), nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1 {
		return time.Time{}, &usageError{fmt.Errorf("--%s %q: it takes a day, such as 2026-11-01, today or yesterday", flag, text)}
	}
	return day, nil
}

// usageReport is what usage prints.
type usageReport struct {
	From   string        `json:"from"`
	To     string        `json:"to"`
	User   *uuid.UUID    `json:"user,omitempty"`
	Lines  []usage.Line  `json:"lines"`
	Total  usage.Line    `json:"total"`
	Limits []usage.Limit `json:"limits_today"`
}

func showUsage(cmd *cobra.Command, cfg *config, pool *pgxpool.Pool, q usage.Query) error {
	ctx := cmd.Context()
	lines, total, err := usage.Report(ctx, pool, q)
	if err != nil {
		return err
	}
	limits, err := newLedger(cfg, pool).Limits(ctx, q.User)
	if err != nil {
		return err
	}
	report := usageReport{q.From.Format(time.DateOnly), q.To.Format(time.DateOnly), nil, lines, total, limits}
	if q.User != uuid.Nil {
		report.User = &q.User
	}
	return cfg.print(cmd, report, func(out io.Writer) error {
		var text strings.Builder
		if len(lines) == 0 {
			fmt.Fprintf(&text, "Nothing was asked of a provider from %s to %s%s.\n", report.From, report.To, ofUser(q.User))
		} else {
			writeUsage(&text, q, lines, total)
		}
		writeLimits(&text, q.User, limits)
		_, err := io.WriteString(out, text.String())
		return err
	})
}

func ofUser(user uuid.UUID) string {
	if user == uuid.Nil {
		return ""
	}
	return " for user " + user.String()
}

func writeUsage(out *strings.Builder, q usage.Query, lines []usage.Line, total usage.Line) {
	unsettled := total.Unsettled > 0
	var rows [][]string
	head := slices.Clone(q.By)
	head = append(head, "requests", "input", "output")
	if unsettled {
		head = append(head, "unsettled")
	}
	rows = append(rows, append(head, "USD"))
	for _, l := range append(slices.Clip(lines), total) {
		key := map[string]string{"day": l.Day, "provider": l.Provider, "user": l.User, "purpose": l.Purpose}
		var row []string
		for _, c := range q.By {
			row = append(row, printable(key[c]))
		}
		if len(rows) > len(lines) {
			row[0] = "total"
		}
		row = append(row, number(l.Requests), number(l.Input), number(l.Output))
		if unsettled {
			row = append(row, number(l.Unsettled))
		}
		rows = append(rows, append(row, cost(l)))
	}
	writeTable(out, rows, len(q.By))
	if total.Unpriced > 0 {
		fmt.Fprintf(out, "\nOf %d tokens no price is known: set HELIX_LLM_PRICE, such as anthropic=3/15, or HELIX_EMBEDDINGS_PRICE, such as 0.02;\nit holds for what is asked from then on.\n", total.Unpriced)
	}
	if unsettled {
		fmt.Fprintf(out, "\nUnsettled are the most tokens that requests may have taken which are under way, or whose end helixd did not see.\n")
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// cost is in USD; of what has a price in part, the least.
func cost(l usage.Line) string {
	if l.Cost == nil {
		return "?"
	}
	usd, err := l.Cost.Float64()
	if err != nil {
		return l.Cost.String()
	}
	least := ""
	if l.Unpriced > 0 {
		least = ">"
	}
	return least + strconv.FormatFloat(usd, 'f', 4, 64)
}

// printable keeps a provider's name from writing on the terminal what it likes.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// writeTable lines up rows: the first columns are words, the others numbers.
func writeTable(out *strings.Builder, rows [][]string, words int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < words {
				line.WriteString(cell + pad)
			} else {
				line.WriteString(pad + cell)
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

func writeLimits(out *strings.Builder, user uuid.UUID, limits []usage.Limit) {
	if len(limits) == 0 {
		return
	}
	fmt.Fprintf(out, "\nOf today's budgets, which stop at 90%% and begin anew at 00:00 UTC:\n")
	rows := [][]string{{"setting", "of", "used", "stop", "budget", ""}}
	for _, l := range limits {
		of := "all users"
		switch {
		case l.Scope == usage.ScopeUser && user != uuid.Nil:
			of = "this user"
		case l.Scope == usage.ScopeUser:
			of = "who used most"
		}
		state := strconv.FormatInt(int64(float64(l.Used)/float64(l.Limit)*100), 10) + "%"
		if l.Used >= l.Stop {
			state = "spent"
		}
		rows = append(rows, []string{l.Setting, of, number(l.Used), number(l.Stop), number(l.Limit), state})
	}
	writeTable(out, rows, 2)
}
