package reactors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/helixd/helixd/replication"
)

// replayTable stands in the inbox in place of a table's name where a row tells what
// to give to the reactors again. No client can write there. (A logical message,
// which any user may emit, would need the secret; and a transaction of nothing else
// is dropped by the stream, since each of helixd's own has one.)
const replayTable = "helix.replays"

// Replay names rows, or dead letters, that the reactors are to be given again, in
// commit order with all other changes and without a write of the rows themselves,
// which would fire an app's triggers. It holds keys only.
type Replay struct {
	ID      int64     `json:"replay"`            // of helix.replays, where its outcome is added
	Slot    string    `json:"slot,omitempty"`    // whose leader gives them; "" is whichever sees this first, as of an older helixd
	Table   string    `json:"table,omitempty"`   // of Rows, "public.memories"
	Reactor string    `json:"reactor,omitempty"` // which is given Rows; "" is all that watch the table
	Rows    []Version `json:"rows,omitempty"`
	Letters []Letter  `json:"letters,omitempty"`
}

// Version is a row's id and its xmin. A row that has another xmin when its turn
// comes was written meanwhile, is streamed by itself, and is not given: a reactor
// would see its future before its past.
type Version [2]string

// Letter is a dead letter and the Version of its row, "" where it has none.
type Letter struct {
	ID      int64  `json:"id"`
	Version string `json:"version,omitempty"`
}

// MaxReplay bounds what one Replay names.
const MaxReplay = 500

// Send puts a Replay into the inbox, from where it is streamed.
func (r *Replay) Send(ctx context.Context, db execer) error {
	if len(r.Rows)+len(r.Letters) > MaxReplay {
		return fmt.Errorf("a replay of %d rows and %d letters, which is more than %d", len(r.Rows), len(r.Letters), MaxReplay)
	}
	content, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := db.Exec(ctx, "insert into helix.inbox (table_name, op, key) values ($1, 'INSERT', $2::text::jsonb)", replayTable, string(content)); err != nil {
		return fmt.Errorf("put into the inbox: %w", err)
	}
	return nil
}

// outcome is what became of a Replay.
type outcome struct{ given, gone, changed, rejected int }

// replay gives what the chunk's Replays name to the reactors, after its changes.
func (d *Dispatcher) replay(ctx context.Context, enough func(*snapshot) bool) (err error) {
	told := slices.DeleteFunc(d.open.replays, func(row Row) bool {
		var r Replay
		return json.Unmarshal(row.key, &r) == nil && r.Slot != "" && r.Slot != d.slot
	})
	d.open.replays = nil
	if len(told) == 0 {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("replay: %w", err)
		}
	}()
	now, err := currentSnapshot(ctx, d.open.tx)
	if err == nil {
		err = d.await(ctx, now, enough)
	}
	if err == nil { // a repair may bring what was given and is not pruned yet
		told, err = d.open.tx.Take(ctx, told)
	}
	if err != nil || len(told) == 0 {
		return err
	}
	for i := range told {
		var r Replay
		if err := json.Unmarshal(told[i].key, &r); err != nil {
			d.log.Warn().Str("inbox", told[i].inboxID).Msg("what is to be replayed cannot be read, and is not")
			continue
		}
		o, err := d.replayOne(ctx, &r, told[i], enough)
		if err != nil {
			return err
		}
		_, err = d.open.tx.Exec(ctx, `update helix.replays set given = given + $2, gone = gone + $3, changed = changed + $4, rejected = rejected + $5
			where id = $1`, r.ID, o.given, o.gone, o.changed, o.rejected)
		if err != nil {
			return fmt.Errorf("tell what became of it: %w", err)
		}
	}
	return nil
}

// replayOne gives what one Replay names.
func (d *Dispatcher) replayOne(ctx context.Context, r *Replay, told Row, enough func(*snapshot) bool) (o outcome, err error) {
	snap, end, err := d.source(ctx, "")
	if err != nil {
		return o, err
	}
	defer end()
	if err := d.retry(ctx, snap, r, &o, enough); err != nil {
		return o, err
	}
	return o, d.replayRows(ctx, snap, r, told, &o, enough)
}

