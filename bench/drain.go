package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

const (
	publication = "bench"
	baseSlot    = "bench_base" // never streamed from; each run gets a copy
)

// usersTable is the table of the drain. Its statistics and its dead rows are of
// no interest, so autovacuum need not wake up for it in the middle of a run.
const usersTable = `
create table users (id bigint primary key, name text not null, created_on timestamptz not null default now())
	with (autovacuum_enabled = false);
alter table users replica identity full;
create publication ` + publication + ` for table users;
set synchronous_commit = off;`

const insertUser = "insert into users (id, name) values (i, 'user number ' || i)"

// load is a way in which rows came into the write-ahead log.
type load struct {
	name string
	rows int
	sql  string
	what string // for the table
}

func (b *bench) loads(scale int) []load {
	large, small := b.rows/scale, b.rows*3/10/scale
	return []load{
		{"large", large, fmt.Sprintf("insert into users (id, name) select i, 'user number ' || i from generate_series(1, %d) i", large),
			number(float64(large)) + " rows in one transaction"},
		{"small", small, fmt.Sprintf("do $$ begin for i in 1..%d loop %s; commit; end loop; end $$", small, insertUser),
			number(float64(small)) + " one-row transactions"},
	}
}

// drain measures how fast a slot is drained into a null sink.
func drain(ctx context.Context, b *bench) error {
	for _, l := range b.loads(1) {
		if err := b.drain(ctx, l); err != nil {
			return fmt.Errorf("%s: %w", l.what, err)
		}
	}
	return nil
}

func (b *bench) drain(ctx context.Context, l load) error {
	db, conn, drop, err := b.database(ctx, "drain_"+l.name)
	if err != nil {
		return err
	}
	defer drop()
	b.say("  load %s", l.what)
	from, err := loadUsers(ctx, conn, l)
	if err != nil {
		return err
	}
	if err := settle(ctx, db); err != nil {
		return err
	}
	peers := []string{"helixd", "bare pglogrepl"}
	rates, peaks := map[string][]float64{}, map[string][]float64{}
	for n := range b.runs {
		for i := range peers {
			peer := peers[(i+n)%len(peers)]
			slot := fmt.Sprintf("bench_%s_%d_%d", l.name, n, i)
			if _, err := conn.Exec(ctx, "select pg_copy_logical_replication_slot($1, $2)", baseSlot, slot); err != nil {
				return err
			}
			result, err := startDrain(ctx, drainJob{Peer: peer, URL: db.URL("postgres"), Slot: slot, Publication: publication,
				From: from, Rows: l.rows, CPUProfile: b.profile(fmt.Sprintf("drain-%s-%.6s", l.name, peer))})
			if err != nil {
				return err
			}
			if err := dropDrained(ctx, conn, slot); err != nil {
				return fmt.Errorf("%s: %w", peer, err)
			}
			rates[peer] = append(rates[peer], float64(l.rows)/result.Seconds)
			peaks[peer] = append(peaks[peer], result.PeakMB)
			b.say("  run %d  %-14s  %s rows/s, peak %s MB", n+1, peer, number(float64(l.rows)/result.Seconds), number(result.PeakMB))
		}
	}
	peer := peers[1]
	b.report.add(
		newFigure("drain, null sink", l.what, "rows/s", rates["helixd"]...).beside(peer, rates[peer]...).ratioAtLeast(0.9),
		newFigure("drain, null sink", "  peak RSS", "MB", peaks["helixd"]...).beside(peer, peaks[peer]...).below(96),
	)
	return nil
}

// loadUsers makes table and slot, then the rows, and gives the slot's position.
func loadUsers(ctx context.Context, conn *pgx.Conn, l load) (from replication.LSN, err error) {
	if _, err := conn.Exec(ctx, usersTable); err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, "select lsn from pg_create_logical_replication_slot($1, 'pgoutput')", baseSlot).Scan(&from)
	if err != nil {
		return 0, err
	}
	_, err = conn.PgConn().Exec(ctx, l.sql).ReadAll() // simple protocol: the loop commits
	return from, err
}

// dropDrained drops a slot, and makes sure that it was acknowledged to the end.
func dropDrained(ctx context.Context, conn *pgx.Conn, slot string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for { // the walsender may take a moment to notice that its client is gone
		var active bool
		var behind int64
		err := conn.QueryRow(ctx, `select active, pg_current_wal_lsn() - confirmed_flush_lsn from pg_replication_slots
			where slot_name = $1`, slot).Scan(&active, &behind)
		switch {
		case err != nil:
			return err
		case active:
			select {
			case <-tick.C:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		case behind > 1<<20: // some housekeeping is in the WAL after the load
			return fmt.Errorf("the slot was acknowledged up to %d bytes before the end only", behind)
		}
		_, err = conn.Exec(ctx, "select pg_drop_replication_slot($1)", slot)
		return err
	}
}
