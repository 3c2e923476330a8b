package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/testenv"
)

// peer is one side of a drain.
type peer struct {
	name string
	// ratio is what helixd should at least be of it; 0 where nothing is aimed at.
	ratio float64
	// slow ones run less often, or they would take most of the time.
	slow bool
}

const (
	nameHelixd = "helixd"
	nameServer = "pg_recvlogical"
	nameBare   = "bare pglogrepl"
	nameProto2 = "go-pq-cdc, proto 2"
	nameProto1 = "go-pq-cdc, proto 1"
	nameAckRow = "go-pq-cdc, as its examples"
)

// maxSlowRuns bounds the runs of what takes long.
const maxSlowRuns = 3

var (
	nullPeers = []peer{{name: nameHelixd}, {name: nameServer}, {name: nameBare, ratio: 0.9},
		{name: nameProto2, ratio: 2.5, slow: true}, {name: nameProto1, ratio: 2.5, slow: true},
		{name: nameAckRow, ratio: 2.5, slow: true}}
	durablePeers = []peer{{name: nameHelixd, slow: true}, {name: nameBare, slow: true}, {name: nameProto2, slow: true}}
)

// durableScale divides the rows of the durable drain, of which a run takes
// longer; its rates are even enough by then.
const durableScale = 10

// drain measures how fast a slot is drained into a null sink.
func drain(ctx context.Context, b *bench) error {
	peers := nullPeers
	if recvlogicalPath() == "" {
		b.say("  pg_recvlogical is not installed here: it is left out")
		peers = slices.DeleteFunc(slices.Clone(peers), func(p peer) bool { return p.name == nameServer })
	}
	for _, l := range b.loads(1) {
		d := &drainage{bench: b, load: l, peers: peers, section: "drain, null sink"}
		if err := d.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", l.what, err)
		}
	}
	return nil
}

// apply measures the same with each row upserted into a table, durably.
func apply(ctx context.Context, b *bench) error {
	for _, l := range b.loads(durableScale) {
		d := &drainage{bench: b, load: l, peers: durablePeers, section: "drain, durable upserts", durable: true}
		if err := d.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", l.what, err)
		}
	}
	return nil
}

// drainage is one load, drained by several sides in turn.
type drainage struct {
	*bench
	load    load
	peers   []peer
	section string
	durable bool

	db      *testenv.Database
	conn    *pgx.Conn
	from    replication.LSN // where every side starts
	loaded  replication.LSN // after the load
	end     replication.LSN // of the last commit, once a side has told
	content content         // what every side should see
	slots   int             // makes their names
}

func (d *drainage) run(ctx context.Context) (err error) {
	var drop func()
	name := "drain_" + d.load.name
	if d.durable {
		name = "apply_" + d.load.name
	}
	if d.db, d.conn, drop, err = d.database(ctx, name); err != nil {
		return err
	}
	defer drop()
	if err := d.prepare(ctx); err != nil {
		return err
	}
	rates, costs, peaks := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	for n := range d.runs {
		for i := range d.peers { // each begins a round in turn
			p := d.peers[(i+n)%len(d.peers)]
			if p.slow && n >= maxSlowRuns {
				continue
			}
			result, err := d.once(ctx, p.name)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			rate := float64(d.load.rows) / result.Seconds
			cost := result.CPU / float64(d.load.rows) * 1e6
			rates[p.name], costs[p.name] = append(rates[p.name], rate), append(costs[p.name], cost)
			peaks[p.name] = append(peaks[p.name], result.PeakMB)
			d.say("  run %d  %-26s  %s rows/s, %s µs of CPU a row, peak %s MB", n+1, p.name, number(rate), number(cost), number(result.PeakMB))
		}
	}
	for _, p := range d.peers[1:] {
		f := newFigure(d.section, d.load.what, "rows/s", rates[nameHelixd]...).beside(p.name, rates[p.name]...)
		if p.ratio > 0 {
			f.ratioAtLeast(p.ratio)
		}
		d.report.add(f)
	}
	for _, p := range d.peers[1:] {
		d.report.add(newFigure(d.section, "  CPU of the client, a row", "µs", costs[nameHelixd]...).beside(p.name, costs[p.name]...))
	}
	for i, p := range d.peers[1:] {
		f := newFigure(d.section, "  peak RSS", "MB", peaks[nameHelixd]...).beside(p.name, peaks[p.name]...)
		if i == 0 {
			f.below(maxPeak)
		}
		d.report.add(f)
	}
	return nil
}

