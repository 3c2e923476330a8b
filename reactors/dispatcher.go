package reactors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/replication"
)

// ErrFenced says that another helixd leads the slot now: this one must stop
// writing, and has written nothing since.
var ErrFenced = errors.New("another helixd leads this slot now")

// ErrRelation says that the stream carries a table otherwise than reactors
// watch it. What was written meanwhile cannot be taken from the stream, and is
// not skipped: once the schema is as it was, all rows are read from the tables.
var ErrRelation = errors.New("the slot cannot be read on; put the schema back, and helixd reads all rows from the tables")

// inboxTable carries what the streamed tables cannot say.
const inboxTable = "helix.inbox"

// Dispatcher routes committed changes to reactors. It is a replication.Sink,
// and like one it is used by one goroutine at a time.
type Dispatcher struct {
	pool     *pgxpool.Pool
	slot     string
	reactors []Reactor
	jobs     *Jobs
	log      zerolog.Logger

	secret    string // of helix.instance
	canSend   bool   // realtime.send exists
	epoch     atomic.Int64
	relations map[*replication.Relation]*routes
	inbox     map[string][]route // by table, of what the inbox tells

	open *apply // between a Batch with More and the one that ends it
}

// apply is one SQL transaction in the making.
type apply struct {
	tx           *Tx
	conn         *pgxpool.Conn
	marker       *marker // of the source transaction that goes on in the next batch
	transactions int
	changes      int
	committed    *time.Time // when the last of them was, at the server
	sawInbox     bool
	saved        bool // a savepoint stands
}

// route leads a relation's changes to one Watch of one reactor.
type route struct {
	reactor int
	watch   int
	ops     []replication.Op
	columns []int
}

type routes struct {
	routes []route
	table  string
	inbox  bool
	// Of the inbox: positions of its columns.
	id, tableName, op, key, userID int
}

// NewDispatcher makes a Dispatcher for a slot. It reads what it needs to know
// of the project, and refuses reactors that could feed each other for ever.
func NewDispatcher(ctx context.Context, pool *pgxpool.Pool, slot string, jobs *Jobs, log zerolog.Logger, reactors ...Reactor) (*Dispatcher, error) {
	if err := checkAcyclic(reactors); err != nil {
		return nil, err
	}
	d := &Dispatcher{
		pool: pool, slot: slot, reactors: reactors, jobs: jobs, log: log,
		relations: map[*replication.Relation]*routes{},
		inbox:     map[string][]route{},
	}
	for i, r := range reactors {
		for j, w := range r.Watches() {
			at := route{reactor: i, watch: j}
			for _, op := range w.Ops {
				if w.throughInbox(op) {
					at.ops = append(at.ops, op)
				}
			}
			d.inbox[w.Table] = append(d.inbox[w.Table], at)
		}
	}
	if err := pool.QueryRow(ctx, "select secret from helix.instance").Scan(&d.secret); err != nil {
		return nil, fmt.Errorf("read helix.instance: %w", err)
	}
	var err error
	if d.canSend, err = canBroadcast(ctx, pool); err != nil {
		return nil, fmt.Errorf("look for realtime.send: %w", err)
	}
	if !d.canSend {
		log.Warn().Msg("realtime.send is not there: results reach clients by postgres_changes only")
	}
	return d, nil
}

// Tables gives the tables that the publication must carry, with the columns
// that the reactors watch, the inbox included.
func (d *Dispatcher) Tables() map[string][]string {
	tables := map[string][]string{inboxTable: {"id", "table_name", "op", "key", "user_id"}}
	for _, r := range d.reactors {
		for _, w := range r.Watches() {
			for _, c := range w.Columns {
				if !slices.Contains(tables[w.Table], c) {
					tables[w.Table] = append(tables[w.Table], c)
				}
			}
		}
	}
	return tables
}

