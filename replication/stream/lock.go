package stream

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/helixd/helixd/internal/pulse"
)

// Leadership of a slot is three things that one statement takes together: the
// session lock of the walsender connection, which ends with it; the row in
// helix.leaders, which names the holder; and the heartbeat in that row. All
// sessions of a leader have its name as their application_name, and each checks
// on connecting that the row has it (Leads). So whoever takes the lead can end
// whatever its predecessor left behind, by name, before it does anything else.
//
// The row is written by single statements only: nobody waits for a lock on it.

// lockSpace makes the advisory lock's key helixd's own; it is "heli" in ASCII.
const lockSpace = 0x68656c69

// endTimeout bounds the wait for each of a predecessor's sessions to end.
const endTimeout = time.Second

// Lock makes this connection the only helixd that may touch the slot, for as
// long as it lives; false when another session holds the lock. With it comes the
// lead: from here on Heartbeat must run, and no session of the predecessor is
// left, nor can it open one.
func (s *Stream) Lock(ctx context.Context) (bool, error) {
	slot, name := quoteLiteral(s.cfg.Slot), quoteLiteral(s.cfg.Name)
	// The subselects read what was there before. A predecessor that came and went
	// since cannot have had the time to open more than its walsender.
	rows, err := s.query(ctx, fmt.Sprintf(`with lock as materialized (select pg_try_advisory_lock(%d, hashtext(%s)) as taken)
		insert into helix.leaders (slot, epoch, holder)
		select %[2]s, coalesce((select epoch from helix.checkpoints where slot = %[2]s), 0) + 1, %[3]s from lock where taken
		on conflict (slot) do update set epoch = excluded.epoch, holder = excluded.holder, started_at = now(), heartbeat_at = now(), left_at = null
		returning (select holder from helix.leaders where slot = %[2]s)`, lockSpace, slot, name))
	if err != nil {
		return false, fmt.Errorf("lock slot %q: %w", s.cfg.Slot, err)
	}
	if len(rows) == 0 {
		return false, nil
	}
	predecessor := rows[0][0]
	rows, err = s.query(ctx, fmt.Sprintf(`select pid, pg_terminate_backend(pid, %d) from pg_stat_activity
		where application_name = %s and application_name <> '' and usename = current_user and datname = current_database()
			and pid <> pg_backend_pid()`, endTimeout.Milliseconds(), quoteLiteral(predecessor)))
	if err != nil {
		return false, fmt.Errorf("end the sessions of %s: %w", predecessor, err)
	}
	for _, r := range rows {
		if r[1] != "t" { // it can write nothing more, but may hold row locks or the slot
			s.cfg.Log.Warn().Str("pid", r[0]).Str("of", predecessor).Msg("a session of the last leader does not end")
		}
	}
	return true, nil
}

// Leads returns ErrDeposed where the holder of this name does not lead the slot.
// Every new session of a leader asks this first.
func Leads(ctx context.Context, db Querier, slot, name string) error {
	tag, err := db.Exec(ctx, "select from helix.leaders where slot = $1 and holder = $2", slot, name)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrDeposed
	}
	return err
}

// HasLeft is the condition that the leader of the row l of helix.leaders has ended in
// order. A schema may be too old to say; and a helixd that is too old to take back what
// its predecessor said has later heartbeats.
const HasLeft = "coalesce((to_jsonb(l) ->> 'left_at')::timestamptz >= l.heartbeat_at, false)"

// Lives is the condition that the leader of the row l of helix.leaders leads now: a
// heartbeat comes every second.
const Lives = "(l.heartbeat_at > now() - interval '10 seconds' and not " + HasLeft + ")"

