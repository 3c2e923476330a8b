package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication/stream"
)

var (
	slotsFull   = Kind{"slots-full", Fail}
	sendersFull = Kind{"senders-full", Fail}

	noCap    = Kind{"none", Warn}
	smallCap = Kind{"small", Warn}
	capUsed  = Kind{"half-used", Warn}

	noSlot      = Kind{"not-made", Info}
	slotGone    = Kind{"gone", Warn}
	slotForeign = Kind{"foreign", Fail}
	slotLost    = Kind{"lost", Fail}
	slotAhead   = Kind{"ahead", Fail}
	slotIdle    = Kind{"idle", Warn}
	slotTaken   = Kind{"taken", Fail}

	spills = Kind{"spills", Info}

	oldSlot = Kind{"idle", Warn}
)

var slotChecks = []Check{
	{"slots", []Kind{slotsFull, sendersFull}, database, lookAtHeadroom},
	{"wal-cap", []Kind{noCap, smallCap, capUsed}, database, lookAtWALCap},
	{"slot", []Kind{noSlot, slotGone, slotForeign, slotLost, slotAhead, slotIdle, slotTaken}, database, lookAtSlot},
	{"decoding", []Kind{spills}, database, lookAtDecoding},
	{"other-slots", []Kind{oldSlot}, database, lookAtOtherSlots},
}

func lookAtHeadroom(ctx context.Context, d *Doctor) ([]Finding, error) {
	var slots, usedSlots, senders, usedSenders int
	var have, streams bool
	var idle *string
	err := d.pool.QueryRow(ctx, `select current_setting('max_replication_slots')::int, (select count(*) from pg_replication_slots),
			current_setting('max_wal_senders')::int, (select count(*) from pg_stat_replication),
			exists (select from pg_replication_slots where slot_name = $1), exists (select from pg_replication_slots where slot_name = $1 and active),
			(select string_agg(quote_ident(slot_name), ', ' order by slot_name) from pg_replication_slots where not active and slot_name <> $1)`,
		d.Slot).Scan(&slots, &usedSlots, &senders, &usedSenders, &have, &streams, &idle)
	if err != nil {
		return nil, err
	}
	var found []Finding
	if !have && usedSlots >= slots {
		unused := ""
		if idle != nil {
			unused = "; nobody reads " + *idle
		}
		found = append(found, slotsFull.found("Drop a slot that nobody needs, with select pg_drop_replication_slot('<slot>'); or run as an administrator, then restart the server:",
			fmt.Sprintf("alter system set max_replication_slots = %d;", max(usedSlots, slots)+5), "all %d replication slots are taken%s", slots, unused))
	}
	if !streams && usedSenders >= senders {
		found = append(found, sendersFull.found("End one that nobody needs (select * from pg_stat_replication), or run as an administrator, then restart the server:",
			fmt.Sprintf("alter system set max_wal_senders = %d;", max(usedSenders, senders)+5), "all %d walsenders are taken", senders))
	}
	if found != nil {
		return found, nil
	}
	return fine("%d of %d replication slots and %d of %d walsenders are used", usedSlots, slots, usedSenders, senders), nil
}

// leastCap is how much WAL a slot should be kept at the least: an evening's outage of
// a small project.
const leastCap = 1 << 30

