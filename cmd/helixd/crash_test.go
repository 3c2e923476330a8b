package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	gosync "sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/reactors/sync"
	"github.com/helixd/helixd/testenv"
)

// long is set by make test-long: the full counts.
var long = os.Getenv("HELIX_TEST_LONG") != ""

func count(short, full int) int {
	if long {
		return full
	}
	return short
}

const (
	writers = 4
	deltas  = 20_000
)

// load is what four users write to sync_state, each from three devices.
type load struct {
	deltas  int // of all writers
	users   []string
	written atomic.Int64
	allowed atomic.Int64   // so many may be written yet: what is to disturb the load must not come after it
	gate    gosync.RWMutex // whoever locks it finds no delta under way
	over    chan struct{}  // closed, it ends the load before all deltas are written; nil: it does not
	faulty  []string       // SQLSTATE classes that are no fault of the load: it writes again
	late    atomic.Int64   // nanoseconds by which the devices' clocks are behind
	history [writers][]sent
	want    [writers]map[uuid.UUID]*sync.State // what check has made of the history
}

// sent is one delta that was committed.
type sent struct {
	entity  uuid.UUID
	version sync.Version
}

// run writes until all deltas are committed, whatever happens to the server.
func (l *load) run(t testing.TB, db *testenv.Database, seed uint64) {
	for range writers {
		l.users = append(l.users, db.NewUser(t).ID)
	}
	var group gosync.WaitGroup
	for w := range writers {
		group.Go(func() {
			if err := l.write(t.Context(), db, w, rand.New(rand.NewPCG(seed, uint64(w)))); err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
		})
	}
	group.Wait()
}

