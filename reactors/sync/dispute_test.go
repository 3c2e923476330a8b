package sync_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/reactors/sync"
)

// dispute makes a manual conflict: the laptop's version won over the phone's.
func dispute(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.policy(t, "manual", "{}")
	b.send(t, note, recently("phone", "phone:1", []byte(`{"text": "phone"}`), 20))
	b.send(t, note, recently("laptop", "laptop:1", []byte(`{"text": "laptop"}`), 10))
	b.deliverNow(t)
	b.shows(t, `manual {"text": "laptop"} false`, "open")
	return b
}

// shows compares the entity, and whether the conflicts are open, resolved or
// superseded.
func (b *bench) shows(t *testing.T, entity, conflicts string) {
	t.Helper()
	if got := query[string](t, b.admin, "select concat(resolution, ' ', data, ' ', case when deleted then 'true' else 'false' end) from sync_entities"); got != entity {
		t.Errorf("the entity is %s, want %s", got, entity)
	}
	got := query[string](t, b.admin, `select string_agg(case when not resolved then 'open' when resolution ? 'superseded_by' then 'superseded'
		else 'resolved' end, ' ' order by created_at, id) from sync_conflicts`)
	if got != conflicts {
		t.Errorf("the conflicts are %s, want %s", got, conflicts)
	}
}

func (b *bench) resolve(t *testing.T, resolution string) {
	t.Helper()
	b.as(t, "update sync_conflicts set resolution = $1 where not resolved", resolution)
}

func TestDatabaseManual(t *testing.T) {
	for _, tt := range []struct{ name, resolution, want string }{
		{"TheWinner", `{"winner": 0}`, `manual {"text": "laptop"} false`},
		{"TheLoser", `{"winner": 1}`, `manual {"text": "phone"} false`},
		{"SomethingElse", `{"data": {"text": "both"}}`, `manual {"text": "both"} false`},
		{"Deleted", `{"deleted": true}`, `manual  true`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := dispute(t)
			b.resolve(t, tt.resolution)
			b.deliverNow(t)
			b.shows(t, tt.want, "resolved")
			if got := query[string](t, b.admin, "select resolution::text from sync_conflicts"); got != tt.resolution {
				t.Errorf("the resolution is %s", got)
			}
			if got := query[string](t, b.admin, "select vector_clock::text from sync_entities"); got != `{"phone": 1, "helixd": 1, "laptop": 1}` {
				t.Errorf("the clock is %s", got)
			}
		})
	}
	t.Run("Twice", func(t *testing.T) {
		b := dispute(t)
		b.resolve(t, `{"winner": 0}`)
		b.resolve(t, `{"winner": 1}`)
		b.deliverNow(t)
		b.shows(t, `manual {"text": "phone"} false`, "resolved")
		if got := query[int](t, b.admin, "select revision::int from sync_entities"); got != 3 {
			t.Errorf("revision %d, want 3", got)
		}
	})
	t.Run("AgainstADeviceThatHasSeenBoth", func(t *testing.T) {
		b := dispute(t)
		b.send(t, note, recently("phone", "phone:2 laptop:1", []byte(`{"text": "merged"}`), 0))
		b.resolve(t, `{"winner": 1}`)
		b.deliverNow(t)
		b.shows(t, `fast_forward {"text": "merged"} false`, "superseded")
		if got := query[int](t, b.admin, "select (resolution->>'winner')::int from sync_conflicts"); got != 1 {
			t.Error("what the user set is gone")
		}
	})
	t.Run("AgainstADeviceThatHasNot", func(t *testing.T) {
		b := dispute(t)
		b.resolve(t, `{"winner": 1}`)
		b.send(t, note, recently("tablet", "tablet:1", []byte(`{"text": "tablet"}`), 60))
		b.deliverNow(t)
		b.shows(t, `manual {"text": "phone"} false`, "resolved open")
	})
	t.Run("ThenADeviceGoesOn", func(t *testing.T) {
		b := dispute(t)
		b.resolve(t, `{"winner": 1}`)
		b.deliverNow(t)
		b.send(t, note, recently("phone", "phone:2 laptop:1 helixd:1", []byte(`{"text": "on"}`), 0))
		b.deliverNow(t)
		b.shows(t, `fast_forward {"text": "on"} false`, "resolved")
	})
	t.Run("OfADeletedEntity", func(t *testing.T) {
		b := dispute(t)
		v := recently("laptop", "laptop:2", nil, 0)
		v.Deleted = true
		b.send(t, note, v)
		b.resolve(t, `{"data": {"text": "kept"}}`)
		b.deliverNow(t)
		b.resolve(t, `{"winner": 0}`)
		b.deliverNow(t)
		if open := query[int](t, b.admin, "select count(*) from sync_conflicts where not resolved"); open != 0 {
			t.Errorf("%d conflicts are open", open)
		}
	})
	t.Run("BaseRevision", func(t *testing.T) {
		b := dispute(t)
		b.sendUpon(t, note, recently("tablet", "tablet:1", []byte(`{"text": "seen"}`), 0), 2)
		b.deliverNow(t)
		b.shows(t, `fast_forward {"text": "seen"} false`, "superseded")
	})
}

