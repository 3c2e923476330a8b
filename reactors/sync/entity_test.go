package sync_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/sync"
	"github.com/helixd/helixd/replication"
)

var note = uuid.MustParse("11111111-1111-4111-8111-111111111111")

// recently is a version whose times are near the database's.
func recently(device, clk string, data []byte, secondsAgo int) *sync.Version {
	v := &sync.Version{Device: device, Clock: clock(clk), Data: data,
		LastModified: time.Now().Add(-time.Duration(secondsAgo) * time.Second).Truncate(time.Microsecond)}
	v.Content = sync.ContentHash(v.Data, v.Deleted)
	return v
}

func TestDatabasePromotesSiblings(t *testing.T) {
	for _, tt := range []struct {
		name string
		data func(seed string) []byte
	}{
		{"Small", func(seed string) []byte { return []byte(`{"text": "` + seed + `"}`) }},
		{"Toasted", big},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, timely := range []bool{true, false} {
				t.Run(fmt.Sprintf("OneBatchEach=%t", timely), func(t *testing.T) {
					b := newBench(t)
					var all [][]byte
					send := func(v *sync.Version) {
						t.Helper()
						b.send(t, note, v)
						messages := b.messages(t)
						all = append(all, messages...)
						if timely {
							b.deliver(t, messages, never)
						}
					}
					laptop := recently("laptop", "laptop:1", tt.data("laptop"), 20)
					phone := recently("phone", "phone:1", tt.data("phone"), 10)
					send(laptop)
					send(phone)
					// The phone's clock has been set right: its next version is older than the laptop's.
					earlier := recently("phone", "phone:2", tt.data("earlier"), 30)
					send(earlier)
					if !timely {
						b.deliver(t, all, never)
					}
					s := b.state(t, note)
					if len(s.Versions) != 2 {
						t.Fatalf("%d versions stand, want 2", len(s.Versions))
					}
					for i, want := range []*sync.Version{laptop, earlier} {
						if got, want := showVersion(&s.Versions[i]), showVersion(want); got != want {
							t.Errorf("version %d:%s", i, differ(got, want))
						}
					}
					lost := query[string](t, b.admin, `select string_agg(versions->1->>'device_id' || ' ' || (versions->1->'vector_clock')::text || ' ' ||
						md5((versions->1->'data')::text), ', ' order by created_at, id) from sync_conflicts`)
					for _, v := range []*sync.Version{laptop, earlier} {
						sum := query[string](t, b.admin, "select md5($1)", string(v.Data))
						if !strings.Contains(lost, v.Device) || !strings.Contains(lost, sum) {
							t.Errorf("the %s's version, which lost, is not in a conflict with its data: %s", v.Device, lost)
						}
					}
					// And back into the past: the laptop's goes on, and ends the conflict.
					merged := recently("laptop", "laptop:2 phone:2", tt.data("merged"), 0)
					b.send(t, note, merged)
					b.deliverNow(t)
					s = b.state(t, note)
					if got, want := showSet(s.Versions), showVersion(merged); got != want {
						t.Errorf("after the merge:%s", differ(got, want))
					}
				})
			}
		})
	}
}

// unchanged are the columns of a change that were left out.
func unchanged(t *testing.T, messages [][]byte) string {
	t.Helper()
	all, _ := changes(t, messages)
	var names []string
	for _, c := range all {
		for i, v := range c.New {
			if v.Kind == replication.Unchanged {
				names = append(names, c.Relation.Columns[i].Name)
			}
		}
	}
	return strings.Join(names, " ")
}

