package status

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/migrations"
	"github.com/helixd/helixd/replication/stream"
)

// Source says of what to report.
type Source struct {
	Pool              *pgxpool.Pool
	Slot, Publication string
	Version           string // of this build
}

// Read looks at the project, in a few statements.
func (s *Source) Read(ctx context.Context) (*Report, error) {
	conn, err := s.Pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Release()
	r := &Report{At: time.Now().UTC(), Version: s.Version, Publication: Publication{Name: s.Publication}}
	pending, err := migrations.Pending(ctx, conn.Conn())
	if err != nil {
		return nil, err
	}
	r.Migrations = Migrations{Applied: len(migrations.All()) - len(pending), Pending: []string{}}
	for _, m := range pending {
		r.Migrations.Pending = append(r.Migrations.Pending, m.File())
	}
	if len(pending) == 0 {
		if err := s.readAll(ctx, conn.Conn(), r); err != nil {
			return nil, err
		}
	}
	r.judge()
	return r, nil
}

func (s *Source) readAll(ctx context.Context, conn *pgx.Conn, r *Report) error {
	var published string
	batch := &pgx.Batch{}
	s.queueStream(batch, r, &published)
	queueWork(batch, r)
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("read the status: %w", err)
	}
	if r.Checkpoint == nil {
		r.Publication.Fault = "nothing was streamed yet"
		return nil
	}
	now, err := stream.ReadFingerprint(ctx, conn, s.Publication)
	if err != nil {
		return err
	}
	switch altered := now.Altered(stream.ParseFingerprint(published)); {
	case len(now) == 0:
		r.Publication.Fault = "it is not there"
	case altered != "":
		r.Publication.Fault = "it was altered: " + altered
	}
	r.Publication.OK = r.Publication.Fault == ""
	return nil
}

// each has a row of a query put where the pointers lead, and kept.
func each(q *pgx.QueuedQuery, keep func(), to ...any) {
	q.Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, to, func() error { keep(); return nil })
		return err
	})
}

// queueStream asks for slot, checkpoint and who leads.
func (s *Source) queueStream(batch *pgx.Batch, r *Report, published *string) {
	slot := Slot{Name: s.Slot}
	each(batch.Queue(`select active, coalesce(wal_status, ''), coalesce(pg_current_wal_lsn() - confirmed_flush_lsn, 0)::bigint,
			coalesce(pg_current_wal_lsn() - restart_lsn, 0)::bigint, safe_wal_size,
			case when current_setting('max_slot_wal_keep_size') <> '-1' then pg_size_bytes(current_setting('max_slot_wal_keep_size')) end
		from pg_replication_slots where slot_name = $1`, s.Slot),
		func() { r.Slot = &slot }, &slot.Active, &slot.WALStatus, &slot.LagBytes, &slot.RetainedBytes, &slot.SafeBytes, &slot.LimitBytes)
	var c Checkpoint
	each(batch.Queue(`select lsn::text, extract(epoch from now() - updated_at)::float8, lag_seconds, transactions, changes, coalesce(repair, ''), coalesce(published, '')
		from helix.checkpoints where slot = $1`, s.Slot),
		func() { r.Checkpoint = &c }, &c.LSN, &c.AgeSeconds, &c.LagSeconds, &c.Transactions, &c.Changes, &c.Repair, published)
	var leader Process
	each(batch.Queue("select holder, extract(epoch from now() - heartbeat_at)::float8, "+stream.HasLeft+" from helix.leaders l where slot = $1", s.Slot),
		func() { r.Leader = &leader }, &leader.Holder, &leader.HeartbeatSeconds, &leader.Left)
	// A standby has one session with its name, which asks for no lock; who works jobs may
	// have one that has.
	r.Standbys = []string{}
	var standby string
	each(batch.Queue(`select distinct a.application_name from pg_stat_activity a
		where a.application_name like 'helixd %/% %' and a.datname = current_database() and a.usename = current_user
			and a.backend_type = 'client backend'
			and not exists (select from helix.leaders l where l.holder = a.application_name)
			and not exists (select from pg_locks l where l.pid = a.pid and l.locktype = 'advisory')
		order by 1`), func() { r.Standbys = append(r.Standbys, standby) }, &standby)
	r.Workers = []Process{}
	var worker Process
	each(batch.Queue("select holder, extract(epoch from now() - heartbeat_at)::float8 from helix.workers order by 1"),
		func() { r.Workers = append(r.Workers, worker) }, &worker.Holder, &worker.HeartbeatSeconds)
}

