package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/helixd/helixd/reactors"
	"github.com/helixd/helixd/replication"
	"github.com/helixd/helixd/replication/stream"
)

// replayTimeout bounds each statement that looks for rows.
const replayTimeout = "5min"

// replayFlags say which rows.
type replayFlags struct {
	table, where, user, reactor string
	fromLSN, since              string
	dryRun, noWait              bool

	userID *uuid.UUID
	lsn    replication.LSN
	at     time.Time

	beginning *time.Time // of helixd in this project, where --since is before what is known of it
}

// parse gives the reactors that get the rows.
func (f *replayFlags) parse(all []reactors.Reactor) (watching []string, err error) {
	tables := watched(all)
	f.table = qualified(f.table)
	watching, ok := tables[f.table]
	if !ok {
		return nil, &usageError{fmt.Errorf("--table %q: it takes one of %s", strings.TrimPrefix(f.table, "public."),
			strings.ReplaceAll(strings.Join(slices.Sorted(maps.Keys(tables)), ", "), "public.", ""))}
	}
	if err := namesReactor(f.table, f.reactor, watching); err != nil {
		return nil, err
	}
	if f.reactor != "" {
		watching = []string{f.reactor}
	}
	if f.user != "" {
		id, err := parseUser(f.user)
		if err != nil {
			return nil, err
		}
		f.userID = &id
	}
	if f.fromLSN != "" && f.since != "" {
		return nil, &usageError{errors.New("--from-lsn and --since say the same: give one of them")}
	}
	if f.fromLSN != "" {
		if f.lsn, err = pglogrepl.ParseLSN(f.fromLSN); err != nil {
			return nil, &usageError{fmt.Errorf("--from-lsn %q: it takes a position of the write-ahead log, such as 16/B374D848", f.fromLSN)}
		}
	}
	if f.since != "" {
		f.at, err = parseSince(f.since)
	}
	return watching, err
}

// qualified gives a table's name with its schema, "" as it is.
func qualified(table string) string {
	if table == "" || strings.Contains(table, ".") {
		return table
	}
	return "public." + table
}

// parseSince reads a time, or how long ago it is.
func parseSince(text string) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return time.Now().Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, &usageError{fmt.Errorf("--since %q: it takes a time, such as 2026-11-01T12:00:00Z, or how long ago, such as 2h", text)}
}

// position is what is known of the write-ahead log at some point.
type position struct {
	LSN replication.LSN `json:"lsn"`
	At  time.Time       `json:"at"`
	xid int64
}

// position finds the last one that is known before what the flags say, nil where
// they say nothing, or a time from before all that helixd ever knew: then all rows are
// meant, and beginning says so.
func (f *replayFlags) position(ctx context.Context, cfg *config, pool *pgxpool.Pool) (*position, error) {
	if f.fromLSN == "" && f.since == "" {
		return nil, nil
	}
	var end replication.LSN
	if err := pool.QueryRow(ctx, "select pg_current_wal_insert_lsn()").Scan(&end); err != nil {
		return nil, databaseError(err)
	}
	if f.lsn > end {
		return nil, &usageError{fmt.Errorf("--from-lsn %s is ahead of the server, which is at %s", f.lsn, end)}
	}
	const known = `select lsn, at, xid::text::bigint from helix.positions
		where system_identifier = (select system_identifier from helix.checkpoints where slot = $1) `
	before, arg := "and lsn <= $2 order by lsn desc limit 1", any(f.lsn)
	if f.since != "" {
		before, arg = "and at <= $2 order by lsn desc limit 1", f.at
	}
	p := &position{}
	err := pool.QueryRow(ctx, known+before, cfg.slot, arg).Scan(&p.LSN, &p.At, &p.xid)
	if err == nil {
		return p, nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("look for a position: %w", err)
	}
	oldest, none := "none is known yet: helixd run notes one about once a minute", false
	err = pool.QueryRow(ctx, known+"order by lsn limit 1", cfg.slot).Scan(&p.LSN, &p.At, &p.xid)
	switch {
	case err == nil:
		oldest = fmt.Sprintf("the oldest is %s, of %s", p.LSN, p.At.UTC().Format("2006-01-02 15:04:05Z"))
	case errors.Is(err, pgx.ErrNoRows):
		none = true
	default:
		return nil, fmt.Errorf("look for a position: %w", err)
	}
	if f.since != "" {
		var begun time.Time
		var young bool // nothing was forgotten yet
		if err := pool.QueryRow(ctx, "select min(applied_at), min(applied_at) > now() - $1::text::interval from helix.migrations", positionKept).Scan(&begun, &young); err != nil {
			return nil, fmt.Errorf("look since when helixd is there: %w", err)
		}
		if none || young || f.at.Before(begun) {
			f.beginning = &begun
			return nil, nil
		}
	}
	return nil, &stream.SetupError{Problem: "helixd knows no position so old; " + oldest,
		Hint: "Replay without --from-lsn and --since, which gives all rows, or narrow them with --where. For deletes, too: " +
			"helixd slot recreate, which reads everything once."}
}

