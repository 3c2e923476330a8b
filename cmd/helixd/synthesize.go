package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors/synthesis"
)

// synthesize runs a synthesis by hand.
type synthesize struct {
	user       uuid.UUID
	limit      int
	confidence float64
	dryRun     bool
}

func synthesizeCommand(cfg *config) *cobra.Command {
	var s synthesize
	var user string
	cmd := &cobra.Command{
		Use:   "synthesize --user UUID",
		Short: "Find the patterns in one user's memories now, and print them",
		Long: "synthesize finds the patterns in a user's newest memories, as helixd run does when they change, writes them\n" +
			"to memory_synthesis and prints them, the surest first. The user's row of synthesis_settings says how many\n" +
			"memories, how sure and how large a pattern must be; --limit and --confidence say otherwise for this run. The\n" +
			"next change of the user's memories makes helixd run do it again by the user's own settings.\n\n" +
			"It clusters all memories afresh, where helixd run goes on from the last time: memories between two clusters\n" +
			"may lie in the other one. With --json it prints an object a line, with the details that\n" +
			"say why it is a pattern, and its members.\n\n" +
			"It may run beside helixd run: it waits while the user's memories are synthesised there.",
		Example: "  helixd synthesize --user 6f1c2a52-0c5f-4a57-9a9f-0a3f5a1d7c11 --dry-run\n" +
			"  helixd synthesize --user 6f1c2a52-0c5f-4a57-9a9f-0a3f5a1d7c11 --limit 500 --confidence 0.5\n" +
			"  helixd synthesize --user 6f1c2a52-0c5f-4a57-9a9f-0a3f5a1d7c11 --synthesis-method hdbscan --json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if user == "" {
				return &usageError{fmt.Errorf("--user: say whose memories, by the id in auth.users")}
			}
			var err error
			if s.user, err = parseUser(user); err != nil {
				return err
			}
			if cmd.Flags().Changed("limit") && s.limit < 1 || s.limit > cfg.synthesis.config.MostMemories {
				return &usageError{fmt.Errorf("--limit %d: it takes a number from 1 to %d (--synthesis-max-memories)", s.limit, cfg.synthesis.config.MostMemories)}
			}
			if cmd.Flags().Changed("confidence") && !(s.confidence >= 0 && s.confidence <= 1) {
				return &usageError{fmt.Errorf("--confidence %g: it takes a number from 0 to 1", s.confidence)}
			}
			o := synthesis.Overrides{MemoryLimit: s.limit}
			if cmd.Flags().Changed("confidence") {
				o.MinConfidence = &s.confidence
			}
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				return s.run(cmd.Context(), cfg, pool, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
			})
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "whose memories (uuid, required)")
	cmd.Flags().IntVar(&s.limit, "limit", 0, "how many of the newest memories (default: the user's memory_limit)")
	cmd.Flags().Float64Var(&s.confidence, "confidence", 0, "of the least sure pattern, 0 to 1 (default: the user's min_confidence)")
	cmd.Flags().BoolVar(&s.dryRun, "dry-run", false, "print the patterns and write none")
	return cmd
}

func (s *synthesize) run(ctx context.Context, cfg *config, pool *pgxpool.Pool, o synthesis.Overrides, out, errs io.Writer) error {
	var there bool
	if err := pool.QueryRow(ctx, "select exists (select from auth.users where id = $1)", s.user).Scan(&there); err != nil {
		return databaseError(err)
	}
	if !there {
		return &usageError{fmt.Errorf("--user %s: there is no such user in auth.users", s.user)}
	}
	service := synthesis.NewService(cfg.synthesis.config, pool, cfg.logger())
	if err := service.Open(ctx); err != nil {
		return databaseError(err)
	}
	began := time.Now()
	patterns, memories, err := service.Once(ctx, s.user, o, s.dryRun)
	if err != nil {
		return err
	}
	for i := range patterns {
		if err := s.print(cfg, out, &patterns[i]); err != nil {
			return err
		}
	}
	done := "written to memory_synthesis"
	if s.dryRun {
		done = "not written"
	}
	found := "1 pattern"
	if len(patterns) != 1 {
		found = fmt.Sprintf("%d patterns", len(patterns))
	}
	fmt.Fprintf(errs, "%s in %d memories, %s, in %s.\n", found, memories, done, time.Since(began).Round(time.Millisecond))
	if len(patterns) == 0 {
		fmt.Fprintln(errs, "A pattern takes at least min_cluster_size memories and a confidence of min_confidence: --confidence 0 shows all.")
	}
	return nil
}

func (s *synthesize) print(cfg *config, out io.Writer, p *synthesis.Pattern) error {
	if cfg.output == outputJSON {
		return json.NewEncoder(out).Encode(map[string]any{"pattern_type": p.Type, "confidence_score": p.Confidence,
			"synthesis_content": p.Content, "memory_ids": p.Members, "details": p.Details})
	}
	_, err := fmt.Fprintf(out, "%.2f  %-18s  %4d memories  %s\n", p.Confidence, p.Type, len(p.Members), strings.Join(slices.Collect(strings.Lines(p.Content)), " "))
	return err
}
