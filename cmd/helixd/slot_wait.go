package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/schollz/progressbar/v3"
)

// waitsLong is when whoever waits is told what for.
const waitsLong = 5 * time.Second

// awaitSlot waits until the leader, whoever that is by then, has made the slot anew
// since it was as in before, and streams again.
func awaitSlot(ctx context.Context, pool *pgxpool.Pool, before *slotState, g *gap, timeout time.Duration, errs io.Writer) error {
	var all int64
	for _, n := range g.Rows {
		all += n
	}
	var bar *progressbar.ProgressBar
	if f, ok := errs.(*os.File); ok && isTerminal(f) {
		bar = progressbar.NewOptions64(max(all, 1), progressbar.OptionSetWriter(f), progressbar.OptionSetDescription("rows read"),
			progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionThrottle(awaitEvery))
		defer bar.Clear() //nolint:errcheck // only shown
	}
	began := time.Now()
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	silent := time.Now()
	told := map[string]int64{}
	awaited := ""
	patience := time.NewTimer(waitsLong)
	defer patience.Stop()
	for {
		s, err := readSlot(ctx, pool, before.Name)
		if err != nil {
			return err
		}
		if s.Repair == "" && s.Repaired != nil && (before.Repaired == nil || !s.Repaired.Equal(*before.Repaired)) && s.Active {
			g.Seconds = time.Since(began).Seconds()
			return nil
		}
		if s.Leader != nil {
			silent = time.Now()
		} else if time.Since(silent) > time.Minute {
			return fmt.Errorf("no helixd leads any more: the next one that starts makes the slot anew")
		}
		if now := s.awaits(); now != awaited {
			if awaited = now; now != "" {
				if bar != nil {
					_ = bar.Clear()
				}
				fmt.Fprintln(errs, now)
			}
		}
		if bar != nil {
			var read int64
			for _, n := range s.backfill {
				read += n
			}
			bar.ChangeMax64(max(all, read, 1))
			_ = bar.Set64(read)
		} else {
			for _, table := range sortedKeys(s.backfill) {
				if n := s.backfill[table]; n != told[table] {
					told[table] = n
					fmt.Fprintf(errs, "%s: %d rows read\n", table, n)
				}
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("helixd does not stream again after %s; its log says why, and it goes on trying", timeout)
		case <-patience.C:
			if len(s.backfill) == 0 && awaited == "" {
				fmt.Fprintln(errs, "still waiting: a new slot has to wait until all transactions that are open now have ended; helixd's log names them")
			}
		case <-tick.C:
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
