package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors/synthesis/analysis"
	"github.com/helixd/helixd/reactors/usage"
)

// analyze orders an analysis by hand.
type analyze struct {
	user    uuid.UUID
	order   analysis.Order
	dryRun  bool
	timeout time.Duration
}

func analyzeCommand(cfg *config) *cobra.Command {
	var a analyze
	var user, file, since, until string
	cmd := &cobra.Command{
		Use:   "analyze --user UUID --type TYPE",
		Short: "Order an analysis for one user, or show what it would send",
		Long: "analyze inserts a row into memory_synthesis_jobs for a user, as an app does, and follows it until it is done;\n" +
			"helixd run analyses. --type is one of\n  " + strings.Join(analysis.Kinds(), ", ") + ".\n\n" +
			"With --dry-run it inserts nothing and asks nobody, and prints each request that would be made, exactly as it\n" +
			"would leave, but for the key; how many tokens that is at most and what it would cost; and how much was\n" +
			"redacted. Where nothing would be sent it says why. Settings are those of this process: give it the ones that\n" +
			"helixd run has.",
		Example: "  helixd analyze --user 6f1c2a52-0c5f-4a57-9a9f-0a3f5a1d7c11 --type prospective_self --dry-run\n" +
			"  helixd analyze --user 6f1c2a52-0c5f-4a57-9a9f-0a3f5a1d7c11 --type full_synthesis --since 2026-01-01\n" +
			"  helixd analyze --user 6f1c2a52-0c5f-4a57-9a9f-0a3f5a1d7c11 --type emotional_patterns --conversations talks.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if user == "" {
				return &usageError{fmt.Errorf("--user: say for whom, by the id in auth.users")}
			}
			var err error
			if a.user, err = parseUser(user); err != nil {
				return err
			}
			if !analysis.Known(a.order.Type) {
				return &usageError{fmt.Errorf("--type %q: it takes %s", a.order.Type, strings.Join(analysis.Kinds(), ", "))}
			}
			if a.order.Since, err = parseMoment("since", since); err != nil {
				return err
			}
			if a.order.Until, err = parseMoment("until", until); err != nil {
				return err
			}
			if a.order.Since != nil && a.order.Until != nil && !a.order.Since.Before(*a.order.Until) {
				return &usageError{errors.New("--until is not after --since")}
			}
			if file != "" {
				if a.order.Conversations, err = readConversations(file, cmd.InOrStdin()); err != nil {
					return err
				}
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				var there bool
				if err := pool.QueryRow(cmd.Context(), "select exists (select from auth.users where id = $1)", a.user).Scan(&there); err != nil {
					return databaseError(err)
				}
				if !there {
					return &usageError{fmt.Errorf("--user %s: there is no such user in auth.users", a.user)}
				}
				if a.dryRun {
					return a.preview(cmd.Context(), cfg, pool, cmd.OutOrStdout(), cmd.ErrOrStderr())
				}
				return a.run(cmd.Context(), pool, cmd.OutOrStdout(), cmd.ErrOrStderr())
			})
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "for whom (uuid, required)")
	cmd.Flags().StringVar(&a.order.Type, "type", "", "which analysis (required)")
	cmd.Flags().StringVar(&file, "conversations", "", `file with [{"id", "text", "timestamp"}], - for stdin (default: the user's memories)`)
	cmd.Flags().StringVar(&since, "since", "", "only of what was made then or later, such as 2026-01-31 or 2026-01-31T09:30:00Z")
	cmd.Flags().StringVar(&until, "until", "", "only of what was made before")
	cmd.Flags().BoolVar(&a.dryRun, "dry-run", false, "print what would be sent, and send nothing")
	cmd.Flags().DurationVar(&a.timeout, "timeout", 0, "how long to wait for the row's end (default: for ever)")
	return cmd
}

func parseMoment(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return &at, nil
		}
	}
	return nil, &usageError{fmt.Errorf("--%s %q: it takes a day or a time, such as 2026-01-31 or 2026-01-31T09:30:00Z", flag, text)}
}

