package main_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/testenv"
)

// TestSlotInUse: whoever else has the slot is named, and helixd waits until it
// is free. What the other one has acknowledged is not lost.
func TestSlotInUse(t *testing.T) {
	t.Parallel()
	x := streaming(t, testenv.New(t))
	x.stop(t)
	x.edit(t, "sync_state")
	other, err := pgconn.Connect(t.Context(), x.db.URL("postgres")+"&replication=database&application_name=somebody")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // closed below
	err = pglogrepl.StartReplication(t.Context(), other, x.slot, 0, pglogrepl.StartReplicationOptions{
		PluginArgs: []string{"proto_version '1'", "publication_names 'helix'"}})
	if err != nil {
		t.Fatal(err)
	}
	x.process = start(t, x.db.URL("postgres"), nil, "run", "--slot", x.slot)
	x.says(t, fmt.Sprintf("the slot is in use by pid %d (application 'somebody'", other.PID()))
	var end string
	if err := x.admin.QueryRow(t.Context(), "select pg_current_wal_lsn()::text").Scan(&end); err != nil {
		t.Fatal(err)
	}
	lsn, err := pglogrepl.ParseLSN(end)
	if err != nil {
		t.Fatal(err)
	}
	if err := pglogrepl.SendStandbyStatusUpdate(t.Context(), other, pglogrepl.StandbyStatusUpdate{WALWritePosition: lsn}); err != nil {
		t.Fatal(err)
	}
	until(t, "the slot to have moved", func() bool {
		return get[bool](t, x.admin, "select confirmed_flush_lsn = $2::pg_lsn from pg_replication_slots where slot_name = $1", x.slot, end)
	})
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	resolvedTo(t, x.admin, x.known, x.text())
	x.says(t, "somebody else moved the slot")
	x.passes(t)
	x.stop(t)
}

// TestRepairsAreSlowedDown: where somebody keeps taking the slot away, not all
// rows are read again each time.
func TestRepairsAreSlowedDown(t *testing.T) {
	t.Parallel()
	x := streaming(t, testenv.New(t))
	drop := func() {
		t.Helper()
		until(t, "the slot to be dropped", func() bool {
			x.db.Exec(t, "supabase_admin", "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '"+x.slot+"' and active_pid is not null")
			_, err := x.admin.Exec(t.Context(), "select pg_drop_replication_slot($1)", x.slot)
			return err == nil
		})
	}
	for n := 1; n <= 3; n++ {
		drop()
		x.edit(t, "sync_state")
		resolvedTo(t, x.admin, x.known, x.text())
		x.says(t, `"repairs_lately":`+strconv.Itoa(n-1))
	}
	drop()
	x.edit(t, "sync_state")
	x.says(t, "helixd has repaired 3 times, the last time")
	if n := x.repairs(t); n != 3 {
		t.Errorf("%d repairs", n)
	}
	if get[bool](t, x.admin, "select exists (select from pg_replication_slots where slot_name = $1)", x.slot) {
		t.Error("it made a slot nevertheless")
	}
	exec1(t, x.admin, "update helix.checkpoints set repaired_at = repaired_at - interval '2 minutes'")
	resolvedTo(t, x.admin, x.known, x.text())
	x.passes(t)
	x.stop(t)
	if !strings.Contains(x.log.String(), `"repairs_lately":3`) {
		t.Error("it does not count")
	}
}

// TestRecreateSaysWhatItWaitsFor: it waits for what others do, and names that at once.
func TestRecreateSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	x := streaming(t, testenv.New(t))
	x.edit(t, "sync_state")
	resolvedTo(t, x.admin, x.known, x.text())
	url, env := x.db.URL("postgres"), []string{"HELIX_SLOT=" + x.slot}
	says := func(p *process, what string) {
		t.Helper()
		until(t, what, func() bool { return strings.Contains(p.log.String(), what) })
	}
	// A new slot waits for a transaction that is open.
	open := x.db.Connect(t, "postgres")
	exec1(t, open, "begin")
	exec1(t, open, "select pg_current_xact_id()")
	first := start(t, url, env, "slot", "recreate", "--yes")
	making := "select exists (select from pg_replication_slots where slot_name = $1 and confirmed_flush_lsn is null)"
	until(t, "the new slot to be begun", func() bool { return get[bool](t, x.admin, making, x.slot) })
	second := start(t, url, env, "slot", "recreate", "--yes")
	says(second, "a repair is under way: helixd ")
	exec1(t, open, "commit")
	for _, p := range []*process{first, second} {
		if status := p.wait(t); status != 0 || !strings.Contains(p.log.String(), "streaming again, from a new slot") {
			t.Errorf("status %d", status)
		}
	}
	if n := x.repairs(t); n != 1 {
		t.Errorf("%d repairs", n)
	}

	// Paused before the leader acts: it is stopped, as one is that is busy.
	x.signal(t, syscall.SIGSTOP)
	third := start(t, url, env, "slot", "recreate", "--yes")
	until(t, "the request", func() bool { return get[bool](t, x.admin, "select repair is not null from helix.checkpoints") })
	if status := start(t, url, env, "pause", "stream").wait(t); status != 0 {
		t.Errorf("pause: status %d", status)
	}
	says(third, "the stream is paused, and no slot is made meanwhile; waiting for: helixd resume stream")
	x.signal(t, syscall.SIGCONT)
	if status := start(t, url, env, "resume", "stream").wait(t); status != 0 {
		t.Errorf("resume: status %d", status)
	}
	if status := third.wait(t); status != 0 {
		t.Errorf("status %d", status)
	}
	x.passes(t)
	x.stop(t)
}
