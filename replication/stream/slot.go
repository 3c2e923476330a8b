package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/helixd/helixd/replication"
)

// Slot is a replication slot as the server has it.
type Slot struct {
	Name      string
	Plugin    string
	Database  string
	ActivePID int             // of the walsender that streams from it, 0 when none
	Confirmed replication.LSN // confirmed_flush_lsn: acknowledged up to here
	Lost      bool            // wal_status is lost: WAL that it needed is gone
	User      string          // who ActivePID is, for an operator's eyes
	WALEnd    replication.LSN // of the server, not of the slot: all before it is on disk
}

// Snapshot is what a new slot's stream continues from.
type Snapshot struct {
	Name string // for SET TRANSACTION SNAPSHOT, while this connection stays idle
	LSN  replication.LSN
}

// slotWait bounds the creation of a slot, which waits for every transaction
// that runs at its beginning.
const slotWait = 60 * time.Second

// Slot reads the slot's state, nil when there is none.
func (s *Stream) Slot(ctx context.Context) (*Slot, error) {
	rows, err := s.query(ctx, `select plugin, database, coalesce(active_pid, 0), coalesce(confirmed_flush_lsn, '0/0'),
			coalesce(wal_status, '') = 'lost', pg_current_wal_flush_lsn(),
			(select format('application %L, user %L, since %s', application_name, usename, date_trunc('second', backend_start))
				from pg_stat_activity where pid = active_pid)
		from pg_replication_slots where slot_name = `+quoteLiteral(s.cfg.Slot))
	if err != nil {
		return nil, fmt.Errorf("read slot %q: %w", s.cfg.Slot, err)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	r := rows[0]
	slot := &Slot{Name: s.cfg.Slot, Plugin: r[0], Database: r[1], Lost: r[4] == "t", User: r[6]}
	if _, err := fmt.Sscan(r[2], &slot.ActivePID); err != nil {
		return nil, fmt.Errorf("read slot %q: %w", s.cfg.Slot, err)
	}
	if slot.Confirmed, err = pglogrepl.ParseLSN(r[3]); err != nil {
		return nil, fmt.Errorf("read slot %q: %w", s.cfg.Slot, err)
	}
	if slot.WALEnd, err = pglogrepl.ParseLSN(r[5]); err != nil {
		return nil, fmt.Errorf("read slot %q: %w", s.cfg.Slot, err)
	}
	if slot.Plugin != "pgoutput" || slot.Database != s.system.DBName {
		return nil, &SetupError{fmt.Sprintf("slot %q belongs to something else (plugin %s, database %s)", slot.Name, slot.Plugin, slot.Database),
			"Give helixd another name with --slot, or drop that slot.", nil}
	}
	return slot, nil
}

// DropSlot removes the slot, which no connection may be using.
func (s *Stream) DropSlot(ctx context.Context) error {
	err := pglogrepl.DropReplicationSlot(ctx, s.conn, s.cfg.Slot, pglogrepl.DropReplicationSlotOptions{})
	if err != nil {
		return fmt.Errorf("drop slot %q: %w", s.cfg.Slot, slotError(err))
	}
	return nil
}

// CreateSlot makes the slot and exports the snapshot in which it begins. The
// publication must be there before. It waits for the transactions that run
// now, says which, and gives up after a minute.
func (s *Stream) CreateSlot(ctx context.Context) (Snapshot, error) {
	wait, cancel := context.WithTimeout(ctx, slotWait)
	defer cancel()
	reported := s.reportBlockers(wait)
	res, err := pglogrepl.CreateReplicationSlot(wait, s.conn, s.cfg.Slot, "pgoutput",
		pglogrepl.CreateReplicationSlotOptions{Mode: pglogrepl.LogicalReplication, SnapshotAction: "EXPORT_SNAPSHOT"})
	cancel()
	blockers := <-reported
	if err != nil {
		if wait.Err() == context.DeadlineExceeded && ctx.Err() == nil {
			return Snapshot{}, fmt.Errorf("slot %q could not be made within %s: transactions stay open (%s); "+
				"end them, e.g. select pg_terminate_backend(<pid>)", s.cfg.Slot, slotWait, blockers)
		}
		return Snapshot{}, fmt.Errorf("create slot %q: %w", s.cfg.Slot, slotError(err))
	}
	lsn, err := pglogrepl.ParseLSN(res.ConsistentPoint)
	if err != nil {
		return Snapshot{}, fmt.Errorf("create slot %q: %w", s.cfg.Slot, err)
	}
	return Snapshot{Name: res.SnapshotName, LSN: lsn}, nil
}

// verifyPosition makes sure that the server streams from there. It is for when
// this connection has the slot, so that nobody else can move it any more.
func (s *Stream) verifyPosition(ctx context.Context, from replication.LSN) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, s.look)
	if err != nil {
		return connectError(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // only read from
	res, err := conn.Exec(ctx, "select confirmed_flush_lsn from pg_replication_slots where slot_name = "+quoteLiteral(s.cfg.Slot)).ReadAll()
	if err != nil {
		return err
	}
	if len(res) != 1 || len(res[0].Rows) != 1 {
		return errors.New("the slot is gone")
	}
	confirmed, err := pglogrepl.ParseLSN(string(res[0].Rows[0][0]))
	if err != nil {
		return err
	}
	if confirmed > from {
		return fmt.Errorf("%w: it is at %s", ErrSlotMoved, confirmed)
	}
	return nil
}

// reportBlockers looks, while a slot is being made, for the transactions that
// it waits for. It gives what it last saw when ctx ends.
func (s *Stream) reportBlockers(ctx context.Context) <-chan string {
	result := make(chan string, 1)
	go func() {
		blockers := "none seen"
		defer func() { result <- blockers }()
		tick := time.NewTicker(2 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			seen, err := readOpenTransactions(ctx, s.look)
			if err != nil || seen == "" || seen == blockers {
				continue
			}
			blockers = seen
			s.cfg.Log.Warn().Str("slot", s.cfg.Slot).Str("open", blockers).
				Msg("the new slot waits for open transactions to end")
		}
	}()
	return result
}

// openTransactions is SQL for those that have a number, the oldest first: no slot
// gets past them.
const openTransactions = `select format('pid %s, %s, open since %s', pid, coalesce(nullif(application_name, ''), usename, backend_type),
		date_trunc('second', xact_start)), xact_start
	from pg_stat_activity where backend_xid is not null and pid <> pg_backend_pid()
	union all select format('prepared transaction %L, open since %s', gid, date_trunc('second', prepared)), prepared from pg_prepared_xacts
	order by 2`

func readOpenTransactions(ctx context.Context, cfg *pgconn.Config) (string, error) {
	conn, err := pgconn.ConnectConfig(ctx, cfg)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // only read from
	res, err := conn.Exec(ctx, openTransactions+" limit 5").ReadAll()
	if err != nil {
		return "", err
	}
	var open []string
	for _, r := range res {
		for _, row := range r.Rows {
			open = append(open, string(row[0]))
		}
	}
	return strings.Join(open, "; "), nil
}

// slotError explains what the server says about slots.
func slotError(err error) error {
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return err
	}
	switch pgErr.Code {
	case "53400":
		return &SetupError{"no replication slot is free",
			"See select slot_name, active from pg_replication_slots; drop one that nobody uses, or raise max_replication_slots.", err}
	case "53300":
		return &SetupError{"no walsender is free",
			"See select * from pg_stat_replication; end one that nobody uses, or raise max_wal_senders.", err}
	case "55006":
		return fmt.Errorf("%w: %w", ErrSlotActive, err)
	case "58P01":
		return fmt.Errorf("%w: %w", ErrWALRemoved, err)
	case "42704":
		return fmt.Errorf("the slot or the publication is gone: %w", err)
	}
	return err
}