// TestDatabaseManualThreeVersions: the user has decided for the newest; what asks
// about versions that stand no more is closed, and cannot turn the entity back.
func TestDatabaseManualThreeVersions(t *testing.T) {
	b := newBench(t)
	b.policy(t, "manual", "{}")
	for i, device := range []string{"laptop", "tablet", "phone"} {
		b.send(t, note, recently(device, device+":1", []byte(`{"text": "`+device+`"}`), 30-i))
		b.deliverNow(t)
	}
	b.shows(t, `manual {"text": "phone"} false`, "superseded open open")
	const first = `select id::text from sync_conflicts where not resolved and versions->1->>'device_id' = 'tablet'`
	decided := query[string](t, b.admin, first)
	b.as(t, `update sync_conflicts set resolution = '{"winner": 0}' where id = $1`, decided)
	b.deliverNow(t)
	if got := query[string](t, b.admin, `select concat(versions->0->>'device_id', ' ', versions->1->>'device_id') from sync_conflicts where not resolved`); got != "helixd laptop" {
		t.Errorf("the open question is %s, want helixd laptop", got)
	}
	_, err := b.app.Exec(t.Context(), `update sync_conflicts set resolution = '{"winner": 1}' where resolved`)
	if pgErr := new(pgconn.PgError); !errors.As(err, &pgErr) || pgErr.Code != "42501" {
		t.Errorf("a late answer: %v, want 42501", err)
	}
	b.resolve(t, `{"winner": 0}`)
	b.deliverNow(t)
	if open := query[int](t, b.admin, "select count(*)::int from sync_conflicts where not resolved"); open != 0 {
		t.Errorf("%d conflicts are open", open)
	}
	if got := query[string](t, b.admin, "select concat(resolution, ' ', data) from sync_entities"); got != `manual {"text": "phone"}` {
		t.Errorf("the entity is %s", got)
	}
	if n := b.count(t, "helix.sync_siblings"); n != 0 {
		t.Errorf("%d versions stand beside it", n)
	}
}

// TestDatabaseManualLater: what stands when the policy becomes manual is asked
// about with the entity's next write, even one that says nothing new.
func TestDatabaseManualLater(t *testing.T) {
	b := newBench(t)
	phone := recently("phone", "phone:1", []byte(`{"text": "phone"}`), 20)
	b.send(t, note, phone)
	b.send(t, note, recently("laptop", "laptop:1", []byte(`{"text": "laptop"}`), 10))
	b.deliverNow(t)
	b.policy(t, "manual", "{}")
	b.send(t, note, phone)
	b.deliverNow(t)
	b.shows(t, `manual {"text": "laptop"} false`, "resolved open")
	b.policy(t, "last_write_wins", "{}")
	b.send(t, note, recently("laptop", "laptop:2", []byte(`{"text": "on"}`), 5))
	b.deliverNow(t)
	b.resolve(t, `{"winner": 1}`) // too late: the laptop has gone on
	b.deliverNow(t)
	b.shows(t, `last_write_wins {"text": "on"} false`, "resolved superseded")
}

