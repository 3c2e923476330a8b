package voice_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/helixd/helixd/reactors/voice"
	"github.com/helixd/helixd/reactors/voice/provider"
)

// held is an ear whose requests wait until the test lets one go on.
func held() (e *ear, gate chan struct{}) {
	gate = make(chan struct{})
	return &ear{hear: func(ctx context.Context, _ provider.Request, _ []byte) (provider.Answer, error) {
		return provider.Answer{Transcript: "heard"}, wait(ctx, gate)
	}}, gate
}

func TestConcurrency(t *testing.T) {
	config := voice.DefaultConfig
	for name, tt := range map[string]struct {
		users, each     int
		user, all, want int
		processes       int
	}{
		"OfAUser":             {users: 1, each: 12, user: 3, all: 16, want: 3, processes: 1},
		"OfAUserInProcesses":  {users: 1, each: 12, user: 3, all: 16, want: 3, processes: 2},
		"OfAllInProcesses":    {users: 6, each: 2, user: 3, all: 4, want: 4, processes: 2},
		"OfUsersBesideOthers": {users: 2, each: 6, user: 2, all: 16, want: 4, processes: 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.unswept(t)
			b.stream(t)
			e, gate := held()
			config.UserConcurrency, config.Concurrency = tt.user, tt.all
			for range tt.processes {
				b.work(t, parts{config: config, decoder: raw{}, ear: e})
			}
			for range tt.users {
				b.Exec(t, "insert into voice_recordings (user_id, audio_data) select $1, '\\x0100' from generate_series(1, $2)", b.User(t), tt.each)
			}
			b.until(t, "as many as may be", "select count(*) = $1 from voice_recordings where attempts = 1", tt.want)
			// One by one: after each, one more is begun, and never two.
			for n := range tt.users*tt.each - tt.want {
				gate <- struct{}{}
				b.until(t, "the next one", "select count(*) = $1 from voice_recordings where attempts = 1", tt.want+n+1)
			}
			close(gate)
			b.until(t, "all", "select not exists (select from voice_recordings where status <> 'done')")
			if e.peak != tt.want {
				t.Errorf("%d requests were made at a time, want %d", e.peak, tt.want)
			}
			b.clear(t)
		})
	}
}

func TestOldestFirst(t *testing.T) {
	b := newBench(t)
	user := b.User(t)
	b.Exec(t, "insert into voice_recordings (user_id, audio_data, created_at) select $1, decode(lpad(to_hex(n), 2, '0') || '00', 'hex'), now() - n * interval '1 minute' from generate_series(1, 9) n", user)
	var order []byte
	e := &ear{hear: func(_ context.Context, _ provider.Request, body []byte) (provider.Answer, error) {
		order = append(order, body[44])
		return provider.Answer{}, nil
	}}
	config := voice.DefaultConfig
	config.UserConcurrency = 1
	b.work(t, parts{config: config, decoder: raw{}, ear: e}) // no stream: what is there is found at the start
	b.until(t, "all", "select not exists (select from voice_recordings where status <> 'done')")
	if !slices.Equal(order, []byte{9, 8, 7, 6, 5, 4, 3, 2, 1}) {
		t.Errorf("they were heard in this order, by age in minutes: %v", order)
	}
}

// TestFairness: who has 10,000 recordings that wait does not keep another waiting.
func TestFairness(t *testing.T) {
	b := newBench(t)
	b.unswept(t)
	b.stream(t)
	many, one := b.User(t), b.User(t)
	b.Exec(t, "insert into voice_recordings (user_id, audio_data) select $1, '\\x0100' from generate_series(1, 10000)", many)
	e, gate := held()
	b.work(t, parts{decoder: raw{}, ear: e})
	b.until(t, "the first ones", "select count(*) = $1 from voice_recordings where attempts = 1", voice.DefaultConfig.UserConcurrency)
	for range 20 {
		gate <- struct{}{}
	}
	b.until(t, "some", "select count(*) >= 20 from voice_recordings where status = 'done'")
	if n := get[int](t, b.Admin, "select count(*) from helix.river_job where queue = 'voice' and state = 'available'"); n > 1 {
		t.Errorf("%d lanes of one user wait", n)
	}
	id := b.record(t, one, pcm(10, 2))
	b.until(t, "the other's request", "select attempts = 1 from voice_recordings where id = $1", id) // while the first user's are held
	close(gate)
	if r := b.ended(t, id); r.code() != "done" {
		t.Errorf("the row is %+v", r)
	}
	if n := get[int](t, b.Admin, "select count(*) from voice_recordings where user_id = $1 and status = 'done'", many); n > 5000 {
		t.Errorf("%d of the other's 10,000 came first", n)
	}
}

// TestDeletedAccount: nothing of it stays, and nobody waits for it.
func TestDeletedAccount(t *testing.T) {
	b := newBench(t)
	b.stream(t)
	e, gate := held()
	defer close(gate)
	b.work(t, parts{decoder: raw{}, ear: e})
	user := b.User(t)
	for range 6 {
		b.record(t, user, pcm(10, 1))
	}
	b.until(t, "the requests", "select count(*) = $1 from voice_recordings where attempts = 1", voice.DefaultConfig.UserConcurrency)
	b.DB.Exec(t, "supabase_auth_admin", "delete from auth.users where id = $1", user.String())
	b.clear(t)
	if get[bool](t, b.Admin, "select exists (select from helix.voice_queues where user_id = $1)", user) {
		t.Error("a queue is left")
	}
	if id := b.record(t, b.User(t), pcm(10, 1)); id == uuid.Nil {
		t.Error("no recording")
	} else {
		b.until(t, "the next user's request", "select attempts = 1 from voice_recordings where id = $1", id)
	}
}
