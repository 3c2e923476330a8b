package main_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// tight is a server that keeps little WAL for slots, with a table to fill it.
func tight(t *testing.T, keep string) *testenv.Database {
	t.Helper()
	cluster := testenv.StartCluster(t, testenv.Options{Settings: map[string]string{
		"max_slot_wal_keep_size": keep, "max_wal_size": "32MB", "min_wal_size": "32MB", "checkpoint_timeout": "1h"}})
	db := testenv.NewOn(t, cluster)
	db.Exec(t, "postgres", "create table filler (id int, text text)")
	return db
}

// fill writes megabytes that do not concern helixd.
func fill(t *testing.T, db *testenv.Database, megabytes int) {
	t.Helper()
	db.Exec(t, "postgres", "insert into filler select n, repeat('x', 1000) from generate_series(1, "+strconv.Itoa(megabytes*1000)+") n")
}

func lost(t testing.TB, conn *pgx.Conn, slot string) bool {
	return get[bool](t, conn, "select wal_status = 'lost' from pg_replication_slots where slot_name = $1", slot)
}

// TestSlotInvalidated: the server gives up a slot for which it would have to
// keep more WAL than it may.
func TestSlotInvalidated(t *testing.T) {
	const says = "has removed WAL that the slot needed"
	overflow := func(t *testing.T, x *patient) {
		t.Helper()
		x.edit(t, "sync_state")
		until(t, "the slot to be lost", func() bool {
			fill(t, x.db, 20)
			x.db.Exec(t, "supabase_admin", "checkpoint")
			return lost(t, x.admin, x.slot)
		})
	}
	check := func(t *testing.T, x *patient) {
		t.Helper()
		resolvedTo(t, x.admin, x.known, x.text())
		x.says(t, says)
		x.passes(t)
		if n := x.repairs(t); n != 1 {
			t.Errorf("%d repairs", n)
		}
		x.stop(t)
	}
	t.Run("WhileDown", func(t *testing.T) {
		t.Parallel()
		x := streaming(t, tight(t, "1MB"))
		x.stop(t)
		overflow(t, x)
		x.process = start(t, x.db.URL("postgres"), nil, "run", "--slot", x.slot)
		check(t, x)
	})
	t.Run("WhilePaused", func(t *testing.T) {
		t.Parallel()
		x := streaming(t, tight(t, "1MB"))
		x.unseen(t, func() { overflow(t, x) })
		check(t, x)
	})
}

// TestRetentionWarning: half of what the server may keep is used up while an
// old transaction holds every slot back.
func TestRetentionWarning(t *testing.T) {
	t.Parallel()
	x := streaming(t, tight(t, "160MB"))
	holder := x.db.Connect(t, "postgres")
	exec1(t, holder, "begin; insert into filler values (0, '')")
	if strings.Contains(x.log.String(), "keeps much WAL") {
		t.Error("it warns without need")
	}
	for range 12 {
		fill(t, x.db, 10)
		x.passes(t)
	}
	x.says(t, "keeps much WAL")
	for _, want := range []string{`"safe_wal_size":`, `"max_slot_wal_keep_size":167772160`, `"wal_status":"`, `"retained_bytes":`,
		`"oldest_transaction":"pid ` + strconv.Itoa(int(holder.PgConn().PID()))} {
		if !strings.Contains(x.log.String(), want) {
			t.Errorf("the warning lacks %s", want)
		}
	}
	exec1(t, holder, "rollback")
	x.stop(t)
}
