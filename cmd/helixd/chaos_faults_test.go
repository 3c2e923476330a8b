package main_test

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/testenv"
)

// calamity is what may happen to a project.
type calamity struct {
	name   string
	happen func(c *chaos) // and what ends it
	// repairs: what the stream says cannot be trusted afterwards, so all rows are read
	// again; results come together, and are not counted. Of others each delta is applied once.
	repairs       bool
	mayPassUnseen bool // it may be over before helixd has seen it
	needs         func(c *chaos) (missing string)
}

func (x *calamity) missing(c *chaos) string {
	if x.needs == nil {
		return ""
	}
	return x.needs(c)
}

func here(c *chaos) string {
	if !c.cluster.Local() {
		return "it takes a Postgres on this machine"
	}
	return ""
}

var calamities = []calamity{
	{name: "helixd is killed", happen: disturb(killed)},
	{name: "helixd is stopped in order", happen: (*chaos).stopNode},
	{name: "helixd is paused (SIGSTOP)", happen: (*chaos).pauseNode},
	{name: "worker children are killed", happen: (*chaos).killChildren},
	{name: "the network is cut", happen: disturb(cut)},
	{name: "the network is a black hole", happen: disturb(frozen)},
	{name: "the network is slow", happen: disturb(slow)},
	{name: "the network passes one way", happen: disturb(halfOpen)},
	{name: "Postgres restarts in order", happen: restart(testenv.Fast)},
	{name: "Postgres crashes", happen: restart(testenv.Immediate)},
	{name: "Postgres's postmaster is killed", happen: restart(testenv.Killed)},
	{name: "a session of Postgres is killed", happen: (*chaos).killSession, needs: here},
	{name: "helixd's sessions are ended", happen: (*chaos).endSessions},
	{name: "the disk is full: tables", happen: (*chaos).fullTables, needs: hasVolume},
	{name: "the disk is full: WAL", happen: (*chaos).fullLog, needs: hasVolume},
	{name: "the table is rewritten", happen: (*chaos).rewrite},
	{name: "columns come, are renamed and go", happen: (*chaos).columns},
	{name: "the replica identity is changed", happen: (*chaos).identity},
	{name: "a column that is watched is renamed, and back", happen: (*chaos).renameColumn, repairs: true, mayPassUnseen: true},
	{name: "a column that is watched is replaced", happen: (*chaos).replaceColumn, repairs: true},
	{name: "the table is renamed, and back", happen: (*chaos).renameTable, repairs: true, mayPassUnseen: true},
	{name: "the publication is altered", happen: (*chaos).alterPublication, repairs: true},
	{name: "the slot is dropped", happen: (*chaos).dropSlot, repairs: true},
	{name: "the slot is moved", happen: (*chaos).moveSlot, repairs: true},
	{name: "the slot is invalidated (max_slot_wal_keep_size)", happen: (*chaos).invalidateSlot, repairs: true},
	{name: "devices' clocks jump", happen: (*chaos).deviceClocks},
	{name: "Postgres's clock jumps", happen: (*chaos).serverClocks, needs: func(c *chaos) string { return c.clock.missing }},
	{name: "providers refuse connections", happen: outage(cut)},
	{name: "providers hang", happen: outage(frozen)},
	{name: "providers answer 500 or 429", happen: outage(healed)},
}

// moment is for how long something lasts.
func (c *chaos) moment() { c.lasts(time.Duration(200+c.rng.IntN(1300)) * time.Millisecond) }

func (c *chaos) lasts(how time.Duration) {
	select {
	case <-time.After(how):
	case <-c.t.Context().Done():
	}
}

// some is a helixd; leading, where there is a choice, as often as not.
func (c *chaos) some() *node {
	n := c.nodes[c.rng.IntN(len(c.nodes))]
	if c.rng.IntN(2) == 0 {
		return n
	}
	return c.leader()
}

// leader is the helixd that leads, or one that may.
func (c *chaos) leader() (leader *node) {
	leader = c.nodes[0]
	c.admin("postgres", func(conn *pgx.Conn) {
		for _, n := range c.nodes {
			if n.leads(c.t, conn, c.slot) {
				leader = n
			}
		}
	})
	return leader
}