// Apply implements replication.Sink.
func (d *Dispatcher) Apply(ctx context.Context, b *replication.Batch) error {
	err := d.apply(ctx, b)
	if err != nil && d.open != nil {
		d.abandon()
	}
	return err
}

func (d *Dispatcher) apply(ctx context.Context, b *replication.Batch) error {
	if d.open == nil {
		if err := d.begin(ctx); err != nil {
			return err
		}
	}
	if err := d.applyChunk(ctx, b); err != nil {
		return err
	}
	if b.More {
		if len(b.Transactions) == 0 {
			if _, err := d.open.tx.Exec(ctx, "select 1"); err != nil {
				return fmt.Errorf("keep apply alive: %w", err)
			}
		}
		return nil
	}
	return d.commit(ctx, b.EndLSN)
}

// applyChunk gives a part of the open transaction to the reactors.
func (d *Dispatcher) applyChunk(ctx context.Context, b *replication.Batch) error {
	rows, err := d.route(b)
	if err != nil {
		return err
	}
	seesAll := func(s *snapshot) bool { return s.seesAll(b) }
	for i, r := range d.reactors {
		if len(rows[i]) > 0 {
			if err := d.react(ctx, r, rows[i], seesAll); err != nil {
				return err
			}
		}
	}
	failpoint.Here("after-react")
	return d.settle(ctx)
}

// begin opens the SQL transaction. Its first operation is the marker.
func (d *Dispatcher) begin(ctx context.Context) error {
	m := marker{Secret: d.secret, Epoch: d.epoch.Load(), Writes: map[string][]string{}}
	for _, r := range d.reactors {
		m.Writes[r.Name()] = r.Writes()
	}
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("begin apply: %w", err)
	}
	// An app's deferred constraint must fail where the row at fault can be found.
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: fmt.Sprintf("begin isolation level read committed; set constraints all immediate; select pg_logical_emit_message(true, %s, %s)",
		quoteLiteral(markerPrefix), quoteLiteral(m.content()))}) // one round trip
	if err != nil {
		conn.Release()
		return fmt.Errorf("begin apply: %w", err)
	}
	d.open = &apply{tx: &Tx{Tx: tx}, conn: conn}
	return nil
}

// route sorts a batch's changes by reactor.
func (d *Dispatcher) route(b *replication.Batch) ([][]Row, error) {
	rows := make([][]Row, len(d.reactors))
	for i := range b.Transactions {
		tx := &b.Transactions[i]
		if tx.Ordinal == 0 {
			d.open.marker = readMarker(tx, d.secret)
		}
		for j := range tx.Changes {
			c := &tx.Changes[j]
			if c.Relation == nil {
				continue
			}
			d.open.changes++
			to, err := d.routesOf(c.Relation)
			if err != nil {
				return nil, err
			}
			row := Row{Op: c.Op, CommitLSN: tx.CommitLSN, Ordinal: tx.Ordinal + j, Committed: tx.CommitTime,
				table: to.table, relation: c.Relation, values: c.New}
			if to.inbox {
				if c.Op == replication.Insert {
					d.open.sawInbox = true
					d.routeInbox(rows, to, row)
				}
				continue
			}
			for _, r := range to.routes {
				if slices.Contains(r.ops, c.Op) && !d.withheld(r.reactor, to.table) {
					row.Watch, row.columns = r.watch, r.columns
					rows[r.reactor] = append(rows[r.reactor], row)
				}
			}
		}
		if tx.EndLSN != 0 {
			d.open.transactions++
			d.open.committed = &tx.CommitTime
			d.open.marker = nil
		}
	}
	return rows, nil
}

