package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/schollz/progressbar/v3"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication/stream"
)

const (
	replayAhead    = 8 * reactors.MaxReplay // rows that may wait before more are put into the inbox: an app's changes do not wait behind all
	replayLook     = 50 * time.Millisecond  // between two looks at what became of them
	replayKept     = "7 days"               // of what became of former ones
	leaderlessFrom = 15 * time.Second       // since the last heartbeat; a standby has taken over by then
)

// streamHeld is true in a pause of the stream.
const streamHeld = "exists (select from helix.paused where what = 'stream' and ended_at is null and (until is null or until > now()))"

// silence is for how many seconds no leader of mine.slot has given a sign.
const silence = "coalesce((select extract(epoch from clock_timestamp() - heartbeat_at)::float8 from helix.leaders l where l.slot = mine.slot and not " + stream.HasLeft + "), 1e9)"

// replayOutcome is what became of what was put into the inbox.
type replayOutcome struct {
	Given    int64 `json:"given"`
	Changed  int64 `json:"changed"`
	Gone     int64 `json:"gone"`
	Rejected int64 `json:"rejected"`
}

func (o *replayOutcome) seen() int64 { return o.Given + o.Changed + o.Gone }

// replayer puts Replays into the inbox and follows them.
type replayer struct {
	pool   *pgxpool.Pool
	slot   string
	noWait bool
	id     int64
	sent   int64
	errs   io.Writer
	bar    *progressbar.ProgressBar
	warned bool
	held   bool // in a pause of the stream, which is told
}

// newReplayer refuses where nobody would give the rows to the reactors. all is how
// many there will be.
func newReplayer(ctx context.Context, cfg *config, pool *pgxpool.Pool, noWait bool, all int64, errs io.Writer) (*replayer, error) {
	r := &replayer{pool: pool, slot: cfg.slot, noWait: noWait, errs: errs}
	var begun, held bool
	var silent float64
	err := pool.QueryRow(ctx, `select exists (select from helix.checkpoints where slot = $1), `+streamHeld+`,
		`+silence+` from (select $1 as slot) mine`, cfg.slot).Scan(&begun, &held, &silent)
	switch {
	case err != nil:
		return nil, databaseError(err)
	case !begun:
		return nil, &stream.SetupError{Problem: fmt.Sprintf("no helixd has streamed from slot %q yet", cfg.slot),
			Hint: "Run: helixd run; its first start gives all rows to the reactors. (Or name its slot with --slot.)"}
	case silent > leaderlessFrom.Seconds() && !noWait:
		return nil, &stream.SetupError{Problem: fmt.Sprintf("no helixd leads slot %q now", cfg.slot),
			Hint: "Start helixd run, and run this again; with --no-wait it is done once one leads."}
	case held && !noWait:
		return nil, &stream.SetupError{Problem: "the stream is paused, and nothing is given to the reactors meanwhile",
			Hint: "Run: helixd resume stream; with --no-wait this is done once it is resumed."}
	}
	err = pool.QueryRow(ctx, `with gone as (delete from helix.replays where created_at < now() - $2::text::interval)
		insert into helix.replays (slot) values ($1) returning id`, cfg.slot, replayKept).Scan(&r.id)
	if err != nil {
		return nil, fmt.Errorf("begin a replay: %w", err)
	}
	if f, ok := errs.(*os.File); ok && isTerminal(f) && cfg.output != outputJSON && !noWait {
		r.bar = progressbar.NewOptions64(all, progressbar.OptionSetWriter(errs), progressbar.OptionShowCount(),
			progressbar.OptionSetDescription("replayed"), progressbar.OptionClearOnFinish())
	}
	return r, nil
}

// send puts a Replay into the inbox, once few enough wait there.
func (r *replayer) send(ctx context.Context, replay reactors.Replay) error {
	replay.ID, replay.Slot = r.id, r.slot
	if !r.noWait {
		if _, err := r.wait(ctx, replayAhead); err != nil {
			return err
		}
	}
	if err := replay.Send(ctx, r.pool); err != nil {
		return err
	}
	r.sent += int64(len(replay.Rows) + len(replay.Letters))
	return nil
}

// wait waits until no more than so many are still to be given.
func (r *replayer) wait(ctx context.Context, left int64) (o replayOutcome, err error) {
	tick := time.NewTicker(replayLook)
	defer tick.Stop()
	for {
		var held bool
		var silent float64
		err := r.pool.QueryRow(ctx, `select given, changed, gone, rejected, `+streamHeld+`,
			`+silence+` from helix.replays mine where id = $1`, r.id).Scan(&o.Given, &o.Changed, &o.Gone, &o.Rejected, &held, &silent)
		switch {
		case ctx.Err() != nil:
			return o, fmt.Errorf("%w: %d were put into the inbox, and are given all the same; run it again for the others, since giving a row twice changes nothing",
				context.Cause(ctx), r.sent)
		case errors.Is(err, pgx.ErrNoRows):
			return o, errors.New("the replay is gone: helixd was uninstalled, or the project restored")
		case err != nil:
			return o, fmt.Errorf("look what became of the replay: %w", err)
		}
		if r.bar != nil {
			_ = r.bar.Set64(o.seen())
		}
		if r.sent-o.seen() <= left {
			if r.bar != nil && left == 0 {
				_ = r.bar.Finish()
			}
			return o, nil
		}
		if silent > leaderlessFrom.Seconds() && !r.warned {
			r.warned = true
			fmt.Fprintf(r.errs, "helixd: no helixd leads slot %q now; waiting for one\n", r.slot)
		}
		if held && !r.held {
			fmt.Fprintln(r.errs, "helixd: the stream is paused; waiting for: helixd resume stream")
		}
		r.held = held
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}