// Leave says that this leader has ended in order, so that nobody waits for its heartbeat
// to grow old. It is for after Heartbeat has returned, and before Close.
func (s *Stream) Leave(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	conn, err := s.connect(ctx, map[string]string{"synchronous_commit": "off"})
	if err == nil {
		defer closeConn(conn)
		_, err = query(ctx, conn, fmt.Sprintf("update helix.leaders set left_at = now() where slot = %s and holder = %s",
			quoteLiteral(s.cfg.Slot), quoteLiteral(s.cfg.Name)))
	}
	if err != nil {
		return fmt.Errorf("say that this helixd leads no more: %w", err)
	}
	return nil
}

const (
	// standbyEvery is how often a standby looks at the lock. It polls: a statement
	// that waits would keep the server from cleaning up dead rows.
	standbyEvery = 500 * time.Millisecond
	// reportEvery is how often it says that no helixd holds the lock.
	reportEvery = time.Minute
)

// StandBy closes the walsender connection, which small projects have five of,
// and returns once the slot's lock is free: then open another Stream and try
// Lock again. It ends the walsender of a leader whose heartbeat is StaleAfter
// old. A lock that some other session holds it can only report.
func (s *Stream) StandBy(ctx context.Context) error {
	s.Close()
	conn, err := s.connect(ctx, nil)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	defer pulse.Standby.Rest()
	tick := time.NewTicker(standbyEvery)
	defer tick.Stop()
	var last holder
	var reported time.Time
	for {
		pulse.Standby.Step()
		rows, err := query(ctx, conn, s.holderQuery())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("look who holds the lock of slot %q: %w", s.cfg.Slot, err)
		}
		if len(rows) == 0 {
			return nil
		}
		now := readHolder(rows[0])
		log := s.cfg.Log.With().Str("slot", s.cfg.Slot).Int("pid", now.pid).Str("holder", now.name).Logger()
		switch {
		case now.ended:
			log.Warn().Str("heartbeat", now.heartbeat).Msg("the leader's heartbeat has stopped: its walsender was ended")
		case now.leads && now.session != last.session:
			log.Info().Msg("another helixd leads; standing by")
		// At the first sight it may be about to claim the lead.
		case !now.leads && now.session == last.session && time.Since(reported) > reportEvery:
			log.Error().Str("user", now.user).Str("since", now.session).
				Str("hint", "end it: select pg_terminate_backend("+strconv.Itoa(now.pid)+"); or give helixd another --slot").
				Msg("helixd cannot lead: the slot's lock is held by a session that is not the leader on record")
			reported = time.Now()
		}
		last = now
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// holder is the session that holds the slot's lock.
type holder struct {
	pid       int
	name      string // application_name
	user      string
	session   string // backend_start, which no other session of the pid has
	leads     bool   // helix.leaders has its name
	heartbeat string
	ended     bool // this look has ended it
}

// holderQuery finds the holder and, where its heartbeat is stale, ends it: one
// statement, so that neither a pause of ours nor a pid's next owner can come in
// between. Times are the server's own. A heartbeat from the future is stale too:
// the server's clock was set back.
func (s *Stream) holderQuery() string {
	return fmt.Sprintf(`select l.pid, a.application_name, coalesce(a.usename, ''), a.backend_start, d.holder is not null, coalesce(d.heartbeat_at::text, ''),
			case when d.heartbeat_at not between now() - interval '%d ms' and now() + interval '%[1]d ms'
				then pg_terminate_backend(l.pid) else false end
		from pg_locks l join pg_stat_activity a on a.pid = l.pid
		left join helix.leaders d on d.slot = %[2]s and d.holder = a.application_name and a.usename = current_user
		where l.locktype = 'advisory' and l.granted and l.database = a.datid and a.datname = current_database()
			and l.classid = %[3]d::oid and l.objid = hashtext(%[2]s)::oid and l.objsubid = 2`,
		StaleAfter.Milliseconds(), quoteLiteral(s.cfg.Slot), lockSpace)
}

func readHolder(row []string) holder {
	pid, _ := strconv.Atoi(row[0]) // the server's integer
	return holder{pid: pid, name: row[1], user: row[2], session: row[3], leads: row[4] == "t", heartbeat: row[5], ended: row[6] == "t"}
}
