package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/testenv"
)

// node is a helixd behind a wire of its own.
type node struct {
	role string
	url  string
	env  []string // further settings
	wire *wire
	told *told // nil: nobody reads its metrics
	*process
}

// networkTime is for how long faults happen.
func networkTime() time.Duration {
	if long {
		return 10 * time.Minute
	}
	return time.Minute
}

// soon is how long it may take until all works again after a fault has ended: a
// server finds a half open connection within ten seconds, a pause between two
// attempts is at most another ten, and the tests share the machine.
const soon = 45 * time.Second

// TestNetworkFaults cuts, freezes, slows and half opens the network of a leader, a
// standby and two workers, and kills each of them, in turn and under load. Nothing
// is lost, nothing is done twice, all works again soon, and the metrics say what is.
func TestNetworkFaults(t *testing.T) {
	t.Parallel()
	db := testenv.New(t)
	slot := db.SlotName("crash") // disrupted's
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed of the faults %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	c := &clients{every: 20 * time.Millisecond}
	var watched *watch
	disrupted(t, db, func(l *load, applied func() int64, _ func(string) *process) {
		admin := db.Connect(t, "postgres")
		c.begin(t, db, admin)
		watched = watchLaws(t, db, slot, false)
		told := listen(t, db, slot, admin)
		var nodes []*node
		for _, role := range []string{"stream", "stream", "worker", "worker"} {
			if role == "worker" && len(nodes) == 2 {
				told.waiting(t, c, admin, nodes)
			}
			n := &node{role: role, told: told}
			n.wire, n.url = newWire(t, db.URL("postgres"))
			nodes = append(nodes, n)
			n.run(t, slot)
		}
		writing, stop := context.WithCancel(t.Context())
		var group gosync.WaitGroup
		group.Go(func() { c.write(writing, t, db, rand.New(rand.NewPCG(seed, 1))) })
		began, took := time.Now(), networkTime()
		for round := 0; round < 2*len(faults) || time.Since(began) < took; round++ {
			l.allowed.Store(min(deltas, int64(deltas*time.Since(began)/took)))
			n := nodes[round%len(nodes)] // of four, and of five faults: in time each meets all
			n.disturb(t, rng, faults[round%len(faults)], slot, round == 1)
			c.works(t, db)
		}
		l.allowed.Store(deltas)
		stop()
		group.Wait()
		progress(t, applied, deltas*9/10)
		c.drained(t, admin)
		until(t, "the load to end", func() bool { return l.written.Load() == deltas })
		told.settled(t)
		exec1(t, admin, "delete from helix_audit where entity_id = any ($1)", c.probes) // it is of the load
		for _, n := range nodes {
			n.stop(t)
		}
		told.end()
		told.judge(t, admin)
	})
	watched.end(t)
	c.check(t, db.Connect(t, "postgres"), slot, 0)
}

// run starts the node, with the race detector where it streams: it takes workers
// half a minute to compile what recordings need.
func (n *node) run(t testing.TB, slot string) {
	t.Helper()
	build := binary
	if n.role == "worker" {
		build = plainBinary
	}
	n.process = startOf(t, build, n.url, append([]string{"HELIX_AUDIT=1", "HELIX_HTTP=127.0.0.1:0"}, n.env...), "run", "--slot", slot, "--role", n.role)
	if n.told != nil {
		n.told.follow(n)
	}
}

// killed is what happens to a process, not to its wire.
const killed fault = "killed"

var faults = []fault{cut, frozen, slow, halfOpen, killed}

// disturb does something to a node for a moment, or for long: until its metrics must know.
func (n *node) disturb(t testing.TB, rng *rand.Rand, how fault, slot string, atLength bool) {
	t.Helper()
	lasts := time.Duration(200+rng.IntN(2000)) * time.Millisecond
	if atLength {
		lasts += 11 * time.Second
	}
	if rng.IntN(6) == 0 { // long enough for a takeover
		lasts += 7 * time.Second
	}
	t.Logf("%s, pid %d: %s for %s", n.role, n.Pid(), how, lasts)
	if how == killed {
		workers := children(t, n.Pid())
		if n.told != nil {
			n.told.kill(n)
		} else {
			n.Kill()
		}
		until(t, "the worker children of a killed process to be gone", func() bool {
			return len(alive(workers)) == 0
		})
		n.run(t, slot)
		return
	}
	n.wire.set(how)
	select {
	case <-time.After(lasts):
	case <-n.Done:
		t.Fatalf("helixd ended: %v", n.Err)
	}
	n.wire.set(healed)
}

// clients are apps beside the load: they run skills, write memories, and delete some.
type clients struct {
	user    string
	app     *pgx.Conn
	every   time.Duration // they write once
	outages bool          // Postgres may be gone for a while

	runs, memories, gone []uuid.UUID // that were acknowledged
	probes               []uuid.UUID // entities that works has written
	longest              time.Duration
}

