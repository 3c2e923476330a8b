package main_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	gosync "sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/reactors/llm/llmtest"
	"github.com/helixd/helixd/reactors/voice/decode"
	"github.com/helixd/helixd/reactors/voice/provider/providertest"
	"github.com/helixd/helixd/testenv"
)

// chaos is a project of a Postgres of its own, two helixds that may lead, two that
// work, providers, and clients; and what has happened to them.
type chaos struct {
	t       *tally
	rng     *rand.Rand
	cluster *testenv.Cluster
	volume  *volume
	clock   *serverClock
	db      *testenv.Database
	slot    string
	nodes   []*node
	load    *load
	clients *clients
	laws    *watch
	calm    func() // ends the load and the clients

	models, speech *wire // before the providers
	model          *llmtest.Server
	recogniser     *providertest.Server
	withoutDecoder bool      // of recordings
	skill          uuid.UUID // that takes a while, in a worker child
	recordings     int

	seen     int64 // deltas that were written when it last looked
	checked  int64 // deltas that were found applied once
	compared int   // entities, each time
	looks    int   // at the laws
	unsent   int   // messages that Postgres could not write
	most     sample
	report   report
}

// shortChaos is when the short test begins no further fault.
const shortChaos = 90 * time.Second

// TestChaos does to a project what may happen to one, one thing after the other in an
// order of its own, under load, and holds it to its laws after each: nothing is lost,
// nothing is done twice, all comes together, all works again soon, and nothing leaks.
// HELIX_CHAOS is for how long; without it each thing happens once, or as many as fit
// into a short time. HELIX_CHAOS_SEED repeats an order, HELIX_CHAOS_ONLY chooses by name.
func TestChaos(t *testing.T) {
	t.Parallel()
	lasts, seed, soak := shortChaos, uint64(time.Now().UnixNano()), false
	var err error
	if s := os.Getenv("HELIX_CHAOS"); s != "" {
		soak = true
		if lasts, err = time.ParseDuration(s); err != nil {
			t.Fatalf("HELIX_CHAOS: %v: say how long, such as 10m", err)
		}
	}
	if s := os.Getenv("HELIX_CHAOS_SEED"); s != "" {
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatalf("HELIX_CHAOS_SEED: %v: it is a number, which a run prints", err)
		}
	}
	only, err := regexp.Compile(os.Getenv("HELIX_CHAOS_ONLY"))
	if err != nil {
		t.Fatalf("HELIX_CHAOS_ONLY: %v: it is a pattern of names", err)
	}
	t.Logf("HELIX_CHAOS_SEED=%d", seed)
	c := &chaos{t: &tally{TB: t}, rng: rand.New(rand.NewPCG(seed, 0)), report: report{seed: seed, began: time.Now()}}
	defer c.report.write(c)
	c.begin(seed)
	c.report.began = time.Now()
	left := func() bool { return time.Since(c.report.began) < lasts }
	order := c.possible(only)
	for round := 0; round == 0 || soak && left(); round++ {
		c.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for i := range order {
			if left() {
				c.meet(&order[i])
			}
		}
	}
	c.end()
}

// possible are the calamities that can happen here, of those that are wanted.
func (c *chaos) possible(only *regexp.Regexp) (all []calamity) {
	for _, x := range calamities {
		if !only.MatchString(x.name) {
			continue
		}
		if why := x.missing(c); why != "" {
			c.report.notRun(x.name, why)
			continue
		}
		all = append(all, x)
	}
	if len(all) == 0 {
		c.t.Fatal("nothing of what HELIX_CHAOS_ONLY names can happen here")
	}
	return all
}