// routeInbox turns an inbox row into the change that it tells of.
func (d *Dispatcher) routeInbox(rows [][]Row, to *routes, row Row) {
	switch string(row.values[to.op].Data) {
	case "INSERT":
		row.Op = replication.Insert
	case "UPDATE":
		row.Op = replication.Update
	default:
		row.Op = replication.Delete
	}
	row.inboxID, row.key = string(row.values[to.id].Data), row.values[to.key].Data
	row.userID = string(row.values[to.userID].Data)
	row.table = "public." + string(row.values[to.tableName].Data)
	row.values = nil
	for _, r := range d.inbox[row.table] {
		if slices.Contains(r.ops, row.Op) && !d.withheld(r.reactor, row.table) {
			row.Watch = r.watch
			rows[r.reactor] = append(rows[r.reactor], row)
		}
	}
}

// withheld reports whether a table's changes are the reactor's own writes.
func (d *Dispatcher) withheld(reactor int, table string) bool {
	m := d.open.marker
	return m != nil && slices.Contains(m.Writes[d.reactors[reactor].Name()], table)
}

// routesOf finds who watches a relation, once for each description of it.
func (d *Dispatcher) routesOf(rel *replication.Relation) (*routes, error) {
	if to, ok := d.relations[rel]; ok {
		return to, nil
	}
	to := &routes{table: rel.String()}
	if to.table == inboxTable {
		to.inbox = true
		to.id, to.tableName, to.op, to.key, to.userID = rel.Index("id"), rel.Index("table_name"), rel.Index("op"), rel.Index("key"), rel.Index("user_id")
		if min(to.id, to.tableName, to.op, to.key, to.userID) < 0 {
			return nil, missingColumn(to.table, "id, table_name, op, key or user_id")
		}
	}
	for i, r := range d.reactors {
		for j, w := range r.Watches() {
			if w.Table != to.table || len(w.Columns) == 0 {
				continue
			}
			at := route{reactor: i, watch: j, ops: w.Ops}
			for _, name := range w.Columns {
				index := rel.Index(name)
				if index < 0 {
					return nil, missingColumn(to.table, name)
				}
				at.columns = append(at.columns, index)
			}
			to.routes = append(to.routes, at)
		}
	}
	if !to.inbox && len(to.routes) == 0 {
		return nil, fmt.Errorf("%s is streamed, which no reactor watches: a watched table had this name for a while, "+
			"or the publication was altered: %w", to.table, ErrRelation)
	}
	for old, its := range d.relations {
		if its.table == to.table { // the server has described it anew
			delete(d.relations, old)
		}
	}
	d.relations[rel] = to
	return to, nil
}

func missingColumn(table, column string) error {
	return fmt.Errorf("%s is streamed without column %s, which helixd needs: "+
		"it was dropped or renamed, or the publication was altered: %w", table, column, ErrRelation)
}

// react lets one reactor see rows under a savepoint, once enough is visible.
// When their data is at fault it halves them until the one row stands alone,
// which goes to the dead letters.
func (d *Dispatcher) react(ctx context.Context, r Reactor, rows []Row, enough func(*snapshot) bool) error {
	tx := d.open.tx
	seen, err := d.savepoint(ctx)
	if err == nil {
		err = d.await(ctx, seen, enough)
	}
	if err != nil {
		return fmt.Errorf("reactor %s: %w", r.Name(), err)
	}
	before := tx.mark()
	err = r.React(ctx, tx, rows)
	if err == nil {
		for i := before[2]; i < len(tx.rejected); i++ {
			tx.rejected[i].reactor = r.Name()
		}
		return nil
	}
	if !Poison(err) {
		return fmt.Errorf("reactor %s: %w", r.Name(), err)
	}
	tx.rewind(before)
	d.open.saved = false
	if _, err := tx.Exec(ctx, "rollback to savepoint react; release savepoint react"); err != nil {
		return fmt.Errorf("reactor %s: %w", r.Name(), err)
	}
	if len(rows) == 1 {
		tx.rejected = append(tx.rejected, rejection{r.Name(), rows[0], err})
		return nil
	}
	half := len(rows) / 2
	if err := d.react(ctx, r, rows[:half], enough); err != nil {
		return err
	}
	return d.react(ctx, r, rows[half:], enough)
}

