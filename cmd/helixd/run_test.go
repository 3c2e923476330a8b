package main_test

import (
	"strings"
	"testing"

	"github.com/helixd/helixd/testenv"
)

const note = "11111111-1111-4111-8111-111111111111"

func TestRun(t *testing.T) {
	db := testenv.New(t)
	admin := migrated(t, db)
	user := db.NewUser(t)
	app := db.AsUser(t, user.ID)
	slot := db.SlotName("run")
	p := start(t, db.URL("postgres"), nil, "run", "--slot", slot)

	exec1(t, app, `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock)
		values ('note', $1, 'phone', '{"text": "hello"}', '{"phone": 1}')`, note)
	until(t, "the resolved row", func() bool {
		return get[int](t, admin, "select count(*) from sync_entities") == 1
	})
	if got := get[string](t, app, "select data->>'text' from sync_entities"); got != "hello" {
		t.Errorf("the user sees %q", got)
	}
	until(t, "the acknowledgement", func() bool {
		return get[bool](t, admin, `select s.confirmed_flush_lsn = c.lsn from pg_replication_slots s
			join helix.checkpoints c on c.slot = s.slot_name where slot_name = $1`, slot)
	})
	p.stop(t)
	if get[bool](t, admin, "select active from pg_replication_slots where slot_name = $1", slot) {
		t.Error("the slot is still in use after SIGTERM")
	}
}

// TestStoppedWhileItStarts: who stops helixd before it works has stopped it in order.
func TestStoppedWhileItStarts(t *testing.T) {
	db := testenv.New(t)
	migrated(t, db)
	for range 3 {
		p := startOf(t, plainBinary, db.URL("postgres"), nil, "run", "--slot", db.SlotName("starts"))
		p.stop(t) // at its first word: its children are being made
		if !p.says(`"message":"helixd stops"`) {
			t.Errorf("it said %s", p.log)
		}
	}
}

// TestRetriesSoonAgain: who has led for a while is not made to wait for what was
// wrong before that.
func TestRetriesSoonAgain(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	admin := migrated(t, db)
	slot := db.SlotName("again")
	p := start(t, db.URL("postgres"), nil, "run", "--slot", slot)
	ended := 0 // its session, which takes a moment to go
	end := func(pause string, times int) {
		t.Helper()
		const led = " from pg_replication_slots where slot_name = $1 and active_pid <> $2"
		if times > 1 { // longer than the longest pause
			until(t, "it to stream", func() bool { return get[bool](t, admin, "select exists (select"+led+")", slot, ended) })
			exec1(t, admin, "select pg_sleep(11)")
		}
		until(t, "its stream to be ended", func() bool {
			return admin.QueryRow(t.Context(), "select active_pid, pg_terminate_backend(active_pid)"+led, slot, ended).Scan(&ended, nil) == nil
		})
		until(t, "a pause of "+pause, func() bool { return strings.Count(p.log.String(), `"retry_in_ms":`+pause+`,`) == times })
	}
	end("250", 1)
	end("500", 1)
	end("1000", 1)
	end("250", 2)
}
