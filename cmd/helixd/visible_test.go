package main_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/testenv"
)

// TestSynchronousStandby: a commit that waits for a synchronous standby is
// streamed, but its rows cannot be read yet. helixd must not take what it reads
// meanwhile for what was written.
func TestSynchronousStandby(t *testing.T) {
	t.Parallel()
	db := testenv.NewOn(t, testenv.StartCluster(t, testenv.Options{}))
	admin := migrated(t, db)
	app := db.AsUser(t, db.NewUser(t).ID)
	p := start(t, db.URL("postgres"), nil, "run", "--slot", db.SlotName("standby"))
	entity := uuid.New()
	write(t, app, entity, "phone", `{"phone": 1}`, "large")
	// Out of line, so that an update which leaves it as it is streams nothing of it.
	exec1(t, app, `update sync_state set data = jsonb_build_object('text', (select string_agg(md5(n::text), '') from generate_series(1, 1000) n)),
		vector_clock = '{"phone": 2}' where entity_id = $1`, entity)
	until(t, "the large value", func() bool {
		return get[bool](t, admin, "select exists (select from sync_entities where entity_id = $1 and length(data->>'text') = 32000)", entity)
	})

	configure := func(sql string) {
		db.Exec(t, "supabase_admin", sql)
		db.Exec(t, "supabase_admin", "select pg_reload_conf()")
	}
	configure("alter system set synchronous_commit = 'local'")
	until(t, "local commits", func() bool { return get[string](t, admin, "show synchronous_commit") == "local" })
	exec1(t, app, "set synchronous_commit = 'on'")
	configure("alter system set synchronous_standby_names = 'nobody'")
	stop, written := make(chan struct{}), make(chan int, 1)
	go func() {
		for n := 3; ; n++ {
			if _, err := app.Exec(t.Context(), "update sync_state set vector_clock = $2 where entity_id = $1",
				entity, fmt.Sprintf(`{"phone": %d}`, n)); err != nil {
				t.Error(err)
			}
			select {
			case <-stop:
				written <- n
				return
			default:
			}
		}
	}()
	until(t, "a commit to wait for the standby", func() bool {
		return get[bool](t, admin, "select exists (select from pg_stat_activity where datname = current_database() and wait_event = 'SyncRep')")
	})
	until(t, "it to be streamed", func() bool {
		return get[bool](t, admin, `select exists (select from pg_stat_replication r join pg_replication_slots s on s.active_pid = r.pid
			where s.slot_name = $1 and r.sent_lsn >= pg_current_wal_lsn())`, db.SlotName("standby"))
	})
	close(stop)
	configure("alter system reset synchronous_standby_names")
	last := <-written
	until(t, "the update that waited", func() bool {
		return get[bool](t, admin, "select exists (select from sync_entities where entity_id = $1 and vector_clock = $2 and length(data->>'text') = 32000)",
			entity, fmt.Sprintf(`{"phone": %d}`, last))
	})
	p.stop(t)
}
