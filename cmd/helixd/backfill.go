package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
)

// predatesHelixd is the code of recordings that were there before helixd was.
const predatesHelixd = "predates_helixd"

func backfillCommand(cfg *config) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backfill",
		Short: "Have what was there before helixd transcribed or embedded, at most so much",
		Long: "backfill buys of a provider what an adoption does not buy by itself: transcripts of older recordings\n" +
			"(backfill voice), and embeddings of older memories (backfill embeddings).",
		Example: "  helixd backfill voice --max 100 --dry-run\n  helixd backfill embeddings --dry-run",
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{errors.New("say what to backfill: voice or embeddings")}
			}
			return &usageError{fmt.Errorf("%q has nothing to backfill by hand; there is: voice, embeddings", args[0])}
		},
	}
	cmd.AddCommand(backfillVoiceCommand(cfg), showSettings(backfillEmbeddingsCommand(cfg), "embeddings"))
	return cmd
}

func backfillVoiceCommand(cfg *config) *cobra.Command {
	var b backfill
	var user string
	cmd := &cobra.Command{
		Use:   "voice --max N",
		Short: "Have old recordings transcribed, at most so many",
		Long: "backfill voice sets failed recordings to pending, the newest first, so that helixd run transcribes them. A\n" +
			"project that adopts helixd has its older recordings without a transcript as failed with predates_helixd:\n" +
			"an adoption buys nothing by itself. --max is how many recordings you buy now; the provider bills their length,\n" +
			"which helixd does not know before it has decoded them. It asks nothing; with --dry-run it changes nothing.\n\n" +
			"With --code it takes those that failed with another code, as long as their error says that it is retryable.",
		Example: "  helixd backfill voice --max 100 --dry-run\n  helixd backfill voice --max 100\n  helixd backfill voice --max 1000 --code provider_unavailable",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if b.max < 1 || b.max > math.MaxInt32 {
				return &usageError{fmt.Errorf("--max %d: say how many recordings to have transcribed, 1 or more", b.max)}
			}
			if user != "" {
				id, err := parseUser(user)
				if err != nil {
					return err
				}
				b.user = &id
			}
			return withConn(cmd.Context(), cfg, func(conn *pgx.Conn) error {
				report, err := b.run(cmd.Context(), conn)
				if err != nil {
					return err
				}
				if err := cfg.print(cmd, report, report.write); err != nil || report.Chosen == 0 || b.dryRun {
					return err
				}
				_, err = voiceIdle.worked(cmd.Context(), conn, cmd.ErrOrStderr())
				return err
			})
		},
	}
	cmd.Flags().IntVar(&b.max, "max", 0, "how many recordings, at most (required)")
	cmd.Flags().StringVar(&b.code, "code", predatesHelixd, "which: those that failed with this code")
	cmd.Flags().StringVar(&user, "user", "", "of this user only (uuid)")
	cmd.Flags().BoolVar(&b.dryRun, "dry-run", false, "tell what would be done")
	return cmd
}

type backfill struct {
	max    int
	code   string
	user   *uuid.UUID
	dryRun bool
}

// candidates are the recordings that it is about. Those without audio have
// nothing to be heard.
const candidates = `from public.voice_recordings where status = 'failed' and error ->> 'code' = $1
	and coalesce(jsonb_typeof(error -> 'retryable') = 'boolean' and (error ->> 'retryable')::boolean, false)
	and ($2::uuid is null or user_id = $2)`

const hasAudio = `(octet_length(audio_data) > 0 or storage_path <> '')`

// backfillReport is what backfill voice prints.
type backfillReport struct {
	Code         string `json:"code"`
	DryRun       bool   `json:"dry_run"`
	Failed       int64  `json:"failed"`   // that can be tried again
	Silent       int64  `json:"no_audio"` // of them
	Chosen       int64  `json:"chosen"`
	InRow        int64  `json:"in_row"` // audio of those chosen; the others' is in Storage
	Bytes        int64  `json:"bytes"`  // of it
	Known        int64  `json:"duration_known"`
	Milliseconds int64  `json:"duration_ms"` // of those whose length is known
}

// run changes rows as an app would, without helixd's marker: the reactor voice is
// to see it.
func (b *backfill) run(ctx context.Context, conn *pgx.Conn) (*backfillReport, error) {
	r := &backfillReport{Code: b.code, DryRun: b.dryRun}
	return r, pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "select count(*), count(*) filter (where "+hasAudio+" is not true) "+candidates, b.code, b.user).Scan(&r.Failed, &r.Silent)
		if err != nil {
			return fmt.Errorf("count the recordings: %w", err)
		}
		const chosen = "with chosen as materialized (select id " + candidates + " and " + hasAudio + " order by created_at desc nulls last, id limit $3 for update skip locked)"
		statement := chosen + `, changed as (update public.voice_recordings v set status = 'pending', error = null from chosen where v.id = chosen.id
			returning v.audio_data, v.duration_ms)`
		if b.dryRun {
			statement = chosen + ", changed as (select audio_data, duration_ms from public.voice_recordings v join chosen using (id))"
		}
		err = tx.QueryRow(ctx, statement+`
			select count(*), count(duration_ms), coalesce(sum(duration_ms), 0)::bigint, count(audio_data), coalesce(sum(octet_length(audio_data)), 0)::bigint
			from changed`, b.code, b.user, b.max).Scan(&r.Chosen, &r.Known, &r.Milliseconds, &r.InRow, &r.Bytes)
		if err != nil {
			return fmt.Errorf("set the recordings to pending: %w", err)
		}
		return nil
	})
}

func (r *backfillReport) write(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d recordings have failed with %s and can be tried again; %d of them have no audio.\n", r.Failed, r.Code, r.Silent)
	done := "are pending now"
	if r.DryRun {
		done = "would be pending"
	}
	fmt.Fprintf(&b, "%d %s, the newest: %d with audio in the row (%.1f MB), %d in Storage.\n", r.Chosen, done, r.InRow, float64(r.Bytes)/(1<<20), r.Chosen-r.InRow)
	if r.Chosen > 0 {
		fmt.Fprintf(&b, "The provider that helixd run is set to bills them by length: %s of %d recordings; of %d it cannot be known before they are decoded.\n",
			(time.Duration(r.Milliseconds) * time.Millisecond).Round(time.Second), r.Known, r.Chosen-r.Known)
	}
	_, err := io.WriteString(out, b.String())
	return err
}
