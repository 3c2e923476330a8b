package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors/recall"
	"github.com/helixd/helixd/reactors/skills"
)

// recallSettings are those of the reactor recall: as they were given, and read.
type recallSettings struct {
	budget, schedule string

	config recall.Config
}

func (s *recallSettings) settings() []setting {
	return []setting{
		{"vector-index-budget", "HELIX_VECTOR_INDEX_BUDGET", "2GB", "size of the vector index of memories; at it, the least retained are compared one by one", &s.budget},
		{"maintenance-schedule", "HELIX_MAINTENANCE_SCHEDULE", "0 30 3 * * *", "when tables are vacuumed and a bloated vector index is made anew: six fields of cron, in UTC, or off", &s.schedule},
	}
}

func (s *recallSettings) parse() error {
	var err error
	if s.config.Budget, err = parseBudget(s.budget); err != nil || s.config.Budget < 1<<20 {
		return &usageError{fmt.Errorf("--vector-index-budget %q: it takes a size from 1MB, such as 2GB", s.budget)}
	}
	if s.schedule == "off" {
		return nil
	}
	if s.config.Schedule, err = recall.ParseSchedule(s.schedule); err != nil {
		return &usageError{fmt.Errorf("--maintenance-schedule %q: %w; it takes six fields, such as 0 30 3 * * *, or off", s.schedule, err)}
	}
	return nil
}

// parseBudget reads gigabytes, too, of which nothing else has many.
func parseBudget(text string) (int64, error) {
	number, ok := strings.CutSuffix(text, "GB")
	if !ok {
		return skills.ParseBytes(text)
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err == nil && (n < 0 || n > math.MaxInt32) {
		err = strconv.ErrRange
	}
	return n << 30, err
}

func maintainCommand(cfg *config) *cobra.Command {
	return &cobra.Command{
		Use:   "maintain",
		Short: "Vacuum tables, and make the vector index where it is missing or bloated, now",
		Long: "maintain does once what helixd run does every night by HELIX_MAINTENANCE_SCHEDULE, and ends: it vacuums\n" +
			"helixd's tables where rows have died, makes the vector index of memories where it is missing, keeps it to\n" +
			"its budget, and makes it anew where much of it is empty. Apps write meanwhile. It may be interrupted at any\n" +
			"time, and run again.",
		Example: "  helixd maintain\n  helixd maintain --vector-index-budget 4GB",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return withPool(ctx, cfg, func(pool *pgxpool.Pool) error {
				service := recall.NewService(cfg.recall.config, pool, cfg.logger())
				ran, err := service.Maintain(ctx)
				switch {
				case err != nil:
					return err
				case !ran:
					return errors.New("another helixd maintains this project just now")
				}
				_, details := service.Details()
				return cfg.print(cmd, details, func(out io.Writer) error {
					fmt.Fprintf(out, "the vector index has %.1f of %.0f MB; about %d memories are in it, and %d out of it\n",
						float64(details["index_bytes"].(int64))/(1<<20), float64(details["budget_bytes"].(int64))/(1<<20), details["indexed"], details["unindexed"])
					if reason, ok := details["reason"]; ok {
						fmt.Fprintln(out, reason)
					}
					return nil
				})
			})
		},
	}
}
