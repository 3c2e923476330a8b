package sync_test

import (
	"testing"
	"time"

	"github.com/helixd/helixd/reactors/sync"
)

// Postgres knows times that Go's and JavaScript's dates do not.
func TestDatabaseReadsAnyTime(t *testing.T) {
	now := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) // stands for when the server wrote the row
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name, modified string
		want           time.Time
	}{
		{"Microseconds", "2024-02-29 23:59:59.123456+00", time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.UTC)},
		{"HalfHourZone", "2024-02-29 12:00:00+05:30", time.Date(2024, 2, 29, 6, 30, 0, 0, time.UTC)},
		{"YearOne", "0001-01-01 00:00:00+00", first},
		{"BeforeChrist", "4000-01-01 00:00:00+00 BC", first},
		{"JustAhead", time.Now().Add(time.Minute).UTC().Format(time.RFC3339), time.Now().Add(time.Minute).UTC().Truncate(time.Second)},
		{"FarAhead", "9999-12-31 00:00:00+00", now},
		{"BeyondGo", "294276-12-31 00:00:00+00", now},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.send(t, note, recently("laptop", "laptop:1", []byte(`{"text": "y"}`), 1))
			b.deliverNow(t)
			before := query[time.Time](t, b.admin, "select clock_timestamp()")
			b.as(t, `insert into sync_state (entity_type, entity_id, device_id, vector_clock, last_modified) values ('note', $1, 'phone', '{"phone": 1}', $2::text::timestamptz)`,
				note, tt.modified)
			messages := b.messages(t)
			_, committed := changes(t, messages)
			b.deliver(t, messages, never)
			s := b.state(t, note)
			found := false
			for _, v := range s.Versions {
				at := v.LastModified
				ofWrite := tt.want.Equal(now) && !at.Before(before) && !at.After(committed[0])
				found = found || v.Device == "phone" && (ofWrite || at.Equal(tt.want))
			}
			if !found || len(s.Versions) != 2 {
				t.Errorf("the phone's version should have %s:\n%s", tt.want, showSet(s.Versions))
			}
			// Whichever lost, its time is one that every client can read.
			at := query[string](t, b.admin, "select versions->1->>'last_modified' from sync_conflicts")
			if _, err := time.Parse(time.RFC3339Nano, at); err != nil {
				t.Error(err)
			}
			if n := b.count(t, "helix.dead_letters"); n != 0 {
				t.Errorf("%d dead letters", n)
			}
		})
	}
}

// What the guard refuses may stand in old rows, or come from a role that it
// lets through. It goes to the dead letters and its neighbours are applied.
func TestDatabaseRejects(t *testing.T) {
	for _, tt := range []struct{ name, clock, says string }{
		{"ClockArray", `[]`, "not a JSON object"},
		{"ClockString", `"phone"`, "not a JSON object"},
		{"NegativeCounter", `{"phone": -1}`, "is negative"},
		{"FractionalCounter", `{"phone": 1.5}`, "is not a whole number"},
		{"CounterOver2To53", `{"phone": 9007199254740992}`, "is over 2^53 - 1"},
		{"ArrayCounter", `{"phone": [1]}`, "is not a number"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.exec(t, "alter table sync_state disable trigger a_helix_guard")
			b.as(t, "begin")
			b.send(t, note, recently("a", "a:1", []byte(`{"text": "first"}`), 3))
			b.as(t, `insert into sync_state (entity_type, entity_id, device_id, vector_clock) values ('note', $1, 'phone', $2::text::jsonb)`, note, tt.clock)
			b.send(t, note, recently("b", "a:1 b:1", []byte(`{"text": "last"}`), 1))
			b.as(t, "commit")
			b.deliverNow(t)
			s := b.state(t, note)
			if text(&s.Versions[0]) != "last" || s.Clock.Compare(clock("a:1 b:1")) != sync.Equal {
				t.Error(show(s))
			}
			const sound = `select count(*) = 1 and bool_and(reactor = 'sync' and table_name = 'public.sync_state' and op = 'INSERT' and ordinal = 1
				and user_id = $1 and key = (select jsonb_build_object('id', id) from sync_state where device_id = 'phone')
				and error like 'vector_clock: %' and position($2 in error) > 0 and sqlstate is null) from helix.dead_letters`
			if !query[bool](t, b.admin, sound, b.user.ID, tt.says) {
				t.Errorf("dead letters: %s", b.dump(t, "helix.dead_letters"))
			}
		})
	}
}