// begin starts everything, and waits until it works.
func (c *chaos) begin(seed uint64) {
	t := c.t
	options := testenv.Options{Fsync: true, Settings: map[string]string{"max_wal_size": "64MB", "min_wal_size": "32MB"}}
	c.volume = newVolume(t)
	options.Dir = c.volume.dir
	c.clock = newServerClock(t)
	options.Env = c.clock.env()
	c.cluster = testenv.StartCluster(t, options)
	c.db = testenv.NewOn(t, c.cluster)
	admin := migrated(t, c.db)
	exec1(t, admin, "create table helix_audit (entity_id uuid, device_id text, counter bigint, applied int, primary key (entity_id, device_id, counter))")
	exec1(t, admin, "create table filler (id int, text text)")
	exec1(t, admin, `create table heard (id uuid);
		create function note_heard() returns trigger language plpgsql security definer as $$ begin insert into public.heard values (new.id); return new; end $$;
		create trigger note_heard after update on voice_recordings for each row
			when (old.status in ('pending', 'processing') and new.status in ('done', 'failed')) execute function note_heard()`)
	c.slot = c.db.SlotName("chaos")

	c.model, c.recogniser = llmtest.New(t), providertest.NewOpenAI(t)
	env := []string{"HELIX_HTTP=127.0.0.1:0", "HELIX_SKILLS_WORKERS=4", "HELIX_DRIFT_INTERVAL=250ms", "DEEPGRAM_API_KEY="}
	var address string
	c.models, address = newWire(t, c.model.URL)
	env = append(env, "EMBEDDINGS_URL="+address, "EMBEDDINGS_API_KEY="+llmtest.Key)
	c.speech, address = newWire(t, c.recogniser.URL)
	env = append(env, "HELIX_VOICE_PROVIDER=openai", "HELIX_VOICE_URL="+address, "HELIX_VOICE_KEY="+providertest.Key)
	if err := decode.Available(); err != nil {
		c.withoutDecoder = true
		c.report.notRun("recordings while providers are away", err.Error())
	}
	for _, role := range []string{"stream", "stream", "worker", "worker"} {
		n := &node{role: role, env: env}
		n.wire, n.url = newWire(t, c.db.URL("postgres"))
		c.nodes = append(c.nodes, n)
		n.run(t, c.slot)
	}
	until(t, "the first checkpoint", func() bool {
		return get[int](t, admin, "select count(*) from helix.checkpoints where slot = $1", c.slot) == 1
	})
	c.clients = &clients{every: 100 * time.Millisecond, outages: true}
	c.clients.begin(t, c.db, admin)
	c.skill = get[uuid.UUID](t, admin, "insert into skills (user_id, name, kind, wasm_bytecode) values ($1, 'slow', 'wasm', $2) returning id", c.clients.user, slowSkill(200_000_000))
	until(t, "the skill's check", func() bool { return get[bool](t, admin, "select status = 'ready' from skills where id = $1", c.skill) })
	c.load = &load{deltas: 1 << 40, over: make(chan struct{}),
		// A full disk, a lock, a table or a column that is not there for a while, files that cannot be written.
		faulty: []string{"53", "55", "40", "42", "58", "XX"}}
	c.laws = watchLaws(t, c.db, c.slot, true)
	writing, stop := context.WithCancel(t.Context())
	var group gosync.WaitGroup
	group.Go(func() { c.load.run(t, c.db, seed) })
	group.Go(func() { c.clients.write(writing, t, c.db, rand.New(rand.NewPCG(seed, 1))) })
	group.Go(func() { c.load.pace(writing) })
	c.calm = gosync.OnceFunc(func() {
		close(c.load.over)
		stop()
		group.Wait()
	})
	t.Cleanup(c.calm) // where the test ends early
	c.settle(&calamity{name: "nothing"})
}

// pace lets some hundred deltas be written in a second, and none later for those
// that could not be written earlier.
func (l *load) pace(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.allowed.Store(l.written.Load() + 2)
		}
	}
}

// meet lets a calamity happen, and holds all to the laws when it has passed.
func (c *chaos) meet(x *calamity) {
	began := time.Now()
	if x.repairs {
		c.laws.mu.Lock() // a new slot is ahead of the checkpoint until all rows are read
	}
	c.t.during(x.name)
	c.t.Logf("%s %s", time.Since(c.report.began).Round(time.Second), x.name)
	x.happen(c)
	passed := time.Now()
	c.settle(x)
	if x.repairs {
		c.laws.mu.Unlock()
	}
	c.t.Logf("%s: %s, and %s until all worked again and was checked", x.name, passed.Sub(began).Round(time.Millisecond), time.Since(passed).Round(time.Millisecond))
	c.t.during("")
	c.report.met(x.name, time.Since(passed))
}