// admin does something in a session of its own.
func (c *chaos) admin(role string, do func(conn *pgx.Conn)) {
	c.t.Helper()
	conn, err := pgx.Connect(c.t.Context(), c.db.URL(role))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(c.t.Context())) //nolint:errcheck // nothing is left to be lost
	do(conn)
}

// alter changes the schema. Where it meets the load in a deadlock it tries again.
func (c *chaos) alter(sql string) {
	c.t.Helper()
	c.admin("postgres", func(conn *pgx.Conn) {
		until(c.t, sql, func() bool {
			_, err := conn.Exec(c.t.Context(), sql)
			var pgErr *pgconn.PgError
			if err != nil && (!errors.As(err, &pgErr) || pgErr.Code != "40P01") {
				c.t.Fatalf("%s: %v", sql, err)
			}
			return err == nil
		})
	})
}

// flows waits until some more of the load is written.
func (c *chaos) flows() {
	c.t.Helper()
	goal := c.load.written.Load() + 10
	until(c.t, "the load to go on", func() bool { return c.load.written.Load() >= goal })
}

func disturb(how fault) func(c *chaos) {
	return func(c *chaos) { c.some().disturb(c.t, c.rng, how, c.slot, false) }
}

func (c *chaos) stopNode() {
	n := c.some()
	n.stop(c.t)
	c.moment()
	n.run(c.t, c.slot)
}

func (c *chaos) pauseNode() {
	n := c.some()
	n.signal(c.t, syscall.SIGSTOP)
	if c.rng.IntN(2) == 0 {
		c.lasts(7 * time.Second) // long enough for a takeover
	}
	c.moment()
	n.signal(c.t, syscall.SIGCONT)
}

// killChildren kills those that execute runs. A run ends of it, and says so, or has
// ended before.
func (c *chaos) killChildren() {
	c.admin("postgres", func(conn *pgx.Conn) {
		var runs []uuid.UUID
		for range 4 {
			runs = append(runs, get[uuid.UUID](c.t, conn, "insert into skill_runs (user_id, skill_id) values ($1, $2) returning id", c.clients.user, c.skill))
		}
		var pids []int
		until(c.t, "worker children", func() bool {
			pids = append(children(c.t, c.nodes[2].Pid()), children(c.t, c.nodes[3].Pid())...)
			return len(pids) > 0
		})
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		until(c.t, "runs whose worker children were killed to end", func() bool {
			return get[bool](c.t, conn, "select bool_and(finished_at is not null) from skill_runs where id = any ($1)", runs)
		})
		if odd := get[string](c.t, conn, `select coalesce(string_agg(concat_ws(' ', status, error, output), '; '), '') from skill_runs
			where id = any ($1) and not (status = 'succeeded' and output = '7') and error ->> 'code' is distinct from 'worker_lost'`, runs); odd != "" {
			c.t.Errorf("runs ended so: %s", odd)
		}
	})
}

func restart(mode testenv.RestartMode) func(c *chaos) {
	return func(c *chaos) {
		if err := c.cluster.Restart(c.t.Context(), mode); err != nil {
			c.t.Fatal(err)
		}
	}
}

// killSession kills one of Postgres's processes, for which it ends all others and recovers.
func (c *chaos) killSession() {
	var pids []int
	until(c.t, "a session of helixd", func() bool {
		c.admin("postgres", func(conn *pgx.Conn) {
			pids = get[[]int](c.t, conn, "select coalesce(array_agg(pid), '{}') from pg_stat_activity where datname = current_database() and application_name like 'helixd%'")
		})
		return len(pids) > 0
	})
	if err := syscall.Kill(pids[c.rng.IntN(len(pids))], syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		c.t.Fatal(err)
	}
	c.answers()
}

// answers waits until Postgres does, all the time for a moment: one that is about to
// crash answers too.
func (c *chaos) answers() {
	c.t.Helper()
	since := time.Now()
	until(c.t, "Postgres to answer", func() bool {
		conn, err := pgx.Connect(c.t.Context(), c.db.URL("postgres"))
		if err == nil {
			_, err = conn.Exec(c.t.Context(), "select pg_current_wal_lsn()")
			_ = conn.Close(c.t.Context())
		}
		if err != nil {
			since = time.Now()
		}
		return time.Since(since) > 300*time.Millisecond
	})
}

func (c *chaos) endSessions() {
	c.admin("supabase_admin", func(conn *pgx.Conn) {
		for range 1 + c.rng.IntN(3) {
			exec1(c.t, conn, "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'helixd%'")
			c.moment()
		}
	})
}

