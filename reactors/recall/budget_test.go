package recall_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/helixd/helixd/reactors/recall"
)

// TestBudget: at the budget the least retained memories leave the index, the
// oldest first, are found as before, and come back where there is room.
func TestBudget(t *testing.T) {
	const dimensions, all = 32, 6_000
	var user string
	b := adopted(t, dimensions, func(b *bench) {
		user = b.user(t)
		b.fill(t, user, all, dimensions, 0)
		b.Exec(t, "update memories set created_at = now() - random() * interval '100 days'")
	})
	b.Exec(t, `insert into memory_retention (memory_id, user_id, stability_hours, difficulty, last_reinforced)
		select id, user_id, 1 + 10000 * random(), 5, now() from memories where content like '%7'`)
	const capacity = 5_500
	small := b.service(t, capacity*recall.BytesPerVector(dimensions))
	b.tend(t, small)
	out := func() int { return get[int](t, b.Admin, "select count(*) from memories where not embedding_indexed") }
	if n := out(); n != all-capacity*95/100 {
		t.Errorf("%d have left", n)
	}
	if get[bool](t, b.Admin, `select max(retention) filter (where not embedding_indexed) > min(retention) filter (where embedding_indexed)
		from memories join memories_with_retention using (id)`) {
		t.Error("a better retained memory has left before another")
	}
	b.Exec(t, "analyze memories")
	b.tend(t, small)
	name, details := small.Details()
	if got, want := fmt.Sprint(name, details["healthy"], details["indexed"], details["unindexed"], details["budget_bytes"]),
		fmt.Sprint("recall", true, capacity*95/100, all-capacity*95/100, capacity*recall.BytesPerVector(dimensions)); got != want {
		t.Errorf("status %s, want %s", got, want)
	}
	if reason := fmt.Sprint(details["reason"]); !strings.Contains(reason, "at its budget: 775 memories") {
		t.Errorf("the reason is %q", reason)
	}

	app := b.DB.AsUser(t, user)
	before := b.scans(t, app)
	for range 5 {
		if got := b.recalled(t, app, user, b.randomVector(t, dimensions, 0), 10); got < .9 {
			t.Errorf("recall@10 %.2f", got)
		}
		found := get[bool](t, app, `select not embedding_indexed and (select id from match_memories(embedding, 1)) = id
			from memories where not embedding_indexed order by random() limit 1`)
		if !found {
			t.Error("a memory that has left the index is not found")
		}
	}
	if b.scans(t, app) < before+10 {
		t.Error("the index was not asked")
	}

	// Full, it takes what comes; and within the bounds nothing goes to and fro.
	b.Exec(t, "update memories set embedding_indexed = true where id in (select id from memories where not embedding_indexed order by id limit 100)")
	b.tend(t, small)
	if n := out(); n != 675 {
		t.Errorf("%d are out, want 675", n)
	}
	b.tend(t, b.service(t, large))
	if n := out(); n != 0 {
		t.Errorf("%d are still out of an index with room", n)
	}
}

// TestBudgetOfARefusal: what an app's trigger refuses stays in the index, and the
// others leave.
func TestBudgetOfARefusal(t *testing.T) {
	const dimensions, all = 8, 2_000
	var user string
	b := adopted(t, dimensions, func(b *bench) {
		user = b.user(t)
		b.fill(t, user, all, dimensions, 0)
	})
	b.Exec(t, "update memories set created_at = now() - interval '1 year' where content like '%1'")
	b.Exec(t, `create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end';
		create trigger refuse before update on memories for each row when (old.content = 'memory 1') execute function refuse()`)
	s := b.service(t, 1_000*recall.BytesPerVector(dimensions))
	if err := s.Tend(t.Context()); err == nil {
		t.Error("no word of the refusal")
	}
	if _, details := s.Details(); details["healthy"] != false || !strings.Contains(fmt.Sprint(details["reason"]), "P0001") {
		t.Errorf("status %v", details)
	}
	if n := get[int](t, b.Admin, "select count(*) from memories where not embedding_indexed"); n != 550 {
		t.Errorf("%d have left", n)
	}
}
