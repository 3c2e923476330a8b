package sync_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestDatabaseNesting: data that Postgres takes and that cannot be read again is
// rejected, whatever the policy, before it is stored.
func TestDatabaseNesting(t *testing.T) {
	b := newBench(t)
	deep := strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000)
	for _, strategy := range []string{"last_write_wins", "manual", "merge"} {
		b.reset(t)
		b.exec(t, "delete from sync_state")
		b.messages(t)
		b.policy(t, strategy, "{}")
		b.send(t, note, recently("a", "a:1", []byte(deep), 3))
		b.send(t, note, recently("b", "b:1", []byte(`{"text": "x"}`), 2))
		b.send(t, note, recently("a", "a:2 b:1", []byte(`{"text": "y"}`), 1))
		b.deliverNow(t)
		if s := b.state(t, note); text(&s.Versions[0]) != "y" {
			t.Errorf("%s: %s", strategy, show(s))
		}
		if !query[bool](t, b.admin, "select count(*) = 1 and bool_and(error like 'data is nested more than%') from helix.dead_letters") {
			t.Errorf("%s: dead letters %s", strategy, b.dump(t, "helix.dead_letters"))
		}
	}
}

// TestDatabaseUnreadable: an entity whose stored state cannot be read stops no other.
func TestDatabaseUnreadable(t *testing.T) {
	for _, damage := range []string{
		`update helix.sync_versions set writes = '{"x": 1}'`,
		`update helix.sync_versions set writes = '[[{"x": 1}]]'`,
		`update helix.sync_versions set clock = '[]'`,
		`insert into helix.sync_roots (user_id, entity_type, entity_id, clock, wall, logical, revision, live, sealed, registers)
			select user_id, entity_type, entity_id, '{}', 0, 0, 1, false, false, '[[[]]]' from sync_entities`,
		`update sync_entities set seen = '[]'`,
		`update sync_entities set vector_clock = '[]'`,
	} {
		t.Run("", func(t *testing.T) {
			b := newBench(t)
			b.policy(t, "merge", "{}")
			other := uuid.NewSHA1(uuid.Nil, []byte("other"))
			b.send(t, note, recently("a", "a:1", []byte(`{"text": "x"}`), 3))
			b.deliverNow(t)
			b.exec(t, damage)
			b.send(t, note, recently("b", "a:1 b:1", []byte(`{"text": "y"}`), 2))
			b.send(t, other, recently("b", "b:1", []byte(`{"text": "z"}`), 1))
			b.deliverNow(t)
			if s := b.state(t, other); len(s.Versions) != 1 || text(&s.Versions[0]) != "z" {
				t.Errorf("the other entity after %s:\n%s", damage, show(s))
			}
			if n := b.count(t, "helix.dead_letters"); n != 1 {
				t.Errorf("%d dead letters after %s", n, damage)
			}
		})
	}
}

// TestDatabaseLargeConflicts: what lost is recorded whole, in several statements
// where it is much.
func TestDatabaseLargeConflicts(t *testing.T) {
	b := newBench(t)
	b.policy(t, "merge", "{}")
	large := strings.Repeat("x", 3<<20)
	for i, device := range []string{"a", "b", "c", "d"} { // each loses to those before it, however long they take
		b.send(t, note, recently(device, device+":1", []byte(`{"text": "`+device+large+`"}`), 60*(i+1)))
	}
	b.deliverNow(t)
	if n, dead := b.count(t, "sync_conflicts"), b.count(t, "helix.dead_letters"); n != 6 || dead != 0 {
		t.Errorf("%d conflicts, %d dead letters", n, dead)
	}
	for _, device := range []string{"b", "c", "d"} {
		if n := query[int](t, b.admin, `select count(*)::int from sync_conflicts
			where versions->1->>'device_id' = $1 and length(versions->1->'writes'->0->'value'->>'text') = $2`, device, len(large)+1); n != 1 {
			t.Errorf("what %s lost is in %d conflicts", device, n)
		}
	}
}

// TestDatabaseLargeSiblings: a merge begins with the newest of what last write wins
// has left, up to a few megabytes; the rest is in conflicts.
func TestDatabaseLargeSiblings(t *testing.T) {
	b := newBench(t)
	large := strings.Repeat("x", 900_000)
	for i := range 10 {
		d := fmt.Sprintf("d%d", i)
		b.send(t, note, recently(d, d+":1", []byte(`{"`+d+`": "`+large+`"}`), i+1))
	}
	b.deliverNow(t)
	b.policy(t, "merge", "{}")
	b.send(t, note, recently("e", "e:1", []byte(`{"e": 1}`), 20))
	b.send(t, note, recently("f", "d8:1 f:1", []byte(`{"f": 1}`), 21)) // saw one that is not loaded
	b.deliverNow(t)
	keys := query[string](t, b.admin, "select string_agg(k, ' ' order by k) from sync_entities, jsonb_object_keys(data) as k")
	if keys != "d0 d1 d2 d3 d4 e" {
		t.Errorf("the entity has %s", keys)
	}
	if n := query[int](t, b.admin, "select count(distinct versions->1->>'device_id')::int from sync_conflicts"); n != 10 {
		t.Errorf("%d versions are in conflicts", n)
	}
	if n := b.count(t, "helix.dead_letters"); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}
