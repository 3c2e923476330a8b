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
)

// maxSlowRuns bounds the runs of what takes long.
const maxSlowRuns = 3

// cdcForms are the ways in which go-pq-cdc drains into a null sink: both protocols,
// 2 being its default, and each row acknowledged, as in its examples, or each 1,000th.
var cdcForms = []cdcForm{{proto: 2, ackEvery: 1}, {proto: 2, ackEvery: 1000}, {proto: 1, ackEvery: 1}, {proto: 1, ackEvery: 1000}}

// cdcApplied are those with a durable apply, which acknowledges each batch.
var cdcApplied = []cdcForm{{proto: 2}, {proto: 1}}

func cdcPeers(forms []cdcForm) (peers []peer) {
	for _, form := range forms {
		peers = append(peers, peer{name: form.String(), ratio: 2.5, slow: true})
	}
	return peers
}

// durableScale divides the rows of the durable drain, of which a run takes
// longer; its rates are even enough by then.
const durableScale = 10

// drain measures how fast a slot is drained into a null sink; a large transaction also
// where the server may hold it in memory.
func drain(ctx context.Context, b *bench) error {
	workloads := b.workloads(1)
	held := workloads[0]
	held.name, held.what, held.schema = "held", held.what+", decoded in memory", held.schema+inMemory
	workloads = slices.Insert(workloads, 1, held)
	return b.drain(ctx, drainage{bench: b, peers: b.nullPeers(cdcForms), section: "drain, null sink"}, workloads)
}

// nullPeers are the sides that drain into a null sink.
func (b *bench) nullPeers(forms []cdcForm) []peer {
	peers := []peer{{name: nameHelixd}}
	if recvlogicalPath() == "" {
		b.say("  pg_recvlogical is not installed here: it is left out")
	} else {
		peers = append(peers, peer{name: nameServer})
	}
	return append(append(peers, peer{name: nameBare, ratio: 0.9}), cdcPeers(forms)...)
}

// apply measures the same with every change applied to a table, durably.
func apply(ctx context.Context, b *bench) error {
	peers := append([]peer{{name: nameHelixd, slow: true}, {name: nameBare, slow: true}}, cdcPeers(cdcApplied)...)
	return b.drain(ctx, drainage{bench: b, peers: peers, section: "drain, durable apply", durable: true}, b.workloads(durableScale))
}

func (b *bench) drain(ctx context.Context, of drainage, workloads []workload) error {
	for _, w := range workloads {
		d := of
		d.workload = w
		if err := d.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", w.what, err)
		}
	}
	return nil
}

// drainage is one workload, drained by several sides in turn.
type drainage struct {
	*bench
	workload workload
	peers    []peer
	section  string
	durable  bool

	db      *testenv.Database
	conn    *pgx.Conn
	from    replication.LSN // where every side starts
	loaded  replication.LSN // after the load
	end     replication.LSN // of the last commit
	content content         // what every side should see
	slots   int             // makes their names
}

// measured is what the runs of a side came to.
type measured struct{ rates, costs, senders, peaks []float64 }

func (d *drainage) run(ctx context.Context) (err error) {
	var drop func()
	name := "drain_" + d.workload.name
	if d.durable {
		name = "apply_" + d.workload.name
	}
	if d.db, d.conn, drop, err = d.database(ctx, name); err != nil {
		return err
	}
	defer drop()
	if err := d.prepare(ctx); err != nil {
		return err
	}
	runs := map[string]*measured{}
	for _, p := range d.peers {
		runs[p.name] = &measured{}
	}
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
			d.note(n+1, p.name, runs[p.name], result)
		}
	}
	d.table(runs)
	return nil
}

func (d *drainage) note(n int, name string, m *measured, result drained) {
	rows := float64(d.workload.rows)
	rate, cost, sender := rows/result.Seconds, result.CPU/rows*1e6, result.SenderCPU/rows*1e6
	m.rates, m.costs, m.peaks = append(m.rates, rate), append(m.costs, cost), append(m.peaks, result.PeakMB)
	m.senders = append(m.senders, sender)
	d.say("  run %d  %-28s  %s rows/s, CPU a row %s µs, of its walsender %s µs, peak %s MB",
		n, name, number(rate), number(cost), number(sender), number(result.PeakMB))
}