// prepare loads, and reads once what was loaded, so that whoever comes first
// does not pay for cold caches.
func (d *drainage) prepare(ctx context.Context) (err error) {
	d.say("  load %s", d.load.what)
	if d.from, err = loadUsers(ctx, d.conn, d.load); err != nil {
		return err
	}
	if err := d.conn.QueryRow(ctx, "select pg_current_wal_insert_lsn()").Scan(&d.loaded); err != nil {
		return err
	}
	if d.content, err = usersContent(ctx, d.conn); err != nil {
		return err
	}
	if d.content.Rows != d.load.rows {
		return fmt.Errorf("loaded %d rows, want %d", d.content.Rows, d.load.rows)
	}
	if d.durable {
		if _, err := d.conn.Exec(ctx, targetTables); err != nil {
			return err
		}
	}
	if err := settle(ctx, d.db); err != nil {
		return err
	}
	if !slices.ContainsFunc(d.peers, func(p peer) bool { return p.name == nameServer }) {
		_, err := d.once(ctx, nameHelixd)
		return err
	}
	return d.onSlot(ctx, func(slot string) error {
		got, err := dump(ctx, d.db.URL("postgres"), slot, d.loaded)
		if err == nil && got != d.content {
			err = fmt.Errorf("pg_recvlogical wrote %s, want %s", got, d.content)
		}
		return err
	})
}

// once lets a side drain a copy of the slot, and makes sure that it has.
func (d *drainage) once(ctx context.Context, name string) (result drained, err error) {
	if d.durable {
		if _, err := d.conn.Exec(ctx, "truncate users_applied, applied_up_to"); err != nil {
			return result, err
		}
	}
	err = d.onSlot(ctx, func(slot string) error {
		if name == nameServer {
			result, err = drainServer(ctx, d.db.URL("postgres"), slot, d.loaded)
			return err // what it received was looked at in prepare
		}
		result, err = startDrain(ctx, drainJob{Peer: name, URL: d.db.URL("postgres"), Slot: slot, Publication: publication,
			From: d.from, End: d.end, Rows: d.load.rows, Durable: d.durable,
			CPUProfile: d.profile(fmt.Sprintf("drain-%s-%.6s-%t", d.load.name, name, d.durable))})
		if err != nil {
			return err
		}
		d.end = max(d.end, result.End)
		if d.durable {
			return d.compare(ctx)
		}
		if result.Content != d.content {
			return fmt.Errorf("it saw %s, want %s", result.Content, d.content)
		}
		return nil
	})
	return result, err
}

// compare makes sure that the target has the source's rows, and no others.
func (d *drainage) compare(ctx context.Context) error {
	var wrong int
	err := d.conn.QueryRow(ctx, `select count(*) from users u full join users_applied a using (id)
		where (u.name, u.created_on) is distinct from (a.name, a.created_on)`).Scan(&wrong)
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d rows differ between source and target", wrong)
	}
	return err
}

// onSlot gives a copy of the base slot, and drops it once it was acknowledged up
// to the last commit.
func (d *drainage) onSlot(ctx context.Context, use func(slot string) error) error {
	d.slots++
	slot := fmt.Sprintf("bench_%s_%d", d.load.name, d.slots)
	if _, err := d.conn.Exec(ctx, "select pg_copy_logical_replication_slot($1, $2)", baseSlot, slot); err != nil {
		return err
	}
	if err := use(slot); err != nil {
		return err
	}
	confirmed, err := d.released(ctx, slot)
	if err != nil {
		return err
	}
	if confirmed < d.end {
		return fmt.Errorf("its slot was acknowledged up to %s, and the last commit ends at %s", confirmed, d.end)
	}
	_, err = d.conn.Exec(ctx, "select pg_drop_replication_slot($1)", slot)
	return err
}

// released waits until the walsender has noticed that its client is gone, and
// gives the slot's position then.
func (d *drainage) released(ctx context.Context, slot string) (confirmed replication.LSN, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var active bool
		err := d.conn.QueryRow(ctx, "select active, confirmed_flush_lsn from pg_replication_slots where slot_name = $1", slot).
			Scan(&active, &confirmed)
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, errors.New("its slot is gone")
		}
		if err != nil || !active {
			return confirmed, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
