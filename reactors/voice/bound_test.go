package voice_test

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/reactors/voice/decode"
)

// TestRefusedRowHoldsUpNobody: an app's constraint refuses any write of one row.
func TestRefusedRowHoldsUpNobody(t *testing.T) {
	refusing := func(t *testing.T, b *bench) {
		t.Helper()
		b.Exec(t, "alter table voice_recordings add column reviewed boolean")
		b.Exec(t, "update voice_recordings set reviewed = false, created_at = now() - interval '1 hour'")
		b.Exec(t, "alter table voice_recordings add constraint seen check (reviewed is not false) not valid")
	}
	t.Run("OfTheSameUser", func(t *testing.T) {
		b := newBench(t)
		b.unswept(t)
		user := b.User(t)
		odd := b.record(t, user, pcm(10, 1))
		refusing(t, b)
		b.stream(t)
		b.work(t, parts{decoder: raw{}, ear: &ear{}})
		for n := range byte(3) {
			if r := b.ended(t, b.record(t, user, pcm(10, n+2))); r.code() != "done" {
				t.Errorf("the row is %+v", r)
			}
		}
		if r := b.row(t, odd); r.code() != "pending" {
			t.Errorf("the odd row is %+v", r)
		}
		b.until(t, "its next try to be scheduled", "select retry_at > now() + interval '5 minutes' from helix.voice_work where recording_id = $1", odd)
	})
	t.Run("InTwoLanes", func(t *testing.T) {
		b := newBench(t)
		b.unswept(t)
		user := b.User(t)
		odd := b.record(t, user, pcm(10, 1))
		refusing(t, b)
		sound := b.record(t, user, pcm(10, 2))
		b.Exec(t, "insert into helix.voice_queues (user_id) values ($1)", user)
		lock, err := b.DB.Connect(t, "postgres").Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.Exec(t.Context(), "select from helix.voice_queues where user_id = $1 for update", user); err != nil {
			t.Fatal(err)
		}
		b.Exec(t, `insert into helix.river_job (kind, queue, args, max_attempts)
			select 'voice_lane', 'voice', jsonb_build_object('user_id', $1::uuid), 1000 from generate_series(1, 2)`, user)
		b.work(t, parts{decoder: raw{}, ear: &ear{}})
		b.until(t, "both lanes to wait", `select count(*) = 2 from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock' and query like '%voice_queues%'`)
		if err := lock.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := b.ended(t, sound); r.code() != "done" {
			t.Errorf("the row is %+v", r)
		}
		b.until(t, "the odd one alone to wait", "select array_agg(recording_id) = array[$1::uuid] from helix.voice_work where retry_at is not null", odd)
	})
	t.Run("InStorageThatIsNotConfigured", func(t *testing.T) {
		b := newBench(t)
		b.unswept(t)
		user := b.User(t)
		b.Exec(t, "insert into voice_recordings (user_id, storage_path) values ($1, 'voice/object')", user)
		refusing(t, b)
		b.stream(t)
		b.work(t, parts{decoder: raw{}, ear: &ear{}})
		for n := range byte(3) {
			if r := b.ended(t, b.record(t, user, pcm(10, n+1))); r.code() != "done" {
				t.Errorf("the row is %+v", r)
			}
		}
	})
	t.Run("InTheSweep", func(t *testing.T) {
		b := newBench(t)
		b.Exec(t, "insert into voice_recordings (user_id, audio_data, status) values ($1, '\\x0100', 'processing')", b.User(t))
		refusing(t, b)
		orphan := get[uuid.UUID](t, b.Admin, "insert into voice_recordings (user_id, audio_data, status) values ($1, '\\x0100', 'processing') returning id", b.User(t))
		b.work(t, parts{decoder: raw{}, ear: &ear{}})
		if r := b.ended(t, orphan); r.code() != "done" {
			t.Errorf("the row is %+v", r)
		}
	})
}

func TestRate(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	config := voice.DefaultConfig
	config.Rate = 2
	e := &ear{}
	b.work(t, parts{config: config, decoder: raw{}, ear: e})
	user := b.User(t)
	// Whatever the hour is now, it is the one that is counted.
	b.Exec(t, "insert into helix.voice_queues (user_id) values ($1)", user)
	for range 2 {
		if r := b.ended(t, b.record(t, user, pcm(10, 1))); r.code() != "done" {
			t.Fatalf("the row is %+v", r)
		}
	}
	b.until(t, "an hour that goes on for a while", "select date_trunc('hour', now(), 'utc') = date_trunc('hour', now() + interval '20 seconds', 'utc')")
	b.Exec(t, "update helix.voice_queues set hour = date_trunc('hour', now(), 'utc'), begun = 2")
	third := b.record(t, user, pcm(10, 1))
	b.until(t, "the reason", "select coalesce(error ->> 'code' = 'too_many_recordings', false) from voice_recordings where id = $1", third)
	if r := b.row(t, third); r.Status != "pending" || r.Error.RetryAt == nil || e.count() != 2 {
		t.Errorf("after %d requests the row is %+v", e.count(), r)
	}
	b.until(t, "the next lane", `select count(*) = 1 from helix.river_job where queue = 'voice' and state = 'scheduled'
		and scheduled_at between date_trunc('hour', now(), 'utc') and date_trunc('hour', now(), 'utc') + interval '1 hour 1 second'`)
	if other := b.ended(t, b.record(t, b.User(t), pcm(10, 1))); other.code() != "done" {
		t.Errorf("another user's row is %+v", other)
	}
	b.Exec(t, "update helix.voice_queues set hour = hour - interval '1 hour'")
	b.record(t, user, pcm(10, 1)) // wakes a lane before its time
	if r := b.ended(t, third); r.code() != "done" {
		t.Errorf("the row is %+v", r)
	}
}

// crowd is a Decoder that counts how many decode for one user at a time.
type crowd struct {
	raw
	mu   sync.Mutex
	now  map[string]int
	peak int
}

func (c *crowd) Decode(ctx context.Context, opts decode.Options, in decode.Input, out io.Writer) (decode.Info, error) {
	c.change(opts.Tenant, 1)
	defer c.change(opts.Tenant, -1)
	return c.raw.Decode(ctx, opts, in, out)
}

func (c *crowd) change(tenant string, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now[tenant] += by
	c.peak = max(c.peak, c.now[tenant])
}

func TestUserHasOneChildAtATime(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	d := &crowd{now: map[string]int{}}
	b.work(t, parts{decoder: d, ear: &ear{}})
	user := b.User(t)
	b.Exec(t, "insert into voice_recordings (user_id, audio_data) select $1, decode(repeat('01', 1000000), 'hex') from generate_series(1, 20)", user)
	b.until(t, "all to be done", "select bool_and(status = 'done') from voice_recordings")
	if d.peak != 1 {
		t.Errorf("%d recordings of one user were decoded at a time", d.peak)
	}
}
