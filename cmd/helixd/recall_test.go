package main_test

import (
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv"
)

// TestRecallSettings: one that cannot be meant ends helixd at once, and it says
// what the setting takes.
func TestRecallSettings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ setting, want string }{
		"NoBudget":       {"HELIX_VECTOR_INDEX_BUDGET=0", "--vector-index-budget"},
		"BudgetInWords":  {"HELIX_VECTOR_INDEX_BUDGET=much", "such as 2GB"},
		"BudgetTooLarge": {"HELIX_VECTOR_INDEX_BUDGET=99999999999GB", "such as 2GB"},
		"FiveFields":     {"HELIX_MAINTENANCE_SCHEDULE=30 3 * * *", "six fields"},
		"NeverDue":       {"HELIX_MAINTENANCE_SCHEDULE=0 0 0 31 2 *", "never due"},
		"Zone":           {"HELIX_MAINTENANCE_SCHEDULE=CRON_TZ=UTC", "time zone alone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "postgresql://h/d", []string{c.setting}, "run")
			if status := p.wait(t); status != 2 || !strings.Contains(p.log.String(), c.want) {
				t.Errorf("exit status %d, and %q is to be in:\n%s", status, c.want, p.log)
			}
		})
	}
	t.Run("Right", func(t *testing.T) {
		t.Parallel()
		p := start(t, "", []string{"HELIX_VECTOR_INDEX_BUDGET=512MB", "HELIX_MAINTENANCE_SCHEDULE=off"}, "run")
		if status := p.wait(t); status != 1 || !strings.Contains(p.log.String(), "SUPABASE_DB_URL is not set") {
			t.Errorf("exit status %d: %s", status, p.log)
		}
	})
}

// TestMaintain: by hand, and what helix_status says of it while helixd runs.
func TestMaintain(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	exec1(t, admin, "drop index memories_recall_idx")
	exec1(t, admin, "insert into memories (user_id, embedding) select $1, array_fill(n, array[1536])::vector from generate_series(1, 20) n", user)
	p := start(t, db.URL("postgres"), []string{"HELIX_VECTOR_INDEX_BUDGET=40MB"}, "maintain")
	if status := p.wait(t); status != 0 || !strings.Contains(p.log.String(), " of 40 MB; about 20 memories are in it, and 0 out of it") {
		t.Errorf("exit status %d: %s", status, p.log)
	}
	if !get[bool](t, admin, "select indisvalid from pg_index where indexrelid = 'memories_recall_idx'::regclass") {
		t.Error("the index is not valid")
	}
	app := db.AsUser(t, user)
	p = start(t, db.URL("postgres"), nil, "run", "--slot", db.SlotName("maintain"))
	until(t, "recall to be online", func() bool {
		return get[bool](t, app, `select exists (select from helix_status where reactor = 'recall' and running and healthy
			and details ->> 'budget_bytes' = '2147483648' and (details ->> 'index_bytes')::bigint > 0)`)
	})
	p.stop(t)
}
