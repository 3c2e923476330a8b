package main_test

import (
	"testing"

	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

// TestSettingsLeaveThePublication: a reactor that is switched off and on again
// takes no new slot, and sees what it has missed.
func TestSettingsLeaveThePublication(t *testing.T) {
	t.Parallel()
	x := streaming(t, testenv.New(t), "HELIX_EMBEDDINGS=off")
	app := x.db.AsUser(t, x.user)
	published := get[string](t, x.admin, "select published from helix.checkpoints where slot = $1", x.slot)
	for _, mode := range []string{"on", "off", "on"} {
		exec1(t, app, "insert into memories (type, content) values ('episodic', 'Walked by the river.')")
		x.passes(t)
		noted := "select count(*) from helix.embedding_work"
		missed := get[int](t, app, "select count(*) from memories") - get[int](t, x.admin, noted)
		x.stop(t)
		x.process = start(t, x.db.URL("postgres"), []string{"HELIX_DRIFT_INTERVAL=100ms", "HELIX_EMBEDDINGS=" + mode}, "run", "--slot", x.slot)
		x.passes(t)
		if mode == "on" {
			if missed == 0 {
				t.Error("it was not off: nothing was missed")
			}
			until(t, "all memories to be noted", func() bool {
				return get[int](t, x.admin, noted) == get[int](t, x.admin, "select count(*) from memories")
			})
		}
		if now := get[string](t, x.admin, "select published from helix.checkpoints where slot = $1", x.slot); now != published {
			t.Errorf("%s: the publication has changed from %s to %s", mode, published, now)
		}
		if n := x.repairs(t); n != 0 || x.process.says("making a new slot") {
			t.Errorf("%s: %d repairs", mode, n)
		}
	}
	x.stop(t)
}

// TestSwitchedOnInAPause: what a reactor has missed it does not read while the stream
// is paused, nor does the stream pass over it.
func TestSwitchedOnInAPause(t *testing.T) {
	t.Parallel()
	x := streaming(t, testenv.New(t), "HELIX_EMBEDDINGS=off")
	app := x.db.AsUser(t, x.user)
	exec1(t, app, "insert into memories (type, content) values ('episodic', 'Walked by the river.')")
	x.passes(t)
	helixd(t, x.db, nil, "pause", "stream", "--slot", x.slot, "--wait")
	lsn := get[string](t, x.admin, "select lsn::text from helix.checkpoints")
	on := func() {
		x.stop(t)
		x.process = start(t, x.db.URL("postgres"), []string{"HELIX_DRIFT_INTERVAL=100ms", "HELIX_EMBEDDINGS=on"}, "run", "--slot", x.slot)
	}
	for range 2 { // it ends in order in the middle of that, too
		on()
		x.says(t, "that waits: the stream is paused")
		exec1(t, app, "insert into memories (type, content) values ('episodic', 'Walked in a pause.')")
		if n := get[int](t, x.admin, "select count(*) from helix.embedding_work"); n != 0 {
			t.Errorf("%d memories were noted in a pause", n)
		}
		if now := get[string](t, x.admin, "select lsn::text from helix.checkpoints"); now != lsn {
			t.Errorf("the checkpoint went from %s to %s in a pause", lsn, now)
		}
	}
	helixd(t, x.db, nil, "resume", "stream", "--slot", x.slot, "--wait")
	until(t, "all memories to be noted", func() bool { return get[int](t, x.admin, "select count(*) from helix.embedding_work") == 3 })
	x.passes(t)
	if n := x.repairs(t); n != 0 {
		t.Errorf("%d repairs", n)
	}
	x.stop(t)
}

// TestUpgradeOfThePublication: what an older helixd published is no fault of
// anybody's, and all rows are read.
func TestUpgradeOfThePublication(t *testing.T) {
	t.Parallel()
	x := streaming(t, testenv.New(t))
	x.stop(t)
	exec1(t, x.admin, `do $$ begin execute (
		select format('alter publication helix drop table memories; alter publication helix add table only memories (%s)', string_agg(attname, ', '))
		from pg_attribute where attrelid = 'memories'::regclass and attname in ('id', 'user_id', 'content_rev')); end $$`)
	p, err := stream.CheckPublication(t.Context(), x.admin, "helix", nil)
	if err != nil {
		t.Fatal(err)
	}
	exec1(t, x.admin, "update helix.checkpoints set published = $1", p.Fingerprint.String())
	x.edit(t, "sync_state")
	x.process = start(t, x.db.URL("postgres"), []string{"HELIX_DRIFT_INTERVAL=100ms"}, "run", "--slot", x.slot)
	resolvedTo(t, x.admin, x.known, x.text())
	x.passes(t)
	x.stop(t)
	if !x.process.says(`"level":"info","found":"this helixd watches other tables or columns than the last one did: of the publication as that left it, it lacks columns of public.memories"`) || x.process.says(`"level":"warn"`) {
		t.Error("it does not say that this is an upgrade, or warns")
	}
	if n := x.repairs(t); n != 1 {
		t.Errorf("%d repairs", n)
	}
}