const mostConversations = 16 << 20 // as the column takes them

func readConversations(path string, stdin io.Reader) (json.RawMessage, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--conversations: %w", err)}
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, mostConversations+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--conversations: %w", err)
	case len(raw) > mostConversations:
		return nil, &usageError{fmt.Errorf("--conversations: more than %d MB", mostConversations>>20)}
	case !json.Valid(raw) || !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")):
		return nil, &usageError{errors.New(`--conversations: it is no JSON array: it takes [{"id": "...", "text": "...", "timestamp": "2026-01-31T09:30:00Z"}]`)}
	}
	return raw, nil
}

// preview prints what would be sent.
func (a *analyze) preview(ctx context.Context, cfg *config, pool *pgxpool.Pool, out, errs io.Writer) error {
	quiet := cfg.logger().Level(5) // what is to be said is printed
	client, err := newModel(cfg, quiet)
	if err != nil {
		return err
	}
	v, err := newAnalysis(cfg, pool, client, quiet).Preview(ctx, a.user, a.order)
	var bad *analysis.Error
	if errors.As(err, &bad) {
		return &usageError{errors.New(bad.Message)}
	}
	if err != nil {
		return err
	}
	if v.Reason != "" {
		fmt.Fprintf(errs, "Nothing would be sent. %s\nThe provider would be: %s, for %s.\n", v.Reason, v.Provider, count(v.Texts, "text"))
		return nil
	}
	var input, output int64
	asked := 0
	for i, r := range v.Requests {
		if r.Kept {
			fmt.Fprintf(errs, "Request %d of %d was answered before, and would not be made again:\n", i+1, len(v.Requests))
		} else {
			input, output, asked = input+r.Input, output+r.Output, asked+1
		}
		var body bytes.Buffer
		if err := json.Indent(&body, r.Body, "", "  "); err != nil {
			return fmt.Errorf("print a request: %w", err)
		}
		if _, err := fmt.Fprintf(out, "%s %s\n%s\n\n", r.Method, r.URL, visible(body.String())); err != nil {
			return err
		}
	}
	if v.Merges {
		fmt.Fprintln(errs, "Then a request, or more where they do not fit into one, that merges what these are answered: it follows from the answers.")
	}
	sent := count(v.Sent, "text")
	if v.Sent < v.Texts {
		sent = fmt.Sprintf("%d of %s, the most telling of each group,", v.Sent, count(v.Texts, "text"))
	}
	if asked == 0 {
		fmt.Fprintf(errs, "Nothing would be sent: %s gave all answers before.\n", v.Provider)
		return nil
	}
	fmt.Fprintf(errs, "%s would be sent to %s in %s: at most %d tokens of input and %d of output%s.\n", sent, v.Provider, count(asked, "request"),
		input, output, a.cost(cfg.budget.prices, v.Provider, input, output))
	if v.Cut > 0 {
		fmt.Fprintf(errs, "Of %s only the beginning is sent.\n", count(v.Cut, "text"))
	}
	var redacted []string
	for _, kind := range slices.Sorted(maps.Keys(v.Redacted)) {
		redacted = append(redacted, fmt.Sprintf("%d %s", v.Redacted[kind], kind))
	}
	if len(redacted) == 0 {
		redacted = []string{"nothing"}
	}
	fmt.Fprintf(errs, "Redacted: %s.\n", strings.Join(redacted, ", "))
	return nil
}