func hasVolume(c *chaos) string { return c.volume.missing }

// fullTables: no table can grow.
func (c *chaos) fullTables() {
	c.full("insert into filler select n, repeat('x', 1000) from generate_series(1, 1000) n")
}

// fullLog: there is no room for WAL, which Postgres cannot go on without.
func (c *chaos) fullLog() {
	c.full("select pg_logical_emit_message(false, 'filler', repeat('x', 1 << 20)) from generate_series(1, 16)")
}

// full fills the disk and writes until Postgres says so, or is gone.
func (c *chaos) full(sql string) {
	conn := c.db.Connect(c.t, "postgres")
	c.volume.fill(c.t)
	var pgErr *pgconn.PgError
	until(c.t, "Postgres to find the disk full", func() bool {
		_, err := conn.Exec(c.t.Context(), sql)
		if err != nil && errors.As(err, &pgErr) && pgErr.Code != "53100" && pgErr.Code[:2] != "57" {
			c.t.Errorf("on a full disk: %v", err)
		}
		return err != nil
	})
	_ = conn.Close(c.t.Context())
	c.moment()
	c.volume.free(c.t)
	// A server that could not recover has ended.
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
	defer cancel()
	for tick := time.NewTicker(100 * time.Millisecond); ; <-tick.C {
		conn, err := pgx.Connect(ctx, c.db.URL("postgres"))
		if err == nil {
			_ = conn.Close(ctx)
			break
		}
		if ctx.Err() != nil {
			c.t.Log("Postgres has ended of it, and is started again")
			restart(testenv.Immediate)(c)
			break
		}
	}
	c.answers()
	c.alter("truncate filler")
}

func (c *chaos) rewrite() {
	for _, sql := range []string{"vacuum full sync_state", "cluster sync_state using sync_state_pkey",
		"alter table sync_state add volatile uuid default gen_random_uuid()", "alter table sync_state alter volatile type text",
		"alter table sync_state drop volatile"} {
		c.alter(sql)
		c.flows()
	}
}

func (c *chaos) columns() {
	for _, sql := range []string{"alter table sync_state add extra text", "alter table sync_state rename extra to extras", "alter table sync_state drop extras"} {
		c.alter(sql)
		c.flows()
	}
}

func (c *chaos) identity() {
	for _, identity := range []string{"full", "default"} {
		c.alter("alter table sync_state replica identity " + identity)
		c.flows() // updates pass once the publication fits
	}
}

func (c *chaos) renameColumn() {
	c.alter("alter table sync_state disable trigger user; alter table sync_state rename deleted to x")
	c.moment()
	c.alter("alter table sync_state rename x to deleted; alter table sync_state enable trigger user")
}

// replaceColumn makes a column anew, with what was in it.
func (c *chaos) replaceColumn() {
	c.alter(`alter table sync_state disable trigger user; alter table sync_state rename deleted to x;
		alter table sync_state add deleted boolean not null default false; update sync_state set deleted = x;
		alter table sync_state drop x cascade; alter table sync_state enable trigger user`)
}

func (c *chaos) renameTable() {
	c.alter("alter table sync_state rename to x")
	c.moment()
	c.alter("alter table x rename to sync_state")
}

func (c *chaos) alterPublication() {
	all := []string{"alter publication helix drop table sync_state", "alter publication helix set (publish = 'insert')", "drop publication helix",
		"alter publication helix set table sync_state where (false), helix.inbox", "alter publication helix set table sync_state (id), helix.inbox"}
	before := c.repairs()
	sql := all[c.rng.IntN(len(all))]
	c.t.Log(sql)
	c.alter(sql)
	until(c.t, "a repair after "+sql, func() bool { return c.repairs() > before })
}

func (c *chaos) repairs() (n int) {
	c.admin("postgres", func(conn *pgx.Conn) {
		n = get[int](c.t, conn, "select repairs from helix.checkpoints where slot = $1", c.slot)
	})
	return n
}

func (c *chaos) dropSlot() {
	before := c.repairs()
	c.takeSlot("select pg_drop_replication_slot($1)")
	until(c.t, "a repair", func() bool { return c.repairs() > before })
}

// moveSlot moves it past what helixd has not received.
func (c *chaos) moveSlot() {
	c.suspended(func() { c.takeSlot("select pg_replication_slot_advance($1, pg_current_wal_insert_lsn())") })
}

