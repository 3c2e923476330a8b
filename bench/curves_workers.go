package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const mostWorkers = 4

// workersCurve measures how fast a backlog of skills' runs is worked off over the
// number of processes that work it, beside one that only streams. Each has children
// of its own, so more processes help where there are cores for them.
func workersCurve(ctx context.Context, b *bench) (err error) {
	c := &curve{Name: "curve-workers", Title: "Skills, a backlog of JavaScript", X: "worker processes", Y: "runs/s", LinX: true}
	db, conn, drop, err := b.project(ctx, "curve_workers")
	if err != nil {
		return err
	}
	defer drop()
	s := &skillBench{bench: b, db: db, conn: conn}
	if err := s.marks(ctx); err != nil {
		return err
	}
	var started []*daemon
	start := func(role string) (*daemon, error) {
		d, err := b.start(ctx, db.URL("postgres"), "--role", role, "--http", "off")
		if err == nil {
			started = append(started, d)
		}
		return d, err
	}
	defer func() {
		for _, d := range started {
			_, stopped := d.stop()
			err = errors.Join(err, stopped)
		}
	}()
	if s.d, err = start("stream"); err != nil {
		return err
	}
	if err := s.d.streaming(ctx); err != nil {
		return err
	}
	runs := max(b.rows/100, 100)
	var sizes []int
	for n := 1; n <= mostWorkers; n++ {
		sizes = append(sizes, n)
	}
	return b.overSizes(c, sizes, func(int) int { return 1 }, func(size int) error {
		if _, err := start("worker"); err != nil {
			return err
		}
		if err := s.working(ctx, size); err != nil {
			return err
		}
		if size == 1 {
			if err := s.makeSkills(ctx); err != nil {
				return err
			}
		}
		var rates []float64
		for n := range b.curveRuns() + 1 { // the first warms the new process's children
			rate, err := s.burn(ctx, fmt.Sprintf("burn %d %d", size, n), runs)
			if err != nil {
				return err
			}
			if n > 0 {
				rates = append(rates, rate)
			}
		}
		b.say("    %d: %s runs/s", size, number(median(rates)))
		c.at(nameHelixd, float64(size), rates...)
		return nil
	})
}

// working waits until so many processes work jobs.
func (s *skillBench) working(ctx context.Context, n int) error {
	return s.d.until(ctx, 50*time.Millisecond, func() (done bool, err error) {
		err = s.conn.QueryRow(ctx, "select count(*) >= $1 from helix.workers where heartbeat_at > now() - interval '10 seconds'", n).Scan(&done)
		return done, err
	})
}
