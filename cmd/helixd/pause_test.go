package main_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv"
)

// TestPausedUnderLoad: nothing is lost and nothing applied twice, whatever happens
// to the leader while the stream is paused.
func TestPausedUnderLoad(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	slot := db.SlotName("crash") // disrupted's
	meanwhile := []string{"nothing", "killed", "frozen", "stopped"}
	disrupted(t, db, func(l *load, applied func() int64, run func(string) *process) {
		admin := db.Connect(t, "postgres")
		leader := run("")
		for i, what := range meanwhile {
			part := deltas / (len(meanwhile) + 1)
			l.allowed.Store(int64(i*part + part*3/4))
			progress(t, applied, int64(i*part+part/2))
			helixd(t, db, nil, "pause", "stream", "--wait")
			paused := applied()
			l.allowed.Store(int64((i + 1) * part)) // so that there is something to apply after the pause
			until(t, "more of the load", func() bool { return l.written.Load() >= l.allowed.Load() })
			if what != "nothing" {
				standby := run("")
				standby.standsBy(t)
				switch what {
				case "killed":
					leader.Kill()
				case "frozen":
					leader.signal(t, syscall.SIGSTOP)
				case "stopped":
					began := time.Now()
					leader.stop(t)
					if took := time.Since(began); took > 10*time.Second || leader.says("not in order") {
						t.Errorf("it took %s to stop", took)
					}
				}
				until(t, "the takeover", func() bool { return standby.leads(t, admin, slot) })
				helixd(t, db, nil, "pause", "stream", "--wait")
				if what == "frozen" {
					leader.signal(t, syscall.SIGCONT)
					leader.stop(t)
				}
				leader = standby
				until(t, "the standby to hold", func() bool { return leader.says("the stream is paused") })
			}
			if n := applied(); n != paused {
				t.Errorf("%s: %d changes were applied in a pause", what, n-paused)
			}
			helixd(t, db, nil, "resume", "stream", "--wait")
			progress(t, applied, paused+1)
		}
		leader.stop(t)
	})
}

// TestPauseEndsByItself: before the server drops WAL that the slot needs.
func TestPauseEndsByItself(t *testing.T) {
	for name, c := range map[string]struct {
		settings map[string]string
		bound    int64 // so much is written
		says     string
		down     bool // and the slot needs a repair, so that there is no stream
	}{
		"AtHalfOfTheCap":       {map[string]string{"max_slot_wal_keep_size": "256MB", "max_wal_size": "64MB", "min_wal_size": "32MB"}, (128 + 16) << 20, "half of max_slot_wal_keep_size (256.0 MB)", false},
		"AtHelixdsOwnBound":    {nil, 64 << 20, "--pause-wal (64.0 MB)", false},
		"WhereARepairIsNeeded": {nil, 64 << 20, "--pause-wal (64.0 MB)", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := testenv.NewOn(t, testenv.StartCluster(t, testenv.Options{Settings: c.settings}))
			db.Exec(t, "postgres", "create table filler (text text)")
			x := streaming(t, db, "HELIX_PAUSE_WAL=64MB")
			says := helixd(t, db, []string{"HELIX_PAUSE_WAL=64MB"}, "pause", "stream", "--slot", x.slot, "--wait")
			if !strings.Contains(says, "it ends by itself once") {
				t.Errorf("pause says %s", says)
			}
			if c.down {
				exec1(t, x.admin, "update helix.checkpoints set repair = 'because I want it'")
				x.says(t, "that waits: the stream is paused")
			}
			x.edit(t, "sync_state")
			began := get[string](t, x.admin, "select pg_current_wal_lsn()::text")
			for get[int64](t, x.admin, "select (pg_current_wal_lsn() - $1::pg_lsn)::bigint", began) < c.bound {
				exec1(t, x.admin, "insert into filler select repeat('x', 1000) from generate_series(1, 1000)")
			}
			until(t, "the pause to end", func() bool { return get[bool](t, x.admin, "select ended is not null from helix.paused") })
			if !c.down && get[string](t, x.admin, "select wal_status from pg_replication_slots where slot_name = $1", x.slot) == "lost" {
				t.Error("the slot is lost")
			}
			if why := get[string](t, x.admin, "select ended from helix.paused where ended_at is not null"); !strings.Contains(why, c.says) {
				t.Errorf("it ended because %s", why)
			}
			resolvedTo(t, x.admin, x.known, x.text())
			x.says(t, `"severity":"critical"`)
			repairs := 0
			if c.down {
				repairs = 1
			}
			if n := x.repairs(t); n != repairs {
				t.Errorf("%d repairs, want %d", n, repairs)
			}
			x.passes(t)
			x.stop(t)
		})
	}
}

