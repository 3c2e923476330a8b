package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/reactors/embedding"
	"github.com/helixd/helixd/reactors/usage"
	"github.com/helixd/helixd/replication/stream"
)

func backfillEmbeddingsCommand(cfg *config) *cobra.Command {
	var b embeddingBackfill
	var user string
	cmd := &cobra.Command{
		Use:   "embeddings",
		Short: "Have memories that lack an embedding embedded",
		Long: "backfill embeddings lets memories wait for an embedding that have none, or one of what their content was\n" +
			"before, and wait for none yet: those that were there before helixd, and those that were set aside, refused\n" +
			"too often. What is written while it runs with HELIX_EMBEDDINGS=off waits by itself once it runs with on. helixd\n" +
			"run embeds what waits, with its own provider, rate and budgets; what a user has opted out of waits. The newest\n" +
			"are first, and an embedding of the app's own is never replaced.\n\n" +
			"It goes in steps of 1,000: the next one begins once fewer wait. With --rate it lets so many wait a minute. It\n" +
			"may be ended at any time and run again, as often as you like: what waits, or has an embedding, is not asked\n" +
			"for again. Where no helixd runs, all wait until one does.\n\n" +
			"--dry-run says how many there are, what they would cost, and changes nothing. Its tokens are counted without\n" +
			"the provider, and are rather too many.",
		Example: "  helixd backfill embeddings --dry-run\n  helixd backfill embeddings --max 10000 --rate 600",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("max") && (b.max < 1 || b.max > math.MaxInt32) {
				return &usageError{fmt.Errorf("--max %d: it takes how many memories to have embedded, 1 or more", b.max)}
			}
			if cmd.Flags().Changed("rate") && (b.rate < 1 || b.rate > math.MaxInt32) {
				return &usageError{fmt.Errorf("--rate %d: it takes memories a minute, 1 or more", b.rate)}
			}
			if !cfg.embedding.on() {
				return &usageError{fmt.Errorf("--embeddings off: set HELIX_EMBEDDINGS to on, for helixd run, too")}
			}
			if user != "" {
				id, err := parseUser(user)
				if err != nil {
					return err
				}
				b.user = &id
			}
			b.price = cfg.budget.prices.Of(usage.PurposeEmbedding, llmOpenAI+" "+cfg.embedding.model)
			return withPool(cmd.Context(), cfg, func(pool *pgxpool.Pool) error {
				return b.run(cmd, cfg, pool)
			})
		},
	}
	cmd.Flags().Int64Var(&b.max, "max", 0, "how many memories, at most (default: all)")
	cmd.Flags().Int64Var(&b.rate, "rate", 0, "memories a minute (default: as fast as helixd run embeds them)")
	cmd.Flags().StringVar(&user, "user", "", "of this user only (uuid)")
	cmd.Flags().BoolVar(&b.dryRun, "dry-run", false, "tell what would be done")
	return cmd
}

type embeddingBackfill struct {
	max, rate int64
	user      *uuid.UUID
	dryRun    bool
	price     *usage.Price // nil: none is known
}

const (
	embeddingStep  = 1000             // memories that may wait before more do
	embeddingStuck = 2 * time.Minute  // without one that is embedded
	embeddingLook  = time.Second / 10 // between two looks at what waits
)

// embeddingReport is what backfill embeddings prints.
type embeddingReport struct {
	DryRun  bool   `json:"dry_run"`
	Lacking int64  `json:"memories"` // without an embedding, that wait for none yet
	Waiting int64  `json:"waiting"`  // beside them; in the end, where some were let wait
	Chosen  int64  `json:"chosen"`
	Tokens  int64  `json:"tokens"` // of those chosen, rather too many
	Price   string `json:"usd_per_million_tokens,omitempty"`
	Done    *int64 `json:"done,omitempty"` // were let wait now
}

func (b *embeddingBackfill) run(cmd *cobra.Command, cfg *config, pool *pgxpool.Pool) error {
	ctx, errs := cmd.Context(), cmd.ErrOrStderr()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return databaseError(err)
	}
	defer conn.Release()
	var e embedding.Estimate
	err = pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		var column bool
		if err := tx.QueryRow(ctx, "select exists (select from pg_attribute where attrelid = 'public.memories'::regclass and attname = 'embedding' and not attisdropped)").Scan(&column); err != nil {
			return databaseError(err)
		}
		if !column {
			return &stream.SetupError{Problem: "memories has no column embedding", Hint: "Install the extension vector (dashboard → Database → Extensions), then run: helixd migrate"}
		}
		e, err = embedding.Appraise(ctx, tx, b.user, b.max)
		return err
	})
	if err != nil {
		return err
	}
	report := &embeddingReport{DryRun: b.dryRun, Lacking: e.Memories, Waiting: e.Waiting, Chosen: e.Chosen, Tokens: e.Tokens}
	if b.price != nil {
		report.Price = b.price.Input
	}
	// People read what it costs before it begins, and programs one value in the end.
	if cfg.output != outputJSON {
		out := cmd.OutOrStdout()
		fmt.Fprintf(out, "%d memories lack an embedding; %d more wait for one already.\n", e.Memories, e.Waiting)
		if e.Chosen > 0 {
			fmt.Fprintf(out, "%d of them, the newest, are some %d tokens%s.\n", e.Chosen, e.Tokens, b.cost(e.Tokens))
		}
	}
	if b.dryRun || e.Chosen == 0 && e.Waiting == 0 {
		return cfg.print(cmd, report, report.write)
	}
	working, err := embeddingIdle.worked(ctx, conn, errs)
	if err != nil {
		return err
	}
	if e.Chosen > 0 { // else, whether those that wait are seen to has been said
		if err := b.enqueue(ctx, pool, conn.Conn(), report, working, errs); err != nil {
			return err
		}
	}
	return cfg.print(cmd, report, report.write)
}

