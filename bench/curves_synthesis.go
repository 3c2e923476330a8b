package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// synthesisCurve measures how long the daemon takes for one user's memories, from
// reading them until the patterns are written, the first time and after one more
// memory; over the number of memories.
func synthesisCurve(ctx context.Context, b *bench) (err error) {
	c := &curve{Name: "curve-synthesis", Title: "Synthesis of one user's memories", X: "memories of 1,536 dimensions", Y: "s", LogY: true}
	db, conn, drop, err := b.memories(ctx, "curve_synthesis")
	if err != nil {
		return err
	}
	defer drop()
	d, err := b.start(ctx, db.URL("postgres"))
	if err != nil {
		return err
	}
	s := &synthesised{d: d, conn: conn}
	err = d.streaming(ctx)
	if err == nil {
		err = b.overSizes(c, b.sizes(1, 100, 1000, 5000, 20_000), func(size int) int { return size }, func(size int) error {
			var first, again []float64
			for range b.curveRuns() {
				all, one, err := s.user(ctx, size)
				if err != nil {
					return err
				}
				b.say("    %d memories: %s s, one more %s s", size, number(all), number(one))
				first, again = append(first, all), append(again, one)
			}
			c.at("all", float64(size), first...)
			c.at("one more", float64(size), again...)
			return nil
		})
	}
	peak, stopped := d.stop()
	b.report.add(newFigure("synthesis of one user's memories", "peak RSS of the daemon, in all runs", "MB", peak))
	return errors.Join(err, stopped)
}

// synthesised is a project in which one user after the other is synthesised.
type synthesised struct {
	d     *daemon
	conn  *pgx.Conn
	users int
}

// user gives the seconds for a new user's memories, and once more after another.
func (s *synthesised) user(ctx context.Context, memories int) (all, again float64, err error) {
	user := fmt.Sprint(s.users)
	s.users++
	topics := min(memories/25, mostTopics)
	batch := &pgx.Batch{} // one transaction, so that there is one synthesis
	batch.Queue("insert into public.synthesis_settings (user_id, memory_limit) values ("+userID(user)+", $1)", memories+1)
	batch.Queue(insertMemories(user, 1, memories, topics, false)) // out of the vector index, whose making takes longer
	if err := s.conn.SendBatch(ctx, batch).Close(); err != nil {
		return 0, 0, fmt.Errorf("make memories: %w", err)
	}
	if all, err = s.took(ctx, user, time.Time{}); err != nil {
		return 0, 0, err
	}
	var before time.Time
	var patterns int
	err = s.conn.QueryRow(ctx, "select ran_at, (select count(*) from public.memory_synthesis where user_id = "+userID(user)+") from helix.synthesis_work where user_id = "+userID(user)).
		Scan(&before, &patterns)
	if err == nil && patterns == 0 {
		err = errors.New("no pattern was found")
	}
	if err != nil {
		return 0, 0, err
	}
	if _, err := s.conn.Exec(ctx, insertMemories(user, memories+1, memories+1, topics, false)); err != nil {
		return 0, 0, err
	}
	again, err = s.took(ctx, user, before)
	return all, again, err
}

// took waits until a user is synthesised again, and gives how long that took; by the
// daemon's clock, which counts milliseconds.
func (s *synthesised) took(ctx context.Context, user string, before time.Time) (float64, error) {
	var ms int64
	err := s.d.until(ctx, 50*time.Millisecond, func() (done bool, err error) {
		err = s.conn.QueryRow(ctx, "select ran_at > $1 and not due, coalesce(took_ms, 0) from helix.synthesis_work where user_id = "+userID(user)+" and ran_at is not null", before).
			Scan(&done, &ms)
		if errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		return done, err
	})
	return float64(max(ms, 1)) / 1000, err
}
