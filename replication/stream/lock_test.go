package stream_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

// slotBed is a database with helixd's schema, and names for the processes on it.
type slotBed struct {
	db    *testenv.Database
	admin *pgx.Conn
	slot  string
}

func newSlotBed(t *testing.T) *slotBed {
	t.Helper()
	b := &slotBed{db: testenv.New(t)}
	b.admin, b.slot = b.db.Connect(t, "postgres"), b.db.SlotName("lock")
	if err := migrations.Up(t.Context(), b.admin, func(migrations.Migration) {}); err != nil {
		t.Fatal(err)
	}
	return b
}

// open opens the stream of a process; log may be nil.
func (b *slotBed) open(t *testing.T, name string, log *said) *stream.Stream {
	t.Helper()
	if log == nil {
		log = &said{}
	}
	s, err := stream.Open(t.Context(), stream.Config{ConnString: b.db.URL("postgres"), Slot: b.slot, Publication: "p",
		Name: name, Log: zerolog.New(log)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// lock takes the lead, or fails to.
func lock(t *testing.T, s *stream.Stream, want bool) {
	t.Helper()
	got, err := s.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("Lock gave %v", got)
	}
}

// session opens an SQL session of a process as a leader.
func (b *slotBed) session(t *testing.T, name string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), b.db.URL("postgres")+"&application_name="+strings.ReplaceAll(name, " ", "%20"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func (b *slotBed) is(t *testing.T, sql string, args ...any) bool {
	t.Helper()
	var yes bool
	if err := b.admin.QueryRow(t.Context(), sql, args...).Scan(&yes); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return yes
}

func (b *slotBed) sessions(t *testing.T, name string) bool {
	return b.is(t, "select exists (select from pg_stat_activity where application_name = $1 and datname = current_database())", name)
}

func (b *slotBed) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.admin.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// said is a log that may be read.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *said) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.b.String(), text)
}

// standBy lets a process stand by, a minute at the most; what StandBy returned
// comes from the channel.
func standBy(t *testing.T, s *stream.Stream) <-chan error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	result := make(chan error, 1)
	go func() {
		defer cancel()
		result <- s.StandBy(ctx)
	}()
	return result
}

func TestLock(t *testing.T) {
	t.Run("OneAtATime", func(t *testing.T) {
		b := newSlotBed(t)
		b.exec(t, "insert into helix.checkpoints (slot, system_identifier, lsn, epoch) values ($1, '1', '0/0', 7)", b.slot)
		first, second := b.open(t, "helixd first", nil), b.open(t, "helixd second", nil)
		lock(t, first, true)
		lock(t, second, false)
		if !b.is(t, "select holder = 'helixd first' and epoch = 8 from helix.leaders where slot = $1", b.slot) {
			t.Error("helix.leaders does not name the first one and its epoch")
		}
		free := standBy(t, second)
		first.Close()
		if err := <-free; err != nil {
			t.Fatal(err)
		}
		lock(t, b.open(t, "helixd second", nil), true)
		if !b.is(t, "select holder = 'helixd second' from helix.leaders where slot = $1", b.slot) {
			t.Error("helix.leaders does not name the second one")
		}
	})
	t.Run("StandbyHoldsNoWalsender", func(t *testing.T) {
		b := newSlotBed(t)
		lock(t, b.open(t, "helixd first", nil), true)
		name, log := "helixd "+b.db.SlotName("second"), &said{} // all databases are in pg_stat_replication
		s := b.open(t, name, log)
		lock(t, s, false)
		standBy(t, s)
		until(t, "the standby", func() bool { return log.has("standing by") })
		// Nobody waits for its end, which is a moment after the connection's.
		until(t, "its walsender to end", func() bool {
			return b.is(t, "select not exists (select from pg_stat_replication where application_name = $1)", name)
		})
	})
	t.Run("StaleLeaderIsEnded", func(t *testing.T) {
		b := newSlotBed(t)
		first, log := b.open(t, "helixd first", nil), &said{}
		lock(t, first, true)
		// What a process that was stopped in the middle of an apply leaves behind.
		apply := b.session(t, "helixd first")
		if _, err := apply.Exec(t.Context(), "begin; create table locked (id int)"); err != nil {
			t.Fatal(err)
		}
		bystander := b.session(t, "helixd bystander")
		second := b.open(t, "helixd second", log)
		lock(t, second, false)
		free := standBy(t, second) // no heartbeat runs
		if err := <-free; err != nil {
			t.Fatal(err)
		}
		if !log.has("heartbeat has stopped") {
			t.Error("it was not said")
		}
		lock(t, b.open(t, "helixd second", nil), true)
		if b.sessions(t, "helixd first") {
			t.Error("sessions of the first one are left")
		}
		if err := bystander.Ping(t.Context()); err != nil {
			t.Errorf("a session of nobody's: %v", err)
		}
		if err := stream.Leads(t.Context(), b.session(t, "helixd first"), b.slot, "helixd first"); !errors.Is(err, stream.ErrDeposed) {
			t.Errorf("a new session of the first one: %v", err)
		}
		if err := stream.Leads(t.Context(), b.session(t, "helixd second"), b.slot, "helixd second"); err != nil {
			t.Errorf("a session of the second one: %v", err)
		}
		if _, err := first.CreateSlot(t.Context()); err == nil {
			t.Error("the first one could make a slot")
		}
		if err := heartbeat(t, first); !errors.Is(err, stream.ErrDeposed) {
			t.Errorf("the heartbeat of the first one: %v", err)
		}
	})
	t.Run("ClockSetBack", func(t *testing.T) {
		b := newSlotBed(t)
		lock(t, b.open(t, "helixd first", nil), true)
		b.exec(t, "update helix.leaders set heartbeat_at = now() + interval '1 day'")
		second := b.open(t, "helixd second", nil)
		lock(t, second, false)
		if err := <-standBy(t, second); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("LockLostButWalsenderAlive", func(t *testing.T) {
		b := newSlotBed(t)
		first := b.open(t, "helixd first", nil)
		lock(t, first, true)
		if err := first.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		lock(t, b.open(t, "helixd second", nil), true)
		if b.sessions(t, "helixd first") {
			t.Error("the walsender of the first one lives")
		}
	})
	t.Run("HeldByAStranger", func(t *testing.T) {
		b := newSlotBed(t)
		stranger, log := b.session(t, "psql by hand"), &said{}
		if _, err := stranger.Exec(t.Context(), "select pg_advisory_lock($1, hashtext($2))", stream.LockSpace, b.slot); err != nil {
			t.Fatal(err)
		}
		// Somebody who led before, long ago.
		b.exec(t, "insert into helix.leaders (slot, epoch, holder, heartbeat_at) values ($1, 1, 'helixd old', now() - interval '1 day')", b.slot)
		s := b.open(t, "helixd first", log)
		lock(t, s, false)
		free := standBy(t, s)
		until(t, "a report", func() bool {
			return log.has("psql by hand") && log.has(`"user":"postgres"`) && log.has("pg_terminate_backend(")
		})
		if err := stranger.Ping(t.Context()); err != nil {
			t.Errorf("the stranger's session: %v", err)
		}
		if err := stranger.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-free; err != nil {
			t.Fatal(err)
		}
	})
	t.Run("Race", func(t *testing.T) {
		b := newSlotBed(t)
		const processes = 6
		var group sync.WaitGroup
		got := make([]bool, processes)
		for i := range processes {
			s := b.open(t, "helixd "+string(rune('a'+i)), nil)
			group.Go(func() {
				var err error
				if got[i], err = s.Lock(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		leaders := 0
		for i, leads := range got {
			if leads {
				leaders++
				if !b.is(t, "select holder = $2 from helix.leaders where slot = $1", b.slot, "helixd "+string(rune('a'+i))) {
					t.Error("helix.leaders names another one")
				}
			}
		}
		if leaders != 1 {
			t.Errorf("%d lead", leaders)
		}
	})
}

// heartbeat gives why the heartbeat of a leader that was deposed ended.
func heartbeat(t *testing.T, s *stream.Stream) error {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return s.Heartbeat(ctx)
}

func TestHeartbeat(t *testing.T) {
	b := newSlotBed(t)
	log := &said{}
	s := b.open(t, "helixd first", log)
	lock(t, s, true)
	ctx, rest := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Heartbeat(ctx) }()
	beats := func(what string) {
		t.Helper()
		var before string
		if err := b.admin.QueryRow(t.Context(), "select heartbeat_at::text from helix.leaders").Scan(&before); err != nil {
			t.Fatal(err)
		}
		until(t, what, func() bool { return b.is(t, "select heartbeat_at > $1::text::timestamptz from helix.leaders", before) })
	}
	beats("a heartbeat")
	until(t, "its connection to be ended", func() bool {
		return b.is(t, `select coalesce(bool_or(pg_terminate_backend(pid)), false) from pg_stat_activity
			where application_name = 'helixd first' and datname = current_database() and backend_type = 'client backend'`)
	})
	beats("a heartbeat on a new connection")
	// One that hangs is given up.
	tx, err := b.admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select from helix.leaders for update"); err != nil {
		t.Fatal(err)
	}
	until(t, "a heartbeat to be missed", func() bool { return log.has("was not written") })
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	beats("a heartbeat after one that hung")
	rest()
	if err := <-ended; err != nil {
		t.Errorf("at its end: %v", err)
	}
	b.exec(t, "update helix.leaders set holder = 'another'")
	if err := heartbeat(t, s); !errors.Is(err, stream.ErrDeposed) {
		t.Errorf("when another leads: %v", err)
	}
}