func TestDatabaseRefusesOptionsAndResolutions(t *testing.T) {
	b := dispute(t)
	code := func(sql string, arg string) string {
		_, err := b.app.Exec(t.Context(), sql, arg)
		var pgErr *pgconn.PgError
		if errors.As(err, &pgErr) {
			return pgErr.Code
		}
		if err != nil {
			return err.Error()
		}
		return ""
	}
	const options = "update sync_policies set options = $1"
	const resolution = "update sync_conflicts set resolution = $1"
	for _, tt := range []struct{ sql, arg, want string }{
		{options, `{"arrays": "set"}`, ""},
		{options, `{"arrays": {"a": "by_id", "/b/c": "atomic"}, "unknown": [1]}`, ""},
		{options, `{"arrays": {}}`, ""},
		{options, `{"arrays": "bag"}`, "23514"},
		{options, `{"arrays": {"a": 1}}`, "23514"},
		{options, `{"arrays": [1]}`, "23514"},
		{options, `{"arrays": null}`, "23514"},
		{options, `[]`, "23514"},
		{options, `"set"`, "23514"},
		{options, `{"n": 1e1000}`, "23514"},
		{options, `{"s": "` + string(big("x"))[10:9000] + string(big("y"))[10:9000] + `"}`, "23514"},
		{"update sync_policies set strategy = $1", "newest", "23514"},
		{"update sync_policies set entity_type = $1", "other", "42501"},
		{"insert into sync_policies (entity_type) values ($1)", strings.Repeat("x", 201), "23514"},
		{resolution, `{"winner": 2}`, "23514"},
		{resolution, `{"winner": "0"}`, "23514"},
		{resolution, `{"winner": 0, "data": 1}`, "23514"},
		{resolution, `{"winner": 5}`, "23514"},
		{resolution, `{"deleted": false}`, "23514"},
		{resolution, `{"deleted": 1}`, "23514"},
		{resolution, `{"dat": 1}`, "23514"},
		{resolution, `[]`, "23514"},
		{resolution, `{}`, "23514"},
		{resolution, `{"data": 1e1000}`, "23514"},
		{resolution, `{"data": null, "deleted": false}`, ""},
	} {
		if got := code(tt.sql, tt.arg); got != tt.want {
			t.Errorf("%s with %.60s: %q, want %q", tt.sql, tt.arg, got, tt.want)
		}
	}
}

// TestDatabaseTellsOfAConflictOnce: a version that loses again is no news.
func TestDatabaseTellsOfAConflictOnce(t *testing.T) {
	b := newBench(t)
	for _, clk := range []string{"phone:1", "phone:2", "phone:1", "phone:2", "phone:1"} {
		b.send(t, note, recently("phone", clk, []byte(`{"text": "`+clk+`"}`), 10))
		b.deliverNow(t)
	}
	if n := b.count(t, "sync_conflicts"); n != 1 {
		t.Fatalf("%d conflicts, want 1", n)
	}
	if n := query[int](t, b.admin, "select count(*) from realtime.messages where event = 'sync_conflicts'"); n != 1 {
		t.Errorf("it was told %d times", n)
	}
}

// TestDecisionOfTheLastNumber: a client may have counted under helixd's own name
// until there is no next number. What is stored must be readable all the same.
func TestDecisionOfTheLastNumber(t *testing.T) {
	d := sync.NewDisputed()
	last := sync.Clock{{Device: "helixd", Counter: sync.MaxCounter}}
	for i, device := range []string{"phone", "laptop"} {
		v := write(device, device+":1", "from "+device, i)
		v.Clock = v.Clock.Join(last)
		d.Write(v, at(i))
	}
	d.Decide(0, []byte(`{"text": "decided"}`), false, at(9))
	if got := string(d.Versions[0].Data); got != `{"text": "decided"}` {
		t.Errorf("shown is %s", got)
	}
	stored, err := d.Clock.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sync.ParseClock(stored); err != nil {
		t.Errorf("%s: %v", stored, err)
	}
}
