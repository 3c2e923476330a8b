package main_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// TestTakeover kills and stops leaders under load. Those that were stopped go on
// later: they must not write, and stand by.
func TestTakeover(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	slot := db.SlotName("crash") // disrupted's
	rounds := count(4, 12)
	disrupted(t, db, func(l *load, applied func() int64, run func(string) *process) {
		admin := db.Connect(t, "postgres")
		leader := run("")
		until(t, "a leader", func() bool { return leader.leads(t, admin, slot) })
		for i := range rounds {
			l.allowed.Store(int64((i + 1) * deltas / (rounds + 1)))
			standby := run("")
			standby.standsBy(t)
			goal := int64(i*deltas+deltas/2) / int64(rounds+1)
			until(t, "some progress", func() bool { return applied() >= goal })
			stopped := i%2 == 1
			if stopped {
				leader.signal(t, syscall.SIGSTOP)
			} else {
				leader.Kill()
			}
			until(t, "the takeover", func() bool { return standby.leads(t, admin, slot) })
			until(t, "progress after the takeover", func() bool { return applied() >= goal+int64(deltas/4/(rounds+1)) })
			if stopped {
				epoch := get[int64](t, admin, "select epoch from helix.checkpoints where slot = $1", slot)
				stood := strings.Count(leader.log.String(), "standing by") // before it led
				leader.signal(t, syscall.SIGCONT)
				until(t, "it to stand by again", func() bool { return strings.Count(leader.log.String(), "standing by") > stood })
				if !standby.leads(t, admin, slot) || get[int64](t, admin, "select epoch from helix.checkpoints where slot = $1", slot) != epoch {
					t.Error("the one that had been stopped took the lead back")
				}
				leader.stop(t)
			}
			leader = standby
		}
		l.allowed.Store(deltas)
		leader.stop(t)
	})
}

// TestStoppedInApply: the leader stops with row locks held, its own checkpoint's
// among them. The next one must not wait for the server to time them out.
func TestStoppedInApply(t *testing.T) {
	for _, point := range []string{"after-react", "before-commit"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			db := testenv.New(t)
			admin := migrated(t, db)
			app := db.AsUser(t, db.NewUser(t).ID)
			slot := db.SlotName("apply")
			first := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
			until(t, "the first backfill", func() bool { return first.says(`"streaming"`) })
			first.stop(t)
			leader := start(t, db.URL("postgres"), []string{"HELIX_FAILPOINT=" + point + ":2:stop"}, "run", "--slot", slot)
			entity := uuid.New()
			write(t, app, entity, "phone", `{"phone": 1}`, "one")
			resolvedTo(t, admin, entity, "one")
			standby := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
			standby.standsBy(t)
			write(t, app, entity, "phone", `{"phone": 2}`, "two") // the same row
			until(t, "the leader to stop", func() bool { return leader.says("stopped " + point) })
			stopped := time.Now()
			resolvedTo(t, admin, entity, "two")
			t.Logf("%s after the stop", time.Since(stopped).Round(time.Millisecond))
			if n := get[int](t, admin, "select count(*) from sync_conflicts"); n != 0 {
				t.Errorf("%d conflicts: it was applied twice", n)
			}
			revision := get[int64](t, admin, "select revision from sync_entities where entity_id = $1", entity)
			leader.signal(t, syscall.SIGCONT)
			leader.standsBy(t)
			if leader.says("25P03") {
				t.Error("the server's timeout has freed the row locks, not the takeover")
			}
			if n := get[int64](t, admin, "select revision from sync_entities where entity_id = $1", entity); n != revision {
				t.Errorf("the one that had been stopped has written revision %d", n)
			}
			if !standby.leads(t, admin, slot) {
				t.Error("the one that had been stopped leads again")
			}
			leader.stop(t)
			standby.stop(t)
		})
	}
}

