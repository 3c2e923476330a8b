package main_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/helixd/helixd/testenv"
)

// TestIdleBound: while the published tables are idle and another one takes much
// WAL, the server keeps little of it for the slot. It can let go only from where it last
// noted the running transactions: every 15 s, and at its checkpoints. So the
// long test writes slowly on a server as it is, and the short one fast on one
// that makes many checkpoints.
func TestIdleBound(t *testing.T) {
	t.Parallel()
	const bound = 64<<20 + 16<<20 // and a segment
	megabytes, perSecond := int64(count(160, 500)), count(10_000, 2_500)
	settings := map[string]string{"max_wal_size": "32MB", "min_wal_size": "32MB"}
	if long {
		settings = nil
	}
	db := testenv.NewOn(t, testenv.StartCluster(t, testenv.Options{Settings: settings}))
	db.Exec(t, "postgres", "create table filler (id int, text text)")
	x := streaming(t, db)
	began := get[string](t, x.admin, "select pg_current_wal_lsn()::text")
	var written, retained, unconfirmed int64
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for written < megabytes<<20 {
		exec1(t, x.admin, "insert into filler select n, repeat('x', 1000) from generate_series(1, "+strconv.Itoa(perSecond/10)+") n")
		var r, u int64
		err := x.admin.QueryRow(t.Context(), `select (pg_current_wal_lsn() - $2::pg_lsn)::bigint, (pg_current_wal_lsn() - restart_lsn)::bigint,
			(pg_current_wal_lsn() - confirmed_flush_lsn)::bigint from pg_replication_slots where slot_name = $1`, x.slot, began).Scan(&written, &r, &u)
		if err != nil {
			t.Fatal(err)
		}
		retained, unconfirmed = max(retained, r), max(unconfirmed, u)
		<-tick.C
	}
	t.Logf("%d MB written: at most %.1f MB retained, %.1f MB not confirmed", written>>20, float64(retained)/(1<<20), float64(unconfirmed)/(1<<20))
	if retained > bound {
		t.Errorf("the server kept %d bytes for an idle slot", retained)
	}
	x.passes(t)
	x.stop(t)
}