func TestDatabaseReadsUnchangedData(t *testing.T) {
	data := big("x")
	steps := []struct {
		set  string
		want sync.Version
	}{
		{`last_modified = last_modified + interval '1 second', vector_clock = '{"phone": 2}'`, *recently("phone", "phone:2", data, 59)},
		{`deleted = true, vector_clock = '{"phone": 3}'`, *recently("phone", "phone:3", data, 59)},
		{`deleted = false, vector_clock = '{"phone": 4}'`, *recently("phone", "phone:4", data, 59)},
	}
	start := func(t *testing.T) (*bench, *sync.Version) {
		b, v := newBench(t), recently("phone", "phone:1", data, 60)
		b.send(t, note, v)
		b.deliverNow(t)
		return b, v
	}
	t.Run("AtOnce", func(t *testing.T) {
		b, first := start(t)
		for i, step := range steps {
			b.as(t, "update sync_state set "+step.set)
			messages := b.messages(t)
			if got := unchanged(t, messages); got != "data" {
				t.Fatalf("left out of the change: %q, want data", got)
			}
			b.deliver(t, messages, never)
			s := b.state(t, note)
			want := step.want
			want.LastModified, want.Deleted = first.LastModified.Add(time.Second), i == 1
			if got, want := showSet(s.Versions), showVersion(&want); got != want {
				t.Errorf("step %d:%s", i, differ(got, want))
			}
			if s.Revision != int64(i+2) {
				t.Errorf("revision %d, want %d", s.Revision, i+2)
			}
		}
		if n := b.count(t, "sync_conflicts"); n != 0 {
			t.Errorf("%d conflicts", n)
		}
	})
	t.Run("AfterTheRowMovedOn", func(t *testing.T) {
		b, first := start(t)
		for _, step := range steps {
			b.as(t, "update sync_state set "+step.set)
		}
		b.deliverNow(t)
		s := b.state(t, note)
		want := steps[2].want
		want.LastModified = first.LastModified.Add(time.Second)
		if got, want := showSet(s.Versions), showVersion(&want); got != want {
			t.Error(differ(got, want))
		}
		if n := b.count(t, "sync_conflicts"); n != 0 {
			t.Errorf("%d conflicts", n)
		}
	})
	t.Run("AfterTheRowIsGone", func(t *testing.T) {
		b, _ := start(t)
		b.as(t, "update sync_state set "+steps[0].set)
		b.as(t, "update sync_state set "+steps[1].set)
		b.as(t, "delete from sync_state")
		b.deliverNow(t)
		s := b.state(t, note)
		if v := s.Versions[0]; !v.Deleted || v.Clock.Compare(clock("phone:3")) != sync.Equal {
			t.Errorf("the deletion did not arrive: %s; %s", showSeen(s), differ(showVersion(&v), ""))
		}
	})
	t.Run("NeverUnderAnotherClock", func(t *testing.T) {
		b, first := start(t)
		b.as(t, "update sync_state set vector_clock = '{\"phone\": 2}'")
		b.send(t, note, recently("laptop", "laptop:1", []byte(`{"text": "y"}`), 5))
		last := recently("phone", "phone:3", big("z"), 50)
		b.send(t, note, last)
		b.deliverNow(t)
		// The row had moved on: what its second version held is not known any more.
		for _, v := range []*sync.Version{first, last} {
			if n := query[int](t, b.admin, "select count(*) from sync_conflicts where versions->1->'vector_clock' = $1 and versions->1->'data' = $2",
				v.Clock, json.RawMessage(v.Data)); n != 1 {
				t.Errorf("%d conflicts hold %v with its own data, want 1", n, v.Clock)
			}
		}
		if n := b.count(t, "sync_conflicts"); n != 2 {
			t.Errorf("%d conflicts, want 2", n)
		}
	})
	t.Run("OfAConflict", func(t *testing.T) {
		b, _ := start(t)
		b.as(t, "update sync_state set vector_clock = '{\"phone\": 2}', last_modified = last_modified - interval '1 hour'")
		b.send(t, note, recently("laptop", "phone:1 laptop:1", []byte(`{"text": "y"}`), 5))
		b.deliverNow(t)
		lost := query[string](t, b.admin, "select (versions->1->'data')::text from sync_conflicts")
		if lost != string(data) {
			t.Errorf("the conflict holds %d bytes of the loser, want %d", len(lost), len(data))
		}
	})
}

// A clock of many devices is TOASTed as well. An UPDATE that leaves it out must
// not be read under the clock of a later one.
func TestDatabaseReadsUnchangedClock(t *testing.T) {
	var clk strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&clk, "%s:%d ", sync.ContentHash(fmt.Append(nil, i), false), i+1)
	}
	first := recently("phone", "phone:1 "+clk.String(), []byte(`{"text": "first"}`), 60)
	second := recently("phone", "phone:2 "+clk.String(), []byte(`{"text": "second"}`), 60)
	start := func(t *testing.T) *bench {
		b := newBench(t)
		b.send(t, note, first)
		b.deliverNow(t)
		b.as(t, `update sync_state set data = '{"text": "between"}', last_modified = last_modified + interval '30 seconds'`)
		return b
	}
	t.Run("AtOnce", func(t *testing.T) {
		b := start(t)
		messages := b.messages(t)
		if got := unchanged(t, messages); got != "vector_clock" {
			t.Fatalf("left out of the change: %q, want vector_clock", got)
		}
		b.deliver(t, messages, never)
		if s := b.state(t, note); text(&s.Versions[0]) != "between" || s.Versions[0].Clock.Compare(first.Clock) != sync.Equal {
			t.Errorf("winner %s", text(&s.Versions[0]))
		}
		b.send(t, note, second)
		b.deliverNow(t)
		if s := b.state(t, note); text(&s.Versions[0]) != "second" {
			t.Errorf("winner %s, want second", text(&s.Versions[0]))
		}
	})
	t.Run("AfterTheRowMovedOn", func(t *testing.T) {
		b := start(t)
		b.send(t, note, second)
		b.deliverNow(t)
		s := b.state(t, note)
		if text(&s.Versions[0]) != "second" {
			t.Errorf("winner %s, want second: what was written before it took its clock", text(&s.Versions[0]))
		}
	})
}

