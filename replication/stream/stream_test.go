package stream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// bed is a database with a published table, a slot and a sink.
type bed struct {
	db    *testenv.Database
	admin *pgx.Conn
	cfg   stream.Config
	from  replication.LSN
	sink  *sink
	stop  context.CancelFunc
	ended chan error
}

// sink keeps what it gets. It checks that the server never knows of more than
// is durable here.
type sink struct {
	t     *testing.T
	bed   *bed
	check *pgx.Conn
	delay chan struct{} // Apply waits for it, where it is not nil
	fail  error

	mu      sync.Mutex
	rows    []string // "op id" of each row
	entered int
	batches int
	parts   int
	durable replication.LSN
	largest int
	empty   int
}

func (s *sink) Apply(ctx context.Context, b *replication.Batch) error {
	var confirmed replication.LSN
	err := s.check.QueryRow(ctx, "select confirmed_flush_lsn from pg_replication_slots where slot_name = $1", s.bed.cfg.Slot).Scan(&confirmed)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.entered++
	if confirmed > s.durable {
		s.t.Errorf("the server was told that %s is flushed, but only %s is durable", confirmed, s.durable)
	}
	s.mu.Unlock()
	if s.delay != nil {
		select {
		case <-s.delay:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if s.fail != nil {
		return s.fail
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches++
	if b.More {
		s.parts++
	}
	if len(b.Transactions) == 0 {
		s.empty++
	}
	s.largest = max(s.largest, b.Len())
	for _, tx := range b.Transactions {
		for _, c := range tx.Changes {
			if c.Relation != nil {
				s.rows = append(s.rows, fmt.Sprintf("%s %s", c.Op, c.New[0].Data))
			}
		}
	}
	s.durable = max(s.durable, b.EndLSN)
	return nil
}

func (s *sink) seen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.rows)
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{db: testenv.New(t)}
	b.admin = b.db.Connect(t, "postgres")
	b.exec(t, "create table item (id int primary key, text text); create table other (id int, filler text)")
	b.cfg = stream.Config{ConnString: b.db.URL("postgres"), Slot: b.db.SlotName("s"), Publication: "p",
		Log: zerolog.New(zerolog.NewTestWriter(t))}
	if _, err := stream.EnsurePublication(t.Context(), b.admin, "p", map[string][]string{"public.item": {"id", "text"}}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	s := b.open(t)
	snapshot, err := s.CreateSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	b.from = snapshot.LSN
	b.sink = &sink{t: t, bed: b, check: b.db.Connect(t, "postgres"), durable: snapshot.LSN}
	return b
}

func (b *bed) open(t *testing.T) *stream.Stream {
	t.Helper()
	s, err := stream.Open(t.Context(), b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// start streams in the background.
func (b *bed) start(t *testing.T) {
	t.Helper()
	s := b.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	b.stop = cancel
	b.ended = make(chan error, 1)
	b.sink.mu.Lock()
	from := b.sink.durable
	b.sink.mu.Unlock()
	go func() { b.ended <- s.Run(ctx, from, b.sink) }()
	t.Cleanup(cancel)
}

// end stops it in order.
func (b *bed) end(t *testing.T) {
	t.Helper()
	b.stop()
	if err := <-b.ended; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func (b *bed) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := b.admin.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (b *bed) confirmed(t *testing.T) (lsn replication.LSN) {
	t.Helper()
	err := b.admin.QueryRow(t.Context(), "select confirmed_flush_lsn from pg_replication_slots where slot_name = $1", b.cfg.Slot).Scan(&lsn)
	if err != nil {
		t.Fatal(err)
	}
	return lsn
}

func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for tick := time.NewTicker(5 * time.Millisecond); !cond(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

func TestRun(t *testing.T) {
	t.Run("AcknowledgesAtTheEnd", func(t *testing.T) {
		b := newBed(t)
		b.start(t)
		b.exec(t, "insert into item values (1, 'a'), (2, 'b'); update item set text = 'c' where id = 1; delete from item where id = 2")
		until(t, "three changes", func() bool { return b.sink.seen() == 3 })
		b.end(t)
		if got := strings.Join(b.sink.rows, ", "); got != "INSERT 1, INSERT 2, UPDATE 1" {
			t.Errorf("received %s; deletes are not published", got)
		}
		if lsn := b.confirmed(t); lsn != b.sink.durable {
			t.Errorf("after the end the slot is confirmed up to %s, not %s", lsn, b.sink.durable)
		}
	})
	t.Run("FailedApplyIsNotAcknowledged", func(t *testing.T) {
		b := newBed(t)
		before := b.confirmed(t)
		b.sink.fail = errors.New("no room")
		b.start(t)
		b.exec(t, "insert into item values (1, 'a')")
		if err := <-b.ended; !errors.Is(err, b.sink.fail) {
			t.Errorf("Run: %v", err)
		}
		if lsn := b.confirmed(t); lsn != before {
			t.Errorf("confirmed moved from %s to %s", before, lsn)
		}
		b.sink.fail = nil
		until(t, "the walsender to have seen the end", func() (free bool) {
			if err := b.admin.QueryRow(t.Context(), "select not active from pg_replication_slots where slot_name = $1", b.cfg.Slot).Scan(&free); err != nil {
				t.Fatal(err)
			}
			return free
		})
		b.start(t)
		until(t, "the change again", func() bool { return b.sink.seen() == 1 })
		b.end(t)
	})
	t.Run("SlowSink", func(t *testing.T) {
		// Longer than wal_sender_timeout: the server must be answered meanwhile,
		// also while so much is held that nothing more is read.
		t.Parallel()
		b := newBed(t)
		b.cfg.BatchRows = 10
		b.sink.delay = make(chan struct{})
		b.start(t)
		for i := range 100 {
			b.exec(t, fmt.Sprintf("insert into item values (%d, 'a')", i))
		}
		var began time.Time
		if err := b.admin.QueryRow(t.Context(), "select clock_timestamp()").Scan(&began); err != nil {
			t.Fatal(err)
		}
		until(t, "answers for 12 s", func() bool {
			var alive bool
			err := b.admin.QueryRow(t.Context(), `select coalesce(bool_and(reply_time > $1::timestamptz + interval '12 s'), false)
				from pg_stat_replication where application_name = $2`, began, "helixd "+b.cfg.Slot).Scan(&alive)
			if err != nil {
				t.Fatal(err)
			}
			return alive
		})
		close(b.sink.delay)
		until(t, "all changes", func() bool { return b.sink.seen() == 100 })
		b.end(t)
		// It was one connection all the time: nothing came twice.
		if len(b.sink.rows) != 100 {
			t.Errorf("%d changes", len(b.sink.rows))
		}
	})
	t.Run("LargeTransactionInParts", func(t *testing.T) {
		b := newBed(t)
		b.cfg.BatchRows = 1000
		b.start(t)
		b.exec(t, "insert into item select n, repeat('x', 100) from generate_series(1, 50000) n")
		until(t, "all rows", func() bool { return b.sink.seen() == 50_000 })
		b.end(t)
		if b.sink.parts < 40 || b.sink.largest > 2*b.cfg.BatchRows {
			t.Errorf("%d parts, the largest of %d rows", b.sink.parts, b.sink.largest)
		}
		if lsn := b.confirmed(t); lsn != b.sink.durable {
			t.Errorf("confirmed %s, durable %s", lsn, b.sink.durable)
		}
	})
	t.Run("ManyTransactionsInOneBatch", func(t *testing.T) {
		b := newBed(t)
		b.sink.delay = make(chan struct{})
		b.start(t)
		b.exec(t, "insert into item values (-1, 'a')")
		until(t, "the sink to be busy", func() bool {
			b.sink.mu.Lock()
			defer b.sink.mu.Unlock()
			return b.sink.entered == 1
		})
		var last replication.LSN
		for i := range 200 {
			b.exec(t, fmt.Sprintf("insert into item values (%d, 'a')", i))
		}
		if err := b.admin.QueryRow(t.Context(), "select pg_current_wal_lsn()").Scan(&last); err != nil {
			t.Fatal(err)
		}
		until(t, "all of them to be sent", func() bool {
			var sent bool
			if err := b.admin.QueryRow(t.Context(), "select coalesce(bool_and(sent_lsn >= $1 and write_lsn >= $1), false) from pg_stat_replication where application_name = $2",
				last, "helixd "+b.cfg.Slot).Scan(&sent); err != nil {
				t.Fatal(err)
			}
			return sent
		})
		close(b.sink.delay)
		until(t, "all changes", func() bool { return b.sink.seen() == 201 })
		b.end(t)
		if b.sink.batches != 2 {
			t.Errorf("200 transactions that came while the sink was busy took %d batches", b.sink.batches-1)
		}
	})
	t.Run("BacklogIsCommittedAsItComes", func(t *testing.T) {
		// A batch that closes at its bound closes in the middle of a transaction
		// as a rule: what was finished before must not wait for the next one.
		b := newBed(t)
		b.cfg.BatchRows = 20
		for i := range 500 {
			b.exec(t, fmt.Sprintf("insert into item values (%d, 'a')", i))
		}
		b.sink.delay = make(chan struct{}, 1000)
		go func() {
			for tick := time.NewTicker(2 * time.Millisecond); ; <-tick.C {
				select {
				case b.sink.delay <- struct{}{}:
				case <-t.Context().Done():
					return
				}
			}
		}()
		b.start(t)
		until(t, "all changes", func() bool { return b.sink.seen() == 500 })
		b.end(t)
		if b.sink.parts != 0 {
			t.Errorf("%d of %d batches of one-row transactions were parts", b.sink.parts, b.sink.batches)
		}
	})
	t.Run("IdleTablesDoNotKeepWAL", func(t *testing.T) {
		b := newBed(t)
		b.cfg.IdleWAL = 1 << 20
		b.start(t)
		before := b.confirmed(t)
		b.exec(t, "insert into other select n, repeat('x', 1000) from generate_series(1, 10000) n")
		var end replication.LSN
		if err := b.admin.QueryRow(t.Context(), "select pg_current_wal_lsn()").Scan(&end); err != nil {
			t.Fatal(err)
		}
		until(t, "the slot to move on", func() bool { return b.confirmed(t)+b.cfg.IdleWAL >= end })
		b.end(t)
		if b.sink.empty == 0 || len(b.sink.rows) != 0 || b.confirmed(t) == before {
			t.Errorf("%d empty batches, %d rows", b.sink.empty, len(b.sink.rows))
		}
	})
	t.Run("MessagesAloneMoveNothing", func(t *testing.T) {
		// Each apply emits a message: were it a change, helixd would feed itself.
		b := newBed(t)
		b.start(t)
		b.exec(t, "select pg_logical_emit_message(true, 'helix', 'x'), pg_logical_emit_message(false, 'helix', 'x')")
		b.exec(t, "insert into item values (1, 'a')")
		until(t, "the change", func() bool { return b.sink.seen() == 1 })
		b.end(t)
		if b.sink.batches != 1 {
			t.Errorf("%d batches", b.sink.batches)
		}
	})
	t.Run("SlotInUse", func(t *testing.T) {
		b := newBed(t)
		b.start(t)
		b.exec(t, "insert into item values (1, 'a')")
		until(t, "the change", func() bool { return b.sink.seen() == 1 })
		if err := b.open(t).Run(t.Context(), b.from, b.sink); !errors.Is(err, stream.ErrSlotActive) {
			t.Errorf("a second Run: %v", err)
		}
		b.end(t)
	})
	t.Run("SlotMoved", func(t *testing.T) {
		// The server would begin where the slot is, and say nothing.
		b := newBed(t)
		b.exec(t, "insert into item values (1, 'a')")
		b.exec(t, "select pg_replication_slot_advance('"+b.cfg.Slot+"', pg_current_wal_lsn())")
		b.exec(t, "insert into item values (2, 'a')")
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := b.open(t).Run(ctx, b.from, b.sink); !errors.Is(err, stream.ErrSlotMoved) {
			t.Errorf("Run: %v", err)
		}
		if b.sink.seen() != 0 {
			t.Error("it applied what comes after")
		}
	})
	t.Run("WalsenderTerminated", func(t *testing.T) {
		b := newBed(t)
		b.start(t)
		b.exec(t, "insert into item values (1, 'a')")
		until(t, "the change", func() bool { return b.sink.seen() == 1 })
		b.db.Exec(t, "supabase_admin", "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '"+b.cfg.Slot+"'")
		if err := <-b.ended; err == nil {
			t.Error("Run returned without an error")
		}
	})
	t.Run("RepeatedUnderFailures", func(t *testing.T) {
		// Each change must come in the end, in order, whatever was lost meanwhile.
		b := newBed(t)
		for i := range 10 {
			b.exec(t, fmt.Sprintf("insert into item values (%d, 'a')", i))
			b.start(t)
			until(t, "the change", func() bool { return b.sink.seen() == i+1 })
			b.db.Exec(t, "supabase_admin", "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '"+b.cfg.Slot+"'")
			<-b.ended
			until(t, "the slot to be free", func() bool {
				var active bool
				if err := b.admin.QueryRow(t.Context(), "select active from pg_replication_slots where slot_name = $1", b.cfg.Slot).Scan(&active); err != nil {
					t.Fatal(err)
				}
				return !active
			})
		}
	})
}

func TestSlot(t *testing.T) {
	b := newBed(t)
	t.Run("NotOurs", func(t *testing.T) {
		b.exec(t, "select pg_create_logical_replication_slot('"+b.db.SlotName("x")+"', 'test_decoding')")
		cfg := b.cfg
		cfg.Slot = b.db.SlotName("x")
		s, err := stream.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var setup *stream.SetupError
		if _, err := s.Slot(t.Context()); !errors.As(err, &setup) || !strings.Contains(setup.Hint, "--slot") {
			t.Errorf("Slot: %v", err)
		}
	})
	t.Run("DropAndCreate", func(t *testing.T) {
		s := b.open(t)
		if err := s.DropSlot(t.Context()); err != nil {
			t.Fatal(err)
		}
		if slot, err := s.Slot(t.Context()); slot != nil || err != nil {
			t.Errorf("Slot after the drop: %v, %v", slot, err)
		}
		snapshot, err := s.CreateSlot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		slot, err := s.Slot(t.Context())
		if err != nil || slot.Confirmed != snapshot.LSN || slot.Lost {
			t.Errorf("Slot: %+v, %v; created at %s", slot, err, snapshot.LSN)
		}
	})
}
