package main_test

import (
	"testing"

	"github.com/helixd/helixd/testenv"
)

// TestUninstallByForce: a helixd that runs makes a slot that it misses, and none is
// left over, which would keep the server's WAL for ever.
func TestUninstallByForce(t *testing.T) {
	t.Parallel()
	x := streaming(t, testenv.New(t))
	helixd(t, x.db, nil, "uninstall", "--yes", "--force", "--slot", x.slot)
	x.stop(t)
	if get[bool](t, x.admin, "select exists (select from pg_replication_slots where slot_name = $1)", x.slot) {
		t.Error("there is a slot")
	}
	if get[bool](t, x.admin, "select to_regnamespace('helix') is not null or exists (select from pg_publication where pubname = 'helix')") {
		t.Error("schema helix is there, or the publication")
	}
}