func TestDatabaseRetiresDevices(t *testing.T) {
	b := newBench(t)
	b.send(t, note, recently("phone", "phone:1", []byte(`{"text": "x"}`), 9))
	b.send(t, note, recently("laptop", "phone:1 laptop:1", []byte(`{"text": "y"}`), 8))
	b.deliverNow(t)
	before := b.state(t, note)
	b.as(t, "delete from sync_state where device_id = 'phone'")
	b.deliverNow(t)
	t.Run("ChangesNothing", func(t *testing.T) {
		if s := b.state(t, note); show(s) != show(before) {
			t.Error(differ(show(s), show(before)))
		}
	})
	t.Run("AndSetUpAnewLosesNothing", func(t *testing.T) {
		b.send(t, note, recently("phone", "phone:1", []byte(`{"text": "after a reinstall"}`), 1))
		b.deliverNow(t)
		if n := b.count(t, "sync_conflicts where versions->1->'data'->>'text' = 'after a reinstall'"); n != 1 {
			t.Errorf("what it wrote is in %d conflicts", n)
		}
	})
	t.Run("OfAnUnknownEntityIsNothing", func(t *testing.T) {
		b.as(t, `insert into sync_state (entity_type, entity_id, device_id) values ('note', gen_random_uuid(), 'x')`)
		b.messages(t) // not delivered
		b.as(t, "delete from sync_state where device_id = 'x'")
		b.deliverNow(t)
		if n, dead := b.count(t, "sync_entities"), b.count(t, "helix.dead_letters"); n != 1 || dead != 0 {
			t.Errorf("%d entities, %d dead letters", n, dead)
		}
	})
	t.Run("InTheBatchOfItsWrites", func(t *testing.T) {
		b.reset(t)
		b.as(t, "delete from sync_state")
		b.messages(t)
		b.send(t, note, recently("tablet", "tablet:1", []byte(`{"text": "z"}`), 1))
		b.as(t, "delete from sync_state")
		b.deliverNow(t)
		if s := b.state(t, note); len(s.Seen) != 1 || text(&s.Versions[0]) != "z" {
			t.Error(show(s))
		}
	})
}

func TestDatabaseDeletedAccount(t *testing.T) {
	b := newBench(t)
	gone := b.db.NewUser(t)
	leaver := b.db.AsUser(t, gone.ID)
	for i := range 3 {
		if _, err := leaver.Exec(t.Context(), upsert, entityType, note, "phone", `{"text": "x"}`, fmt.Sprintf(`{"phone": %d}`, i+1), time.Now(), false, 0); err != nil {
			t.Fatal(err)
		}
		b.send(t, note, recently("phone", fmt.Sprintf("phone:%d", i+1), []byte(`{"text": "stays"}`), 9-i))
	}
	b.db.Exec(t, "supabase_admin", "delete from auth.users where id = $1", gone.ID)
	messages := b.messages(t)
	all, _ := changes(t, messages)
	for name, cut := range map[string]func(int) bool{"InOneBatch": never, "InManyBatches": always} {
		t.Run(name, func(t *testing.T) {
			b.reset(t)
			b.deliver(t, messages, cut)
			for _, table := range []string{"sync_entities", "sync_conflicts", "helix.sync_siblings"} {
				if n := query[int](t, b.admin, "select count(*) from "+table+" where user_id = $1", gone.ID); n != 0 {
					t.Errorf("%d rows of %s are left of an account that is gone", n, table)
				}
			}
			if n := b.count(t, "helix.dead_letters"); n != 0 || b.log.Len() > 0 {
				t.Errorf("%d dead letters; log: %s", n, b.log)
			}
			if s := b.state(t, note); s.Revision != 3 {
				t.Errorf("the other user's entity has revision %d, want 3", s.Revision)
			}
			if n := query[int](t, b.admin, "select changes::int from helix.checkpoints"); n < len(all) {
				t.Errorf("the checkpoint counts %d changes, want %d", n, len(all))
			}
		})
	}
}