// suspended does something to the slot while nobody streams, and something is written.
func (c *chaos) suspended(do func()) {
	before := c.repairs()
	for _, n := range c.nodes[:2] {
		n.signal(c.t, syscall.SIGSTOP)
	}
	c.flows()
	do()
	for _, n := range c.nodes[:2] {
		n.signal(c.t, syscall.SIGCONT)
	}
	until(c.t, "a repair", func() bool { return c.repairs() > before })
}

// takeSlot does something to the slot between two of those who stream from it.
func (c *chaos) takeSlot(sql string) {
	c.admin("supabase_admin", func(conn *pgx.Conn) {
		until(c.t, sql, func() bool {
			exec1(c.t, conn, "select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = $1 and active_pid is not null", c.slot)
			_, err := conn.Exec(c.t.Context(), sql, c.slot)
			return err == nil
		})
	})
}

// invalidateSlot has Postgres give up the slot.
func (c *chaos) invalidateSlot() {
	c.suspended(func() {
		c.admin("supabase_admin", func(conn *pgx.Conn) {
			keep := func(size string) {
				exec1(c.t, conn, "alter system set max_slot_wal_keep_size = '"+size+"'")
				exec1(c.t, conn, "select pg_reload_conf()")
			}
			keep("1MB")
			until(c.t, "the slot to be lost", func() bool {
				// No message, which is streamed: a walsender that cannot send does not end, and the checkpoint waits for it.
				exec1(c.t, conn, "insert into filler select n, repeat('x', 1000) from generate_series(1, 20000) n")
				exec1(c.t, conn, "checkpoint")
				return lost(c.t, conn, c.slot)
			})
			keep("-1")
			exec1(c.t, conn, "truncate filler")
		})
	})
}

// deviceClocks: devices are years behind, or some minutes ahead; one is a day ahead,
// which Postgres's clock bounds.
func (c *chaos) deviceClocks() {
	for _, late := range []time.Duration{20 * 365 * 24 * time.Hour, -4 * time.Minute, 36 * time.Hour} {
		c.load.late.Store(int64(late))
		c.flows()
	}
	c.load.late.Store(0)
	c.admin("postgres", func(conn *pgx.Conn) {
		id := get[string](c.t, conn, `insert into sync_state (user_id, entity_type, entity_id, device_id, data, vector_clock, last_modified)
			values ($1, 'note', gen_random_uuid(), 'fast', '{}', '{"fast": 1}', now() + interval '1 day') returning entity_id::text`, c.clients.user)
		until(c.t, "the write of a device whose clock is ahead", func() bool {
			return get[bool](c.t, conn, "select exists (select from sync_entities where entity_id = $1::text::uuid)", id)
		})
		if get[bool](c.t, conn, "select last_modified > now() from sync_entities where entity_id = $1::text::uuid", id) {
			c.t.Errorf("a device's clock that is a day ahead was believed")
		}
		exec1(c.t, conn, "delete from helix_audit where entity_id = $1::text::uuid", id)
	})
}

// serverClocks: Postgres's clock goes ahead and back beside helixd's own. The devices'
// are behind all the while, so that none of them is bounded by it.
func (c *chaos) serverClocks() {
	c.load.late.Store(int64(48 * time.Hour))
	c.flows()
	for range 2 {
		by := []time.Duration{time.Hour, -time.Hour, 20 * time.Second, -20 * time.Second, 12 * time.Hour, -12 * time.Hour}[c.rng.IntN(6)]
		c.t.Logf("Postgres's clock by %s", by)
		c.clock.ahead(c.t, by)
		c.admin("postgres", func(conn *pgx.Conn) {
			until(c.t, "Postgres to tell another time", func() bool {
				now := get[time.Time](c.t, conn, "select clock_timestamp()")
				return time.Until(now.Add(-by)).Abs() < 5*time.Second
			})
		})
		c.flows()
		c.moment()
	}
	c.clock.ahead(c.t, 0)
	c.admin("postgres", func(conn *pgx.Conn) {
		until(c.t, "Postgres to tell the time", func() bool {
			return time.Until(get[time.Time](c.t, conn, "select clock_timestamp()")).Abs() < 5*time.Second
		})
	})
	c.flows()
	c.load.late.Store(0)
}