func (d *drainage) table(runs map[string]*measured) {
	own := runs[nameHelixd]
	for _, p := range d.peers[1:] {
		f := newFigure(d.section, d.workload.what, "rows/s", own.rates...).beside(p.name, runs[p.name].rates...)
		if p.ratio > 0 {
			f.ratioAtLeast(p.ratio)
		}
		d.report.add(f)
	}
	for _, p := range d.peers[1:] {
		d.report.add(newFigure(d.section, "  CPU of the client, a row", "µs", own.costs...).beside(p.name, runs[p.name].costs...))
	}
	for _, p := range d.peers[1:] {
		d.report.add(newFigure(d.section, "  CPU of its walsender, a row", "µs", own.senders...).beside(p.name, runs[p.name].senders...))
	}
	for i, p := range d.peers[1:] {
		f := newFigure(d.section, "  peak RSS", "MB", own.peaks...).beside(p.name, runs[p.name].peaks...)
		if i == 0 {
			f.below(maxPeak)
		}
		d.report.add(f)
	}
}

// prepare loads, and reads once what was loaded, so that whoever comes first
// does not pay for cold caches.
func (d *drainage) prepare(ctx context.Context) (err error) {
	d.say("  load %s", d.workload.what)
	if d.from, err = d.workload.prepare(ctx, d.conn); err != nil {
		return err
	}
	if err := d.conn.QueryRow(ctx, "select pg_current_wal_insert_lsn()").Scan(&d.loaded); err != nil {
		return err
	}
	if err := settle(ctx, d.db); err != nil { // peeking ends where WAL is flushed
		return err
	}
	if d.content, d.end, err = expect(ctx, d.conn); err != nil {
		return err
	}
	if d.content.Changes != d.workload.changes {
		return fmt.Errorf("loaded %d changes, want %d", d.content.Changes, d.workload.changes)
	}
	if d.durable {
		if _, err := d.conn.Exec(ctx, fmt.Sprintf(targetTables, d.workload.table+targetSuffix, d.workload.table)); err != nil {
			return err
		}
	}
	return nil
}

// once lets a side drain a copy of the slot, and makes sure that it has.
func (d *drainage) once(ctx context.Context, name string) (result drained, err error) {
	if d.durable {
		if _, err := d.conn.Exec(ctx, "truncate applied_up_to, "+d.workload.table+targetSuffix); err != nil {
			return result, err
		}
	}
	err = d.onSlot(ctx, func(slot string) error {
		sender := watchSender(ctx, d.conn, slot)
		if name == nameServer {
			result, err = drainServer(ctx, d.db.URL("postgres"), slot, d.loaded)
		} else {
			result, err = startDrain(ctx, drainJob{Peer: name, URL: d.db.URL("postgres"), Slot: slot, Publication: publication,
				Table: d.workload.table, From: d.from, End: d.end, Changes: d.workload.changes, Durable: d.durable,
				CPUProfile: d.profile(fmt.Sprintf("drain-%s-%s-%t", d.workload.name, name, d.durable))})
		}
		result.SenderCPU = sender.seconds()
		switch {
		case err != nil || name == nameServer: // which looks at nothing
			return err
		case d.durable:
			return d.compare(ctx)
		case result.Content != d.content:
			return fmt.Errorf("it saw %s, want %s", result.Content, d.content)
		}
		return nil
	})
	return result, err
}

// compare makes sure that the target has the source's rows, and no others.
func (d *drainage) compare(ctx context.Context) error {
	var wrong int
	err := d.conn.QueryRow(ctx, fmt.Sprintf(`select count(*) from %s s full join %s t using (id)
		where s::text is distinct from t::text`, d.workload.table, d.workload.table+targetSuffix)).Scan(&wrong)
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d rows differ between source and target", wrong)
	}
	return err
}

// onSlot gives a copy of the base slot, and drops it once it was acknowledged up
// to the last commit.
func (d *drainage) onSlot(ctx context.Context, use func(slot string) error) error {
	d.slots++
	slot := fmt.Sprintf("bench_%s_%d", d.workload.name, d.slots)
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