// visible is the same JSON without what a terminal would obey, or not show: a user's
// text is in it, and JSON itself escapes no more than the first of the controls.
func visible(raw string) string {
	var b strings.Builder
	for _, r := range raw {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, "\\u%04x", unit)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cost says what tokens come to, where prices are known.
func (a *analyze) cost(prices usage.Prices, provider string, input, output int64) string {
	found := prices.Of(usage.PurposeAnalysis, provider)
	if found == nil {
		return "; HELIX_LLM_PRICE, which says what they cost, is not set for it"
	}
	in, err1 := strconv.ParseFloat(found.Input, 64)
	of, err2 := strconv.ParseFloat(found.Output, 64)
	if errors.Join(err1, err2) != nil {
		return ""
	}
	return fmt.Sprintf(", %.4f USD", (in*float64(input)+of*float64(output))/1e6)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// run inserts the row as an app would, without helixd's marker, and follows it.
func (a *analyze) run(ctx context.Context, pool *pgxpool.Pool, out, errs io.Writer) error {
	var conversations *string
	if a.order.Conversations != nil {
		text := string(a.order.Conversations)
		conversations = &text
	}
	var id uuid.UUID
	err := pool.QueryRow(ctx, `insert into public.memory_synthesis_jobs (id, user_id, synthesis_type, conversations, time_range)
		values (gen_random_uuid(), $1, $2, $3::jsonb, case when $4::timestamptz is not null or $5::timestamptz is not null then tstzrange($4, $5, '[)') end) returning id`,
		a.user, a.order.Type, conversations, a.order.Since, a.order.Until).Scan(&id)
	if err != nil {
		return databaseError(err)
	}
	fmt.Fprintf(errs, "memory_synthesis_jobs %s\n", id)
	if _, err := analysisIdle.worked(ctx, pool, errs); err != nil {
		return err
	}
	if a.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.timeout)
		defer cancel()
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for {
		var status, provider, summary, code, message string
		var progress float64
		err := pool.QueryRow(ctx, `select status, progress, coalesce(provider, ''), coalesce(summary, ''), coalesce(error ->> 'code', ''), coalesce(error ->> 'message', '')
			from public.memory_synthesis_jobs where id = $1`, id).Scan(&status, &progress, &provider, &summary, &code, &message)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return errors.New("the row was deleted")
		case ctx.Err() != nil:
			waited := "ended"
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				waited = fmt.Sprintf("waited for %s", a.timeout)
			}
			return fmt.Errorf("%s: the row is %s, and goes on without this command", waited, last)
		case err != nil:
			return databaseError(err)
		}
		now := fmt.Sprintf("%s, %.0f%%", status, 100*progress)
		if message != "" {
			now += ": " + code + ": " + message
		}
		if now != last {
			fmt.Fprintln(errs, now)
			last = now
		}
		switch status {
		case "done":
			return a.print(ctx, pool, id, provider, summary, out)
		case "failed":
			return errors.New(message)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// print shows what was found.
func (a *analyze) print(ctx context.Context, pool *pgxpool.Pool, id uuid.UUID, provider, summary string, out io.Writer) error {
	fmt.Fprintf(out, "%s\n\nprovider: %s\n", summary, provider)
	rows, err := pool.Query(ctx, `select p.pattern_type, p.description, coalesce(p.layer, 0), cardinality(p.evidence), p.confidence, coalesce(r.recommendation, '')
		from public.memory_patterns p left join public.synthesis_recommendations r on r.pattern_id = p.id where p.job_id = $1
		order by p.confidence desc, p.pattern_type, p.description`, id)
	if err != nil {
		return databaseError(err)
	}
	var typ, description, advice string
	var layer, evidence int
	var confidence float64
	_, err = pgx.ForEachRow(rows, []any{&typ, &description, &layer, &evidence, &confidence, &advice}, func() error {
		fmt.Fprintf(out, "%.2f  %-20s  layer %d  %4s  %s\n", confidence, typ, layer, count(evidence, "text"), description)
		if advice != "" {
			fmt.Fprintf(out, "      → %s\n", advice)
		}
		return nil
	})
	if err != nil {
		return databaseError(err)
	}
	if rows.CommandTag().RowsAffected() == 0 {
		fmt.Fprintln(out, "No pattern was found.")
	}
	return nil
}

var analysisIdle = idle{
	reactor: "analysis",
	absent:  "no helixd works jobs: start helixd run, and the row, which waits, is analysed",
	older:   "the helixd that runs is older than this one and does not analyse; the row waits",
	ill:     "the provider does not answer at the moment",
}