// settle waits until all that was written has had its results, and looks at it.
func (c *chaos) settle(x *calamity) {
	t := c.t
	c.load.gate.Lock()
	defer c.load.gate.Unlock()
	c.clients.works(t, c.db) // what was written before is applied before
	admin, err := pgx.Connect(t.Context(), c.db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is left to be lost
	exec1(t, admin, "delete from helix_audit where entity_id = any ($1)", c.clients.probes)
	c.clients.probes = nil
	written := c.load.written.Load()
	repairs := get[int](t, admin, "select repairs from helix.checkpoints where slot = $1", c.slot)
	if x.repairs && repairs == 0 && !x.mayPassUnseen {
		t.Errorf("the rows were not read again")
	}
	if !x.repairs && repairs > 0 {
		t.Errorf("the rows were read again %d times, without need", repairs)
	}
	if repairs == 0 {
		c.load.once(t, admin, int(written-c.seen))
		c.checked += written - c.seen
	}
	c.seen = written
	c.compared += c.load.converged(t, admin)
	// What an operator does who has ended the cause: the next repair is not to wait.
	exec1(t, admin, "truncate helix_audit; update helix.checkpoints set repairs = 0")
	if n := get[int](t, admin, "select count(*) from pg_replication_slots where database = current_database()"); n != 1 {
		t.Errorf("%d slots", n)
	}
	until(t, "no more sessions than four helixds may have", func() bool {
		return get[int](t, admin, "select count(*) from pg_stat_activity where datname = current_database() and application_name like 'helixd%'") <= 4*mostSessions
	})
	for _, n := range c.nodes {
		c.inspect(n)
	}
}

// end lets everything come to its end, and looks at all of it.
func (c *chaos) end() {
	t := c.t
	c.calm()
	c.settle(&calamity{name: "the end"})
	admin := c.db.Connect(t, "postgres")
	c.clients.drained(t, admin)
	until(t, "all memories to be embedded", func() bool {
		return get[int](t, admin, "select count(*) from memories where embedding is null") == 0
	})
	c.laws.end(t)
	c.looks = c.laws.looks
	var workers []int
	for _, n := range c.nodes {
		workers = append(workers, children(t, n.Pid())...)
		n.stop(t)
	}
	until(t, "the worker children to be gone", func() bool { return len(alive(workers)) == 0 })
	log, err := c.cluster.Log()
	if err != nil {
		t.Fatal(err)
	}
	// Where the disk is full realtime.send warns, and the result stands.
	c.unsent = bytes.Count(log, []byte("WarnSendingBroadcastMessage: "))
	c.clients.check(t, admin, c.slot, c.unsent)
	c.heard(admin)
	if problems := c.model.Problems(); len(problems) > 0 {
		t.Errorf("the model's server found: %v", problems)
	}
}

// heard: each recording has ended once, with what is in it.
func (c *chaos) heard(admin *pgx.Conn) {
	c.t.Helper()
	for what, sql := range map[string]string{
		"recordings that did not end once":   "select count(*) from voice_recordings r where (select count(*) from heard where id = r.id) <> 1",
		"recordings without a transcript":    "select count(*) from voice_recordings where status <> 'done' or coalesce(transcript, '') = ''",
		"transcripts of another's recording": "select count(*) - count(distinct transcript) from voice_recordings",
	} {
		if n := get[int](c.t, admin, sql); n != 0 {
			c.t.Errorf("%s: %d", what, n)
		}
	}
	if n := get[int](c.t, admin, "select count(*) from voice_recordings"); n != c.recordings {
		c.t.Errorf("%d recordings, want %d", n, c.recordings)
	}
}

// tally is a test that remembers what it was told.
type tally struct {
	testing.TB

	mu         gosync.Mutex
	now        string // what happens
	violations []string
}

// during says what happens from now on.
func (t *tally) during(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = what
}

func (t *tally) note(text string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now != "" {
		text = t.now + ": " + text
	}
	t.violations = append(t.violations, text)
	return text
}

func (t *tally) Error(args ...any) { t.Helper(); t.TB.Error(t.note(fmt.Sprint(args...))) }
func (t *tally) Errorf(format string, args ...any) {
	t.Helper()
	t.TB.Error(t.note(fmt.Sprintf(format, args...)))
}
func (t *tally) Fatal(args ...any) { t.Helper(); t.TB.Fatal(t.note(fmt.Sprint(args...))) }
func (t *tally) Fatalf(format string, args ...any) {
	t.Helper()
	t.TB.Fatal(t.note(fmt.Sprintf(format, args...)))
}