// queueWork asks for what is to do, and for what could not be done.
func queueWork(batch *pgx.Batch, r *Report) {
	r.Reactors, r.Providers = []Reactor{}, []Provider{}
	var x Reactor
	var provider, off *string
	var paused bool
	each(batch.Queue(`select reactor, running, healthy, coalesce(lag_seconds, 0), queue_depth, coalesce(details ->> 'reason', ''),
			case when details ? 'provider' or reactor in ('voice', 'embedding', 'analysis') and details is not null then coalesce(details ->> 'provider', '') end,
			coalesce(details ? 'paused', false), details ->> 'off'
		from helix.status() order by 1`), func() {
		x.Off = ""
		if x.Running && !x.Healthy && !paused && provider != nil && *provider == "" { // nothing to ask: it is not configured
			x.Off = "no key"
			if off != nil {
				x.Off = "by " + *off
			}
		}
		r.Reactors = append(r.Reactors, x)
		if provider != nil {
			r.Providers = append(r.Providers, Provider{x.Name, *provider, x.Healthy, x.Reason})
		}
	}, &x.Name, &x.Running, &x.Healthy, &x.LagSeconds, &x.QueueDepth, &x.Reason, &provider, &paused, &off)
	r.Queues = []Queue{}
	var queue, state string
	var jobs int64
	var oldest float64
	each(batch.Queue(`select queue, state::text, count(*), coalesce(extract(epoch from now() - min(scheduled_at) filter (where state = 'available')), 0)::float8
		from helix.river_job where state not in ('completed', 'cancelled') group by 1, 2 order by 1, 2`), func() {
		if n := len(r.Queues); n == 0 || r.Queues[n-1].Name != queue {
			r.Queues = append(r.Queues, Queue{Name: queue, Jobs: map[string]int64{}})
		}
		q := &r.Queues[len(r.Queues)-1]
		q.Jobs[state], q.OldestSeconds = jobs, max(q.OldestSeconds, oldest)
	}, &queue, &state, &jobs, &oldest)
	r.Paused = []Pause{}
	var p Pause
	each(batch.Queue(`select what, since, until, by, coalesce(reason, '') from helix.paused
		where ended_at is null and (until is null or until > now()) order by what <> 'stream', what`),
		func() { r.Paused = append(r.Paused, p) }, &p.What, &p.Since, &p.Until, &p.By, &p.Reason)
	r.DeadLetters = []Letters{}
	var l Letters
	each(batch.Queue("select reactor, coalesce(sqlstate, 'reactor'), count(*), max(created_at) from helix.dead_letters group by 1, 2 order by 3 desc, 1, 2"),
		func() { r.DeadLetters = append(r.DeadLetters, l) }, &l.Reactor, &l.Code, &l.Count, &l.Newest)
	each(batch.Queue("select count(*) from (select from helix.inbox limit 1000000) i"), func() {}, &r.InboxRows)
	r.Costs = []Cost{}
	var c Cost
	each(batch.Queue(`select provider, purpose, requests, input_tokens + output_tokens + held_tokens, cost_usd::float8
		from helix.usage_totals where day = (now() at time zone 'utc')::date order by 1, 2`),
		func() { r.Costs = append(r.Costs, c) }, &c.Provider, &c.Purpose, &c.Requests, &c.Tokens, &c.Dollars)
}