// savepoint releases the last one and makes another, in one round trip, and
// gives what is visible now. The commit releases the very last.
func (d *Dispatcher) savepoint(ctx context.Context) (*snapshot, error) {
	sql := "savepoint react; select pg_current_snapshot()"
	if d.open.saved {
		sql = "release savepoint react; " + sql
	}
	results, err := d.open.conn.Conn().PgConn().Exec(ctx, sql).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("savepoint: %w", err)
	}
	d.open.saved = true
	return parseSnapshot(string(results[len(results)-1].Rows[0][0]))
}

// maxPending bounds what a large transaction may tell before it is written.
const maxPending = 4096

// settle writes what the reactors have told where it grew large, so that a
// transaction of any size passes in flat memory. The rest waits for the commit
// and is coalesced there.
func (d *Dispatcher) settle(ctx context.Context) error {
	tx := d.open.tx
	if len(tx.broadcasts) <= maxPending && len(tx.jobs) <= maxPending && len(tx.rejected) == 0 {
		return nil
	}
	return d.write(ctx, &pgx.Batch{})
}

// write sends broadcasts, jobs and dead letters into the transaction, and with
// them what the batch holds already.
func (d *Dispatcher) write(ctx context.Context, batch *pgx.Batch) error {
	tx := d.open.tx
	if d.canSend && len(tx.broadcasts) > 0 {
		messages, err := coalesce(tx.broadcasts)
		if err != nil {
			return err
		}
		queueBroadcasts(batch, messages)
	}
	if len(tx.rejected) > 0 {
		queueDeadLetters(batch, d.slot, tx.rejected)
		first := &tx.rejected[0]
		d.log.Warn().Str("reactor", first.reactor).Str("table", first.row.table).Stringer("lsn", first.row.CommitLSN).
			Int("rows", len(tx.rejected)).
			Str("next", "select * from helix.dead_letters; an update of a row streams it again").
			Msg("rows put into dead letters; this is the first one")
	}
	if batch.Len() > 0 {
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return fmt.Errorf("write checkpoint, broadcasts and dead letters: %w", err)
		}
	}
	if len(tx.jobs) > 0 {
		if err := d.jobs.Insert(ctx, tx.Tx, tx.jobs); err != nil {
			return err
		}
	}
	tx.rewind([3]int{})
	return nil
}

// commit makes all of it durable, the checkpoint included.
func (d *Dispatcher) commit(ctx context.Context, end replication.LSN) error {
	open := d.open
	if open.sawInbox {
		if err := d.jobs.enqueuePrune(ctx, open.tx, d.slot); err != nil {
			return err
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(`update helix.checkpoints
		set lsn = $3, transactions = transactions + $4, changes = changes + $5, updated_at = now(),
			lag_seconds = coalesce(extract(epoch from clock_timestamp() - $6::timestamptz), 0)
		where slot = $1 and epoch = $2 and lsn <= $3`,
		d.slot, d.epoch.Load(), end, open.transactions, open.changes, open.committed).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() != 1 {
			return fmt.Errorf("slot %q, epoch %d: %w", d.slot, d.epoch.Load(), ErrFenced)
		}
		return nil
	})
	if err := d.write(ctx, batch); err != nil {
		return err
	}
	failpoint.Here("before-commit")
	if err := open.tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit apply: %w", err)
	}
	failpoint.Here("after-commit")
	open.conn.Release()
	d.open = nil
	return nil
}

// abandon drops the open SQL transaction.
func (d *Dispatcher) abandon() {
	open := d.open
	d.open = nil
	// A cancelled context must not keep the rollback from the server; a
	// connection that cannot roll back is closed by the pool.
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	_ = open.tx.Rollback(ctx)
	open.conn.Release()
}

// Abandon drops an SQL transaction that a stream's end left open. The caller
// must no longer be applying.
func (d *Dispatcher) Abandon() {
	if d.open != nil {
		d.abandon()
	}
	clear(d.relations) // they were the old connection's
}
