package reactors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/helixd/helixd/internal/failpoint"
	"github.com/helixd/helixd/internal/metric"
	"github.com/helixd/helixd/internal/trace"
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
	off      []Reactor // see Carry

	secret    string // of helix.instance
	canSend   bool   // realtime.send exists
	epoch     atomic.Int64
	relations map[*replication.Relation]*routes
	inbox     map[string][]route // by table, of what the inbox tells

	open *apply // between a Batch with More and the one that ends it
	done tally  // of the apply that is open
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
		done:      tally{withheld: make([]int, len(reactors))},
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

// Carry has the publication carry what reactors watch that are switched off: with
// them it would change, and another publication takes another slot. It is for
// before anything else.
func (d *Dispatcher) Carry(off ...Reactor) { d.off = off }

// Tables gives the tables that the publication must carry, with the columns
// that the reactors watch, the inbox included.
func (d *Dispatcher) Tables() map[string][]string { return Watched(slices.Concat(d.reactors, d.off)) }

// Watched gives the tables that the publication must carry for reactors, with the
// columns that they watch, the inbox included.
func Watched(reactors []Reactor) map[string][]string {
	tables := map[string][]string{inboxTable: {"id", "table_name", "op", "key", "user_id"}}
	for _, r := range reactors {
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
		d.open.span.End(err)
		d.abandon()
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, errInDoubt) {
		metric.ApplyErrors.Inc()
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
			ctx, span := trace.Start(d.open.within(ctx, rows[i][0].Committed), "react", r.Name())
			span.Count("helixd.rows", len(rows[i]))
			err := d.react(ctx, r, rows[i], seesAll)
			span.End(err)
			if err != nil {
				return err
			}
		}
	}
	if err := d.replay(ctx, seesAll); err != nil {
		return err
	}
	failpoint.Here("after-react")
	return d.settle(ctx)
}

// Abandon drops an SQL transaction that a stream's end left open. The caller
// must no longer be applying.
func (d *Dispatcher) Abandon() {
	if d.open != nil {
		d.abandon()
	}
	clear(d.relations) // they were the old connection's
}