// rowQuery finds rows in portions, in the order of their ids.
type rowQuery struct {
	pool  *pgxpool.Pool
	table string
	where string // the operator's
	and   string
	last  string
}

// conditions has values in it, and no parameters: what --where calls $1 is then an
// error, and none of ours.
func (q *rowQuery) conditions(user *uuid.UUID, from *position) {
	q.and = reactors.OfTable(q.source())
	if user != nil {
		q.and += " and t.user_id = '" + user.String() + "'"
	}
	if from != nil {
		// xmin is the lower half of a transaction's number.
		q.and += fmt.Sprintf(" and (t.xmin::text::bigint - %d + 4294967296) %% 4294967296 < (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint - %d)",
			from.xid%(1<<32), from.xid)
	}
	if q.where != "" {
		q.and += " and (\n" + q.where + "\n)"
	}
}

func (q *rowQuery) source() string {
	schema, name, _ := strings.Cut(q.table, ".")
	return pgx.Identifier{schema, name}.Sanitize()
}

// next gives the next portion, none at the end.
func (q *rowQuery) next(ctx context.Context) (rows []reactors.Version, err error) {
	after := ""
	if q.last != "" {
		after = fmt.Sprintf(" and t.id > '%s'", q.last)
	}
	err = q.read(ctx, fmt.Sprintf("select t.id::text, t.xmin::text from %s t where %s%s order by t.id limit %d", q.source(), q.and, after, reactors.MaxReplay),
		func(found pgx.Rows) error {
			var row reactors.Version
			_, err := pgx.ForEachRow(found, []any{&row[0], &row[1]}, func() error { rows = append(rows, row); return nil })
			return err
		})
	if err == nil && len(rows) > 0 {
		q.last = rows[len(rows)-1][0]
	}
	return rows, err
}

// appraise counts the rows, and what each reactor would do with them.
func (q *rowQuery) appraise(ctx context.Context, watching []string) (all int64, effects []replayEffect, err error) {
	columns := []string{"count(*)", "0"}
	for _, reactor := range watching {
		e := effectOf(reactor, q.table)
		effects = append(effects, replayEffect{Reactor: reactor, Says: e.says})
		if e.count == "" {
			e.count = "0"
		}
		columns = append(columns, e.count)
	}
	counts := make([]int64, len(columns))
	to := make([]any, len(counts))
	for i := range counts {
		to[i] = &counts[i]
	}
	err = q.read(ctx, fmt.Sprintf("select %s from %s t where %s", strings.Join(columns, ", "), q.source(), q.and), func(found pgx.Rows) error {
		_, err := pgx.ForEachRow(found, to, func() error { return nil })
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	for i := range effects {
		if effectOf(effects[i].Reactor, q.table).count != "" {
			effects[i].Work = &counts[i+2]
			effects[i].Says = fmt.Sprintf(effects[i].Says, counts[i+2])
		}
	}
	return counts[0], effects, nil
}

// read runs one statement of the operator's making.
func (q *rowQuery) read(ctx context.Context, sql string, f func(pgx.Rows) error) error {
	err := pgx.BeginTxFunc(ctx, q.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local statement_timeout = '"+replayTimeout+"'"); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, sql, pgx.QueryExecModeExec) // one statement only, whatever --where says
		if err != nil {
			return err
		}
		return f(rows)
	})
	var pgErr *pgconn.PgError
	if q.where != "" && errors.As(err, &pgErr) {
		return &usageError{fmt.Errorf("--where: %s (SQLSTATE %s)", pgErr.Message, pgErr.Code)}
	}
	if err != nil {
		return fmt.Errorf("look for rows of %s: %w", q.table, err)
	}
	return nil
}
