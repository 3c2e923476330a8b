package stream_test

import (
	"strings"
	"testing"

	"github.com/helixd/helixd/replication/stream"
	"github.com/helixd/helixd/testenv"
)

func TestRetentionSpent(t *testing.T) {
	const bound = 4 << 30
	for name, c := range map[string]struct {
		r    stream.Retention
		want bool
	}{
		"Fresh":            {stream.Retention{Status: "reserved", Limit: 100, Safe: 100}, false},
		"HalfOfTheCap":     {stream.Retention{Status: "extended", Limit: 100, Safe: 50}, false},
		"MoreThanHalf":     {stream.Retention{Status: "extended", Limit: 100, Safe: 49}, true},
		"NoCap":            {stream.Retention{Status: "extended", Limit: -1, Retained: bound - 1}, false},
		"NoCapButTheBound": {stream.Retention{Status: "extended", Limit: -1, Retained: bound}, true},
		"AboutToBeLost":    {stream.Retention{Status: "unreserved", Limit: 100, Safe: 100}, true},
		"Lost":             {stream.Retention{Status: "lost", Limit: -1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.r.Spent(bound); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestOldestTransaction: one that was prepared, and that nobody ends, holds a slot
// back as one that a session has open.
func TestOldestTransaction(t *testing.T) {
	db := testenv.NewOn(t, testenv.StartCluster(t, testenv.Options{Settings: map[string]string{"max_prepared_transactions": "1"}}))
	admin, slot := db.Connect(t, "postgres"), db.SlotName("s")
	db.Exec(t, "postgres", "select pg_create_logical_replication_slot('"+slot+"', 'pgoutput')")
	oldest := func() string {
		t.Helper()
		r, err := stream.ReadRetention(t.Context(), admin, slot)
		if err != nil {
			t.Fatal(err)
		}
		return r.Oldest
	}
	if got := oldest(); got != "none" {
		t.Errorf("without one: %s", got)
	}
	for _, sql := range []string{"create table written (n int)", "begin", "insert into written values (1)", "prepare transaction 'forgotten'"} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	app := db.Connect(t, "postgres")
	for _, sql := range []string{"begin", "insert into written values (2)"} {
		if _, err := app.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if got := oldest(); !strings.HasPrefix(got, "prepared transaction 'forgotten', open since ") {
		t.Errorf("with one that is prepared: %s", got)
	}
	db.Exec(t, "postgres", "rollback prepared 'forgotten'")
	if got := oldest(); !strings.HasPrefix(got, "pid ") {
		t.Errorf("with one that is open: %s", got)
	}
}