// TestPausedReactor: no process begins a job of it, those that start later neither,
// and what comes meanwhile is worked in the end.
func TestPausedReactor(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	app := db.AsUser(t, db.NewUser(t).ID)
	slot := db.SlotName("paused")
	worker := func() *process {
		p := start(t, db.URL("postgres"), nil, "run", "--role", "worker")
		until(t, "a worker", func() bool { return p.says("working jobs") })
		return p
	}
	leader := start(t, db.URL("postgres"), nil, "run", "--role", "stream", "--slot", slot)
	workers := []*process{worker(), worker()}
	ordered := 0
	order := func() {
		t.Helper()
		exec1(t, app, `insert into memory_synthesis_jobs (synthesis_type, conversations) values ('emotional_patterns', '[{"id": "c1", "text": "I feel happy today."}]')`)
		ordered++
	}
	done := func() int {
		return get[int](t, admin, "select count(*) from memory_synthesis_jobs where status = 'done'")
	}
	waiting := func() int {
		return get[int](t, admin, "select count(*) from helix.river_job where queue = 'analysis' and state in ('available', 'scheduled')")
	}
	order()
	until(t, "an analysis", func() bool { return done() == ordered })

	helixd(t, db, nil, "pause", "analysis", "--reason", "a test", "--wait")
	order()
	until(t, "the change to be noted", func() bool { return waiting() > 0 })
	if !get[bool](t, app, "select not healthy and details -> 'paused' ->> 'what' = 'analysis' and not details::text like '%a test%' from helix_status where reactor = 'analysis'") ||
		!get[bool](t, app, "select bool_and(details -> 'paused' is null) from helix_status where reactor <> 'analysis'") {
		t.Error("helix_status does not say that analysis is paused, and no other")
	}
	workers[0].Kill()
	for _, w := range workers[1:] {
		w.stop(t)
	}
	exec1(t, admin, "delete from helix.river_queue where name = 'analysis'") // as River does after a day
	workers = []*process{worker(), worker()}
	helixd(t, db, nil, "pause", "analysis", "--wait")
	exec1(t, admin, "update helix.river_queue set paused_at = null where name = 'analysis'") // without a word to anybody
	order()
	until(t, "the pause to be mended", func() bool {
		return get[bool](t, admin, "select paused_at is not null from helix.river_queue where name = 'analysis'")
	})
	if n := done(); n != 1 {
		t.Errorf("%d analyses were made in a pause", n-1)
	}
	// River's table says that it is resumed, and no notification comes.
	exec1(t, admin, "delete from helix.paused; update helix.river_queue set paused_at = null where name = 'analysis'")
	until(t, "what was ordered", func() bool { return done() == ordered })

	helixd(t, db, nil, "pause", "analysis", "--for", "1h", "--wait")
	order()
	until(t, "the change to be noted", func() bool { return waiting() > 0 })
	exec1(t, admin, "update helix.paused set until = now()")
	until(t, "what was ordered", func() bool { return done() == ordered })
	until(t, "all workers to have resumed", func() bool {
		return get[bool](t, admin, "select bool_and(paused = '{}') from helix.workers where heartbeat_at > now() - interval '10 seconds'")
	})
	if n := get[int](t, admin, "select count(*) from helix.dead_letters"); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	for _, p := range append(workers, leader) {
		p.stop(t)
	}
}

// TestPauseWaitsForJobs: what runs is let end, and --wait tells.
func TestPauseWaitsForJobs(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	worker := start(t, db.URL("postgres"), nil, "run", "--role", "worker")
	until(t, "a worker", func() bool { return worker.says("working jobs") })
	exec1(t, admin, `insert into helix.river_job (kind, max_attempts, queue, state, args, attempt, attempted_at)
		values ('k', 1, 'recall', 'running', '{}', 1, now())`)
	helixd(t, db, nil, "pause", "recall")
	until(t, "the worker to have acted", func() bool {
		return get[bool](t, admin, "select exists (select from helix.workers where 'recall' = any (paused))")
	})
	p := start(t, db.URL("postgres"), nil, "pause", "recall", "--wait", "--timeout", "2s")
	if status := p.wait(t); status != 1 || !p.says("1 jobs are still running") {
		t.Errorf("status %d: %s", status, p.log)
	}
	p = start(t, db.URL("postgres"), nil, "pause", "recall", "--wait")
	exec1(t, admin, "update helix.river_job set state = 'completed', finalized_at = now() where kind = 'k'")
	if status := p.wait(t); status != 0 {
		t.Errorf("status %d: %s", status, p.log)
	}
	// A worker that hears nothing has not acted.
	helixd(t, db, nil, "resume", "recall", "--wait")
	worker.signal(t, syscall.SIGSTOP)
	p = start(t, db.URL("postgres"), nil, "pause", "recall", "--wait", "--timeout", "2s")
	if status := p.wait(t); status != 1 || !p.says("not all have acted: helixd ") {
		t.Errorf("status %d: %s", status, p.log)
	}
	worker.signal(t, syscall.SIGCONT)
	helixd(t, db, nil, "pause", "recall", "--wait")
	worker.stop(t)
}
