package stream_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

// held starts to stream, with whatever of the load does not fit unread at the server.
func held(t *testing.T, rows int) (*bed, *stream.Stream) {
	t.Helper()
	b := newBed(t)
	b.cfg.BatchRows = 100
	s := b.open(t)
	s.Hold(true)
	ctx, cancel := context.WithCancel(t.Context())
	b.stop, b.ended = cancel, make(chan error, 1)
	go func() { b.ended <- s.Run(ctx, b.from, b.sink) }()
	t.Cleanup(cancel)
	until(t, "the hold to be heeded", s.Held)
	b.exec(t, fmt.Sprintf(`do $$ begin for n in 1..%d loop insert into item values (n, repeat('x', 1000)); commit; end loop; end $$`, rows))
	return b, s
}

func (b *bed) answered(t *testing.T, since time.Time) (alive bool) {
	t.Helper()
	err := b.admin.QueryRow(t.Context(), `select coalesce(bool_and(reply_time > $1::timestamptz + interval '12 s'), false)
		from pg_stat_replication where pid = (select active_pid from pg_replication_slots where slot_name = $2)`, since, b.cfg.Slot).Scan(&alive)
	if err != nil {
		t.Fatal(err)
	}
	return alive
}

func TestHold(t *testing.T) {
	t.Run("AnswersAndLosesNothing", func(t *testing.T) { // alone: it measures
		const rows = 20_000
		b, s := held(t, rows)
		before := b.confirmed(t)
		var began time.Time
		if err := b.admin.QueryRow(t.Context(), "select clock_timestamp()").Scan(&began); err != nil {
			t.Fatal(err)
		}
		cpu := testenv.CPU()
		b.exec(t, "select pg_sleep(3)")
		if cpu = testenv.CPU() - cpu; cpu > time.Second {
			t.Errorf("held for 3 s, it used %s of CPU time", cpu)
		}
		// Longer than wal_sender_timeout.
		until(t, "answers for 12 s", func() bool { return b.answered(t, began) })
		if !s.Held() || b.sink.seen() != 0 || b.confirmed(t) != before {
			t.Errorf("held %v, %d rows applied, confirmed moved from %s to %s", s.Held(), b.sink.seen(), before, b.confirmed(t))
		}
		s.Hold(false)
		until(t, "all rows", func() bool { return b.sink.seen() == rows })
		if s.Held() {
			t.Error("it still says that it is held")
		}
		b.end(t)
		if b.sink.seen() != rows || b.sink.largest > 3*b.cfg.BatchRows {
			t.Errorf("%d of %d rows, at most %d at a time", b.sink.seen(), rows, b.sink.largest)
		}
		if lsn := b.confirmed(t); lsn != b.sink.durable {
			t.Errorf("confirmed up to %s, durable is %s", lsn, b.sink.durable)
		}
	})
	t.Run("EndsInOrderAndQuickly", func(t *testing.T) {
		t.Parallel()
		b, _ := held(t, 20_000)
		began := time.Now()
		b.end(t)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
	})
	t.Run("NotInAnOpenTransaction", func(t *testing.T) {
		t.Parallel()
		b := newBed(t)
		b.cfg.BatchRows = 100
		b.sink.delay = make(chan struct{})
		s := b.open(t)
		ctx, cancel := context.WithCancel(t.Context())
		b.stop, b.ended = cancel, make(chan error, 1)
		go func() { b.ended <- s.Run(ctx, b.from, b.sink) }()
		b.exec(t, "insert into item select n, 'x' from generate_series(1, 2000) n")
		entered := func() bool { b.sink.mu.Lock(); defer b.sink.mu.Unlock(); return b.sink.entered > 0 }
		until(t, "the first part", entered)
		s.Hold(true)
		if s.Held() {
			t.Error("it says that it is held while the sink is at work")
		}
		close(b.sink.delay)
		until(t, "the hold to be heeded", s.Held)
		if n := b.sink.seen(); n != 2000 {
			t.Errorf("it was held with %d of 2000 rows of a transaction applied", n)
		}
		b.exec(t, "insert into item values (0, 'x')")
		s.Hold(false)
		until(t, "the next row", func() bool { return b.sink.seen() == 2001 })
		b.end(t)
	})
	t.Run("OnAndOffUnderLoad", func(t *testing.T) {
		t.Parallel()
		const rows = 5000
		b, s := held(t, rows)
		goroutines := runtime.NumGoroutine()
		for n := 0; b.sink.seen() < rows; n++ {
			s.Hold(n%2 == 0)
			if n%2 == 0 {
				until(t, "the hold to be heeded", s.Held)
			} else {
				seen := b.sink.seen()
				until(t, "some progress", func() bool { return b.sink.seen() > seen || seen == rows })
			}
		}
		if n := runtime.NumGoroutine(); n > goroutines+20 { // other tests' are among them
			t.Errorf("%d goroutines more", n-goroutines)
		}
		s.Hold(false)
		b.end(t)
		if b.sink.seen() != rows {
			t.Errorf("%d of %d rows", b.sink.seen(), rows)
		}
	})
	t.Run("AFailureEndsIt", func(t *testing.T) {
		t.Parallel()
		b, _ := held(t, 10)
		b.db.Exec(t, "supabase_admin", "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '"+b.cfg.Slot+"'")
		if err := <-b.ended; err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
}