// write says what was done, if anything was.
func (r *embeddingReport) write(out io.Writer) error {
	if r.Done == nil {
		return nil
	}
	_, err := fmt.Fprintf(out, "%d memories were let wait for an embedding; %d wait now, and helixd run embeds them. To see how many are left, run this with --dry-run.\n", *r.Done, r.Waiting)
	return err
}

// enqueue lets the memories wait, step by step.
func (b *embeddingBackfill) enqueue(ctx context.Context, pool *pgxpool.Pool, conn *pgx.Conn, report *embeddingReport, working bool, errs io.Writer) error {
	jobs, err := reactors.NewJobs(pool, false, nil)
	if err != nil {
		return err
	}
	list, err := embedding.Choose(ctx, conn, b.user, b.max)
	if err != nil {
		return err
	}
	step := embeddingStep
	var pause time.Duration
	if b.rate > 0 {
		step = int(min(max(b.rate/6, 1), embeddingStep)) // a few seconds' worth
		pause = time.Duration(step) * time.Minute / time.Duration(b.rate)
	}
	var done int64
	for {
		began := time.Now()
		n, err := list.Next(ctx, jobs, step)
		if err != nil {
			return err
		}
		if done += int64(n); n == 0 || n < step {
			break
		}
		fmt.Fprintf(errs, "%d of %d\n", done, report.Chosen)
		if working {
			if err := waitForEmbeddings(ctx, conn, b.user, step); err != nil {
				return err
			}
		}
		if err := sleepUntil(ctx, began.Add(pause)); err != nil {
			return err
		}
	}
	report.Done = &done
	if report.Waiting, err = get1[int64](ctx, conn, "select count(*) from helix.embedding_work"); err != nil {
		return databaseError(err)
	}
	return nil
}

// cost is what so many tokens cost, where a price is known.
func (b *embeddingBackfill) cost(tokens int64) string {
	if b.price == nil {
		return "; HELIX_EMBEDDINGS_PRICE, which says what they cost, is not set"
	}
	price, err := strconv.ParseFloat(b.price.Input, 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", %.2f USD at %s a million", float64(tokens)/1e6*price, b.price.Input)
}

// waitForEmbeddings waits until fewer than most memories wait, of a user or of any.
// Those of users who have opted out do not count, nor those that are set aside: they
// may wait for as long as they like.
func waitForEmbeddings(ctx context.Context, conn *pgx.Conn, user *uuid.UUID, most int) error {
	least, moved := int64(math.MaxInt64), time.Now()
	for {
		n, err := get1[int64](ctx, conn, `select count(*) from helix.embedding_work w join helix.embedding_queues q on q.user_id = w.user_id
			where (w.retry_at is null or w.retry_at <= now()) and q.reason ->> 'code' is distinct from $1 and ($2::uuid is null or w.user_id = $2)`,
			embedding.CodeOptedOut, user)
		switch {
		case err != nil:
			return databaseError(err)
		case n < int64(most):
			return nil
		case n < least:
			least, moved = n, time.Now()
		case time.Since(moved) > embeddingStuck:
			why, err := get1[string](ctx, conn, `select coalesce((select details ->> 'reason' from public.helix_status where reactor = 'embedding'),
				(select reason ->> 'message' from helix.embedding_queues where reason ->> 'code' <> 'opted_out' limit 1), 'helixd run does not say why')`)
			if err != nil {
				return databaseError(err)
			}
			return &stream.SetupError{Problem: fmt.Sprintf("no memory was embedded for %s: %s", embeddingStuck, why),
				Hint: fmt.Sprintf("What waits goes on by itself, %d memories; run this again for the others.", n)}
		}
		if err := sleepUntil(ctx, time.Now().Add(embeddingLook)); err != nil {
			return err
		}
	}
}

var embeddingIdle = idle{
	reactor: "embedding",
	absent:  "helixd run is not running; start it, and the memories, which wait, are embedded",
	older:   "the helixd that runs does not embed: it is older than this one, or has HELIX_EMBEDDINGS=off; the memories wait",
	ill:     "the memories wait, since embedding is not healthy",
}

func sleepUntil(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// get1 reads one value.
func get1[T any](ctx context.Context, conn *pgx.Conn, sql string, args ...any) (v T, err error) {
	err = conn.QueryRow(ctx, sql, args...).Scan(&v)
	return v, err
}