func lookAtWALCap(ctx context.Context, d *Doctor) ([]Finding, error) {
	var limit int64
	if err := d.pool.QueryRow(ctx, `select case setting when '-1' then -1 else setting::bigint << 20 end from pg_settings where name = 'max_slot_wal_keep_size'`).Scan(&limit); err != nil {
		return nil, err
	}
	kept, err := stream.ReadRetention(ctx, d.pool, d.Slot)
	if err != nil {
		return nil, err
	}
	const set = "alter system set max_slot_wal_keep_size = '4GB'; select pg_reload_conf();"
	var found []Finding
	switch {
	case limit < 0:
		found = append(found, noCap.found("Run as an administrator:", set, "max_slot_wal_keep_size has no bound: a slot that nobody reads keeps WAL until the disk is full, and the project stops"))
	case limit < leastCap:
		found = append(found, smallCap.found("Run as an administrator:", set, "max_slot_wal_keep_size is %s: after that much WAL without helixd the slot is lost, and all rows are read again", bytes(limit)))
	}
	if kept != nil && kept.Status != "lost" && kept.Danger() {
		left := ""
		if limit >= 0 {
			left = fmt.Sprintf(", and is lost after %s more", bytes(kept.Safe))
		}
		found = append(found, capUsed.found("Start helixd run, or find out why it is behind (helixd status). To give more time, run as an administrator:",
			"alter system set max_slot_wal_keep_size = '16GB'; select pg_reload_conf();", "slot %s keeps %s of WAL (%s)%s; the oldest transaction: %s", d.Slot, bytes(kept.Retained), kept.Status, left, kept.Oldest))
	}
	switch {
	case found != nil:
		return found, nil
	case kept == nil:
		return fine("a slot may keep %s of WAL", bytes(limit)), nil
	}
	return fine("slot %s keeps %s of WAL, and may keep %s", d.Slot, bytes(kept.Retained), bytes(limit)), nil
}

// bytes are in the units of Postgres.
func bytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d kB", n>>10)
}

const repairs = "Run: helixd run (it makes a new slot, and reads all rows once)"

// leads names the helixd that leads the slot now, "" for none.
func (d *Doctor) leads(ctx context.Context) (string, error) {
	if !d.migrated {
		return "", nil
	}
	var holder string
	err := d.pool.QueryRow(ctx, "select coalesce((select holder from helix.leaders l where slot = $1 and "+stream.Lives+"), '')",
		d.Slot).Scan(&holder)
	return holder, err
}

// byItself is the remedy for what a helixd that leads mends, and start where none
// does: to start another would only have it stand by.
func (d *Doctor) byItself(ctx context.Context, start string) (string, error) {
	leader, err := d.leads(ctx)
	if err != nil || leader == "" {
		return start, err
	}
	return leader + " leads, and does this by itself, once transactions that are open have ended. If it stays so, see its log.", nil
}

func lookAtSlot(ctx context.Context, d *Doctor) ([]Finding, error) {
	var plugin, base, status, who, confirmed, here string
	var active int
	err := d.pool.QueryRow(ctx, `select coalesce(plugin, 'none'), coalesce(database, ''), coalesce(wal_status, ''), coalesce(active_pid, 0), coalesce(confirmed_flush_lsn::text, ''),
			coalesce((select application_name from pg_stat_activity where pid = active_pid), ''), current_database()
		from pg_replication_slots where slot_name = $1`, d.Slot).Scan(&plugin, &base, &status, &active, &confirmed, &who, &here)
	missing := errors.Is(err, pgx.ErrNoRows)
	if err != nil && !missing {
		return nil, err
	}
	var checkpoint *string // of this slot
	ahead := false
	if d.migrated {
		err := d.pool.QueryRow(ctx, `select lsn::text, lsn < coalesce((select confirmed_flush_lsn from pg_replication_slots where slot_name = $1), '0/0')
			from helix.checkpoints where slot = $1`, d.Slot).Scan(&checkpoint, &ahead)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return nil, err
		}
	}
	remedy, err := d.byItself(ctx, repairs)
	if err != nil {
		return nil, err
	}
	drop := fmt.Sprintf("select pg_drop_replication_slot('%s');", d.Slot)
	switch {
	case missing && checkpoint != nil:
		return []Finding{slotGone.found(remedy, "", "slot %s is gone, and was there before: somebody dropped it, or the project was restored or upgraded", d.Slot)}, nil
	case missing:
		if remedy == repairs {
			remedy = "Run: helixd run"
		}
		return []Finding{noSlot.found(remedy, "", "slot %s is not there yet; helixd run makes it", d.Slot)}, nil
	case plugin != "pgoutput" || base != here:
		return []Finding{slotForeign.found("Give helixd another name with --slot, or drop that slot with select pg_drop_replication_slot('<slot>');", "",
			"slot %s belongs to something else (plugin %s, database %q)", d.Slot, plugin, base)}, nil
	case status == "lost":
		return []Finding{slotLost.found(remedy, "", "slot %s is lost: WAL that it needs is gone", d.Slot)}, nil
	case ahead:
		return []Finding{slotAhead.found(remedy, "", "slot %s is at %s, ahead of the checkpoint %s: somebody else read from it or moved it, and changes were missed", d.Slot, confirmed, *checkpoint)}, nil
	case active != 0 && !strings.HasPrefix(who, "helixd"):
		return []Finding{slotTaken.found("End it, or give helixd another name with --slot:", fmt.Sprintf("select pg_terminate_backend(%d);", active),
			"%q (pid %d), which is no helixd, reads from slot %s", who, active, d.Slot)}, nil
	case active == 0 && remedy != repairs:
		return []Finding{slotIdle.found(remedy, "", "nobody reads from slot %s yet: where it is new, all rows are read from the tables first", d.Slot)}, nil
	case active == 0:
		return []Finding{slotIdle.found("Run: helixd run. If helixd is gone for good, run:", drop, "nobody reads from slot %s, and the server keeps WAL for it", d.Slot)}, nil
	case confirmed == "":
		return fine("%s makes slot %s, and waits for transactions that are open to end", who, d.Slot), nil
	}
	return fine("%s reads from slot %s (pid %d), confirmed to %s, wal_status %s", who, d.Slot, active, confirmed, status), nil
}

