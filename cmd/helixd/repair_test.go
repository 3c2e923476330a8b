package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// write upserts a device's version of an entity, as PostgREST would.
func write(t testing.TB, app *pgx.Conn, entity uuid.UUID, device, clock, text string) {
	t.Helper()
	exec1(t, app, `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
		values ('note', $1, $2, jsonb_build_object('text', $4::text), $3)
		on conflict (user_id, entity_type, entity_id, device_id) do update
		set data = excluded.data, vector_clock = excluded.vector_clock, last_modified = now()`, entity, device, clock, text)
}

func resolvedTo(t testing.TB, conn *pgx.Conn, entity uuid.UUID, text string) {
	t.Helper()
	until(t, fmt.Sprintf("%s to become %q", entity, text), func() bool {
		return get[bool](t, conn, "select exists (select from sync_entities where entity_id = $1 and data->>'text' = $2)", entity, text)
	})
}

// TestRepair takes the slot, or what belongs to it, away while helixd is down.
// Each time nothing may be lost, and it must say what it found.
func TestRepair(t *testing.T) {
	for name, c := range map[string]struct{ break_, says string }{
		"ColdStart":   {"", "first start"},
		"SlotDropped": {"select pg_drop_replication_slot($1)", "the slot is gone"},
		"SlotMoved":   {"select pg_replication_slot_advance($1, pg_current_wal_lsn())", "somebody else moved the slot"},
		"SlotReadFrom": {"select count(*) from pg_logical_slot_get_binary_changes($1, null, null, 'proto_version', '1', 'publication_names', 'helix')",
			"somebody else moved the slot, or read from it"},
		"SlotMadeAnew":         {"select pg_drop_replication_slot(s), pg_create_logical_replication_slot(s, 'pgoutput') from cast($1 as name) s", "somebody else moved the slot"},
		"RestoredEarlier":      {"update helix.checkpoints set lsn = pg_current_wal_lsn() + 1000000000 where slot = $1", "restored to an earlier point"},
		"AskedFor":             {"update helix.checkpoints set repair = 'because I want it' where slot = $1", "because I want it"},
		"ProjectRestored":      {"update helix.checkpoints set system_identifier = '1' where slot = $1", "system identifier has changed"},
		"BackfillNeverEnded":   {"delete from helix.checkpoints where slot = $1", "never ended"},
		"TableLeftPublication": {"alter publication helix drop table sync_state", "publication was not as it must be"},
		"PublicationDropped":   {"drop publication helix", "publication was not as it must be"},
		"PublicationFiltered":  {"alter publication helix set table sync_state where (false), helix.inbox", "publication was not as it must be"},
		"PublishesNoUpdates":   {"alter publication helix set (publish = 'insert')", "publication was not as it must be"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := testenv.New(t)
			admin := migrated(t, db)
			app := db.AsUser(t, db.NewUser(t).ID)
			slot := db.SlotName("repair")
			known, missed := uuid.New(), uuid.New()
			if c.break_ != "" {
				p := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
				write(t, app, known, "phone", `{"phone": 1}`, "before")
				resolvedTo(t, admin, known, "before")
				p.stop(t)
			}
			write(t, app, known, "phone", `{"phone": 2}`, "after")
			write(t, app, missed, "phone", `{"phone": 1}`, "missed")
			if strings.Contains(c.break_, "$1") {
				exec1(t, admin, c.break_, slot)
			} else if c.break_ != "" {
				exec1(t, admin, c.break_)
			}
			p := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
			resolvedTo(t, admin, known, "after")
			resolvedTo(t, admin, missed, "missed")
			write(t, app, known, "phone", `{"phone": 3}`, "streamed")
			resolvedTo(t, admin, known, "streamed")
			p.stop(t)
			if !strings.Contains(p.log.String(), c.says) {
				t.Errorf("it did not say %q", c.says)
			}
			if n := get[int](t, admin, "select count(*) from helix.dead_letters"); n != 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

func TestSecondHelixdStandsBy(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	app := db.AsUser(t, db.NewUser(t).ID)
	slot := db.SlotName("standby")
	leader := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	entity := uuid.New()
	write(t, app, entity, "phone", `{"phone": 1}`, "one")
	resolvedTo(t, admin, entity, "one")
	standby := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	until(t, "the second one to stand by", func() bool { return strings.Contains(standby.log.String(), "standing by") })
	write(t, app, entity, "phone", `{"phone": 2}`, "two")
	resolvedTo(t, admin, entity, "two")
	third := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	until(t, "the third one to stand by", func() bool { return strings.Contains(third.log.String(), "standing by") })
	third.stop(t)
	if strings.Contains(third.log.String(), `"warn"`) {
		t.Error("a standby that is stopped has nothing to warn of")
	}
	leader.Kill()
	write(t, app, entity, "phone", `{"phone": 3}`, "three")
	resolvedTo(t, admin, entity, "three")
	if n := get[int64](t, admin, "select epoch from helix.checkpoints where slot = $1", slot); n != 2 {
		t.Errorf("the second leader has epoch %d", n)
	}
	standby.stop(t)
}

// TestSlotWaitsForOpenTransaction: a slot cannot begin before the transactions
// that run have ended; helixd says which.
func TestSlotWaitsForOpenTransaction(t *testing.T) {
	t.Parallel()
	cluster := testenv.StartCluster(t, testenv.Options{})
	db := testenv.NewOn(t, cluster)
	admin := migrated(t, db)
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select pg_current_xact_id()"); err != nil {
		t.Fatal(err)
	}
	pid := fmt.Sprintf("pid %d", admin.PgConn().PID())
	p := start(t, db.URL("postgres"), nil, "run")
	until(t, "the blocker to be named", func() bool {
		return strings.Contains(p.log.String(), "waits for open transactions") && strings.Contains(p.log.String(), pid)
	})
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the stream", func() bool { return strings.Contains(p.log.String(), `"streaming"`) })
	p.stop(t)
}

// TestServerStops: a server that shuts down waits for its walsenders, so helixd
// must let go, and come back.
func TestServerStops(t *testing.T) {
	t.Parallel()
	cluster := testenv.StartCluster(t, testenv.Options{})
	db := testenv.NewOn(t, cluster)
	admin := migrated(t, db)
	user := db.NewUser(t).ID
	app := db.AsUser(t, user)
	p := start(t, db.URL("postgres"), nil, "run")
	entity := uuid.New()
	write(t, app, entity, "phone", `{"phone": 1}`, "one")
	resolvedTo(t, admin, entity, "one")
	began := time.Now()
	if err := cluster.Restart(t.Context(), testenv.Fast); err != nil {
		t.Fatal(err)
	}
	t.Logf("the server stopped and started in %s", time.Since(began))
	app, admin = db.AsUser(t, user), db.Connect(t, "postgres")
	write(t, app, entity, "phone", `{"phone": 2}`, "two")
	resolvedTo(t, admin, entity, "two")
	p.stop(t)
}
