package main_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// long is set by make test-long: the full counts.
var long = os.Getenv("HELIX_TEST_LONG") != ""

func count(short, full int) int {
	if long {
		return full
	}
	return short
}

// disrupted runs the load while something keeps happening to it, then lets
// helixd finish and checks.
func disrupted(t *testing.T, db *testenv.Database, disrupt func(l *load, applied func() int64, run func(failpoint string) *process)) {
	admin := migrated(t, db)
	exec1(t, admin, "create table helix_audit (entity_id uuid, device_id text, counter bigint, applied int, primary key (entity_id, device_id, counter))")
	slot := db.SlotName("crash")
	run := func(failpoint string) *process {
		return start(t, db.URL("postgres"), []string{"HELIX_AUDIT=1", "HELIX_FAILPOINT=" + failpoint}, "run", "--slot", slot)
	}
	// The slot is there before the first delta: all of them are streamed.
	first := run("")
	until(t, "the first checkpoint", func() bool {
		return get[int](t, admin, "select count(*) from helix.checkpoints where slot = $1", slot) == 1
	})
	first.Kill()

	l := load{deltas: deltas}
	loaded := make(chan struct{})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	go func() {
		defer close(loaded)
		l.run(t, db, seed)
	}()
	applied := func() (n int64) {
		conn, err := pgx.Connect(t.Context(), db.URL("postgres"))
		if err != nil {
			return 0 // it is restarting
		}
		defer conn.Close(t.Context())
		_ = conn.QueryRow(t.Context(), "select changes from helix.checkpoints where slot = $1", slot).Scan(&n)
		return n
	}
	disrupt(&l, applied, run)
	l.allowed.Store(deltas)
	<-loaded
	last := run("")
	until(t, "the last one to stream", func() bool { return last.says(`"message":"streaming"`) }) // there may be nothing left to apply
	admin = db.Connect(t, "postgres")
	until(t, "all deltas to be applied", func() bool {
		return get[int64](t, admin, "select coalesce(sum(applied), 0)::bigint from helix_audit") >= deltas
	})
	until(t, "the slot's confirmed position to reach the checkpoint", func() bool {
		return get[bool](t, admin, `select s.confirmed_flush_lsn = c.lsn from pg_replication_slots s
			join helix.checkpoints c on c.slot = s.slot_name where slot_name = $1`, slot)
	})
	last.stop(t)
	l.check(t, admin)
}

// progress waits until so many changes are applied: however long, while there
// are more and more.
func progress(t *testing.T, applied func() int64, goal int64) {
	t.Helper()
	for n := applied(); n < goal; n = applied() {
		until(t, "some progress", func() bool { return applied() > n })
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	points := []string{"after-receive", "after-react", "before-commit", "after-commit", "before-ack"}
	kills := count(5, 30)
	disrupted(t, testenv.New(t), func(l *load, applied func() int64, run func(string) *process) {
		for i := range kills {
			l.allowed.Store(max(l.allowed.Load(), int64((i+1)*deltas/(kills+1))))
			// Once at each point, then at random times too.
			if i < len(points) || i%2 == 0 {
				n := 1 + rand.IntN(3)
				if points[i%len(points)] == "after-receive" {
					n = 1 + rand.IntN(500)
				}
				p := run(fmt.Sprintf("%s:%d", points[i%len(points)], n))
				until(t, "helixd to come to "+points[i%len(points)], func() bool {
					if p.says(`"message":"streaming"`) { // all that was written before may be one apply, and a third is asked for
						l.allowed.Add(1)
					}
					return p.Ended()
				})
				continue
			}
			p := run("")
			goal := min(applied()+rand.Int64N(int64(deltas/kills)), l.allowed.Load()-writers)
			until(t, "some progress", func() bool { return applied() >= goal })
			p.Kill()
		}
	})
}

func TestPostgresRestarted(t *testing.T) {
	t.Parallel()
	cluster := testenv.StartCluster(t, testenv.Options{Fsync: true})
	disrupted(t, testenv.NewOn(t, cluster), func(l *load, applied func() int64, run func(string) *process) {
		l.allowed.Store(deltas)
		p := run("")
		restarts := count(1, 5)
		for i := range restarts {
			progress(t, applied, int64((i+1)*deltas/(restarts+2)))
			if err := cluster.Restart(t.Context(), testenv.Immediate); err != nil {
				t.Fatal(err)
			}
		}
		progress(t, applied, deltas/2)
		p.stop(t)
	})
}
