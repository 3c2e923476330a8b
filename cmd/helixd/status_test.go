package main_test

import (
	"testing"

	"github.com/helixd/helixd/testenv"
)

// TestStatus: an app sees whether processing is online.
func TestStatus(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	app := db.AsUser(t, db.NewUser(t).ID)
	p := start(t, db.URL("postgres"), nil, "run", "--slot", db.SlotName("status"))
	until(t, "sync to be online", func() bool {
		return get[bool](t, app, "select exists (select from helix_status where reactor = 'sync' and running and healthy and lag_seconds < 60 and queue_depth is not null)")
	})
	p.stop(t)
	exec1(t, admin, "update helix.leaders set heartbeat_at = now() - interval '1 minute'")
	if get[bool](t, app, "select exists (select from helix_status where running or healthy or lag_seconds < 60)") {
		t.Error("a helixd that has stopped is said to run")
	}
}
