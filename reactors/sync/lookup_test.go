package sync_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
)

// TestDatabaseLooksUpByKey: a plan that was made while the tables were small, and is
// kept, does not read them whole once they have grown.
func TestDatabaseLooksUpByKey(t *testing.T) {
	b := newBench(t)
	b.exec(t, `alter table public.sync_entities set (autovacuum_enabled = false); -- it would have plans made anew
		create function public.flush_statistics() returns trigger language plpgsql as $$
		begin perform pg_stat_force_next_flush(); return null; end $$;
		create trigger flush_statistics after update on helix.checkpoints execute function public.flush_statistics()`)
	write := func(i int) {
		b.send(t, uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i)), recently("a", "a:1", []byte(`{"text": "x"}`), 3))
		b.deliverNow(t)
	}
	read := func() int64 {
		return query[int64](t, b.admin, "select seq_tup_read from pg_stat_user_tables where relid = 'public.sync_entities'::regclass")
	}
	for i := range 12 { // Postgres keeps a plan from the sixth time on
		write(i)
	}
	b.exec(t, `insert into sync_entities (user_id, entity_type, entity_id, vector_clock, last_modified, resolution, revision, updated_at, device_id, content_hash)
		select $1, 'other', gen_random_uuid(), '{"a": 1}', now(), 'none', 1, now(), 'a', '' from generate_series(1, 2000)`, b.user.ID)
	before := read()
	write(12)
	if got := query[int](t, b.admin, "select count(*)::int from sync_entities where entity_type <> 'other'"); got != 13 {
		t.Fatalf("%d entities are resolved, want 13", got)
	}
	if n := read() - before; n > 100 {
		t.Errorf("to resolve one entity, %d rows of sync_entities were read one by one", n)
	}
}