// TestBusyLeaderKeepsTheLead: neither a long apply nor a long backfill is a
// reason to take over, with one connection for jobs either.
func TestBusyLeaderKeepsTheLead(t *testing.T) {
	for _, busy := range []string{"Backfill", "Apply"} {
		t.Run(busy, func(t *testing.T) {
			t.Parallel()
			db := testenv.New(t)
			admin := migrated(t, db)
			app := db.AsUser(t, db.NewUser(t).ID)
			slot := db.SlotName("busy")
			entity := uuid.New()
			hold := func() pgx.Tx { // an apply waits for this
				tx, err := db.Connect(t, "postgres").Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Exec(t.Context(), "lock table sync_entities"); err != nil {
					t.Fatal(err)
				}
				write(t, app, entity, "phone", `{"phone": 1}`, "one")
				return tx
			}
			var lock pgx.Tx
			if busy == "Backfill" {
				lock = hold()
			}
			url := db.URL("postgres") + "&pool_max_conns=1"
			leader := start(t, url, nil, "run", "--slot", slot)
			until(t, "a leader", func() bool { return leader.leads(t, admin, slot) })
			if busy == "Apply" {
				until(t, "the stream", func() bool { return leader.says(`"streaming"`) })
				lock = hold()
			}
			standby := start(t, url, nil, "run", "--slot", slot)
			standby.standsBy(t)
			until(t, "the leader to be kept waiting", func() bool {
				return get[bool](t, admin, `select exists (select from pg_stat_activity where datname = current_database()
					and wait_event_type = 'Lock' and application_name = (select holder from helix.leaders where slot = $1))`, slot)
			})
			since := get[time.Time](t, admin, "select now()")
			until(t, "more time than a dead leader has", func() bool { return get[bool](t, admin, "select now() > $1::timestamptz + interval '7 s'", since) })
			if !leader.leads(t, admin, slot) {
				t.Error("another one leads")
			}
			if err := lock.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			resolvedTo(t, admin, entity, "one")
			if n := get[int64](t, admin, "select epoch from helix.leaders where slot = $1", slot); n != 1 {
				t.Errorf("epoch %d: the lead has changed", n)
			}
			leader.stop(t)
			standby.stop(t)
		})
	}
}

// TestStoppedInBackfill: nobody has a checkpoint yet, which all are to make.
func TestStoppedInBackfill(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	app := db.AsUser(t, db.NewUser(t).ID)
	slot := db.SlotName("backfill")
	entity := uuid.New()
	write(t, app, entity, "phone", `{"phone": 1}`, "one")
	leader := start(t, db.URL("postgres"), []string{"HELIX_FAILPOINT=after-react:2:stop"}, "run", "--slot", slot)
	until(t, "the leader to stop", func() bool { return leader.says("stopped after-react") })
	standby := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	resolvedTo(t, admin, entity, "one")
	leader.signal(t, syscall.SIGCONT)
	leader.standsBy(t)
	if n := get[int64](t, admin, "select epoch from helix.checkpoints where slot = $1", slot); n != 1 {
		t.Errorf("epoch %d: the backfill of the one that had been stopped was committed", n)
	}
	if !standby.leads(t, admin, slot) {
		t.Error("the one that had been stopped leads again")
	}
	write(t, app, entity, "phone", `{"phone": 2}`, "two")
	resolvedTo(t, admin, entity, "two")
	leader.stop(t)
	standby.stop(t)
}

// TestLockOfAStranger: anybody with SQL can take an advisory lock.
func TestLockOfAStranger(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	slot := db.SlotName("stranger")
	stranger := db.AsUser(t, db.NewUser(t).ID)
	exec1(t, stranger, "select pg_advisory_lock(x'68656c69'::int, hashtext($1))", slot)
	pid := get[int](t, stranger, "select pg_backend_pid()")
	p := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	until(t, "a report", func() bool {
		return p.says(fmt.Sprintf(`"pid":%d`, pid)) && p.says(`"user":"authenticator"`) && p.says("--slot")
	})
	exec1(t, stranger, "select pg_advisory_unlock_all()")
	until(t, "the lead", func() bool { return p.leads(t, admin, slot) })
	p.stop(t)
}