// Rows that random histories seldom have, each in a batch of its own.
func TestDatabaseEqualsPureMergeOf(t *testing.T) {
	small := func(s string) []byte { return []byte(`{"text": "` + s + `"}`) }
	for _, tt := range []struct {
		name string
		rows []*sync.Version
	}{
		{"SiblingSentAgainLater", []*sync.Version{recently("laptop", "laptop:1", small("y"), 30),
			recently("phone", "phone:1", small("x"), 5), recently("laptop", "laptop:1", small("y"), 20)}},
		{"SiblingSentAgainByAnother", []*sync.Version{recently("laptop", "laptop:1", small("y"), 30),
			recently("phone", "phone:1", small("x"), 5), recently("tablet", "laptop:1", small("y"), 20)}},
		{"WinnerSentAgainLater", []*sync.Version{recently("phone", "phone:1", big("x"), 30), recently("phone", "phone:1", big("x"), 20)}},
		{"SiblingSentAgainWins", []*sync.Version{recently("laptop", "laptop:1", big("y"), 30),
			recently("phone", "phone:1", big("x"), 20), recently("laptop", "laptop:1", big("y"), 10)}},
		{"WithoutDataAgainstLarge", []*sync.Version{recently("laptop", "laptop:1", nil, 30),
			recently("phone", "phone:1", big("x"), 20), recently("laptop", "laptop:2", nil, 10)}},
		{"LosesToStoredWithoutData", []*sync.Version{recently("phone", "phone:1", nil, 5), recently("laptop", "laptop:1", small("y"), 30)}},
		{"LosesToSiblingWithoutData", []*sync.Version{recently("phone", "phone:1", nil, 20), recently("laptop", "laptop:1", small("y"), 10),
			recently("laptop", "laptop:2", small("z"), 30)}},
		{"DeviceNamesThatNeedQuotes", []*sync.Version{recently("a\"b", "a\"b:1 <&>:2", small("y"), 30),
			recently("\u2028\\", "\u2028\\:1", small("x"), 20), recently("clocks", "clocks:1", small("z"), 10)}},
		{"LargestCounters", []*sync.Version{recently("phone", "phone:9007199254740990", small("y"), 30),
			recently("phone", "phone:9007199254740991", small("x"), 20), recently("laptop", "laptop:9007199254740991", small("x"), 20)}},
		{"LongAgo", []*sync.Version{recently("phone", "phone:1", small("y"), 5_000_000_000), recently("laptop", "laptop:1", small("x"), 1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			var rows []row
			for _, v := range tt.rows {
				b.send(t, note, v)
				messages := b.messages(t)
				_, committed := changes(t, messages)
				rows = append(rows, row{applied: applied{*v, committed[0]}, entity: note})
				b.deliver(t, messages, never)
			}
			states, conflicts := map[uuid.UUID]*sync.State{}, map[string]string{}
			pure(rows, states, conflicts)
			b.same(t, states, conflicts)
		})
	}
}

// A repair reads the rows of sync_state again, later.
func TestDatabaseBackfillRepeatsNothing(t *testing.T) {
	b := newBench(t)
	b.send(t, note, recently("ahead", "ahead:1", []byte(`{"text": "x"}`), -3600))
	b.send(t, note, recently("phone", "phone:1", []byte(`{"text": "y"}`), 0))
	b.send(t, note, recently("laptop", "laptop:1", []byte(`{"text": "z"}`), 60))
	b.deliverNow(t)
	want := b.dumpAll(t)
	b.backfill(t)
	if got := b.dumpAll(t); got != want {
		t.Error(differ(got, want))
	}
}

// A device whose clock is ahead sends its row again, as supabase-js does when an
// answer was lost: that is no newer write.
func TestDatabaseResentFromAheadDoesNotWin(t *testing.T) {
	b := newBench(t)
	ahead := recently("ahead", "ahead:1", []byte(`{"text": "x"}`), -3600)
	b.send(t, note, ahead)
	b.send(t, note, recently("phone", "phone:1", []byte(`{"text": "y"}`), 0))
	b.deliverNow(t)
	if got := texts(b.state(t, note).Versions); got != "y x" {
		t.Fatalf("set %q, want y first", got)
	}
	b.send(t, note, ahead)
	b.deliverNow(t)
	if got := texts(b.state(t, note).Versions); got != "y x" {
		t.Errorf("sent again, it won: %q", got)
	}
}
