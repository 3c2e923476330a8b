package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/voice/provider/providertest"
	"github.com/helixd/helixd/testenv/child"
)

const (
	singleClips = 100 // one after the other
	clipUsers   = 20
	backlog     = 400
)

// voice measures from the commit of a recording's row until the provider has the
// request, and how many recordings a second go from row to transcript when the
// provider answers at once.
func voice(ctx context.Context, b *bench) error {
	db, conn, drop, err := b.project(ctx, "voice")
	if err != nil {
		return err
	}
	defer drop()
	server, err := providertest.StartOpenAI()
	if err != nil {
		return err
	}
	defer server.Close()
	path, err := b.recording(ctx, "clip.webm", clipAudio, "-c:a", "libopus")
	if err != nil {
		return err
	}
	clip, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	cmd, log, err := b.command(ctx, db.URL("postgres"), "run", "--slot", daemonSlot, "--log-format", "json")
	if err != nil {
		return err
	}
	cmd.Env = append(cmd.Env, "HELIX_VOICE_PROVIDER=openai", "HELIX_VOICE_URL="+server.URL, "HELIX_VOICE_KEY="+providertest.Key)
	p, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return err
	}
	d := &daemon{p, log}
	if err := d.streaming(ctx); err != nil {
		return err
	}
	if err := insertClip(ctx, conn, clip, 0); err != nil { // compiles the decoder, where that is not done yet
		return err
	}
	if err := allDone(ctx, conn, d); err != nil {
		return err
	}

	b.say("  %d recordings of one user, one after the other", singleClips)
	times := make([]float64, singleClips)
	for i := range times {
		if err := insertClip(ctx, conn, clip, 0); err != nil {
			return err
		}
		committed := time.Now()
		waiting, cancel := context.WithTimeout(ctx, time.Minute)
		err := server.Await(waiting, i+2)
		cancel()
		if err != nil {
			return fmt.Errorf("%w; helixd said:\n%s", err, d.log)
		}
		times[i] = float64(time.Since(committed)) / float64(time.Millisecond)
		if err := allDone(ctx, conn, d); err != nil {
			return err
		}
	}

	b.say("  a backlog of %d recordings of %d users", backlog, clipUsers)
	if _, err := conn.Exec(ctx, "insert into voice_recordings (user_id, audio_data) select "+userID("i % $1")+", $2 from generate_series(0, $3 - 1) i",
		clipUsers, clip, backlog); err != nil {
		return err
	}
	began := time.Now()
	if err := allDone(ctx, conn, d); err != nil {
		return err
	}
	took := time.Since(began)
	peak, err := d.stop()
	if err != nil {
		return err
	}
	if n := server.Count(); n != 1+singleClips+backlog {
		return fmt.Errorf("the provider got %d requests for %d recordings", n, 1+singleClips+backlog)
	}
	const section = "voice, a clip of 6 s"
	b.report.add(
		newFigure(section, "row's commit to provider's request, p50", "ms", quantile(times, 0.5)).below(150),
		newFigure(section, "row's commit to provider's request, p95", "ms", quantile(times, 0.95)),
		newFigure(section, fmt.Sprintf("row to transcript, a backlog of %d users", clipUsers), "1/s", backlog/took.Seconds()).atLeast(clipRate),
		newFigure(section, "  peak RSS of the daemon", "MB", peak))
	return nil
}

func insertClip(ctx context.Context, conn *pgx.Conn, clip []byte, user int) error {
	_, err := conn.Exec(ctx, "insert into voice_recordings (user_id, audio_data) values ("+userID("$1::int")+", $2)", user, clip)
	return err
}

// allDone waits until all recordings are; one that has failed is an error.
func allDone(ctx context.Context, conn *pgx.Conn, d *daemon) error {
	return d.until(ctx, 20*time.Millisecond, func() (done bool, err error) {
		var failed *string
		err = conn.QueryRow(ctx, `select bool_and(status = 'done'), min(error::text) filter (where status = 'failed') from voice_recordings`).Scan(&done, &failed)
		if err == nil && failed != nil {
			err = fmt.Errorf("a recording has failed: %s", *failed)
		}
		return done, err
	})
}
