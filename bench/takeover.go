package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

const (
	takeoverRate   = 500 // transactions a second, all the while
	takeoverWithin = time.Minute
)

// takeover measures how long nothing is applied after the leader has been
// killed, or stopped: from the signal until the standby has applied something.
func takeover(ctx context.Context, b *bench) error {
	db, conn, drop, err := b.project(ctx, "takeover")
	if err != nil {
		return err
	}
	defer drop()
	writing, stop := context.WithCancel(ctx)
	written := make(chan error, 1)
	go func() {
		written <- writeSteadily(writing, db)
		close(written)
	}()
	defer func() {
		stop()
		<-written
	}()
	leader, err := b.start(ctx, db.URL("postgres"))
	if err != nil {
		return err
	}
	if err := leader.streaming(ctx); err != nil {
		return err
	}
	const section = "takeover, signal to the next apply"
	for _, how := range []struct {
		name   string
		signal syscall.Signal
		below  float64
	}{{"SIGKILL", syscall.SIGKILL, 3}, {"SIGSTOP", syscall.SIGSTOP, 8}} {
		var times []float64
		for n := range b.runs {
			var took time.Duration
			if leader, took, err = b.takeover(ctx, db, conn, leader, how.signal); err != nil {
				return err
			}
			times = append(times, took.Seconds())
			b.say("  run %d  %s  %s s", n+1, how.name, number(took.Seconds()))
		}
		b.report.add(
			newFigure(section, how.name, "s", times...).below(how.below),
			newFigure(section, "  shortest", "s", slices.Min(times)),
			newFigure(section, "  longest", "s", slices.Max(times)).below(how.below),
		)
	}
	if _, err := leader.stop(); err != nil {
		return err
	}
	select {
	case err := <-written:
		return fmt.Errorf("the load has ended: %w", err)
	default:
		return nil
	}
}

// takeover gives the next leader, and how long it took.
func (b *bench) takeover(ctx context.Context, db *testenv.Database, conn *pgx.Conn, leader *daemon, signal syscall.Signal) (*daemon, time.Duration, error) {
	standby, err := b.start(ctx, db.URL("postgres"))
	if err != nil {
		return nil, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, takeoverWithin)
	defer cancel()
	err = standby.until(ctx, 20*time.Millisecond, func() (bool, error) {
		return strings.Contains(standby.log.String(), "standing by"), nil
	})
	if err != nil {
		return nil, 0, err
	}
	var epoch, changes int64
	read := func(epoch, changes *int64) error {
		return conn.QueryRow(ctx, "select epoch, changes from helix.checkpoints where slot = $1", daemonSlot).Scan(epoch, changes)
	}
	if err := read(&epoch, &changes); err != nil {
		return nil, 0, err
	}
	if err := leader.Cmd.Process.Signal(signal); err != nil {
		return nil, 0, err
	}
	began := time.Now()
	first := int64(-1) // of the new epoch
	err = standby.until(ctx, 2*time.Millisecond, func() (bool, error) {
		var now int64
		if err := read(&now, &changes); err != nil || now == epoch {
			return false, err
		}
		if first < 0 {
			first = changes
		}
		return changes > first, nil
	})
	took := time.Since(began)
	leader.Kill()
	return standby, took, err
}

// writeSteadily inserts rows as a signed-in user until ctx ends.
func writeSteadily(ctx context.Context, db *testenv.Database) error {
	conn, err := signedIn(ctx, db, nil)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is pending
	if _, err := conn.Exec(ctx, "select "+setUser("0")); err != nil {
		return err
	}
	tick := time.NewTicker(time.Second / takeoverRate)
	defer tick.Stop()
	for i := 0; ; i++ {
		_, err := conn.Exec(ctx, "insert into sync_state (entity_type, entity_id, device_id, data, vector_clock) values ('note', "+
			entityID("0", "$1::int")+", 'phone', "+entityData("$1::int")+", '{\"phone\": 1}')", i)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