func (l *load) write(ctx context.Context, db *testenv.Database, w int, rng *rand.Rand) error {
	const entities, devices = 5, 3
	type copyOf struct {
		clock map[string]uint64
	}
	var local [entities][devices]copyOf
	var latest [entities]map[string]uint64
	var ids [entities]uuid.UUID
	for e := range entities {
		ids[e] = uuid.New()
		latest[e] = map[string]uint64{}
		for d := range devices {
			local[e][d].clock = map[string]uint64{}
		}
	}
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for n := range l.deltas / writers {
		for l.written.Load() >= l.allowed.Load() {
			select {
			case <-l.over:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			case <-tick.C:
			}
		}
		e, d := rng.IntN(entities), rng.IntN(devices)
		device := fmt.Sprintf("device%d", d)
		clock := local[e][d].clock
		if rng.IntN(3) == 0 { // it is online, and takes in what the others wrote
			for k, v := range latest[e] {
				clock[k] = max(clock[k], v)
			}
		}
		clock[device]++
		latest[e][device] = clock[device]
		v := sync.Version{Device: device, Deleted: rng.IntN(20) == 0,
			LastModified: time.Now().Add(-time.Duration(l.late.Load()) - time.Duration(rng.IntN(1000))*time.Second).Truncate(time.Microsecond),
			Data:         fmt.Appendf(nil, `{"n": %d, "writer": %d}`, n, w)}
		raw, err := json.Marshal(clock)
		if err != nil {
			return err
		}
		if v.Clock, err = sync.ParseClock(raw); err != nil {
			return err
		}
		v.Content = sync.ContentHash(v.Data, v.Deleted)
		l.gate.RLock()
		conn, err = l.upsert(ctx, db, conn, w, ids[e], string(raw), &v)
		if err == nil {
			l.history[w] = append(l.history[w], sent{ids[e], v})
			l.written.Add(1)
		}
		l.gate.RUnlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// signIn is testenv's AsUser where the server may not answer.
func signIn(ctx context.Context, db *testenv.Database, user string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, db.URL("authenticator"))
	if err != nil {
		return nil, err
	}
	claims := fmt.Sprintf(`{"sub": "%s", "role": "authenticated"}`, user)
	if _, err = conn.Exec(ctx, "select set_config('role', 'authenticated', false), set_config('request.jwt.claims', $1, false)", claims); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// upsert writes one delta exactly once: where a lost connection leaves open
// whether it was committed, it looks.
func (l *load) upsert(ctx context.Context, db *testenv.Database, conn *pgx.Conn, w int, entity uuid.UUID, clock string, v *sync.Version) (*pgx.Conn, error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		if ctx.Err() != nil {
			return conn, ctx.Err()
		}
		if conn == nil || conn.IsClosed() {
			c, err := signIn(ctx, db, l.users[w])
			if err != nil {
				continue
			}
			conn = c
			var there bool
			err = conn.QueryRow(ctx, `select exists (select from sync_state where entity_id = $1 and device_id = $2 and vector_clock = $3)`,
				entity, v.Device, clock).Scan(&there)
			if err != nil {
				_ = conn.Close(ctx)
				continue
			}
			if there {
				return conn, nil
			}
		}
		_, err := conn.Exec(ctx, `insert into sync_state (entity_type, entity_id, device_id, data, vector_clock, last_modified, deleted)
			values ('note', $1, $2, $3, $4, $5, $6)
			on conflict (user_id, entity_type, entity_id, device_id) do update set
				entity_type = excluded.entity_type, entity_id = excluded.entity_id, device_id = excluded.device_id,
				data = excluded.data, vector_clock = excluded.vector_clock,
				last_modified = excluded.last_modified, deleted = excluded.deleted`,
			entity, v.Device, string(v.Data), clock, v.LastModified, v.Deleted)
		if err == nil {
			return conn, nil
		}
		var pgErr *pgconn.PgError
		if errors.As(err, &pgErr) && pgErr.Code[:2] != "57" && !slices.Contains(l.faulty, pgErr.Code[:2]) {
			return conn, err
		}
		_ = conn.Close(ctx)
	}
}

// check holds the database against the history.
func (l *load) check(t testing.TB, admin *pgx.Conn) {
	t.Helper()
	l.once(t, admin, l.deltas)
	l.converged(t, admin)
}

// once: so many deltas were applied, each once.
func (l *load) once(t testing.TB, admin *pgx.Conn, deltas int) {
	t.Helper()
	if n := get[int](t, admin, "select count(*) from helix_audit"); n != deltas {
		t.Errorf("%d of %d deltas were applied", n, deltas)
	}
	if n := get[int](t, admin, "select count(*) from helix_audit where applied <> 1"); n != 0 {
		t.Errorf("%d deltas were applied more than once", n)
	}
}

// converged: each entity is what the pure merge of all deltas gives. It says how
// many there are.
func (l *load) converged(t testing.TB, admin *pgx.Conn) (entities int) {
	t.Helper()
	if n := get[int](t, admin, "select count(*) from helix.dead_letters"); n != 0 {
		t.Errorf("%d dead letters", n)
	}
	for w := range writers {
		want := l.want[w]
		if want == nil {
			want = map[uuid.UUID]*sync.State{}
			l.want[w] = want
		}
		for _, s := range l.history[w] {
			if want[s.entity] == nil {
				want[s.entity] = &sync.State{}
			}
			want[s.entity].Apply(s.version, time.Now())
		}
		l.history[w] = nil
		entities += len(want)
		for id, state := range want {
			winner := state.Versions[0]
			var data, clock []byte
			var deleted bool
			var modified time.Time
			var siblings int
			err := admin.QueryRow(t.Context(), `select data::text, vector_clock::text, deleted, last_modified,
					(select count(*) from helix.sync_siblings s where s.entity_id = e.entity_id)
				from sync_entities e where user_id = $1 and entity_id = $2`, l.users[w], id).
				Scan(&data, &clock, &deleted, &modified, &siblings)
			if err != nil {
				t.Errorf("entity %s: %v", id, err)
				continue
			}
			got, err := sync.ParseClock(clock)
			if err != nil {
				t.Fatal(err)
			}
			if string(data) != string(winner.Data) || deleted != winner.Deleted || !modified.Equal(winner.LastModified) ||
				got.Compare(state.Clock) != sync.Equal || siblings != len(state.Versions)-1 {
				t.Errorf("entity %s is %s (clock %s, deleted %v, %d siblings); the pure merge gives %s (clock %v, deleted %v, %d siblings)",
					id, data, clock, deleted, siblings, winner.Data, state.Clock, winner.Deleted, len(state.Versions)-1)
			}
		}
	}
	return entities
}

// disrupted runs the load while something keeps happening to it, then lets
// helixd finish and checks.
func disrupted(t *testing.T, db *testenv.Database, disrupt func(l *load, applied func() int64, run func(failpoint string) *process)) {
	admin := migrated(t, db)
	exec1(t, admin, "create table helix_audit (entity_id uuid, device_id text, counter bigint, applied int, primary key (entity_id, device_id, counter))")
	slot := db.SlotName("crash")
	run := func(failpoint string) *process {
		return start(t, db.URL("postgres"), []string{"HELIX_AUDIT=1", "HELIX_FAILPOINT=" + failpoint}, "run", "--slot", slot)
	}
	// The slot is there before the first delta: all of them are streamed.
	first := run("")
	until(t, "the first checkpoint", func() bool {
		return get[int](t, admin, "select count(*) from helix.checkpoints where slot = $1", slot) == 1
	})
	first.kill()

	l := load{deltas: deltas}
	loaded := make(chan struct{})
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	go func() {
		defer close(loaded)
		l.run(t, db, seed)
	}()
	applied := func() (n int64) {
		conn, err := pgx.Connect(t.Context(), db.URL("postgres"))
		if err != nil {
			return 0 // it is restarting
		}
		defer conn.Close(t.Context())
		_ = conn.QueryRow(t.Context(), "select changes from helix.checkpoints where slot = $1", slot).Scan(&n)
		return n
	}
	disrupt(&l, applied, run)
	l.allowed.Store(deltas)
	<-loaded
	last := run("")
	until(t, "the last one to stream", func() bool { return last.says(`"message":"streaming"`) }) // there may be nothing left to apply
	admin = db.Connect(t, "postgres")
	until(t, "all deltas to be applied", func() bool {
		return get[int64](t, admin, "select coalesce(sum(applied), 0)::bigint from helix_audit") >= deltas
	})
	until(t, "the slot's confirmed position to reach the checkpoint", func() bool {
		return get[bool](t, admin, `select s.confirmed_flush_lsn = c.lsn from pg_replication_slots s
			join helix.checkpoints c on c.slot = s.slot_name where slot_name = $1`, slot)
	})
	last.stop(t)
	l.check(t, admin)
}

// progress waits until so many changes are applied: however long, while there
// are more and more.
func progress(t *testing.T, applied func() int64, goal int64) {
	t.Helper()
	for n := applied(); n < goal; n = applied() {
		until(t, "some progress", func() bool { return applied() > n })
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	points := []string{"after-receive", "after-react", "before-commit", "after-commit", "before-ack"}
	kills := count(5, 30)
	disrupted(t, testenv.New(t), func(l *load, applied func() int64, run func(string) *process) {
		for i := range kills {
			l.allowed.Store(int64((i + 1) * deltas / (kills + 1)))
			// Once at each point, then at random times too.
			if i < len(points) || i%2 == 0 {
				n := 1 + rand.IntN(3)
				if points[i%len(points)] == "after-receive" {
					n = 1 + rand.IntN(500)
				}
				p := run(fmt.Sprintf("%s:%d", points[i%len(points)], n))
				select {
				case <-p.done:
				case <-time.After(patience):
					t.Fatalf("helixd never came to %s", points[i%len(points)])
				}
				continue
			}
			p := run("")
			goal := min(applied()+rand.Int64N(int64(deltas/kills)), l.allowed.Load()-writers)
			until(t, "some progress", func() bool { return applied() >= goal })
			p.kill()
		}
	})
}

func TestPostgresRestarted(t *testing.T) {
	t.Parallel()
	cluster := testenv.StartCluster(t, testenv.Options{Fsync: true})
	disrupted(t, testenv.NewOn(t, cluster), func(l *load, applied func() int64, run func(string) *process) {
		l.allowed.Store(deltas)
		p := run("")
		restarts := count(1, 5)
		for i := range restarts {
			progress(t, applied, int64((i+1)*deltas/(restarts+2)))
			if err := cluster.Restart(t.Context(), testenv.Immediate); err != nil {
				t.Fatal(err)
			}
		}
		progress(t, applied, deltas/2)
		p.stop(t)
	})
}