// enoughDecoding is the memory of a walsender past which doctor asks for no more.
const enoughDecoding = 256 << 20

// lookAtDecoding asks whether the walsender had to write transactions to files, and read
// them again, before it could send them.
func lookAtDecoding(ctx context.Context, d *Doctor) ([]Finding, error) {
	var spilled, written, memory int64
	var role string
	err := d.pool.QueryRow(ctx, `select coalesce(sum(spill_txns), 0)::bigint, coalesce(sum(spill_bytes), 0)::bigint,
			pg_size_bytes(current_setting('logical_decoding_work_mem')), quote_ident(current_user)
		from pg_stat_replication_slots where slot_name = $1`, d.Slot).Scan(&spilled, &written, &memory, &role)
	if err != nil {
		return nil, err
	}
	if spilled > 0 && memory < enoughDecoding {
		return []Finding{spills.found("Where the server has that much memory to spare, run, and restart helixd:",
			fmt.Sprintf("alter role %s set logical_decoding_work_mem = '256MB';", role),
			"transactions larger than logical_decoding_work_mem (%s) so far: %d; the server wrote %s to files before it sent them, which takes longer", bytes(memory), spilled, bytes(written))}, nil
	}
	return fine("a transaction of up to %s is decoded in memory", bytes(memory)), nil
}

// oldWAL is how much WAL an idle slot of somebody else may keep without a word.
const oldWAL = 256 << 20

func lookAtOtherSlots(ctx context.Context, d *Doctor) ([]Finding, error) {
	slots, err := rowsOf[struct {
		Name, Kind string
		Kept       int64
		Lost       bool
	}](ctx, d, `select quote_literal(slot_name), slot_type, coalesce(pg_current_wal_lsn() - restart_lsn, 0)::bigint, coalesce(wal_status = 'lost', false)
		from pg_replication_slots where not active and slot_name <> $1 and not temporary order by 1`, d.Slot)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, s := range slots {
		drop := "select pg_drop_replication_slot(" + s.Name + ");"
		switch {
		case s.Lost:
			found = append(found, oldSlot.found("If nobody needs it, run:", drop, "slot %s (%s) is lost, and takes the place of another", s.Name, s.Kind))
		case s.Kept > oldWAL:
			found = append(found, oldSlot.found("If nobody needs it, run:", drop, "nobody reads from slot %s (%s), which keeps %s of WAL: that of a standby or subscriber that is gone?", s.Name, s.Kind, bytes(s.Kept)))
		}
	}
	if found == nil {
		return fine("no other slot keeps much WAL for nobody"), nil
	}
	return found, nil
}