// begin notes how often a run ends.
func (c *clients) begin(t testing.TB, db *testenv.Database, admin *pgx.Conn) {
	t.Helper()
	c.user = db.NewUser(t).ID
	exec1(t, admin, "create table ends (run_id uuid, at timestamp default now())") // the transaction's time, which its messages have too
	exec1(t, admin, `create function note_end() returns trigger language plpgsql as $$ begin insert into ends (run_id) values (new.id); return null; end $$`)
	exec1(t, admin, `create trigger note_end after update on skill_runs for each row
		when (old.finished_at is null and new.finished_at is not null) execute function note_end()`)
	c.app = db.AsUser(t, c.user)
}

const echo = `{"kind": "composite", "steps": [{"stepId": "a", "toolName": "format", "inputMapping": {"template": "{{n}}", "n": "$.input.n"}}]}`

// write writes until ctx ends, straight to Postgres.
func (c *clients) write(ctx context.Context, t testing.TB, db *testenv.Database, rng *rand.Rand) {
	var app *pgx.Conn
	defer func() {
		if app != nil {
			_ = app.Close(context.WithoutCancel(ctx))
		}
	}()
	tick := time.NewTicker(c.every)
	defer tick.Stop()
	// do is for what may be done twice: nobody knows what came of a statement whose connection was lost.
	do := func(sql string, args ...any) {
		for ; ; <-tick.C {
			var err error
			if app == nil || app.IsClosed() {
				app, err = signIn(t.Context(), db, c.user)
			}
			if err == nil {
				_, err = app.Exec(t.Context(), sql, args...)
			}
			if err == nil {
				return
			}
			if !c.outages || t.Context().Err() != nil {
				t.Errorf("%s: %v", sql, err)
				return
			}
			if app != nil {
				_ = app.Close(t.Context())
			}
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		id := uuid.New()
		switch kind := rng.IntN(8); {
		case kind < 2:
			ids := []uuid.UUID{id}
			if rng.IntN(16) == 0 { // many at once, of which some end in one transaction
				for range 40 {
					ids = append(ids, uuid.New())
				}
			}
			do(`insert into skill_runs (id, definition, input) select id, $2, jsonb_build_object('n', $3::int + n - 1)
				from unnest($1::uuid[]) with ordinality as _ (id, n) on conflict (id) do nothing`, ids, echo, len(c.runs))
			c.runs = append(c.runs, ids...)
		case kind < 6 || len(c.memories) == 0:
			do("insert into memories (id, type, content) values ($1, 'episodic', 'by the river') on conflict (id) do nothing", id)
			c.memories = append(c.memories, id)
		default:
			i := rng.IntN(len(c.memories))
			do("delete from memories where id = $1", c.memories[i])
			c.gone = append(c.gone, c.memories[i])
			c.memories = append(c.memories[:i], c.memories[i+1:]...)
		}
	}
}

// works waits until what is written now is streamed, worked and answered.
func (c *clients) works(t testing.TB, db *testenv.Database) {
	t.Helper()
	began := time.Now()
	if c.outages {
		app, err := signIn(t.Context(), db, c.user)
		if err != nil {
			t.Fatal(err)
		}
		defer app.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is left to be lost
		c.app = app
	}
	run := get[uuid.UUID](t, c.app, `insert into skill_runs (definition, input) values ($1, '{"n": -1}') returning id`, echo)
	entity := uuid.New()
	c.probes = append(c.probes, entity)
	write(t, c.app, entity, "phone", `{"phone": 1}`, "works")
	until(t, "a run and an entity after the fault", func() bool {
		return get[bool](t, c.app, `select exists (select from skill_runs where id = $1 and finished_at is not null)
			and exists (select from sync_entities where entity_id = $2)`, run, entity)
	})
	took := time.Since(began)
	c.longest = max(c.longest, took)
	if took > soon {
		t.Errorf("after the fault it took %s until all worked again", took)
	}
}

// drained waits until no job is left.
func (c *clients) drained(t testing.TB, admin *pgx.Conn) {
	t.Helper()
	until(t, "all runs to end", func() bool {
		return !get[bool](t, admin, "select exists (select from skill_runs where finished_at is null)")
	})
	until(t, "what is remembered of the memories", func() bool {
		return get[int](t, admin, "select count(*) from memory_retention where user_id = $1", c.user) == len(c.memories)
	})
}

// check holds the database against what clients were told, but for so many messages
// that Postgres could not write.
func (c *clients) check(t testing.TB, admin *pgx.Conn, slot string, unsent int) {
	t.Helper()
	t.Logf("%d runs, %d memories, %d deleted; at most %s until all worked again", len(c.runs), len(c.memories), len(c.gone), c.longest.Round(time.Millisecond))
	if len(c.runs) == 0 || len(c.gone) == 0 {
		t.Error("the clients have not done much")
	}
	for i, id := range c.runs {
		if got, want := get[string](t, admin, "select concat_ws(' ', status, error ->> 'code', output) from skill_runs where id = $1", id), fmt.Sprintf(`succeeded "%d"`, i); got != want {
			t.Errorf("run %s is %s, want %s", id, got, want)
		}
	}
	for what, sql := range map[string]string{
		"runs that did not end once": "select count(*) from skill_runs r where (select count(*) from ends where run_id = r.id) <> 1",
		// Of more than eight rows in one transaction a single message tells.
		"transactions with a run's end that was not broadcast": `select greatest(count(distinct e.at) - ` + strconv.Itoa(unsent) + `, 0)
			from skill_runs r join ends e on e.run_id = r.id
			where not exists (select from realtime.messages m where m.event = 'skill_runs' and m.payload ->> 'id' = r.id::text and m.payload ->> 'status' = r.status)
			and not exists (select from realtime.messages m where m.event = 'skill_runs' and m.topic = 'helix:' || r.user_id and m.inserted_at = e.at
				and (m.payload ->> 'rows')::int >= (select greatest(9, count(*)) from ends where at = e.at))`,
		"entities that were not broadcast":   "select count(*) from sync_entities e where not exists (select from realtime.messages m where m.event = 'sync_entities' and m.topic = 'helix:' || e.user_id)",
		"conflicts that are there twice":     "select count(*) - count(distinct (user_id, entity_id, versions)) from sync_conflicts",
		"claims of nobody":                   "select count(*) from helix.skill_claims",
		"jobs that were given up":            "select count(*) from helix.river_job where state in ('discarded', 'cancelled')",
		"memories without retention":         "select count(*) from memories m where not exists (select from memory_retention where memory_id = m.id)",
		"dead letters":                       "select count(*) from helix.dead_letters",
		"sessions that are left":             "select count(*) from pg_stat_activity where datname = current_database() and application_name like 'helixd%'",
		"other slots":                        "select count(*) from pg_replication_slots where database = current_database() and (active or slot_name <> '" + slot + "')",
		"memories that were deleted and are": "select count(*) from memory_retention r where not exists (select from memories where id = r.memory_id)",
	} {
		if n := get[int](t, admin, sql); n != 0 {
			t.Errorf("%s: %d", what, n)
		}
	}
	if n := get[int](t, admin, "select count(*) from memories where user_id = $1", c.user); n != len(c.memories) {
		t.Errorf("%d memories, want %d", n, len(c.memories))
	}
}

// watch looks all the while whether the laws hold.
type watch struct {
	stop   context.CancelFunc
	done   chan struct{}
	mu     gosync.Mutex // whoever locks it keeps it from looking
	looks  int
	broken []string
}

// watchLaws: the slot is never ahead of the checkpoint, and an epoch has one holder.
func watchLaws(t testing.TB, db *testenv.Database, slot string, outages bool) *watch {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	w := &watch{stop: stop, done: make(chan struct{})}
	t.Cleanup(func() { stop(); <-w.done })
	holders := map[int64]string{}
	look := func(conn *pgx.Conn) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		// The slot first: what is read later may only be further.
		var flushed string
		if err := conn.QueryRow(ctx, "select confirmed_flush_lsn::text from pg_replication_slots where slot_name = $1", slot).Scan(&flushed); err != nil {
			return err
		}
		var held, begun bool // a leader that has applied nothing leaves its number to the next
		var epoch int64
		var holder string
		if err := conn.QueryRow(ctx, "select c.lsn >= $2::pg_lsn, c.epoch = l.epoch, l.epoch, l.holder from helix.checkpoints c join helix.leaders l using (slot) where slot = $1", slot, flushed).
			Scan(&held, &begun, &epoch, &holder); err != nil {
			return err
		}
		w.looks++
		if !held {
			w.breaks("the slot is at " + flushed + ", ahead of the checkpoint")
		}
		if was, known := holders[epoch]; begun && known && was != holder {
			w.breaks(fmt.Sprintf("epoch %d had %s and %s", epoch, was, holder))
		}
		if begun {
			holders[epoch] = holder
		}
		return nil
	}
	go func() {
		defer close(w.done)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		var conn *pgx.Conn
		var err error
		for ; ctx.Err() == nil; <-tick.C {
			if conn == nil {
				conn, err = pgx.Connect(ctx, db.URL("postgres"))
			}
			if err == nil {
				err = look(conn)
			}
			if err == nil || ctx.Err() != nil {
				continue
			}
			if !outages {
				w.breaks(err.Error())
				break
			}
			if conn != nil {
				_ = conn.Close(ctx)
			}
			conn, err = nil, nil
		}
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	return w
}

// breaks notes a law that is broken, once while it is.
func (w *watch) breaks(how string) {
	if n := len(w.broken); n == 0 || w.broken[n-1] != how {
		w.broken = append(w.broken, how)
	}
}

func (w *watch) end(t testing.TB) {
	t.Helper()
	w.stop()
	<-w.done
	if len(w.broken) > 0 || w.looks == 0 {
		t.Errorf("in %d looks: %s", w.looks, strings.Join(w.broken, "; "))
	}
}