// replayRows reads a table's rows and gives them to the reactors as a backfill would.
func (d *Dispatcher) replayRows(ctx context.Context, snap pgx.Tx, r *Replay, told Row, o *outcome, enough func(*snapshot) bool) error {
	if len(r.Rows) == 0 {
		return nil
	}
	v, err := d.view(ctx, snap, r.Table)
	if err != nil {
		return err
	}
	if v == nil {
		d.log.Warn().Str("table", r.Table).Msg("nothing here watches the table; its rows are not replayed")
		o.gone += len(r.Rows)
		return nil
	}
	keys, versions := make([]string, len(r.Rows)), make([]string, len(r.Rows))
	for i, row := range r.Rows {
		keys[i], versions[i] = row[0], row[1]
	}
	var there int
	if err := snap.QueryRow(ctx, fmt.Sprintf("select count(*) from %s t where id = any ($1::text[]::uuid[]) and %s", v.name, OfTable(v.name)), keys).Scan(&there); err != nil {
		return fmt.Errorf("count rows of %s: %w", r.Table, err)
	}
	rows, err := snap.Query(ctx, fmt.Sprintf(`select %s from %s t join unnest($1::text[]::uuid[], $2::text[]) as told (id, version)
		on t.id = told.id and t.xmin::text = told.version where %s`, v.columns, v.name, OfTable(v.name)),
		pgx.QueryResultFormats{pgx.TextFormatCode}, keys, versions)
	if err != nil {
		return fmt.Errorf("read rows of %s: %w", r.Table, err)
	}
	defer rows.Close()
	var tuples []replication.Tuple
	given, size := 0, 0
	give := func() error {
		rejected := len(d.open.tx.rejected)
		for i, reactor := range d.reactors {
			if r.Reactor != "" && r.Reactor != reactor.Name() {
				continue
			}
			var seen []Row
			for n, tuple := range tuples {
				// Below zero: above it are the transaction's own changes, and dead letters go by that.
				row := Row{CommitLSN: told.CommitLSN, Ordinal: -1 - (told.Ordinal*MaxReplay + given + n), Committed: told.Committed, table: r.Table}
				seen = append(seen, v.rows(i, row, tuple, 0)...)
			}
			if len(seen) > 0 {
				if err := d.react(ctx, reactor, seen, enough); err != nil {
					return err
				}
			}
		}
		o.rejected += len(d.open.tx.rejected) - rejected
		given += len(tuples)
		tuples, size = nil, 0
		return d.settle(ctx)
	}
	for rows.Next() {
		tuple, n := readTuple(rows.RawValues())
		tuples, size = append(tuples, tuple), size+n
		if size > backfillBytes {
			if err := give(); err != nil {
				return errors.Join(err, rows.Err())
			}
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read rows of %s: %w", r.Table, err)
	}
	if err := give(); err != nil {
		return err
	}
	o.given += given
	o.changed += there - given
	o.gone += len(r.Rows) - there
	return nil
}

// view is how reactors see the rows of a table that is read: the columns that they
// watch, or, of a table that is not streamed, the key that its trigger would write
// into the inbox, and the owner.
type view struct {
	*table
	inbox   bool
	watches [][]Watch // by reactor
}

// view is nil for a table that is neither streamed nor told of by the inbox: another
// helixd than this one watches it.
func (d *Dispatcher) view(ctx context.Context, snap pgx.Tx, name string) (*view, error) {
	columns := d.Tables()[name]
	v := &view{table: newTable(name, columns)}
	if len(columns) == 0 {
		v.table, v.inbox = newTable(name, []string{"key", "user_id"}), true
		err := snap.QueryRow(ctx, `select 'jsonb_build_object(' || coalesce((select string_agg(format('%L, t.%I', a, a), ', ' order by n)
				from unnest(string_to_array(encode(tgargs, 'escape'), '\000')) with ordinality as args (a, n)
				where a <> '' and n < coalesce(array_position(string_to_array(encode(tgargs, 'escape'), '\000'), '/'), 1000)), '') || ')::text, t.user_id::text'
			from pg_catalog.pg_trigger where tgrelid = to_regclass($1::text) and tgname like 'helix\_inbox\_%' order by tgname limit 1`, v.name).Scan(&v.columns)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read what the inbox says of %s: %w", name, err)
		}
	}
	if err := d.lockTable(ctx, v.table); err != nil {
		return nil, err
	}
	for _, r := range d.reactors {
		v.watches = append(v.watches, r.Watches())
	}
	return v, nil
}

// rows gives a row as each Watch of a reactor would see it: of op, or, with 0, as
// one that is there already.
func (v *view) rows(reactor int, row Row, tuple replication.Tuple, op replication.Op) []Row {
	var seen []Row
	for i, w := range v.watches[reactor] {
		if w.Table != v.relation.String() || v.inbox != (len(w.Columns) == 0) {
			continue
		}
		row.Watch, row.Op = i, op
		if op == 0 {
			row.Op = replication.Insert
			if v.inbox && !slices.Contains(w.Ops, row.Op) {
				row.Op = replication.Update
			}
		}
		if !slices.Contains(w.Ops, row.Op) {
			continue
		}
		if v.inbox {
			row.key, row.userID = tuple[0].Data, string(tuple[1].Data)
		} else {
			row.relation, row.values, row.columns = v.relation, tuple, make([]int, len(w.Columns))
			for j, c := range w.Columns {
				row.columns[j] = v.relation.Index(c)
			}
		}
		seen = append(seen, row)
	}
	return seen
}

// GivesRows reports whether a Watch for op is given rows by a replay: a delete
// leaves none.
func GivesRows(op replication.Op) bool { return op == replication.Insert || op == replication.Update }
