package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
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
