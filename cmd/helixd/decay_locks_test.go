package main_test

import (
	"syscall"
	"testing"

	"github.com/helixd/helixd/testenv"
)

const layersOfAll = `insert into psychology_layers (user_id, layer_number, last_reinforced)
	select u.id, n, now() - interval '50 hours' from auth.users u, generate_series(1, 7) n`

// aTickWaits says that one waits for a row.
const aTickWaits = `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
	and query like '%psychology_layers%')`

// TestDecayBesideClients: a tick waits neither long nor for ever for a row that a
// client keeps locked, and meanwhile keeps nobody from theirs.
func TestDecayBesideClients(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	first, last := db.NewUser(t).ID, db.NewUser(t).ID
	if first > last {
		first, last = last, first
	}
	exec1(t, admin, layersOfAll)
	idle := db.AsUser(t, last)
	exec1(t, idle, "begin")
	exec1(t, idle, "update psychology_layers set data = '{}' where layer_number = 7")
	tick := start(t, db.URL("postgres"), nil, "decay", "--once")
	until(t, "the tick to wait", func() bool { return get[bool](t, admin, aTickWaits) })
	exec1(t, db.AsUser(t, first), "update psychology_layers set data = '{}' where layer_number = 1")
	if status := tick.wait(t); status != 1 || !tick.says(" could not be written") {
		t.Errorf("exit status %d: %s", status, tick.log)
	}
	if n := get[int](t, admin, "select count(*)::int from psychology_layers where user_id = $1 and decay_rate < 0.99", first); n != 6 {
		t.Errorf("%d layers of another user are written", n)
	}
	exec1(t, idle, "rollback")
	if tick := start(t, db.URL("postgres"), nil, "decay", "--once"); tick.wait(t) != 0 {
		t.Error(tick.log)
	}
}

// TestDecayAfterFrozen: a process that is frozen in a tick does not keep the others
// from theirs.
func TestDecayAfterFrozen(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	db.NewUser(t)
	exec1(t, admin, layersOfAll)
	run := func() *process {
		return start(t, db.URL("postgres"), []string{"HELIX_DECAY_SCHEDULE=@every 1s"}, "run", "--role", "worker")
	}
	client := db.Connect(t, "postgres")
	exec1(t, client, "begin")
	exec1(t, client, "update psychology_layers set data = '{}'")
	frozen := run()
	until(t, "a tick to wait", func() bool { return get[bool](t, admin, aTickWaits) })
	frozen.signal(t, syscall.SIGSTOP)
	exec1(t, client, "rollback")
	next := run()
	until(t, "a tick", func() bool { return get[bool](t, admin, "select exists (select from helix.decay)") })
	ticked := get[string](t, admin, "select ticked_at::text from helix.decay")
	frozen.signal(t, syscall.SIGCONT)
	until(t, "another tick", func() bool { return get[string](t, admin, "select ticked_at::text from helix.decay") != ticked })
	frozen.stop(t)
	next.stop(t)
}
